"""Short ways to check a decision in a test: an instance and a decision in, broken rules and levels out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from cpsched.importers.load import Source, load
from cpsched.objectives import levels, vector
from cpsched.policy import Model, load_model, policy_for
from cpsched.rules import Decision, Violation, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution

DECISION_FIELDS = ("binds", "allocated", "pipelined", "evictions", "phases")


def snapshot_of(
    source: Source,
    *,
    model: str | Model = "volcano",
    conf: Mapping[str, Any] | None = None,
    rules: Mapping[str, str] | None = None,
    levels: Iterable[Any] | None = None,
) -> Snapshot:
    """The instance under a model: `conf` stands in for the instance's own, `rules` and `levels` change the model's."""
    instance = load(source)
    found = load_model(model) if isinstance(model, str) else model
    changes: dict[str, Any] = {}
    if rules is not None:
        changes["rules"] = {**found.rules.model_dump(), **rules}
    if levels is not None:
        changes["levels"] = list(levels)
    if changes:
        found = Model.model_validate({**found.model_dump(), **changes})
    return Snapshot(instance, policy_for(found, instance.conf if conf is None else conf))


def decide(snapshot: Snapshot, decision: Mapping[str, Any] | None = None) -> Decision:
    """The decision written as in a Solution; an eviction may be just the task's id, `reserves` means pipelined."""
    stated = dict(decision or {})
    fields: dict[str, Any] = {name: stated.pop(name) for name in DECISION_FIELDS if name in stated}
    fields["pipelined"] = {**fields.get("pipelined", {}), **stated.pop("reserves", {})}
    evicted = [*stated.pop("evicted", ()), *fields.get("evictions", ())]
    fields["evictions"] = [{"task": item} if isinstance(item, str) else item for item in evicted]
    assert not stated, f"no part of a decision: {sorted(stated)}"
    return Decision.of(snapshot, Solution.parse(fields))


def cluster(*jobs: Mapping[str, Any], nodes: int | Mapping[str, Any] | list[Any] = 4, **fields: Any) -> dict[str, Any]:
    """A compact instance: `nodes` is the CPUs of n1, or of several nodes by name, or a list of compact nodes."""
    if isinstance(nodes, int):
        nodes = {"n1": nodes}
    if isinstance(nodes, Mapping):
        nodes = [{"name": name, "allocatable": {"cpu": cpu, "pods": 10}} for name, cpu in nodes.items()]
    stated = {"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": nodes, "jobs": list(jobs)}
    return {**stated, "priorityClasses": {f"p{value}": value for value in PRIORITIES}, **fields}


PRIORITIES = (-10, 10, 50, 100, 1000)


def job(name: str, *tasks: Mapping[str, Any], priority: int | None = None, **fields: Any) -> dict[str, Any]:
    """A compact job; `priority` is one of PRIORITIES."""
    named = {} if priority is None else {"priorityClassName": f"p{priority}"}
    return {"name": name, "tasks": list(tasks), **named, **fields}


def pending(cpu: int | str | None = 1, replicas: int = 1, **fields: Any) -> dict[str, Any]:
    """A compact task that waits; without cpu it asks for nothing."""
    requests = {} if cpu is None else {"cpu": cpu}
    return {"replicas": replicas, "requests": {**requests, **fields.pop("requests", {})}, **fields}


def running(cpu: int | str | None = 1, replicas: int = 1, node: str = "n1", **fields: Any) -> dict[str, Any]:
    """A compact task that runs."""
    return {"running": node, **pending(cpu, replicas, **fields)}


def conf(actions: str, *plugins: str | Mapping[str, Any], tiers: Iterable[Any] = ()) -> dict[str, Any]:
    """A Volcano configuration: the plugins in one tier, then further tiers; flags not given are on."""
    rows = [plugins, *tiers]
    return {
        "actions": actions,
        "tiers": [{"plugins": [{"name": p} if isinstance(p, str) else dict(p) for p in row]} for row in rows],
    }


def findings(decision: Decision) -> list[Violation]:
    """Every broken rule with whom it concerns."""
    return violations(decision)


def broken(decision: Decision) -> set[str]:
    """Keys of the broken rules."""
    return {violation.rule for violation in violations(decision)}


def checked_both_ways(decisions: Iterable[Decision]) -> int:
    """How many decisions there are; each is checked the same, with shortcuts over identical tasks and without.

    Decisions on one session that follow each other share the plain one too.
    """
    count, plain_one = 0, None
    for decision in decisions:
        quick = decision.snapshot
        if plain_one is None or plain_one.instance is not quick.instance or plain_one.policy is not quick.policy:
            plain_one = Snapshot(quick.instance, quick.policy, shortcuts=False)
        asked = replace(decision, snapshot=plain_one)
        assert violations(decision) == violations(asked)
        assert vector(decision) == vector(asked)
        count += 1
    return count


def values(decision: Decision) -> dict[str, int | str | None]:
    """The levels as a Solution prints them, by label."""
    return {level.label: level.value for level in levels(decision)}
