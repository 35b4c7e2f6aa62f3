"""Every answer begins with what was read; where there is nothing to decide, it says so and claims no proof."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.dumps import list_of, node, pod

READ = "2 nodes, 1 pod running; scheduler kube"
MODEL = "cpsched: Model kube: no pod is pending, and the input has no objects of Volcano.\n"
ANSWERS: dict[str, Sequence[str]] = {
    "solve": (),
    "solve kube": ("--engine", "kube"),
    "compare": ("--cache", "none"),
    "compare md": ("--cache", "none", "--markdown"),
    "explain": (),
    "explain md": ("--markdown",),
    "import": ("--report",),
}


@pytest.fixture
def idle(tmp_path: Path) -> Path:
    path = tmp_path / "idle.json"
    path.write_text(list_of("Node", node("n1"), node("n2")) + list_of("Pod", pod("web", "n1")))
    return path


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_was_read_stands_at_the_top(cli: Command, idle: Path, answer: str) -> None:
    code, out, err = cli(answer.split(maxsplit=1)[0], idle, *ANSWERS[answer])
    assert (code, err) in ((0, ""), (0, MODEL))
    assert READ.removesuffix("; scheduler kube") in "\n".join(out.splitlines()[:3])
    assert "proved" not in out


def test_nothing_is_proved_of_nothing(cli: Command, idle: Path, tmp_path: Path) -> None:
    out = cli("solve", idle).out
    assert out == f"{READ}\nEngine optimal, model kube: nothing to decide: no pod is pending\n"
    assert "Nothing to decide: no pod is pending." in cli("compare", idle, "--cache", "none").out
    report = cli("report", idle, "--format", "text").out
    assert "optimal has nothing to decide: no pod is pending." in report
    assert "proved" not in report
    assert json.loads(cli("solve", idle, "--json").out)["notes"] == ["nothing to decide: no pod is pending"]
    compared = json.loads(cli("compare", idle, "--cache", "none", "--json").out)
    assert (compared["read"], compared["nothing_to_decide"]) == (READ, "no pod is pending")


def test_pods_without_nodes(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "pods.json"
    path.write_text(list_of("Pod", pod("a", "n1"), pod("b", "n2"), pod("c", "n2"), pod("waits")))
    code, out, err = cli("solve", path)
    assert (code, err.count("\n")) == (0, 2)
    assert "let --assume-nodes make the 2 that spec.nodeName names" in err
    assert "nothing to decide: the input has no nodes, 1 pod pending" in out
    code, out, err = cli("solve", path, "--assume-nodes")
    assert (code, err) == (0, "cpsched: Model kube: 1 pod of kube-scheduler pending, none of Volcano.\n")
    assert "2 nodes taken from spec.nodeName: n1, n2; each holds what its pods request" in out
    assert "default/waits" in out
    instance = json.loads(cli("import", path, "--assume-nodes").out)
    sizes = {one["metadata"]["name"]: one["status"]["allocatable"] for one in instance["objects"][4:]}
    assert sizes == {
        "n1": {"cpu": "1000m", "memory": "0", "pods": "110"},
        "n2": {"cpu": "2000m", "memory": "0", "pods": "110"},
    }
