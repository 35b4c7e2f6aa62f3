"""Recorded sessions changed at random: fresh ones with the same kinds of wishes, of the same size."""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import Any

from tests.oracle.samples import EVERYTHING, GROUP, Row, rows

VOLCANO, KUBE = "volcano-recorded.jsonl.gz", "kube-recorded.jsonl.gz"
CPUS = ["1", "2", "3", "4", "6", "8"]
HOSTNAME = "kubernetes.io/hostname"


@cache
def _by_profile() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for name, model in ((VOLCANO, "volcano"), (KUBE, "kube")):
        for row in rows(name):
            profile = row["id"].split("-")[0] if model == "volcano" else "kube"
            found.setdefault(profile, []).append(row)
    return found


PROFILES = tuple(_by_profile())
"""Volcano's, and one for all of kube-scheduler's."""


def variation(profile: str, seed: int) -> tuple[str, list[Row], Row | None]:
    """(model, objects, configuration): a session of the profile that no task recorded."""
    r = random.Random(f"{profile} {seed}")
    row, other = r.choices(_by_profile()[profile], k=2)
    objects = copy.deepcopy(row["objects"])
    conf = row["conf"] if r.random() < 0.6 else other["conf"]
    if profile != "kube" and conf and "tiers" in conf and r.random() < 0.5:
        conf = {**conf, "actions": EVERYTHING}
    objects = _more_pods(r, _fewer(r, objects))
    for item in objects:
        _change(r, item)
    return "kube" if profile == "kube" else "volcano", objects, conf


def _fewer(r: random.Random, objects: list[Row]) -> list[Row]:
    """Without some nodes and the pods on them, and without some pods."""
    nodes = [o["metadata"]["name"] for o in objects if o["kind"] == "Node"]
    gone = set(r.sample(nodes, r.randint(0, max(0, len(nodes) - 2)))) if r.random() < 0.5 else set()
    kept = []
    for item in objects:
        if item["kind"] == "Node" and item["metadata"]["name"] in gone:
            continue
        if item["kind"] == "Pod" and (item["spec"].get("nodeName") in gone or r.random() < 0.1):
            continue
        kept.append(item)
    return kept


def _more_pods(r: random.Random, objects: list[Row]) -> list[Row]:
    """With copies of some waiting pods, in their gangs."""
    waiting = [o for o in objects if o["kind"] == "Pod" and not o["spec"].get("nodeName")]
    more = []
    for number, item in enumerate(r.choices(waiting, k=r.randint(0, 8)) if waiting else []):
        copied = copy.deepcopy(item)
        copied["metadata"]["name"] += f"-copy{number}"
        copied["metadata"]["uid"] = f"{copied['metadata'].get('uid', copied['metadata']['name'])}-copy{number}"
        more.append(copied)
    return objects + more


def _change(r: random.Random, item: Row) -> None:
    kind, spec = item["kind"], item.get("spec", {})
    if kind == "Node" and r.random() < 0.5:
        item["status"]["allocatable"]["cpu"] = r.choice(CPUS)
    elif kind == "PodGroup" and r.random() < 0.4:
        spec["minMember"] = r.randint(1, 4)
    elif kind == "Pod" and r.random() < 0.3:
        _wish(r, item["metadata"], spec)


def _wish(r: random.Random, metadata: dict[str, Any], spec: dict[str, Any]) -> None:
    """Give a pod a wish about its neighbours: those of its own gang, or those with its labels."""
    labels = metadata.setdefault("labels", {})
    labels.setdefault("app", metadata.get("annotations", {}).get(GROUP, "alone"))
    term = {"labelSelector": {"matchLabels": {"app": labels["app"]}}, "topologyKey": HOSTNAME}
    kind = r.choice(["podAffinity", "podAntiAffinity", "spread"])
    if kind == "spread":
        constraint = {**term, "maxSkew": r.choice([1, 2]), "whenUnsatisfiable": "DoNotSchedule"}
        spec.setdefault("topologySpreadConstraints", []).append(constraint)
    else:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec.setdefault("affinity", {}).setdefault(kind, required)
