"""Configurations as they are found: look-alikes of what documents, charts and manifests hold, one per kind of thing.

Volcano's own reader takes those of LOADED and refuses those of REFUSED.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from cpsched.errors import InputError
from cpsched.importers.policy import load_policy

NODES = "which nodes fit, node choice"


class Found(NamedTuple):
    """A file, what is left out of it, and how many warnings there are, doubts included."""

    text: str
    doubts: tuple[str, ...] = ()
    warnings: int = 0


LOADED = {
    "a custom plugin, in a ConfigMap": Found(
        """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: scheduler-configmap, namespace: batch}
        data:
          volcano-scheduler.conf: |
            actions: "enqueue, allocate"
            tiers:
            - plugins:
              - name: gang
              - name: our-quota   # built into our image
        """,
        ("plugin our-quota (not known here)",),
        1,
    ),
    "a key of another name": Found(
        """
        apiVersion: v1
        kind: ConfigMap
        data:
          agent-scheduler.conf: |
            actions: "allocate"
            tiers: [{plugins: [{name: predicates}, {name: nodeorder}]}]
        """
    ),
    "manifests of an installation": Found(
        """
        apiVersion: v1
        kind: Namespace
        metadata: {name: batch}
        ---
        # nothing but a comment
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: web}
        data: {nginx.conf: "server { listen 80; }"}
        ---
        apiVersion: v1
        kind: ConfigMap
        data:
          volcano-scheduler.conf: |
            actions: "allocate"
            tiers: [{plugins: [{name: gang}]}]
        """
    ),
    "three dots for what is left to the reader": Found(
        """
        kind: ConfigMap
        apiVersion: v1
        data:
          volcano-scheduler.conf: |
            actions: "enqueue, allocate"
            tiers:
            - plugins:
              - name: predicates
              - name: deviceshare
                arguments:
                  deviceshare.VGPUEnable: true
            configurations:
            ...
            - name: init
              arguments: {"grace": "900"}
        """,
        (),
        1,
    ),
    "actions without tiers": Found('actions: "allocate, backfill, reclaim"  # was: enqueue\n', (), 1),
    "flags of long ago": Found(
        """
        actions: "reclaim, allocate"
        tiers:
        - plugins:
          - name: "drf"
            disableTaskOrder: true
        """,
        (),
        1,
    ),
    "arguments that slipped to the left": Found(
        """
        actions: "enqueue, allocate"
        tiers:
        - plugins:
          - name: overcommit
            arguments:
            overcommit-factor: 1.5
        """,
        (),
        1,
    ),
    "plugins that slipped out of their tier": Found(
        """
        actions: "enqueue, allocate"
        tiers:
          - plugins:
          - name: priority
          - name: gang
        args:
        """,
        (),
        4,
    ),
    "arguments of other versions": Found(
        """
        actions: "enqueue, allocate"
        tiers:
        - plugins:
          - name: predicates
            arguments:
              predicate.GPUSharingEnable: true
          - name: overcommit
            arguments:
              overcommit-factor: 1.2
              max-queue-overcommit-factor: 1.2
        configurations:
        - name: logging
          arguments: {level: "5"}
        """,
        (),
        3,
    ),
    "structured arguments": Found(
        """
        actions: "enqueue, allocate, backfill"
        tiers:
        - plugins:
          - name: predicates
          - name: resource-strategy-fit
            arguments:
              resources:
                nvidia.com/gpu: {type: MostAllocated, weight: 2}
              sra: {enable: true, resources: "a, b", weight: 2, resourceWeight: {a: 1}}
        """,
    ),
    "load of nodes, with flat metrics": Found(
        """
        actions: "enqueue, allocate"
        tiers:
        - plugins:
          - name: gang
          - name: usage
            enablePredicate: false
            arguments:
              usage.weight: 5
              thresholds: {cpu: 80, mem: 70}
        metrics:
          type: prometheus
          address: http://192.0.2.1:9090
          interval: 30s
        """,
    ),
    "rescheduling": Found(
        """
        actions: "enqueue, allocate, shuffle"
        tiers:
        - plugins:
          - name: gang
          - name: rescheduling
            arguments:
              interval: 5m
              strategies:
              - name: lowNodeUtilization
                params: {thresholds: {"cpu": 20}, targetThresholds: {"cpu": 50}}
              queueSelector: [default]
        """,
    ),
    "eviction of whole gangs on a network": Found(
        """
        actions: "allocate, gangreclaim, gangpreempt"
        tiers:
        - plugins:
          - name: gang
          - name: capacity
            enableHierarchy: true
          - name: network-topology-aware
            arguments: {weight: 10, hypernode.binpack.cpu: 5}
        """,
        (),
        0,
    ),
    "a plugin that asks a service": Found(
        """
        actions: "allocate"
        tiers:
        - plugins:
          - name: predicates
          - name: extender
            arguments:
              extender.urlPrefix: http://127.0.0.1:8713
              extender.predicateVerb: predicate
              extender.ignorable: true
        """,
        (f"plugin extender ({NODES}, which queues may get more, when a gang may start)",),
        1,
    ),
    "groups of nodes per queue": Found(
        """
        actions: "allocate"
        tiers:
        - plugins:
          - name: predicates
          - name: nodegroup
            enableHierarchy: true
            arguments: {strict: false}
        """,
    ),
    "victims that were just started, tasks side by side": Found(
        """
        actions: "enqueue, allocate, preempt"
        tiers:
        - plugins: [{name: priority}, {name: cdp}]
        - plugins: [{name: task-topology, arguments: {task-topology.weight: 10}}]
        """,
    ),
}

REFUSED = {
    'actions: unknown action "gangPreempt", for which Volcano refuses the configuration; did you mean gangpreempt?': """
        actions: "allocate, gangPreempt"
        tiers: [{plugins: [{name: gang}]}]
        """,
    'actions: unknown action "elect", for which Volcano refuses the configuration; known: allocate,': """
        actions: "enqueue, elect, allocate, reserve"
        tiers: [{plugins: [{name: gang}]}]
        """,
    "actions: no action is configured; write a comma-separated text": """
        tiers: [{plugins: [{name: tdm, arguments: {tdm.evict.period: 1m}}]}]
        """,
    'metrics.tls: {"insecureSkipVerify": "false"} is not a text; write flat keys': """
        actions: "allocate"
        tiers: [{plugins: [{name: usage}]}]
        metrics:
          type: elasticsearch
          tls:
            insecureSkipVerify: "false"
        """,
    "this is not a scheduler configuration; write Volcano's actions and tiers": """
        volcano-scheduler.conf: |
          actions: "allocate"
        """,
    "line 1 column 3: not valid YAML": """
        {{- if .Values.custom.agent_scheduler_enable }}
        kind: ConfigMap
        """,
}


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "found.yaml"
    path.write_text(dedent(text).lstrip("\n"))
    return path


@pytest.mark.parametrize("name", LOADED)
def test_what_volcano_loads_loads_and_names_what_is_left_out(name: str, tmp_path: Path) -> None:
    found = LOADED[name]
    policy = load_policy("volcano", written(tmp_path, found.text))
    assert tuple(str(doubt) for doubt in policy.doubts) == found.doubts
    assert len(policy.warnings) == found.warnings
    assert all("found.yaml: " in warning for warning in policy.warnings)


@pytest.mark.parametrize("text", REFUSED)
def test_what_volcano_refuses_is_one_clear_line(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, REFUSED[text])
    with pytest.raises(InputError) as caught:
        load_policy("volcano", path)
    assert str(caught.value).startswith(f"{path}: {text}")
