"""What is done where a solver, the model and the checker disagree: a bug somewhere, never a result."""

from __future__ import annotations

from cpsched.errors import CpschedError

LOUD = False
"""Whether a disagreement is raised where it is found, as the tests want it.

Otherwise the search goes on without what was wrong, or ends with the best decision and its levels left open, and the
Solution's notes say so.
"""


class SolverDisagreementError(CpschedError):
    """Two of them contradict each other."""
