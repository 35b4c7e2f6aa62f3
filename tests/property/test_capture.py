"""A capture leads to the decisions of the objects it was taken of, with pseudonyms too."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cpsched import engines, timestamps
from cpsched.capture.configuration import read_fields
from cpsched.capture.fields import kept, without_images
from cpsched.capture.kinds import TAKEN, known_kind
from cpsched.capture.take import Capture
from cpsched.greedy.kube import Options as KubeOptions
from cpsched.greedy.kube import replay
from cpsched.importers.load import load
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.policy import load_model, policy_for, recognise

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "conformance" / "data"
Raw = dict[str, Any]


def rows(name: str, step: int) -> dict[str, Raw]:
    lines = gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes()).splitlines()[::step]
    return {row["id"]: row for row in map(json.loads, lines)}


KUBE, VOLCANO = rows("kube-recorded", 24), rows("volcano-recorded", 60)
VOLCANO |= rows("volcano-plugins-recorded", 17) | rows("volcano-topology-recorded", 50)
TINY = sorted((ROOT / "instances" / "tiny").glob("*.json"))[::4]


def captured(instance: Instance) -> Capture:
    """What `cpsched capture` would have taken of this cluster."""
    items = json.loads(json.dumps(instance.to_dict()))["objects"]
    document: Raw = {"apiVersion": "cpsched/v1", "kind": "Capture", "configurations": [], "missing": []}
    document["time"] = timestamps.text(instance.clock)
    if instance.conf is not None:
        own = recognise(instance.conf)
        entry = {"scheduler": own.scheduler, "from": "kube-system/scheduler", "conf": read_fields(own), "waiting": 1}
        document["configurations"] = [entry]
    return Capture(document, without_images([stripped(item) for item in items]))


def stripped(item: Raw) -> Raw:
    kind = known_kind(item["apiVersion"], item["kind"])
    assert kind is not None
    return kept(item, *TAKEN[kind])


def loaded(capture: Capture) -> Instance:
    return load(json.loads(json.dumps(capture.content())), lenient=True)


def named(value: Any, names: dict[str, str]) -> Any:
    """The value with what stands behind the pseudonyms."""
    if isinstance(value, str):
        if value in names:
            return names[value]
        return "/".join(names.get(part, part) for part in value.split("/"))
    if isinstance(value, dict):
        return {named(key, names): named(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(named(item, names) for item in value)
    return value


def kube(instance: Instance, only: str | None = None) -> Raw:
    """Every step of kube-scheduler's replay, without its texts."""
    policy = policy_for(load_model("kube"), instance.conf, kube_version="1.36")
    run = replay(instance, policy, KubeOptions(only=only, record=True))
    attempts = [
        (one.pod, one.result, one.node, one.feasible, one.best, one.scores, one.victims, one.nominated)
        for one in run.attempts
    ]
    return {"attempts": attempts, "binds": run.binds, "victims": list(run.evictions), "waits": run.unplaced}


def volcano(instance: Instance) -> Raw:
    """What Volcano's replay decides."""
    solution = engines.run("volcano", instance, policy_for(load_model("volcano"), instance.conf), Options())
    found = solution.to_dict()
    return {key: found.get(key) for key in ("binds", "allocated", "pipelined", "evictions", "phases")}


@pytest.mark.parametrize("name", KUBE)
def test_kube_scheduler_s_decisions_stay(name: str) -> None:
    row = KUBE[name]
    instance = replace(load(row["objects"], lenient=True), conf=row["conf"])
    capture, only = captured(instance), row.get("pod")
    assert kube(loaded(capture), only) == kube(instance, only)
    hidden = capture.redacted()
    names = dict(hidden.names)
    pseudonyms = {text: pseudonym for pseudonym, text in names.items()}
    assert named(kube(loaded(hidden), only and named(only, pseudonyms)), names) == kube(instance, only)


@pytest.mark.parametrize("name", VOLCANO)
def test_volcano_s_decisions_stay(name: str) -> None:
    row = VOLCANO[name]
    instance = load(row["objects"], lenient=True)
    instance = replace(instance, conf=row["conf"], now=instance.clock)
    capture = captured(instance)
    assert volcano(loaded(capture)) == volcano(instance)
    hidden = capture.redacted()
    assert named(volcano(loaded(hidden)), dict(hidden.names)) == volcano(instance)


@pytest.mark.parametrize("path", TINY, ids=lambda path: path.stem)
def test_the_optimum_stays_as_good(path: Path) -> None:
    """Of several best decisions another one may be found, so its levels are compared."""
    instance = load(path)
    if instance.sharding is not None:
        instance = replace(instance, sharding=None)
    scheduler = "volcano" if instance.conf is None else recognise(instance.conf).scheduler
    policy = policy_for(load_model(scheduler), instance.conf)
    hidden = loaded(captured(instance).redacted())
    best = [
        [
            (level.name, level.priority, level.value)
            for level in engines.run("optimal", one, policy, Options(workers=1)).levels
        ]
        for one in (replace(instance, now=instance.clock), hidden)
    ]
    assert best[0] == best[1]


def test_tasks_of_a_job_that_waits_for_enqueue_stay() -> None:
    """Its pods are made of its templates, for the PodGroup that it has, whatever names both of them bear."""
    template = {
        "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "resources": {"requests": {"cpu": 3}}}]}
    }
    job: Raw = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
    job["metadata"] = {"name": "train", "namespace": "ml", "uid": "9f1c"}
    job["spec"] = {"minAvailable": 2, "tasks": [{"name": "worker", "replicas": 2, "template": template}]}
    owner = {"kind": "Job", "name": "train", "uid": "9f1c", "controller": True}
    group: Raw = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "status": {"phase": "Pending"}}
    group["metadata"] = {"name": "train-9f1c", "namespace": "ml", "ownerReferences": [owner]}
    group["spec"] = {"minMember": 2, "minResources": {"cpu": "1"}}
    document: Raw = {"apiVersion": "cpsched/v1", "kind": "Capture", "time": "2026-01-01T00:00:00Z"}
    capture = Capture(
        {**document, "configurations": [], "missing": []}, without_images([stripped(job), stripped(group)])
    )
    hidden = capture.redacted()
    assert "train" not in json.dumps(hidden.content())
    for one in (capture, hidden):
        instance = load(json.loads(json.dumps(one.content())), held=True)
        assert [len(each.tasks) for each in instance.jobs.values()] == [2]
        assert [task.requests["cpu"] for task in instance.tasks.values()] == [3000, 3000]
