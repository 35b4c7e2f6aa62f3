"""explain: why a job is not placed, or which pods it evicts, with reasons that suffice and none that is spare."""

from __future__ import annotations

from cpsched.explanation.inquiry import explain
from cpsched.explanation.result import Explanation, Verdict

__all__ = ["Explanation", "Verdict", "explain"]
