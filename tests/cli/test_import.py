"""`cpsched import`: the same cluster again, and nothing left aside in silence."""

from __future__ import annotations

import json
from pathlib import Path

from cpsched import load
from cpsched.importers.formats import FORMATS
from tests.cli.conftest import ROOT, Command

DATA = ROOT / "tests" / "fuzz" / "data"


def test_the_instance_it_writes_loads_as_the_same(cli: Command, tmp_path: Path) -> None:
    for source in (DATA / "kube-list.json", DATA / "volcano-list.json", DATA / "every-kind.yaml"):
        file = tmp_path / "instance.json"
        assert cli("import", source, "-o", file)[:2] == (0, "")
        text = cli("import", source).out
        assert file.read_text() == text
        assert load(file).sha256 == load(source).sha256
        assert json.loads(text)["kind"] == "Instance"


def test_report_counts_what_was_read_and_what_was_not(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "mixed.yaml"
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {dnsPolicy: Default, containers: []}}\n---\n"
    path.write_text(pod % "a" + pod % "b" + "{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}\n")
    code, out, err = cli("import", path, "--report")
    rows = [line.split() for line in out.splitlines()]
    assert (code, err.count("\n")) == (0, 1)
    assert ["Pod", "2"] in rows
    assert ["v1", "ConfigMap", "1"] in rows
    assert ["Pod.spec.dnsPolicy", "2"] in rows
    assert "{" not in out


def test_report_with_output_writes_the_instance_too(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "instance.json"
    code, out, _ = cli("import", DATA / "every-kind.yaml", "--report", "-o", file)
    assert code == 0
    assert "Nothing was ignored." in out
    assert json.loads(file.read_text())["kind"] == "Instance"


def test_conf_goes_into_the_instance(cli: Command) -> None:
    conf = DATA / "volcano-scheduler.conf"
    written = json.loads(cli("import", DATA / "volcano-list.json", "--conf", conf).out)
    assert written["conf"]["actions"] == "allocate, preempt"
    code, _, err = cli("import", DATA / "volcano-list.json", "--conf", DATA / "solution.json")
    assert code == 2
    assert "this is not a scheduler configuration" in err


def test_snapshots_of_other_programs_are_stated_apart(cli: Command) -> None:
    data, queues = ROOT / "tests" / "snapshots", ROOT / "tests" / "snapshots" / "queues.json"
    for name, arguments in {
        "volcano-dump": (data / "volcano-dump.json", "--queues", queues),
        "kai": (data / "kai-snapshot.json",),
        "simulator": (data / "simulator-export.json",),
        "openb": (ROOT / "tests" / "traces" / "openb",),
        "dlrm": (ROOT / "tests" / "traces" / "dlrm",),
    }.items():
        code, out, _ = cli("import", *arguments, "--report")
        assert code == 0
        assert out.partition("\n\n")[2].startswith(f"Format: {name}, ")
        assert cli("import", *arguments, "--from", name).out == cli("import", *arguments).out
    code, out, err = cli("import", data / "volcano-dump.json")
    assert (code, out) == (2, "")
    assert "a cache dump holds no queues" in err
    assert "Invalid value for '--from'" in cli("import", data / "kai-snapshot.json", "--from", "other").err


def test_a_warning_tells_what_was_read_with_a_change(cli: Command) -> None:
    code, out, err = cli("import", ROOT / "tests" / "snapshots" / "kai-snapshot.json")
    assert code == 0
    assert json.loads(out)["kind"] == "Instance"
    assert "1 pod asks for a part of a GPU, which is read as none\n" in err


def test_the_formats_on_offer_are_the_registry(cli: Command) -> None:
    text = " ".join(cli("import", "--help").out.split())
    assert f"--from <{'|'.join(FORMATS)}>" in text


def test_broken_references_are_errors_of_a_case_and_warnings_of_a_cluster(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "pod.json"
    pod = '{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "gone"}, "status": {"phase": "Running"}}'
    path.write_text(f'{{"kind": "List", "items": [{{"kind": "Node", "metadata": {{"name": "n"}}}}, {pod}]}}')
    line = f"{path}: Pod p: sits on node gone, which is not in the input"
    code, out, err = cli("import", path)
    assert (code, err) == (0, f"cpsched: warning: {line}; counted for jobs and queues, on no node\n")
    output = f"{line}; add the node or leave the pod out"
    assert cli("import", path, "--strict") == (2, "", f"cpsched: error: {output}\n")
    code, out, err = cli("import", path, "--strict", "--lenient")
    assert (code, err) == (0, f"cpsched: warning: {output}\n")
    assert json.loads(out)["objects"]
