"""The solvers: what is asked of CP-SAT, HiGHS and the LP, and how far their answers are believed.

In: a CpModel or linear constraints. Out: assignments and bounds. It knows nothing of sessions.
"""
