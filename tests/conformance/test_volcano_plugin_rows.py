"""The other plugins that users configure: the Volcano mirror against decisions of the real scheduler, by profile."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.greedy.volcano import Replay
from tests.conformance.test_volcano_rows import decision, nameless, replayed

DATA = Path(__file__).parent / "data"
CHUNKS = 4

PROFILES = {
    "arguments": 51,
    "tdm": 70,
    "cdp": 71,
    "nodegroup": 118,
    "strategy": 107,
    "quota": 88,
    "usage": 77,
    "tasktopology": 111,
    "gpumemory": 96,
    "gpunumber": 61,
    "vgpu": 81,
    "vgpuexclusive": 83,
    "numa": 80,
    "reschedule": 43,
}
"""Profiles that are mirrored, with how many rows they have."""

NOT_BUILT: dict[str, str] = {}
"""Profiles whose rows are not compared, with the reason."""

TEXTS_BY_CHANCE: dict[str, str] = {}
"""Rows with one decision of which a text depends on a choice that the mirror makes otherwise."""


@cache
def recorded() -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    with gzip.open(DATA / "volcano-plugins-recorded.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            rows.setdefault(row["profile"], []).append(row)
    return rows


def test_every_row_is_tried_or_listed() -> None:
    counts = {profile: len(rows) for profile, rows in recorded().items()}
    assert sum(counts.values()) == 1137
    assert PROFILES.items() <= counts.items()
    assert Counter([*PROFILES, *NOT_BUILT]) == Counter(counts.keys())
    assert {row["id"] for profile in PROFILES for row in recorded()[profile]} >= TEXTS_BY_CHANCE.keys()


ENDS_AT_CLOSE = {
    "queue-parent-missing": "as it closes this session, unless it knows more queues: queue q0 names the parent gone",
    "queue-parent-cycle": "never ends this session: the parents of queues form a cycle, q0 -> q1 -> q0",
}
"""Cases in which the scheduler decides, and does not survive the close of the session: what a decision says of it."""


@cache
def defects() -> dict[str, dict[str, Any]]:
    with gzip.open(DATA / "volcano-plugins-defects.json.gz", "rt", encoding="utf-8") as file:
        return {case["id"]: case for case in json.load(file)}


def test_every_defect_is_tried() -> None:
    assert len(defects()) == 25
    assert defects().keys() >= ENDS_AT_CLOSE.keys()


@pytest.mark.parametrize("name", sorted(defects()))
def test_smallest_sessions_of_defects(name: str) -> None:
    case = defects()[name]
    if name in ENDS_AT_CLOSE:
        (note,) = replayed(case)[1].solution.notes
        assert ENDS_AT_CLOSE[name] in note
    elif "outcomes" in case:
        assert not difference(case)
    else:
        with pytest.raises(InputError, match=r"scheduler|stops the"):
            replayed(case)


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("profile", PROFILES)
def test_recorded_decisions(profile: str, chunk: int) -> None:
    differing = {row["id"]: text for row in recorded()[profile][chunk::CHUNKS] if (text := difference(row))}
    assert differing == {}


def difference(row: Mapping[str, Any]) -> str:
    """What differs from the record; texts are compared where only one decision was seen."""
    _, found = replayed(row)
    solution, outcomes = found.solution, row["outcomes"]
    own = decision(solution.binds, solution.allocated, solution.pipelined, solution.evicted)
    same = [o for o in outcomes if own == decision(o["binds"], o["allocated"], o["pipelined"], o["evicted"])]
    if not same:
        return "decision"
    if solution.phases not in [outcome["phases"] for outcome in same]:
        return "phases"
    if len(outcomes) > 1:
        return ""
    stated = outcomes[0].get("messages", {})
    if any(found.messages.get(job) != text for job, text in stated.items()):
        return "messages"
    if row["id"] in TEXTS_BY_CHANCE:
        return ""
    texts, own_texts = outcomes[0].get("task_messages", {}), shown(row, found)
    differing = [task for task, text in nameless(texts).items() if own_texts.get(task) != text.split(". Origin")[0]]
    return f"task_messages of {', '.join(differing)}" if differing else ""


def shown(row: Mapping[str, Any], found: Replay) -> dict[str, str]:
    """Texts as these rows hold them: where a task has none of its own, the cache fills in what its group lacks."""
    groups = {
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod["metadata"].get("annotations", {})
        for pod in row["objects"]
        if pod["kind"] == "Pod"
    }
    texts = {}
    for task, text in found.task_messages.items():
        job = f"{task.split('/')[0]}/{groups[task].get('scheduling.k8s.io/group-name')}"
        texts[task] = text if text != "Unschedulable: " else text + found.messages[job].split(": ", 1)[1]
    return {task: text.split(". Origin")[0] for task, text in nameless(texts).items()}
