"""Ways to spoil the dump of a cluster as a whole: what is missing, what is odd, what is there twice."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

from tests.fuzz.mutations import STRANGE, mutated_value

Items = list[Any]
ODD_PHASES = ("CrashLoopBackOff", "Completed", "Evicted", "", None, 5, "Unknown", "Running", "Pending", "Failed")
REFERENCES = (
    ("spec", "nodeName"), ("spec", "priorityClassName"), ("spec", "schedulerName"), ("spec", "queue"),
    ("spec", "parent"), ("metadata", "uid"), ("metadata", "namespace"), ("metadata", "deletionTimestamp"),
    ("metadata", "creationTimestamp"), ("metadata", "resourceVersion"), ("status", "startTime"), ("status", "state"),
    ("status", "nominatedNodeName"), ("spec", "minMember"), ("spec", "priority"),
)  # fmt: skip


def an_object(random: Random, items: Items) -> Items:
    """One object spoiled in its values."""
    at = random.randrange(len(items))
    return [*items[:at], mutated_value(random, items[at]), *items[at + 1 :]]


def a_reference(random: Random, items: Items) -> Items:
    """What one object refers to becomes something else: gone, of another object, or strange."""
    part, field = random.choice(REFERENCES)
    having = [at for at, item in enumerate(items) if field in item.get(part, {})]
    at = random.choice(having or range(len(items)))
    name = random.choice(items)["metadata"].get("name")
    value = random.choice(("gone", name, "2026-11-18T00:00:00Z", copy.deepcopy(random.choice(STRANGE))))
    item = items[at]
    return [*items[:at], {**item, part: {**(item.get(part) or {}), field: value}}, *items[at + 1 :]]


def a_kind_is_missing(random: Random, items: Items) -> Items:
    """No task dumped it."""
    kind = random.choice(items)["kind"]
    return [item for item in items if item["kind"] != kind]


def some_are_missing(random: Random, items: Items) -> Items:
    """The dump has ended early, or was made of one namespace."""
    if random.random() < 0.5:
        return items[: random.randrange(1, len(items))]
    return [item for item in items if random.random() < 0.6] or items[:1]


def phases(random: Random, items: Items) -> Items:
    """Some pods are in phases that no task expects."""
    return [
        {**item, "status": {**item.get("status", {}), "phase": random.choice(ODD_PHASES)}}
        if item["kind"] in ("Pod", "PodGroup") and random.random() < 0.1
        else item
        for item in items
    ]


def twice(random: Random, items: Items) -> Items:
    """Objects come again, the same, spoiled, or under another uid."""
    again = copy.deepcopy(random.choices(items, k=random.choice((1, 5, 50))))
    for item in again:
        if random.random() < 0.5:
            item["metadata"]["uid"] = "another"
        if random.random() < 0.3:
            item["metadata"]["resourceVersion"] = str(random.randrange(10**6))
    return [*items, *again]


def stripped(random: Random, items: Items) -> Items:
    """Some objects have lost what they are."""
    return [
        {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
        if random.random() < 0.05
        else item
        for item in items
    ]


def versions(random: Random, items: Items) -> Items:
    """Other versions of the API."""
    others = ("v1alpha1", "v1beta1", "v1beta2", "v2", "", "v99")
    return [
        {**item, "apiVersion": "/".join([*item["apiVersion"].split("/")[:-1], random.choice(others)])}
        if random.random() < 0.2
        else item
        for item in items
    ]


def shuffled(random: Random, items: Items) -> Items:
    """In another order, in lists in lists."""
    mixed = random.sample(items, len(items))
    cut = random.randrange(len(mixed))
    return [*mixed[:cut], {"kind": "List", "apiVersion": "v1", "items": mixed[cut:], "metadata": {}}]


def garbage(random: Random, items: Items) -> Items:
    """Things between the objects that are none."""
    mixed = list(items)
    for _ in range(random.choice((1, 10))):
        mixed.insert(random.randrange(len(mixed) + 1), copy.deepcopy(random.choice(STRANGE)))
    return mixed


MUTATORS: tuple[Callable[[Random, Items], Items], ...] = (
    an_object, an_object, an_object, a_reference, a_reference, a_kind_is_missing, some_are_missing, phases, twice,
    stripped, versions, shuffled, garbage,
)  # fmt: skip
FIRST = (an_object, a_reference, a_kind_is_missing, some_are_missing, phases, twice)
"""Those that leave objects with kinds and metadata, so that others may follow."""


def spoiled(random: Random, items: Items) -> Items:
    """The items of a dump after one or two of these."""
    if random.random() < 0.3:
        items = [
            item
            for item in random.choice(FIRST)(random, items)
            if isinstance(item, dict) and isinstance(item.get("metadata"), dict) and isinstance(item.get("kind"), str)
            and isinstance(item.get("apiVersion"), str)
            and all(isinstance(item.get(part, {}), dict) for part in ("spec", "status"))
        ] or items  # fmt: skip
    return random.choice(MUTATORS)(random, items)


def written(items: Items) -> bytes:
    """The dump as a file."""
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": items}).encode()
