"""Heuristics replayed as upstream takes them, decision for decision."""
