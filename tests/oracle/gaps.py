"""Tiny sessions with what clusters have now and then: PodGroups without pods, and jobs whose queue is gone."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from cpsched.importers.load import load
from tests.oracle.sessions import Contest

Raw = dict[str, Any]
GONE = "gone"
_VOLCANO = "scheduling.volcano.sh/v1beta1"


def as_objects(session: Contest) -> Contest:
    """The same session, written as Kubernetes objects."""
    return replace(session, source=load(session.source).to_dict())


def with_empty_groups(session: Contest, seed: int, *, stated: bool) -> Contest:
    """The session with one to three PodGroups without pods.

    `stated`: they have a minimum that counts when they enter, and any queue, also one above leaves, where capacity
    allows no job; else they are in queues that have jobs.
    """
    r = random.Random(f"empty {seed}")
    source = as_objects(session).source
    named = [item["metadata"]["name"] for item in source["objects"] if item["kind"] == "Queue"] or [""]
    used = [item["spec"].get("queue", "") for item in source["objects"] if item["kind"] == "PodGroup"]
    queues = named if stated else used
    groups = [_empty_group(r, f"empty{number}", r.choice(queues), stated) for number in range(r.randint(1, 3))]
    return replace(session, source={**source, "objects": [*groups, *source["objects"]]})


def without_a_queue(session: Contest, seed: int) -> tuple[Contest, str]:
    """The session in which one of the jobs names a queue that there is not, and the job."""
    source = as_objects(session).source
    groups = [item["metadata"]["name"] for item in source["objects"] if item["kind"] == "PodGroup"]
    chosen = random.Random(f"queue {seed}").choice(groups)
    return replace(session, source={**source, "objects": [_moved(item, chosen) for item in source["objects"]]}), chosen


def without_a_job(session: Contest, chosen: str) -> Contest:
    """The session in which another scheduler has the job's pods."""
    source = as_objects(session).source
    objects = [_released(item, chosen) for item in source["objects"]]
    return replace(session, source={**source, "objects": [item for item in objects if not _is_group(item, chosen)]})


def _empty_group(r: random.Random, name: str, queue: str, stated: bool) -> Raw:
    spec: Raw = {"minMember": r.choice([0, 1, 2]), "queue": queue, "priorityClassName": r.choice(["", "p1000"])}
    if stated:
        spec["minResources"] = {"cpu": str(r.randint(1, 2))}
    return {
        "apiVersion": _VOLCANO,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
        "status": {"phase": r.choice(["Pending", "Inqueue", "Running"])},
    }


def _is_group(item: Raw, name: str) -> bool:
    return bool(item["kind"] == "PodGroup" and item["metadata"]["name"] == name)


def _moved(item: Raw, group: str) -> Raw:
    return {**item, "spec": {**item["spec"], "queue": GONE}} if _is_group(item, group) else item


def _released(item: Raw, group: str) -> Raw:
    metadata = item["metadata"]
    annotations = metadata.get("annotations", {})
    if item["kind"] != "Pod" or annotations.get("scheduling.k8s.io/group-name") != group:
        return item
    kept = {key: value for key, value in annotations.items() if key != "scheduling.k8s.io/group-name"}
    spec = {**item["spec"], "schedulerName": "another"}
    return {**item, "metadata": {**metadata, "annotations": kept}, "spec": spec}
