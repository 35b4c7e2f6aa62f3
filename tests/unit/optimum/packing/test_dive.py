"""A dive always ends: a recorded session in which no pattern of the LP's solution holds anything that is needed."""

from __future__ import annotations

from pathlib import Path

from cpsched.comparison.session import CaseOptions, open_session
from cpsched.importers.corpus import cases
from cpsched.optimum.params import SolveParams
from cpsched.optimum.solve import decide

RECORDED = Path(__file__).parents[3] / "conformance" / "data" / "kube-recorded.jsonl.gz"


def test_a_round_that_fixes_no_node_is_the_last() -> None:
    case = next(one for one in cases(str(RECORDED)) if one.id.endswith("#cycle-1101-227"))
    session = open_session(case, CaseOptions(model="kube"))
    solution = decide(session.instance, session.policy, SolveParams(time_limit=5, workers=1, deterministic=True))
    assert all(level.proved for level in solution.levels)
