"""`cpsched capture` with a kubectl that prints what a real one printed."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Command
from tests.kubectl import RECORDED, asked, stand_in

Raw = dict[str, Any]
SECRET = "do-not-take-this"
NAMES = ("team", "research", "gang-0", "too-large", "node-1")
"""Stand in the recorded cluster, and in no word of an API."""


def content(file: Path) -> list[Raw]:
    data = file.read_bytes()
    found: list[Raw] = json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)["items"]
    return found


def test_one_file_that_every_command_reads(cli: Command, tmp_path: Path) -> None:
    kubectl, file = stand_in(tmp_path / "bin"), tmp_path / "cluster.json.gz"
    code, out, err = cli("capture", "--kubectl", kubectl, "-o", file)
    assert (code, err) == (0, "")
    assert "3 Node" in out
    assert "Configuration of volcano: ConfigMap volcano-system/volcano-scheduler-configmap" in out
    absent = "HyperNode.topology.volcano.sh, Numatopology.nodeinfo.volcano.sh, PodGroup.scheduling.k8s.io"
    assert f"Kinds that the cluster does not have: {absent}\n" in out
    code, out, err = cli("import", file, "--report")
    assert (code, err) == (0, "")
    # Fields that nothing reads are not in it, and neither are kinds.
    assert "Nothing was ignored." in out
    code, out, err = cli("solve", file, "--json")
    # The configuration in the file holds: this plugin stands in it.
    assert code == 0
    assert "the configuration is Volcano's" in err
    assert "plugin extender is not mirrored" in err
    # Pods of kube-scheduler wait too, so there are two decisions.
    assert [set(decided["binds"]) for decided in json.loads(out)["solutions"]] == [{"team/gang-0"}, set()]


def test_nothing_is_taken_that_no_decision_reads(cli: Command, tmp_path: Path) -> None:
    kubectl, file = stand_in(tmp_path / "bin"), tmp_path / "cluster.json"
    assert cli("capture", "--kubectl", kubectl, "-o", file).code == 0
    for words in asked(kubectl):
        assert "secret" not in " ".join(words).lower()
        assert words[0] in ("api-resources", "get", "version")
    recorded = (kubectl.parent / "answers.json").read_text()
    assert SECRET in recorded
    assert SECRET not in file.read_text()
    first, *items = content(file)
    assert "context" not in first
    pods = {item["metadata"]["name"]: item for item in items if item["kind"] == "Pod"}
    assert pods["db-0"]["spec"]["containers"][0].keys() == {"name", "resources"}
    # A pod that waits is placed by its image too.
    assert pods["too-large"]["spec"]["containers"][0]["image"] == "example.com/main:1"


def test_pseudonyms_and_the_file_that_explains_them(cli: Command, tmp_path: Path) -> None:
    kubectl, file, names = stand_in(tmp_path / "bin"), tmp_path / "cluster.json", tmp_path / "names.json"
    assert cli("capture", "--kubectl", kubectl, "-o", file, "--redact", "--names", names).code == 0
    text = file.read_text()
    for name in NAMES:
        assert not re.search(rf'"[^"]*\b{name}\b[^"]*"', text), name
    known = json.loads(names.read_text())
    assert set(NAMES) <= set(known.values())
    decided = json.loads(cli("solve", file, "--model", "volcano", "--json").out)
    [(task, node)] = decided["binds"].items()
    assert "/".join(known.get(part, part) for part in task.split("/")) == "team/gang-0"
    assert known[node].startswith("node-")


def test_what_kubectl_is_stated(cli: Command, tmp_path: Path) -> None:
    kubectl, file = stand_in(tmp_path / "bin"), tmp_path / "cluster.json"
    options = ("--context", "c", "--kubeconfig", "k", "--as", "u", "--as-group", "g", "--as-group", "h")
    assert cli("capture", "--kubectl", kubectl, "-o", file, *options, "--with-context").code == 0
    stated = ["--context=c", "--kubeconfig=k", "--as=u", "--as-group=g", "--as-group=h"]
    assert all(words[:5] == stated for words in asked(kubectl))
    assert content(file)[0]["context"] == "c"


def test_kinds_that_are_forbidden_are_named_and_the_rest_is_taken(cli: Command, tmp_path: Path) -> None:
    kubectl = stand_in(tmp_path / "bin", get="get forbidden in part", configmap="configmap forbidden")
    file = tmp_path / "cluster.json"
    code, out, err = cli("capture", "--kubectl", kubectl, "-o", file)
    assert code == 0
    assert "5 Pod" in out or "6 Pod" in out
    assert err.count("\n") == 1
    assert "because that user may not read them (docs/capture.md has the ClusterRole that is needed): namespaces" in err
    # A later reader of the cluster is given it too.
    assert ": namespaces, services" in cli("import", file, "--report").err


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (
            {"get": "get forbidden"},
            'nodes cannot be read: User "reader" cannot list .*; docs/capture.md has the Cluster',
        ),
        ({"api_resources": "unknown context"}, 'context "nope" does not exist; kubectl config get-contexts'),
        ({"api_resources": "no answer"}, "The connection to the server .* was refused .*; no cluster answers"),
        ({"api_resources": "not logged in"}, "You must be logged in .*; log in as you do"),
        ({"api_resources": "no such host"}, "dial tcp: lookup nowhere.invalid .*; no cluster answers"),
        ({"get": "version"}, "printed no List of objects"),
        ({"get": "api-resources"}, "printed something else than JSON"),
        ({"api_resources": "version"}, "lists no nodes and pods"),
    ],
)
def test_what_goes_wrong_is_one_line_and_no_file(
    cli: Command, tmp_path: Path, answer: dict[str, str], line: str
) -> None:
    kubectl, file = stand_in(tmp_path / "bin", **answer), tmp_path / "cluster.json"
    code, out, err = cli("capture", "--kubectl", kubectl, "-o", file)
    assert (code, out) == (2, "")
    assert re.match(rf"cpsched: error: \S+/kubectl: {line}", err), err
    assert err.count("\n") == 1
    assert not file.exists()


def test_without_kubectl(cli: Command, tmp_path: Path) -> None:
    code, out, err = cli("capture", "--kubectl", "no-such-kubectl", "-o", tmp_path / "cluster.json")
    assert (code, out) == (2, "")
    assert err == (
        "cpsched: error: no-such-kubectl: cannot be started: No such file or directory; "
        "install kubectl, or name it: --kubectl PATH\n"
    )


def test_a_cluster_that_does_not_answer_in_time(cli: Command, tmp_path: Path) -> None:
    kubectl, file = stand_in(tmp_path / "bin", sleep=600), tmp_path / "cluster.json"
    code, out, err = cli("capture", "--kubectl", kubectl, "-o", file, "--timeout", "1")
    assert (code, out) == (2, "")
    assert "has not answered within 1 s; see whether kubectl get nodes answers" in err
    assert not file.exists()


def test_names_without_pseudonyms_are_refused(cli: Command, tmp_path: Path) -> None:
    code, _, err = cli("capture", "--names", tmp_path / "names.json")
    assert code == 2
    assert "--names needs --redact" in err


def test_a_place_that_cannot_be_written_is_found_out_first(cli: Command, tmp_path: Path) -> None:
    kubectl = stand_in(tmp_path / "bin")
    code, _, err = cli("capture", "--kubectl", kubectl, "-o", tmp_path / "nowhere" / "cluster.json")
    assert code == 2
    assert "cannot be written" in err
    assert not (tmp_path / "bin" / "asked.jsonl").exists()


def test_ctrl_c_ends_kubectl_and_leaves_no_file(tmp_path: Path) -> None:
    kubectl, file = stand_in(tmp_path / "bin", sleep=60), tmp_path / "cluster.json"
    command = [sys.executable, "-m", "cpsched", "capture", "--kubectl", str(kubectl), "-o", str(file)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    running = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "bin" / "asked.jsonl"
    while not log.exists():
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate()
    assert (running.returncode, err) == (130, "cpsched: interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]


def test_names_of_the_cluster_do_not_reach_the_terminal_raw(cli: Command, tmp_path: Path) -> None:
    evil = "\x1b[31m\u202ered"
    usual = RECORDED["get forbidden in part"]
    odd = {**usual, "err": f"{usual['err']}Error from server (Timeout): {evil}\n"}
    config_map = RECORDED["configmap"]["out"].replace("volcano-scheduler-configmap", "x\\u001b[31m")
    kubectl = stand_in(tmp_path / "bin", get=odd, configmap={**RECORDED["configmap"], "out": config_map})
    code, out, err = cli("capture", "--kubectl", kubectl, "-o", tmp_path / "cluster.json")
    assert code == 0
    assert "\\x1b[31m\\u202ered" in err
    assert not {"\x1b", "\u202e"} & set(out + err)
    failed = {"code": 1, "out": "", "err": f"error: {evil}\n"}
    refused = cli("capture", "--kubectl", stand_in(tmp_path / "bin", get=failed), "-o", tmp_path / "other.json")
    assert refused.code == 2
    assert not {"\x1b", "\u202e"} & set(refused.err)


def test_it_is_a_plugin_of_kubectl() -> None:
    import tomllib

    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["kubectl-cpsched"] == scripts["cpsched"]
