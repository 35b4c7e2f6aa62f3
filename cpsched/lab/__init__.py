"""Experiments: instances made to measure, and what is measured on them."""
