"""The checker against recorded decisions and proved optima: 278 sessions of the real Volcano, 47 named defects."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cpsched import timestamps
from cpsched.snapshot import Snapshot
from tests.judge import broken, decide, snapshot_of, values
from tests.oracle.brute_force import optimum

DATA = Path(__file__).parent / "data"
Row = dict[str, Any]


@cache
def session_rows() -> dict[str, Row]:
    """Rows of optimum.jsonl.gz by id."""
    with gzip.open(DATA / "optimum.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {row["id"]: row for row in map(json.loads, lines)}


@cache
def issue_rows() -> dict[str, Row]:
    """Rows of issues.json.gz by id."""
    with gzip.open(DATA / "issues.json.gz", "rt", encoding="utf-8") as file:
        return {row["id"]: row for row in json.load(file)}


ROWS = {**session_rows(), **issue_rows()}

LEVELS_OF_OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "tiny-1-1193": (
        "the record's largest deficit is above 10^6, which (want - allocated)/want cannot exceed",
        {"queue_deficit_max": 1_000_000, "queue_deficit_total": 2_000_000},
    ),
    "volcano-5018": (
        "the record has words where the clock belongs; its victims have not started, so their start is now, which"
        " without a stated clock is a year after the last moment mentioned",
        {"victim_start_time": "2027-01-01T01:00:00Z"},
    ),
}
"""Rows whose recorded levels cannot be right: why, and what replaces them (in both decisions, where it stands)."""

FINDINGS_OF_OURS: dict[str, tuple[str, set[str]]] = {
    "volcano-2612": (
        "the record names the eviction alone; no task may evict the victims, so no task can be charged for their room"
        " either, and row tiny-1-122, which is of the same kind, records both",
        {"eviction", "charge"},
    ),
}
"""Rows whose recorded findings are incomplete: why, and all of them."""


def snapshot(row: Row) -> Snapshot:
    """The row's session."""
    return snapshot_of(row["objects"], model=row["policy"], conf=row["conf"])


def fixed(row: Row, recorded: dict[str, Any]) -> dict[str, Any]:
    """The recorded levels, with what is known to be wrong replaced."""
    _, ours = LEVELS_OF_OURS.get(row["id"], ("", {}))
    return (
        recorded if recorded.get("victim_start_time") is None and "victim_start_time" in ours else {**recorded, **ours}
    )


def heuristic(row: Row) -> tuple[dict[str, Any], set[str], dict[str, Any]]:
    """The scheduler's own decision with the rules it breaks and its levels."""
    if row["id"] in session_rows():
        decision, checked = row["real"]["decision"], row["real"]
    else:
        checked = row["expect_heuristic"]
        decision = {part: checked[part] for part in ("binds", "pipelined", "evicted")}
    keys = {text.split()[0] for text in checked["findings"]}
    return decision, FINDINGS_OF_OURS.get(row["id"], ("", keys))[1], fixed(row, checked["levels"])


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_heuristic_decision_is_checked_as_recorded(row: Row) -> None:
    """The scheduler's decision breaks the recorded rules and has the recorded levels."""
    stated, keys, levels = heuristic(row)
    decision = decide(snapshot(row), stated)
    assert broken(decision) == keys
    assert values(decision) == levels


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_recorded_optimum_is_feasible_with_its_levels(row: Row) -> None:
    """The example of an optimal decision breaks no rule and has the recorded levels."""
    expected = row["expect_optimum"]
    example = expected.get("example", expected)
    decision = decide(snapshot(row), {part: example[part] for part in ("binds", "reserves", "evicted")})
    assert broken(decision) == set()
    assert values(decision) == fixed(row, expected["levels"])


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_oracle_finds_the_recorded_optimum(row: Row) -> None:
    """Exhaustive search through this checker finds the recorded levels and exactly the recorded victim sets."""
    found = optimum(snapshot(row))
    levels = dict(zip(found.labels, found.values, strict=True))
    if (start := levels.get("victim_start_time")) is not None:
        levels["victim_start_time"] = timestamps.text(start)  # type: ignore[assignment]
    expected = row["expect_optimum"]
    assert levels == fixed(row, expected["levels"])
    assert found.victim_sets == sorted(tuple(sorted(victims)) for victims in expected["evicted_any_of"])


def test_every_row_is_there() -> None:
    """No row was lost on the way here, and every explained difference belongs to a row."""
    assert len(session_rows()) == 278
    assert len(issue_rows()) == 47
    assert {*LEVELS_OF_OURS, *FINDINGS_OF_OURS} <= ROWS.keys()


@pytest.mark.parametrize("row_id", LEVELS_OF_OURS)
def test_explained_levels_do_differ(row_id: str) -> None:
    """An entry of the table that no longer differs from the record must go."""
    row = ROWS[row_id]
    recorded = row["expect_optimum"]["levels"]
    assert fixed(row, recorded) != recorded


@pytest.mark.parametrize("row_id", FINDINGS_OF_OURS)
def test_explained_findings_do_differ(row_id: str) -> None:
    """The same for findings."""
    recorded = {text.split()[0] for text in ROWS[row_id]["expect_heuristic"]["findings"]}
    assert FINDINGS_OF_OURS[row_id][1] != recorded
