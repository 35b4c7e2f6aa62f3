"""The options that change the cluster: every command states them first, and bad ones are one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Command

CLUSTER = ROOT / "instances" / "what-if" / "cluster.yaml"
JOB = ROOT / "instances" / "what-if" / "train.yaml"
CHANGED = ("--submit", JOB, "--add-nodes", "1", "--like", "gpu-2")


@pytest.mark.parametrize("command", ["solve", "explain", "compare", "report"])
def test_every_answer_states_it(cli: Command, command: str) -> None:
    code, out, _ = cli(command, CLUSTER, *CHANGED)
    assert code == 0
    assert "1 node more: gpu-2-new-1 (--add-nodes 1 --like gpu-2)" in out
    assert f"Job default/train, 4 pods (--submit {JOB})" in out


@pytest.mark.parametrize("command", ["solve", "explain", "compare"])
def test_json_carries_it(cli: Command, command: str) -> None:
    stated = json.loads(cli(command, CLUSTER, *CHANGED, "--json").out)["what_if"]
    assert [one["option"] for one in stated] == ["--add-nodes 1 --like gpu-2", f"--submit {JOB}"]


def test_both_models_take_a_submitted_job(cli: Command, tmp_path: Path) -> None:
    plain = tmp_path / "job.yaml"
    plain.write_text(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2, template: {spec: {containers: "
        "[{name: c, image: x, resources: {requests: {nvidia.com/gpu: 8}}}]}}}}"
    )
    solution = json.loads(cli("solve", CLUSTER, "--submit", plain, "--model", "kube", "--engine", "kube", "--json").out)
    assert solution["binds"] == {"default/j-0": "gpu-2"}
    assert json.loads(cli("solve", CLUSTER, *CHANGED, "--engine", "volcano", "--json").out)["binds"].keys() == {
        f"default/train-worker-{number}" for number in range(4)
    }


def test_verify_needs_the_same_options(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "decision.json"
    cli("solve", CLUSTER, *CHANGED, "-o", file)
    code, out, err = cli("verify", file, CLUSTER, *CHANGED)
    assert (code, err) == (0, "")
    assert "What if: 1 node more: gpu-2-new-1; Job default/train, 4 pods." in out
    code, _, err = cli("verify", file, CLUSTER)
    assert code == 1
    assert "was made from another input" in err
    assert f'it was made with "--add-nodes 1 --like gpu-2" "--submit {JOB}"' in err


def test_an_imported_instance_needs_no_options(cli: Command, tmp_path: Path) -> None:
    changed, decision = tmp_path / "changed.json", tmp_path / "decision.json"
    assert cli("import", CLUSTER, *CHANGED, "-o", changed).code == 0
    cli("solve", CLUSTER, *CHANGED, "-o", decision)
    assert cli("verify", decision, changed)[::2] == (0, "")


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("--cordon", "gpu-9"), "--cordon: no node gpu-9; did you mean gpu-"),
        (("--drain", "x"), "--drain: no node x; there are 2 nodes: gpu-1, gpu-2"),
        (("--without", "default/serve"), "--without: no pod default/serve; did you mean default/serve-7d9f-x2x4k?"),
        (("--add-nodes", "1"), "--add-nodes is given 1 times and --like 0 times"),
        (("--add-nodes", "1", "--like", "gpu-9"), "--like: no node gpu-9"),
        (("--add-nodes", "-1", "--like", "gpu-1"), "--add-nodes: -1 nodes; add 1 or more"),
        (("--submit", "nowhere.yaml"), "nowhere.yaml: no such file"),
        (("--submit", CLUSTER), "is in the input already"),
    ],
)
def test_what_is_wrong_is_one_line(cli: Command, arguments: tuple[object, ...], output: str) -> None:
    code, out, err = cli("solve", CLUSTER, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert output in err


def test_waiting_for_enqueue_in_sums(cli: Command) -> None:
    out = cli("explain", CLUSTER, "train", "--submit", JOB).out
    assert "waits for enqueue: asks 32 cpu, 128Gi memory, 16 gpu" in out
    assert "overcommit leaves 15.2 gpu: 19.2 as 1.2 times the cluster − 4 in use" in out
    assert "queue default (proportion) leaves 12 gpu: 16 that it may hold − 4 held" in out
