"""Who writes proofs: steps (cpsched/proof/steps.py) for a level's statement, from multipliers and from a search."""
