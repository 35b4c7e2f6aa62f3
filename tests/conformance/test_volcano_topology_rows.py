"""Network topology, sub-groups and gang eviction: the Volcano mirror against decisions of the real scheduler."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cpsched.greedy.volcano import Options, replay
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.conformance.test_volcano_rows import decision, nameless, replayed

DATA = Path(__file__).parent / "data"
CHUNKS = 24
SEEDS = (None, *range(2, 30))
"""Upstream draws among nodes of equal score; one of these seeds draws as it did."""

TEXTS_BY_CHANCE = {
    "gangpreempt-20261118c-1": "which pods a plan that failed had placed: upstream draws among nodes of equal score",
}
"""Rows with one decision of which a text depends on a choice that the mirror makes otherwise."""


@cache
def recorded() -> list[dict[str, Any]]:
    return list(_lines("volcano-topology-recorded"))


@cache
def dumps() -> list[dict[str, Any]]:
    return list(_lines("volcano-topology-dumps"))


def _lines(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def test_every_row_is_tried() -> None:
    assert len(recorded()) == 1276
    assert len(dumps()) == 3
    assert {row["id"] for row in recorded()} >= TEXTS_BY_CHANCE.keys()


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_recorded_decisions(chunk: int) -> None:
    differing = {row["id"]: text for row in recorded()[chunk::CHUNKS] if (text := difference(row))}
    assert differing == {}


@pytest.mark.parametrize("number", range(3))
def test_live_clusters(number: int) -> None:
    row = dumps()[number]
    instance, policy = load(row["objects"]), policy_for(load_model("volcano"), row["conf"])
    seen = []
    for seed in SEEDS:
        solution = replay(instance, policy, Options(seed=seed)).solution
        assert {key: solution.phases[key] for key in row["phases"]} == row["phases"]
        assert sorted(solution.evicted) == sorted(row["victims"])
        seen.append(solution.binds)
        if solution.binds == row["binds"]:
            break
    assert row["binds"] in seen


def difference(row: Mapping[str, Any]) -> str:
    """What differs from the record; of texts only those are recorded that were the same in every run."""
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
    texts, own_texts = nameless(outcomes[0].get("task_messages", {})), nameless(found.task_messages)
    if row["id"] not in TEXTS_BY_CHANCE and any(own_texts.get(task) != text for task, text in texts.items()):
        return "task_messages"
    return ""
