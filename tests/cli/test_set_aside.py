"""What could not be read is given by every command in a few lines, and in full by `import --report`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpsched import load
from tests.cli.conftest import ROOT, Command
from tests.dumps import as_folder, list_of, node, pod, tarred, with_kind

ODD = {**pod("odd", "n1"), "status": {"phase": "CrashLoopBackOff"}}
MEMBERS = {
    "nodes.json": list_of("Node", node("n1")),
    "pods.json": "Warning: use v2\n" + list_of("Pod", pod("web", "n1"), ODD, pod("waits"), ODD),
    "values.yaml": "replicas: 3\n",
    "template.yaml": "kind: {{ .Values.kind }}\n",
    "logs.txt": "x",
    "queues.json": 'error: the server doesn\'t have a resource type "queues"\n',
    "link.json": "->../nodes.json",
    "again.json": list_of("Node", node("n1")),
}


def summary(path: Path) -> list[str]:
    odd = "pods.json: Pod default/odd: status.phase: \"CrashLoopBackOff\" should be '', 'Pending'"
    return [
        f"cpsched: warning: {path}: set aside: 2 unreadable objects ({odd}",
        f"cpsched: warning: {path}: set aside: 2 unreadable files (queues.json: holds no objects but a message: ",
        f"cpsched: warning: {path}: set aside: 1 line that kubectl printed beside the objects (pods.json: line 1: ",
        f"cpsched: warning: {path}: set aside: 1 link or special file, which is not read (link.json)",
        f"cpsched: warning: {path}: set aside: 1 document that holds no objects (values.yaml)",
        f"cpsched: warning: {path}: set aside: 2 more sorts of things; cpsched import --report shows all",
    ]


@pytest.mark.parametrize(
    "command",
    [("import",), ("solve",), ("explain", "--task", "default/waits"), ("report",)],
    ids=" ".join,
)
def test_every_command_tells_it_in_six_lines(cli: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    path = as_folder(tmp_path / "dump", MEMBERS)
    code, out, err = cli(command[0], path, *command[1:])
    assert (code, bool(out)) == (0, True)
    lines = [line for line in err.splitlines() if "warning: " in line]
    expected = summary(path)
    assert len(lines) == len(expected)
    assert [line[: len(start)] for line, start in zip(lines, expected, strict=True)] == expected


def test_compare_and_report_read_an_archive(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "dump.tgz"
    path.write_bytes(tarred(MEMBERS, "w:gz"))
    for command in ("compare", "report"):
        code, _, err = cli(command, path)
        assert code == 0
        assert "set aside: 2 unreadable objects" in err


def test_the_report_shows_all(cli: Command, tmp_path: Path) -> None:
    path = as_folder(tmp_path / "dump", MEMBERS)
    code, out, _ = cli("import", path, "--report")
    assert code == 0
    rows = " ".join(out.split())
    for shown in (
        "unreadable objects",
        "objects given twice 1 again.json: Node n1",
        "files that are neither JSON nor YAML 1 logs.txt",
        "not valid YAML",
        "1 template.yaml: line 1 column",
        "links and special files, which are not read a link out of",
    ):
        assert shown in rows


def test_strict_is_an_error(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps([with_kind("Node", node("n1")), with_kind("Pod", ODD)]))
    for command in ("import", "solve", "explain", "report", "compare"):
        more = ["--task", "default/odd"] if command == "explain" else []
        code, _, err = cli(command, path, "--strict", *more)
        assert (code, err.count("\n")) == (2, 1)
        assert 'Pod default/odd: status.phase: "CrashLoopBackOff" should be ' in err


def test_a_case_of_check_is_strict(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps([with_kind("Node", node("n1")), with_kind("Pod", ODD)]))
    code, _, err = cli("check", path, "--no-optimum")
    assert code == 2
    assert "CrashLoopBackOff" in err


def test_one_mistake_among_twelve_thousand_objects(cli: Command, tmp_path: Path) -> None:
    nodes = [with_kind("Node", node(f"n{number}")) for number in range(12_000)]
    (tmp_path / "large.json").write_text(json.dumps({"kind": "List", "items": [*nodes, with_kind("Pod", ODD)]}))
    code, _, err = cli("import", tmp_path / "large.json")
    assert (code, err.count("\n")) == (0, 1)
    assert "set aside: 1 unreadable object (Pod default/odd: status.phase: " in err


def test_the_real_stream(cli: Command) -> None:
    stream = ROOT / "tests" / "snapshots" / "plain-cluster-info-dump.txt.gz"
    code, out, err = cli("import", stream)
    assert code == 0
    assert err.startswith(f"cpsched: warning: {stream}: set aside: 131 container logs\n")
    assert load(json.loads(out)).sha256 == load(stream).sha256


def test_a_study_reads_a_dump_with_logs(cli: Command, tmp_path: Path) -> None:
    stream = tmp_path / "dump.json"
    stream.write_text(list_of("Node", node("n1")) + "garbage\n" + list_of("Pod", pod("waits")))
    run = tmp_path / "run"
    code, _, err = cli("study", run, "--instances", stream, "--engines", "volcano", "--workers", "1")
    assert (code, err) == (0, "")


def test_escapes_in_names_are_not_printed(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "dump.tar"
    bad = {"metadata": {"name": "\x1b[31mred"}, "spec": {"priority": "\x1b[0m"}}
    path.write_bytes(
        tarred({"nodes.json": list_of("Node", node("n1")), "\x1b[2J.log": "x", "pods.json": list_of("Pod", bad)})
    )
    code, out, err = cli("import", path, "--report")
    assert code == 0
    assert "\x1b" not in out + err
