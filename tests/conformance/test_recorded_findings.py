"""The checker over every recorded decision of the real Volcano: it finds fault only where a cause is known."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from cpsched.rules import Violation
from cpsched.snapshot import Snapshot
from tests.judge import decide, findings

DATA = Path(__file__).parent / "data" / "volcano-recorded.jsonl.gz"
PARTS = ("binds", "allocated", "pipelined", "evicted")
Row = Mapping[str, Any]

DECISIONS: dict[str, tuple[int, int]] = {
    "all": (368, 311),
    "allocate": (331, 330),
    "capacity": (337, 296),
    "flags": (177, 154),
    "guarantee": (195, 163),
    "plain": (322, 280),
    "plugins": (383, 299),
    "preempt": (349, 284),
    "reclaim": (324, 287),
    "roles": (240, 204),
    "shard": (315, 268),
}
"""Per profile: recorded decisions, and those in which the checker finds nothing; together 2,876 of 3,341."""


@cache
def rows_by_profile() -> dict[str, list[Row]]:
    """The recorded sessions by the first word of their id."""
    found: dict[str, list[Row]] = defaultdict(list)
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found[row["id"].partition("-")[0]].append(row)
    return found


@dataclass(frozen=True)
class Case:
    """One finding with all that the classes ask about."""

    row: Row
    finding: Violation
    best_effort_nodes: frozenset[str]
    """Nodes on which the decision places a pod that asks for nothing."""

    def runs(self, *actions: str) -> bool:
        """Whether one of the actions is configured."""
        return any(action.strip() in actions for action in self.row["conf"]["actions"].split(","))

    def plugins(self, *names: str) -> list[Mapping[str, Any]]:
        """The configured plugins of these names."""
        tiers = self.row["conf"]["tiers"]
        return [plugin for tier in tiers for plugin in tier.get("plugins", ()) if plugin["name"] in names]

    def switched_off(self, flags: tuple[str, ...], *names: str) -> bool:
        """Whether one of the flags is off for one of these plugins."""
        return any(plugin.get(flag) is False for plugin in self.plugins(*names) for flag in flags)

    @property
    def topology_aware(self) -> bool:
        """Whether preempt runs in topology-aware mode."""
        entries = self.row["conf"].get("configurations", ())
        return any(entry.get("arguments", {}).get("enableTopologyAwarePreemption") is True for entry in entries)


def in_preempt(case: Case) -> bool:
    """The phase inside a job commits pod by pod, so a gang can be left with a part."""
    return case.runs("preempt")


def choice_handed_on(case: Case) -> bool:
    """A tier that names no task hands the choice of victims on, or those who would forbid it are not asked."""
    votes = ("enablePreemptable", "enableReclaimable")
    return len(case.row["conf"]["tiers"]) > 1 or case.switched_off(votes, "priority", "gang")


def queue_not_asked(case: Case) -> bool:
    """After the reprieve of topology-aware mode, or with its flag off, no task asks the queue's limit or state."""
    return case.topology_aware or case.switched_off(("enablePreemptive",), "proportion", "capacity")


def best_effort_pod_count(case: Case) -> bool:
    """Backfill looks at a pod count from which restored pods are missing."""
    return "pods is promised" in case.finding.message and case.finding.subject in case.best_effort_nodes


def pdb_counts_afresh(case: Case) -> bool:
    """The pdb plugin counts every preemptor's victims from the start."""
    return bool(case.plugins("pdb"))


def capacity_not_asked(case: Case) -> bool:
    """A tier above answers before capacity could protect the guarantee."""
    return bool(case.plugins("capacity"))


def picture_out_of_date(case: Case) -> bool:
    """Evicting actions forget restored pods or ask no filter again; anti-affinity lists are frozen in all actions."""
    return case.runs("preempt", "reclaim") or "anti-affinity" in case.finding.message


CLASSES: dict[str, Callable[[Case], bool]] = {
    "gang": in_preempt,
    "eviction": choice_handed_on,
    "charge": choice_handed_on,
    "protect.gang": choice_handed_on,
    "queue": queue_not_asked,
    "capacity": best_effort_pod_count,
    "protect.pdb": pdb_counts_afresh,
    "protect.guarantee": capacity_not_asked,
    "filters": picture_out_of_date,
}
"""Where upstream is known to break a rule; any other rule is never broken."""

EXPLAINED: dict[tuple[str, str], str] = {
    ("capacity-20261116-450", "gang"): "a gang grows in allocate and is broken by reclaim afterwards",
    ("guarantee-20261116-537", "eviction"): "allocate lifts the queue above its share before reclaim takes from it",
    ("plugins-20261116-16", "protect.gang"): "an empty intersection of votes starts afresh inside one tier",
}
"""Single findings outside the classes: row, rule, and the cause."""


def checked_decisions(row: Row) -> Iterator[list[Case]]:
    """The findings in each of the row's recorded decisions."""
    instance = load(row["objects"], sharding=row.get("sharding"))
    snapshot = Snapshot(instance, policy_for(load_model("volcano"), row["conf"]))
    for outcome in row["outcomes"]:
        placed = {**outcome["binds"], **outcome["allocated"], **outcome["pipelined"]}
        nodes = frozenset(node for task, node in placed.items() if instance.tasks[task].best_effort)
        yield [Case(row, one, nodes) for one in findings(decide(snapshot, {part: outcome[part] for part in PARTS}))]


def cases_of(profile: str) -> list[list[Case]]:
    """The findings in every recorded decision of a profile."""
    return [cases for row in rows_by_profile()[profile] for cases in checked_decisions(row)]


def unexplained(case: Case) -> bool:
    """Whether the finding has no known cause, and so points to a mistake of ours."""
    rule = case.finding.rule
    known = CLASSES.get(rule)
    return (known is None or not known(case)) and (case.row["id"], rule) not in EXPLAINED


@pytest.mark.parametrize("profile", DECISIONS)
def test_findings_have_a_known_cause(profile: str) -> None:
    found = cases_of(profile)
    assert {(one.row["id"], one.finding.rule) for cases in found for one in cases if unexplained(one)} == set()
    assert (len(found), sum(not cases for cases in found)) == DECISIONS[profile]


def test_every_profile_is_checked() -> None:
    assert set(rows_by_profile()) == set(DECISIONS)
    assert tuple(map(sum, zip(*DECISIONS.values(), strict=True))) == (3341, 2876)


def test_every_exception_is_needed() -> None:
    rows = {row["id"]: row for rows in rows_by_profile().values() for row in rows}
    for row, rule in EXPLAINED:
        cases = [case for cases in checked_decisions(rows[row]) for case in cases if case.finding.rule == rule]
        assert cases
        assert not any(CLASSES[rule](case) for case in cases)
