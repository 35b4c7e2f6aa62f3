"""Decisions of the real kube-scheduler 1.36.3, attempt by attempt (data/kube-recorded.jsonl.gz)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cpsched.greedy.kube import Attempt, Options, Run, replay
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for

DATA = Path(__file__).parent / "data" / "kube-recorded.jsonl.gz"
ROWS = {row["id"]: row for row in map(json.loads, gzip.decompress(DATA.read_bytes()).splitlines())}
MODEL = load_model("kube")

IN_ALL = [
    *("pod", "result", "node", "via", "feasible", "scores", "best", "failed", "preFilterMessage", "message"),
    *("nominating", "nominated", "victims", "postFilterMessage", "clearedNominations"),
]
IN_PREEMPT = ["eligible", "ineligibleReason", "candidates", "dryRunFailed"]
UNORDERED = {"feasible", "best", "candidates"}


def run_row(row: dict[str, Any], **options: Any) -> Run:
    instance = load(row["objects"], lenient=True)
    policy = policy_for(MODEL, row["conf"], kube_version="1.36")
    return replay(instance, policy, Options(only=row.get("pod"), record=True, **options))


def decision(outcome: dict[str, Any]) -> tuple[Any, ...]:
    evictions = sorted((e["task"], e["node"], e["for"]) for e in outcome["evictions"])
    return outcome["binds"], evictions, outcome["nominations"], sorted(outcome["unplaced"])


def differences(attempt: Attempt, recorded: dict[str, Any], keys: list[str]) -> list[str]:
    ours = attempt.to_dict()
    found = []
    for key in keys:
        theirs, own = recorded.get(key), ours.get(key)
        if key in UNORDERED:
            theirs, own = (sorted(value or [], key=json.dumps) for value in (theirs, own))
        if theirs != own:
            found.append(f"{attempt.pod} {key}: recorded {theirs}, ours {own}")
    return found


@pytest.mark.parametrize("name", ROWS)
def test_recorded_row(name: str) -> None:
    row = ROWS[name]
    run = run_row(row)
    ours = (run.binds, sorted(run.evictions), run.nominations, sorted(run.unplaced))
    alike = [outcome for outcome in row["outcomes"] if decision(outcome) == ours]
    assert alike, f"no recorded outcome is {ours}"
    keys = IN_ALL + (IN_PREEMPT if row["kind"] == "preempt" else [])
    reports = []
    for outcome in alike:
        assert [a["pod"] for a in outcome["attempts"]] == [a.pod for a in run.attempts]
        pairs = zip(run.attempts, outcome["attempts"], strict=True)
        reports.append([line for ours, theirs in pairs for line in differences(ours, theirs, keys)])
    assert [] in reports, min(reports, key=len)


@pytest.mark.parametrize("name", list(ROWS)[::7])
def test_short_cuts_change_nothing(name: str) -> None:
    quick, plain = run_row(ROWS[name]), run_row(ROWS[name], plain=True)
    assert [a.to_dict() for a in quick.attempts] == [a.to_dict() for a in plain.attempts]
    assert (quick.binds, quick.evictions, quick.nominations) == (plain.binds, plain.evictions, plain.nominations)


@pytest.mark.parametrize("name", list(ROWS)[3::9])
def test_recording_changes_no_decision(name: str) -> None:
    row = ROWS[name]
    instance = load(row["objects"], lenient=True)
    lean = replay(instance, policy_for(MODEL, row["conf"], kube_version="1.36"), Options(only=row.get("pod")))
    full = run_row(row)
    assert (lean.binds, lean.evictions, lean.nominations) == (full.binds, full.evictions, full.nominations)
    assert [a.message for a in lean.attempts] == [a.message for a in full.attempts]
