"""Recorded sessions: whatever is asked about, there is an answer, and its reasons suffice and none is spare."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from cpsched.explanation import Explanation, Verdict
from cpsched.explanation.goal import Goal, decision_with
from cpsched.explanation.groups import node_groups, partition
from cpsched.explanation.inquiry import explain
from cpsched.explanation.requirements import Requirement, requirements_of
from cpsched.importers.load import load
from cpsched.options import Options
from cpsched.policy import load_model, policy_for
from cpsched.snapshot import Snapshot
from tests.oracle.samples import rows

EVERY = {"volcano": 400, "kube": 120}
"""Every so many rows one is taken; one question about each."""


def questions(model: str) -> list[tuple[str, dict[str, Any], str, str, str]]:
    """(row's id, row, kind, key, engine)."""
    draw, asked = random.Random(7), []
    for row in rows(f"{model}-recorded.jsonl.gz")[:: EVERY[model]]:
        instance = load(row["objects"], lenient=True)
        waiting = [key for key, task in instance.tasks.items() if not task.node]
        task = draw.choice(waiting or list(instance.tasks))
        asked.append((row["id"], row, "task", task, draw.choice(["optimal", model])))
        if model == "volcano":
            asked.append((row["id"], row, "job", draw.choice(list(instance.jobs)), "optimal"))
    return asked


@pytest.mark.parametrize("model", ["volcano", "kube"])
def test_recorded_sessions(model: str) -> None:
    verdicts = set()
    for name, row, kind, key, engine in questions(model):
        instance, policy = load(row["objects"], lenient=True), policy_for(load_model(model), row["conf"])
        found = explain(instance, policy, Options(workers=1, time_limit=600), engine=engine, **{kind: key})
        assert found.verdict is not Verdict.UNDECIDED, (name, key)
        assert Explanation.model_validate(found.to_dict()) == found
        assert found.to_markdown()
        verdicts.add(found.verdict)
        if found.verdict is Verdict.IMPOSSIBLE and "(asked: one more task" not in found.summary:
            _checker(Snapshot(instance, policy), found, name)
    assert {Verdict.PLACED, Verdict.IMPOSSIBLE} <= verdicts


def _checker(snapshot: Snapshot, found: Explanation, name: str) -> None:
    """Again from the explanation's own words, with every task taking part."""
    job, goal = snapshot.jobs[found.job], Goal(found.job)
    wanted = requirements_of(snapshot, job, partition(node_groups(snapshot, job)))

    def excluded(kept: Sequence[Requirement]) -> bool:
        return decision_with(snapshot, goal, goal.wanted(), 600, [one for one in wanted if one not in kept]) is None

    assert found.conflicts, name
    for conflict in found.conflicts:
        stated = [Requirement(one.key, one.subject, one.nodes) for one in conflict]
        assert set(stated) <= set(wanted), name
        assert excluded(stated), name
        for spared in stated:
            assert not excluded([one for one in stated if one != spared]), (name, spared.label)
