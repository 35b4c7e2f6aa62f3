"""The Volcano mirror against upstream's own tables and against recorded decisions of the real scheduler."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cpsched.greedy.volcano import Replay, replay
from cpsched.importers.load import load
from cpsched.instance import Instance
from cpsched.policy import load_model, policy_for

DATA = Path(__file__).parent / "data"
CHUNKS = 48

SCALAR_NAME = "two scalar resources are short on one node, and upstream names whichever its map gives first"
LEFTOVER = "the text is left over from a discarded attempt on nodes or for tasks that upstream takes in random order"

MESSAGES_BY_CHANCE: dict[str, str] = {
    "all-20261116-61": SCALAR_NAME,
    "all-20261116-281": SCALAR_NAME,
    "preempt-20261116-257": SCALAR_NAME,
    "plugins-20261116-795": SCALAR_NAME,
    "plugins-20261116-654": SCALAR_NAME,
    "plugins-20261116-1021": SCALAR_NAME,
    "reclaim-20261116-880": LEFTOVER,
    "shard-20261116-684": LEFTOVER,
    "guarantee-20261116-667": LEFTOVER,
}
"""Rows with one decision whose task messages another run of upstream would word otherwise; all else is compared."""


@cache
def tables() -> list[dict[str, Any]]:
    with gzip.open(DATA / "volcano.json.gz", "rt", encoding="utf-8") as file:
        rows: list[dict[str, Any]] = json.load(file)
    return rows


@cache
def recorded() -> list[dict[str, Any]]:
    with gzip.open(DATA / "volcano-recorded.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@cache
def sticky() -> list[dict[str, Any]]:
    with gzip.open(DATA / "volcano-sticky-skip.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def replayed(row: Mapping[str, Any]) -> tuple[Instance, Replay]:
    instance = load(row["objects"], sharding=row.get("sharding"), node_usage=row.get("node_usage"))
    return instance, replay(instance, policy_for(load_model("volcano"), row["conf"]))


@pytest.mark.parametrize("number", range(79))
def test_upstream_table(number: int) -> None:
    row = tables()[number]
    instance, found = replayed(row)
    expected, solution = row["expect"], found.solution
    if expected.get("minimal_bind_check"):
        assert len(solution.binds) == expected["binds_num"], row["source"]
    else:
        assert solution.binds == expected["bind_map"], row["source"]
    assert Counter(eviction.task for eviction in solution.evictions) == Counter(expected["evicted"]), row["source"]
    for job, nodes in expected.get("pipelined", {}).items():
        placed = {node for task, node in solution.pipelined.items() if instance.tasks[task].group == job}
        assert placed, row["source"]
        assert placed <= set(nodes), row["source"]
    for job, phase in expected.get("podgroup_phase", {}).items():
        assert solution.phases[job] == phase, row["source"]


def test_every_table_row_is_tried() -> None:
    assert len(tables()) == 79
    assert len(recorded()) == 2592


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_recorded_decisions(chunk: int) -> None:
    differing = {row["id"]: text for row in recorded()[chunk::CHUNKS] if (text := difference(row))}
    assert differing == {}


@pytest.mark.parametrize("number", range(2))
def test_a_prefilter_skip_is_sticky(number: int) -> None:
    row = sticky()[number]
    _, found = replayed(row)
    (outcome,), solution = row["outcomes"], found.solution
    own = decision(solution.binds, solution.allocated, solution.pipelined, solution.evicted)
    assert own == decision(outcome["binds"], outcome["allocated"], outcome["pipelined"], outcome["evicted"])
    assert solution.phases == outcome["phases"]


def difference(row: Mapping[str, Any]) -> str:
    """What differs from the record, nothing if the decision is one of the outcomes and the only one's texts agree."""
    _, found = replayed(row)
    solution, outcomes = found.solution, row["outcomes"]
    own = decision(solution.binds, solution.allocated, solution.pipelined, solution.evicted)
    if own not in [decision(o["binds"], o["allocated"], o["pipelined"], o["evicted"]) for o in outcomes]:
        return "decision"
    if len(outcomes) > 1:
        return ""
    outcome = outcomes[0]
    if outcome["phases"] != solution.phases:
        return "phases"
    if outcome.get("messages", {}) != found.messages:
        return "messages"
    if row["id"] not in MESSAGES_BY_CHANCE and nameless(outcome.get("task_messages", {})) != nameless(
        found.task_messages
    ):
        return "task_messages"
    return ""


def decision(*parts: Any) -> tuple[Any, ...]:
    return tuple(sorted(part.items()) if isinstance(part, Mapping) else sorted(part) for part in parts)


def nameless(messages: Mapping[str, str]) -> dict[str, str]:
    """Texts without the node they name, which can be another one of equal score."""
    return {task: re.sub(r"\bn\d+\b", "NODE", text) for task, text in messages.items()}
