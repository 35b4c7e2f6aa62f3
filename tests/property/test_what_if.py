"""What-ifs against what they mean: more nodes are never worse, a job is its pods."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

import cpsched
from cpsched.objectives import comparable, level_plan, vector
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from tests.judge import PRIORITIES, cluster, conf, decide, job, pending, running, snapshot_of
from tests.unit.workloads.given import GROUP, names, node, queue, template, vcjob

CONF = conf("enqueue, allocate, preempt, backfill", "priority", "gang", "conformance", "predicates")


def contended(seed: int) -> dict[str, Any]:
    """A few nodes, what runs on them, and jobs that want more: without queues' shares, which grow with the cluster."""
    draw = random.Random(seed)
    sizes = {f"n{number}": draw.randint(1, 4) for number in range(draw.randint(1, 2))}
    jobs = []
    for number, (name, size) in enumerate(sizes.items()):
        for part in range(draw.randint(0, size)):
            jobs.append(
                job(f"old-{number}-{part}", running(1, node=name), priority=draw.choice(PRIORITIES), minMember=1)
            )
    for number in range(draw.randint(1, 3)):
        size = draw.randint(1, 3)
        tasks = pending(draw.randint(1, 3), size)
        jobs.append(job(f"new-{number}", tasks, priority=draw.choice(PRIORITIES), minMember=draw.randint(1, size)))
    return cluster(*jobs, nodes=sizes)


def solved(instance: Any) -> Decision:
    """The optimum."""
    solution = cpsched.solve(instance, conf=CONF, deterministic=True)
    assert solution.status.value == "optimal"
    policy = snapshot_of(cluster(), conf=CONF).policy
    return Decision.of(Snapshot(instance, policy), solution)


@pytest.mark.parametrize("seed", range(25))
def test_more_nodes_are_never_worse(seed: int) -> None:
    """Every decision of before is one of after, as good on every level."""
    source = contended(seed)
    before, after = solved(cpsched.load(source)), solved(cpsched.load(source, add_nodes={"n0": 1}))
    same = decide(
        after.snapshot, {"binds": before.binds, "reserves": before.reserves, "evictions": list(before.evicted)}
    )
    plan = level_plan(after.snapshot)
    assert not violations(same)
    assert comparable(plan, vector(after)) <= comparable(plan, vector(same))


@pytest.mark.parametrize("seed", range(25))
def test_without_a_pod_is_the_dump_without_it(seed: int) -> None:
    """Byte for byte the same cluster."""
    source = cpsched.load(contended(seed)).to_dict()
    pods = [item for item in source["objects"] if item["kind"] == "Pod"]
    gone = random.Random(seed).choice(pods)
    left = {**source, "objects": [item for item in source["objects"] if item is not gone]}
    meta = gone["metadata"]
    changed = cpsched.load(source, without=[f"{meta['namespace']}/{meta['name']}"])
    assert changed.sha256 == cpsched.load(left, lenient=True).sha256


@pytest.mark.parametrize("seed", range(25))
def test_a_job_is_its_pods(seed: int) -> None:
    """Submitted, and given as the pods and the PodGroup that it became: the same cluster, the same decision."""
    draw = random.Random(seed)
    tasks = [
        {"name": name, "replicas": draw.randint(1, 3), "template": template(draw.randint(1, 3))}
        for name in "ab"[: draw.randint(1, 2)]
    ]
    items = [node(f"n{number}", draw.randint(2, 6)) for number in range(draw.randint(1, 3))]
    base = {"apiVersion": "v1", "kind": "List", "items": [*items, queue("default")]}
    submitted = cpsched.load(base, submit=[[vcjob(tasks=tasks, minAvailable=draw.randint(1, len(tasks)))]])
    given = copy.deepcopy(base)
    given["items"] += [item for item in submitted.to_dict()["objects"] if item["kind"] in ("Pod", "PodGroup")]
    by_hand = cpsched.load(given)
    assert len(names(by_hand)) == sum(task["replicas"] for task in tasks)
    assert {task.pod.metadata.annotations[GROUP] for task in by_hand.tasks.values()} == {"train"}
    assert by_hand.sha256 == submitted.sha256
    assert cpsched.solve(by_hand, engine="volcano").binds == cpsched.solve(submitted, engine="volcano").binds
