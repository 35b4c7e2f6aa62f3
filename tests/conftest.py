"""For all tests: a disagreement between solver, model and judge is raised, not noted."""

from __future__ import annotations

from cpsched.optimum import mismatch

mismatch.LOUD = True
