"""Nodes whose cards are held, in the words of explain."""

from __future__ import annotations

import json
from pathlib import Path

import cpsched
from cpsched.explanation.first_reason import FirstReasons
from cpsched.explanation.groups import groups_of
from cpsched.importers.policy import load_policy
from cpsched.snapshot import Snapshot

FILE = Path(__file__).parents[3] / "instances" / "tiny" / "cards-by-memory.json"


def looked_at(memory: str) -> Snapshot:
    """The node has 4 of 10 left on each of two cards; a pod wants so much of one."""
    stated = json.loads(FILE.read_text(encoding="utf-8"))
    (task,) = next(job for job in stated["jobs"] if job["name"] == "new")["tasks"]
    task["requests"]["volcano.sh/gpu-memory"] = task["limits"]["volcano.sh/gpu-memory"] = memory
    instance = cpsched.load(stated)
    return Snapshot(instance, load_policy("volcano", instance=instance))


def test_a_node_whose_cards_are_held_does_not_fit_now() -> None:
    for memory, reasons in (("4", ()), ("6", ("cards: no card has enough left now",))):
        snapshot = looked_at(memory)
        (task,) = snapshot.jobs["default/new"].pending
        (group,) = groups_of(snapshot, task)
        assert group.reasons == reasons
        assert group.fits_now is not bool(reasons)


def test_the_first_reason_names_cards() -> None:
    for memory, reason in (("6", "cards: no card has enough left now (1 node)"), ("4", "some node has free capacity")):
        snapshot = looked_at(memory)
        job = snapshot.jobs["default/new"]
        ((text, _),) = FirstReasons(snapshot, "volcano").of_tasks(job, job.pending)
        assert text.startswith(reason)
