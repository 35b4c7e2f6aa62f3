"""Relaxations of the session model and the lower bounds that they prove, level by level.

In: a SessionModel. Out: bounds on the stages of the levels ahead, and a relaxed solution that attains them. It may
import `model` and `solvers`.
"""
