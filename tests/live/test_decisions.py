"""Ten random pods on a random cluster: the real kube-scheduler's decisions and the replay's, from a capture."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cpsched.capture.take import Capture
from cpsched.greedy.kube import Attempt, Options, replay
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.docs.blocks import blocks
from tests.live.build import folder
from tests.live.capturing import captured
from tests.live.plane import Plane
from tests.live.worlds import nodes, pod

Raw = dict[str, Any]
README = Path(__file__).parents[2] / "README.md"
PODS = "/api/v1/namespaces/default/pods"


def condition(item: Raw) -> Raw:
    """What the scheduler stated of the pod."""
    stated = item.get("status", {}).get("conditions", ())
    return next((one for one in stated if one["type"] == "PodScheduled"), {})


def decided(plane: Plane, names: set[str]) -> bool:
    found = [one for one in plane.api.items(PODS) if one["metadata"]["name"] in names]
    return all(one["spec"].get("nodeName") or condition(one).get("status") == "False" for one in found)


def by_the_readmes_line(plane: Plane) -> Raw:
    """What the line prints that the README shows for those who do not use capture."""
    [block] = [one for one in blocks(README, "sh") if one.startswith("kubectl get")]
    command = block.partition(">")[0].replace("\\\n", "")
    program, *arguments = shlex.split(command)
    assert program == "kubectl"
    command = [str(folder() / "kubectl"), *arguments, f"--kubeconfig={plane.kubeconfig}"]
    found: Raw = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


def attempt(source: Raw, name: str) -> Attempt:
    """What the replay does with this pod."""
    policy = policy_for(load_model("kube"), None, kube_version="1.36")
    run = replay(load(source), policy, Options(only=f"default/{name}", record=True))
    [found] = run.attempts
    return found


def first(ours: Attempt) -> tuple[str, ...]:
    """The nodes that rank first: of several the real scheduler draws one. Only one that fits is not ranked."""
    return ours.best or (ours.node,)


def settle(source: Raw, name: str, node: str) -> None:
    """Put the pod where it went in truth."""
    for item in source["items"]:
        if item["kind"] == "Pod" and item["metadata"]["name"] == name:
            item["spec"]["nodeName"] = node


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ten_random_pods(own_plane: Plane, seed: int) -> None:
    plane, draw = own_plane, random.Random(seed)
    drawn = nodes(draw)
    for one in drawn:
        plane.add_node(*one)
    plane.apply(*(pod(draw, f"running-{number}", draw.choice(drawn)[0]) for number in range(10)))
    plane.wait_for(
        "running pods", lambda: all(one["status"].get("phase") == "Running" for one in plane.api.items(PODS))
    )
    names = [f"new-{number}" for number in range(10)]
    with plane.paused_scheduler():
        for name in names:
            plane.api.ask(PODS, "POST", pod(draw, name))
            # Times of creation are whole seconds, and the queue is in their order.
            time.sleep(1.05)
        taken = captured(plane)
        printed = by_the_readmes_line(plane)
    plane.wait_for("decisions", lambda: decided(plane, set(names)))
    after = {one["metadata"]["name"]: one for one in plane.api.items(PODS)}
    bound = compare(taken, printed, names, after)
    assert bound >= 5, "a cluster on which hardly anything fits shows nothing"


def compare(taken: Capture, printed: Raw, names: list[str], after: dict[str, Raw]) -> int:
    """Pod by pod, with those before it where they went in truth; returns how many were bound."""
    sources = {"capture": taken.content(), "kubectl": printed}
    fresh = taken.redacted()
    pseudonyms = {text: pseudonym for pseudonym, text in fresh.names.items()}
    bound = 0
    for name in names:
        real = after[name]["spec"].get("nodeName", "")
        for made, source in sources.items():
            ours = attempt(source, name)
            if real:
                assert real in first(ours), f"{made}: {name} went to {real}, the replay ranks first {first(ours)}"
            else:
                assert ours.result == "unschedulable", f"{made}: {name} waits, the replay puts it on {ours.node}"
                assert ours.message == condition(after[name])["message"], made
            settle(source, name, real)
        hidden = fresh.content()
        ours = attempt(hidden, pseudonyms[name])
        assert pseudonyms.get(real, real) in first(ours) if real else ours.result == "unschedulable", "redacted"
        settle(hidden, pseudonyms[name], pseudonyms.get(real, real))
        bound += bool(real)
    return bound
