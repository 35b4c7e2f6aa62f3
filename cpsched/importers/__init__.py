"""Inputs: whatever form they come in, they leave as one Instance."""
