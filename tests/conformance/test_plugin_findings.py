"""The checker over recorded decisions of the real Volcano with its other plugins: every finding has a known cause."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from cpsched.snapshot import Snapshot
from tests.judge import decide, findings

DATA = Path(__file__).parent / "data" / "volcano-plugins-recorded.jsonl.gz"
PARTS = ("binds", "allocated", "pipelined", "evicted")
Row = Mapping[str, Any]

DECISIONS: dict[str, tuple[int, int]] = {
    "arguments": (54, 44),
    "cdp": (102, 63),
    "gpumemory": (146, 134),
    "gpunumber": (89, 74),
    "nodegroup": (157, 133),
    "numa": (102, 102),
    "quota": (91, 91),
    "reschedule": (64, 44),
    "strategy": (147, 140),
    "tasktopology": (147, 147),
    "tdm": (92, 82),
    "usage": (89, 89),
    "vgpu": (112, 101),
    "vgpuexclusive": (118, 110),
}
"""Per profile: recorded decisions, and those in which the checker finds nothing; together 1,354 of 1,510."""


@cache
def rows() -> dict[str, list[Row]]:
    """The recorded sessions by profile."""
    found: dict[str, list[Row]] = {}
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found.setdefault(row["profile"], []).append(row)
    return found


def plugins(row: Row) -> dict[str, Mapping[str, Any]]:
    """The configured plugins."""
    return {plugin["name"]: plugin for tier in row["conf"]["tiers"] for plugin in tier["plugins"]}


def avoids_groups(row: Row) -> bool:
    """A queue prefers to keep off a group, which admits it there (defect P3)."""
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    affinities = [o["spec"].get("affinity") or {} for o in row["objects"] if o["kind"] == "Queue"]
    return any((one.get("nodeGroupAntiAffinity") or {}).get(preferred) for one in affinities)


def shares_names(row: Row) -> bool:
    """Pods of two namespaces have one name (defect P21)."""
    names = Counter(o["metadata"]["name"] for o in row["objects"] if o["kind"] == "Pod")
    return max(names.values()) > 1


CAUSES: dict[str, Callable[[Row], bool]] = {
    "nodegroup": avoids_groups,
    # Where cdp and those before it leave no victim, the choice is handed on: to the next tier (P8), or within one.
    "protect.cooldown": lambda row: len(row["conf"]["tiers"]) > 1 or "drf" in plugins(row),
    # Without predicates no card is booked (P10).
    "cards": lambda row: "predicates" not in plugins(row),
    # A pod from a template gets the answer that another of the template got.
    "filters": lambda row: "predicate.CacheEnable" in plugins(row)["predicates"].get("arguments", {}),
    "eviction": lambda row: (
        row["profile"] != "reschedule"
        or "shuffle" not in row["conf"]["actions"]
        or "pdb" in plugins(row)
        or shares_names(row)
    ),
}
"""Rule → what a row must have in which the real scheduler breaks it; the others have theirs elsewhere."""
OTHERS = frozenset({"gang", "charge", "queue", "protect.gang"})
"""Rules that preempt, and tiers, break with any plugins: see test_recorded_findings.py."""


def checked(row: Row) -> list[set[str]]:
    """The rules that each outcome of the row breaks."""
    source: dict[str, Any] = {"apiVersion": "cpsched/v1", "kind": "Instance", "objects": row["objects"]}
    instance = load(source, node_usage=row.get("node_usage"), lenient=True)
    snapshot = Snapshot(instance, policy_for(load_model("volcano"), row["conf"]))
    by_shuffle = not {"preempt", "reclaim"} & {name.strip() for name in row["conf"]["actions"].split(",")}
    found = []
    for outcome in row["outcomes"]:
        decision = {key: outcome[key] for key in PARTS if key in outcome}
        if by_shuffle:
            decision["evictions"] = [{"task": key, "action": "shuffle"} for key in decision.pop("evicted", ())]
        found.append({violation.rule for violation in findings(decide(snapshot, decision))})
    return found


@pytest.mark.parametrize("profile", DECISIONS)
def test_findings_have_a_known_cause(profile: str) -> None:
    clean = count = 0
    for row in rows()[profile]:
        for broken in checked(row):
            count += 1
            clean += not broken
            for rule in broken:
                assert rule in OTHERS or CAUSES[rule](row), (row["id"], rule)
    assert (count, clean) == DECISIONS[profile]
