"""The session as a CP-SAT model: symmetry classes, variables, constraints, objective stages, decode and cuts.

In: a snapshot (the instance under a policy). Out: a SessionModel, and decisions that the checker accepts. It calls no
solver and may import the rooms below `optimum` only.
"""
