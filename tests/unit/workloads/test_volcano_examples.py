"""Every example of a workload in Volcano's repository is read, expanded, and placed in one stated cluster."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import cpsched
from cpsched.errors import InputError
from tests.unit.workloads.given import node, priority_class, queue

EXAMPLES: Mapping[str, str] = json.loads(
    gzip.decompress((Path(__file__).parent / "data" / "volcano-examples.json.gz").read_bytes())
)
QUEUES = (
    "default",
    "test",
    "testing",
    "queue1",
    "queue2",
    "gpu-team",
    "root-eng-prod",
    "root-eng-dev",
    "root-sci-prod",
    "root-sci-dev",
)
DENIED = {
    "example/invalid_jobs/duplicatedTaskName-webhook-deny.yaml": "two tasks are called task-1",
    "docs/user-guide/how_to_use_cdp_plugin.md#2": "a volume with neither",
    "docs/user-guide/how_to_use_cdp_plugin.md#5": "a volume with neither",
    "example/invalid_jobs/minAvailable-webhook-deny.yaml": "minAvailable 5 is more than the 4 replicas",
}
UNREADABLE = {
    "docs/design/task-launch-order-within-job.md#0": "not valid YAML",
    "docs/design/task-launch-order-within-job.md#1": "not valid YAML",
    "docs/user-guide/how_to_use_cdp_plugin.md#4": "should be a mapping",
}
"""Pages that show a part of a manifest, or none that kubectl would take."""
NOT_PLACED = {
    "example/kubecon-2019-china/node-selector/nginx.yaml": "a node of another name",
    "docs/design/colocation/Overview.md#8": "kubernetes.io/batch-cpu",
    "docs/user-guide/how_to_use_dra_quota.md#5": "a ResourceClaimTemplate",
    "docs/user-guide/how_to_use_dra_quota.md#6": "a ResourceClaim",
    "docs/user-guide/how_to_use_vnpu.md#9": "huawei.com/npu-core",
}
"""What asks for something that the cluster does not have."""


def cluster():
    """Eight nodes with some of everything, the queues and the classes that the examples name."""
    nodes = []
    for number in range(8):
        one = node(f"n{number}", 32, labels={"kubernetes.io/os": "linux"})
        one["status"]["allocatable"] |= {"memory": "256Gi", "nvidia.com/gpu": "8", "ephemeral-storage": "500Gi"}
        nodes.append(one)
    classes = [priority_class(name, 1000) for name in ("high-priority", "normal-priority", "low-priority")]
    return {"apiVersion": "v1", "kind": "List", "items": [*nodes, *map(queue, QUEUES), *classes]}


@pytest.mark.parametrize("path", EXAMPLES)
def test_is_placed(path: str, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(EXAMPLES[path])
    if wrong := (DENIED | UNREADABLE).get(path):
        with pytest.raises(InputError, match=wrong):
            cpsched.load(cluster(), submit=[manifest])
        return
    instance = cpsched.load(cluster(), submit=[manifest])
    assert instance.tasks
    engine = "volcano" if instance.jobs else "kube"
    solution = cpsched.solve(instance, model=engine, engine=engine)
    assert not solution.findings
    missing = set(instance.tasks) - set(solution.binds)
    assert bool(missing) == (path in NOT_PLACED), missing
