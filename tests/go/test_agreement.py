"""The checker of docs/go/cpschedtest finds what the checker finds, in shipped decisions and a third of the recorded."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cpsched import engines
from cpsched.checker import checked_from_outside
from cpsched.comparison.session import CaseOptions, Session, open_session
from cpsched.errors import InputError
from cpsched.gate.exported import decided
from cpsched.gate.facts import facts
from cpsched.importers.corpus import Case, cases
from cpsched.instance import HOLDS_ROOM, PENDING
from cpsched.options import Options
from cpsched.snapshot import Snapshot
from cpsched.solution import Eviction, Solution
from tests.go.toolchain import go, needs_go

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "conformance" / "data"
RECORDINGS = ("volcano-recorded", "kube-recorded", "volcano-plugins-recorded")
SHAPED = "volcano-topology-recorded"


def row(case: Case, *, spoil: bool) -> dict[str, Any] | None:
    """The case with all decisions that are known of it, checked; None for one that is meant to be refused, or that has
    no facts because rules about network topology decide.
    """
    try:
        session = open_session(case, CaseOptions())
    except InputError:
        return None
    snapshot, checked = Snapshot(session.instance, session.policy), []
    if (numbers := facts(snapshot)) is None:
        return None
    for solution in decisions(session, snapshot, spoil=spoil):
        verdict = checked_from_outside(session.instance, session.policy, solution)
        checked.append(
            {
                "decision": decided(solution),
                "findings": [(one.rule, one.subject) for one in verdict.findings if one.rule != "levels"],
                "levels": {level.label: level.value for level in verdict.levels},
            }
        )
    return {"id": case.id, "instance": {"objects": []}, "facts": numbers, "checked": checked}


def decisions(session: Session, snapshot: Snapshot, *, spoil: bool) -> Iterator[Solution]:
    """What was recorded, else what the mirror does; and, if asked for, decisions that break the rules."""
    found = [outcome.solution for outcome in session.outcomes]
    if not found:
        found = [engines.run(session.mirror, session.instance, session.policy, session.options("kube", Options()))]
    yield from found
    if spoil:
        yield from spoilt(found[0], snapshot)


def spoilt(solution: Solution, snapshot: Snapshot) -> Iterator[Solution]:
    """Everything on one node; every running pod evicted, by preempt and by no named action; unknown names."""
    tasks = snapshot.instance.tasks
    nodes = sorted(snapshot.instance.nodes)
    pending = [key for key, task in tasks.items() if task.status is PENDING]
    running = [key for key, task in tasks.items() if task.status in HOLDS_ROOM]
    if nodes:
        yield Solution(engine="x", binds=dict.fromkeys(pending, nodes[-1]))
        yield Solution(engine="x", allocated=dict.fromkeys(pending[:2], nodes[0]))
        on_each = {key: nodes[number % len(nodes)] for number, key in enumerate(pending)}
        victims = tuple([Eviction(task=key, action="preempt") for key in running])
        yield Solution(engine="x", pipelined=on_each, evictions=victims)
        yield Solution(engine="x", pipelined=on_each, evictions=tuple([Eviction(task=key) for key in running[:1]]))
    odd = (Eviction(task="no/body"), Eviction(task="no/body", node="nowhere", action="preempt"))
    yield Solution(engine="x", binds={"no/body": "nowhere", **dict.fromkeys(running[:1], "nowhere")}, evictions=odd)
    yield solution.model_copy(update={"binds": {}, "pipelined": {**solution.binds, **solution.pipelined}})


def checked_by_go(found: Iterable[Case], place: Path, every: int = 1) -> tuple[int, Counter[str]]:
    """How many decisions the two agree on, and which rules were left to verify how often; every so many are spoilt."""
    number = 0
    with place.open("w") as out:
        for count, case in enumerate(found):
            one = row(case, spoil=count % every == 0)
            if one is not None:
                number += len(one["checked"])
                out.write(json.dumps(one) + "\n")
    ended = go("cpschedtest", "test", "-count=1", "-run", "TestAgreement", "-v", ".", CPSCHED_CHECKED=str(place))
    assert ended.returncode == 0, ended.stdout[:4000] + ended.stderr[-2000:]
    output = re.search(r"(\d+) decisions, rules left to cpsched verify: map\[(.*)\]", ended.stdout)
    assert output is not None, ended.stdout
    left = Counter({name: int(count) for name, _, count in (one.rpartition(":") for one in output[2].split())})
    assert int(output[1]) == number
    return number, left


def test_only_what_topology_decides_has_no_facts() -> None:
    """Sessions without it all have them, of those recorded with it hardly any."""
    without = {name: [opened is None for opened in some_facts(name)] for name in (*RECORDINGS, SHAPED)}
    assert {name: any(found) for name, found in without.items()} == {**dict.fromkeys(RECORDINGS, False), SHAPED: True}
    assert sum(without[SHAPED]) > 0.9 * len(without[SHAPED])


def some_facts(name: str) -> Iterator[dict[str, Any] | None]:
    for case in list(cases(str(RECORDED / f"{name}.jsonl.gz")))[::25]:
        session = open_session(case, CaseOptions())
        yield facts(Snapshot(session.instance, session.policy))


@needs_go
@pytest.mark.parametrize("folder", ["tiny", "issues"])
def test_shipped_decisions(tmp_path: Path, folder: str) -> None:
    number, _ = checked_by_go(cases(str(ROOT / "instances" / folder)), tmp_path / "checked.jsonl")
    assert number > 300


@needs_go
@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_decisions(tmp_path: Path, name: str) -> None:
    third = list(cases(str(RECORDED / f"{name}.jsonl.gz")))[::3]
    number, left = checked_by_go(third, tmp_path / "checked.jsonl", every=8)
    assert number > 500
    assert left["capacity"] == left["gang"] == left["assignment"] == left["queue"] == 0
