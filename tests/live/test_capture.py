"""`cpsched capture` against a real control plane: what it takes, as whom, and what is read from it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cpsched.importers.load import load
from tests.docs.blocks import blocks
from tests.live.build import folder
from tests.live.capturing import captured
from tests.live.plane import READER, Plane

Raw = dict[str, Any]
ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SECRET = "do-not-take-this"
ALL = ["Node", "Pod", "Namespace", "Service", "ReplicaSet", "StatefulSet", "PersistentVolumeClaim", "StorageClass"]


@pytest.fixture(scope="module", autouse=True)
def _cluster(plane: Plane) -> None:
    """Three nodes, and what a team would apply."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    for number in range(3):
        plane.add_node(f"node-{number}", {"topology.kubernetes.io/zone": f"z{number}"}, amounts)
    plane.kubectl("apply", "-f", str(HERE / "team.yaml"))
    plane.wait_for("the team's pods", lambda: phases(plane, "team") == {"Running": 4, "Pending": 1})


def phases(plane: Plane, namespace: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for pod in plane.api.items(f"/api/v1/namespaces/{namespace}/pods"):
        phase = pod["status"].get("phase", "")
        found[phase] = found.get(phase, 0) + 1
    return found


def cpsched(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cpsched", *map(str, arguments)]
    path = ":".join(filter(None, sys.path))
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PYTHONPATH": path, "PATH": "/bin", **environment}
    )


def test_the_command_takes_the_cluster_and_solve_answers(plane: Plane, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json.gz"
    kubectl = ("--kubectl", folder() / "kubectl")
    ended = cpsched("capture", "-o", file, *kubectl, KUBECONFIG=str(plane.kubeconfig))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "3 Node" in ended.stdout
    text = gzip.decompress(file.read_bytes()).decode()
    assert SECRET not in text
    assert "live-bed" not in text
    first, *objects = json.loads(text)["items"]
    assert (first["kind"], first["kubernetes"], first["missing"]) == ("Capture", "v1.36.3", [])
    assert set(ALL) <= {item["kind"] for item in objects}
    assert not {"Secret", "ConfigMap"} & {item["kind"] for item in objects}
    answer = cpsched("solve", file, "--engine", "kube", "--json")
    assert answer.returncode == 0, answer.stderr
    [(waits, why)] = json.loads(answer.stdout)["unplaced"].items()
    assert waits == "team/too-large"
    assert "3 Insufficient cpu" in str(why)


def test_the_context_is_named_on_request(plane: Plane, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    options = ("--kubectl", folder() / "kubectl", "--kubeconfig", plane.kubeconfig)
    assert cpsched("capture", "-o", file, "--with-context", *options).returncode == 0
    assert json.loads(file.read_text())["items"][0]["context"] == "live-bed"


def test_a_user_without_rights_is_stated_what_is_needed(plane: Plane, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    options = ("--kubectl", folder() / "kubectl", "--kubeconfig", plane.kubeconfig)
    ended = cpsched("capture", "-o", file, *options, "--as", "stranger")
    assert ended.returncode == 2
    assert 'User "stranger" cannot list resource "nodes"' in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not file.exists()


def test_the_documented_role_is_enough(plane: Plane) -> None:
    [role] = blocks(ROOT / "docs" / "capture.md", "yaml")
    plane.apply(yaml.safe_load(role))
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "capture"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cpsched-capture"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": READER}],
    }
    plane.apply(binding)
    plane.wait_for("the reader's rights", lambda: can_list(plane, "nodes"))
    taken, whole = captured(plane, plane.readers_kubeconfig), captured(plane)
    assert taken.document["missing"] == []
    assert taken.items == whole.items
    assert captured(plane, as_user=READER).items == whole.items
    assert not can_list(plane, "secrets")
    assert not can_list(plane, "configmaps")


def can_list(plane: Plane, what: str) -> bool:
    command = [str(folder() / "kubectl"), f"--kubeconfig={plane.readers_kubeconfig}", "get", "-A", what]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_volcano_s_kinds_and_its_configuration_are_found(plane: Plane) -> None:
    assert "Queue.scheduling.volcano.sh" in captured(plane).absent
    plane.kubectl("apply", "-f", str(HERE / "volcano.yaml"))
    plane.wait_for("the kinds", lambda: not {"Queue.scheduling.volcano.sh"} & set(captured(plane).absent))
    plane.kubectl("apply", "-f", str(HERE / "gang.yaml"))
    taken = captured(plane)
    assert [(one["scheduler"], one["from"]) for one in taken.document["configurations"]] == [
        ("volcano", "volcano-system/volcano-scheduler-configmap")
    ]
    assert SECRET not in json.dumps(taken.content())
    instance = load(taken.content())
    assert instance.conf is not None
    assert instance.conf["actions"] == "enqueue, allocate"
    assert instance.jobs["team/gang"].queue == "research"


def test_kubectl_runs_it_as_a_plugin(plane: Plane, tmp_path: Path) -> None:
    plugin = tmp_path / "kubectl-cpsched"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} -m cpsched "$@"\n')
    plugin.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{folder()}:/bin", "PYTHONPATH": ":".join(filter(None, sys.path))}
    command = [str(folder() / "kubectl"), "cpsched", "capture", f"--kubeconfig={plane.kubeconfig}", "-o", "plugin.json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert load(tmp_path / "plugin.json").nodes.keys() == {"node-0", "node-1", "node-2"}
