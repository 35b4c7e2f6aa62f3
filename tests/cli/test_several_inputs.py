"""Several files of one cluster, named one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command


def written(path: Path, *items: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


def node(name: str) -> dict[str, Any]:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def pod(name: str, cpu: str, on: str = "") -> dict[str, Any]:
    spec = {"nodeName": on} if on else {}
    return {
        **{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "a", "uid": name}},
        "spec": {**spec, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Running" if on else "Pending"},
    }


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Path, Path]:
    nodes = written(tmp_path / "nodes.json", node("n1"), node("n2"))
    return nodes, written(tmp_path / "pods.json", pod("runs", "2", on="n1"), pod("waits", "3"), pod("big", "5"))


READ = "2 nodes, 1 pod running, 2 pending; scheduler kube"


@pytest.mark.parametrize("order", [1, -1])
def test_solve_takes_them_as_one_cluster(cli: Command, parts: tuple[Path, Path], order: int) -> None:
    ended = cli("solve", *parts[::order], "--json")
    assert json.loads(ended.out)["binds"] == {"a/waits": "n2"}
    assert READ in cli("solve", *parts[::order]).out


def test_verify_import_and_report_do_so_too(cli: Command, parts: tuple[Path, Path], tmp_path: Path) -> None:
    made, certificate = tmp_path / "solution.json", tmp_path / "certificate.json"
    assert cli("solve", *parts, "-o", made, "--certificate", certificate).code == 0
    for document in (made, certificate):
        ended = cli("verify", document, *parts)
        assert (ended.code, READ in ended.out) == (0, True)
    assert READ.startswith(cli("import", *parts, "--report").out.partition("\n")[0])
    whole = json.loads(cli("import", *parts).out)
    assert [one["metadata"]["name"] for one in whole["objects"] if one["kind"] == "Node"] == ["n1", "n2"]
    printed = cli("report", *parts, "--engines", "kube").out
    assert printed.startswith("nodes.json, pods.json\n")
    assert "kube starts 1" in printed
    assert cli("proof", "export", certificate, *parts, "-o", tmp_path / "proofs").code == 0


def test_explain_takes_the_last_word_for_a_name_if_no_file_has_it(
    cli: Command, parts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = cli("explain", *parts, "big").out
    assert "Task a/big stays" in printed
    assert printed == cli("explain", *parts, "--task", "a/big").out
    assert "2 tasks of 2 jobs pending" in cli("explain", *parts).out
    monkeypatch.chdir(parts[0].parent)
    written(Path("big"), node("n3"))
    assert "3 nodes" in cli("explain", *parts, "big").out
    ended = cli("explain", *parts, "gone.json")
    assert ended.code == 2
    assert "gone.json" in ended.err


def test_compare_takes_files_that_are_nothing_alone_as_one_case(
    cli: Command, parts: tuple[Path, Path], tmp_path: Path
) -> None:
    ended = cli("compare", *parts, "--engines", "kube", "--cache", "none")
    assert ended.out.startswith(f"nodes.json, pods.json, model kube\n{READ}\n")
    whole = written(tmp_path / "whole.json", node("n1"), pod("p", "1"))
    ended = cli("compare", whole, parts[0], "--engines", "kube", "--cache", "none", "--json")
    assert [one["id"] for one in json.loads(ended.out)["cases"]] == ["whole.json", "nodes.json"]


def test_stdin_is_read_once(cli: Command, parts: tuple[Path, Path]) -> None:
    for command in ("solve", "explain", "report", "import"):
        ended = cli(command, parts[0], "-", "-")
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == "cpsched: error: two inputs are stdin; name a file for one of them\n"


def test_what_import_wrote_of_a_cluster_is_no_case(cli: Command, tmp_path: Path) -> None:
    """A dump may lack a node; so may the Instance that was made of it, for every command."""
    dump, made = (
        written(tmp_path / "dump.json", node("n1"), pod("runs", "2", on="gone"), pod("p", "1")),
        tmp_path / "i.json",
    )
    assert cli("import", dump, "-o", made).code == 0
    assert json.loads(cli("solve", made, "--json").out)["binds"] == {"a/p": "n1"}
    ended = cli("solve", made, "--strict")
    assert (ended.code, "sits on node gone" in ended.err) == (2, True)
    ended = cli("study", tmp_path / "run", "--instances", dump, "--engines", "kube", "--models", "kube")
    assert (ended.code, "Failed" in ended.out) == (0, False)
