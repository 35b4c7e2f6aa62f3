"""Primal heuristics: they find decisions and prove nothing."""
