"""A corpus: what is a case, its id, and what a case brings along."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.importers.corpus import cases, count
from cpsched.importers.recorded import outcomes

INSTANCE = {"apiVersion": "cpsched/v1", "kind": "Instance"}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}}


def write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def rows(path: Path, *lines: Any) -> None:
    path.write_bytes(gzip.compress("\n".join(json.dumps(line) for line in lines).encode()))


def test_a_folder_is_one_case_per_file_below_it(tmp_path: Path) -> None:
    for name in ("b.json", "a.yaml", "deep/er/c.json.gz", "expected.json", "baseline.json", "x.baseline.json"):
        write(tmp_path / name, {} if name == "expected.json" else INSTANCE)
    write(tmp_path / "b.solution.json", {"kind": "Solution"})
    (tmp_path / "notes.txt").write_text("no case")
    rows(tmp_path / "r.jsonl.gz", {"id": "one", "objects": []}, {"objects": []})
    found = list(cases(str(tmp_path)))
    assert [case.id for case in found] == ["a.yaml", "b.json", "deep/er/c.json.gz", "r.jsonl.gz#one", "r.jsonl.gz#2"]
    assert count(str(tmp_path)) == 5
    assert [case.line for case in found] == [None, None, None, 1, 2]
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_file_is_a_corpus_and_so_is_stdin(tmp_path: Path) -> None:
    write(tmp_path / "one.json", INSTANCE)
    (case,) = cases(str(tmp_path / "one.json"))
    assert (case.id, case.load().tasks) == ("one.json", {})
    assert [case.id for case in cases("-")] == ["stdin"]


def test_expected_json_states_the_model_and_the_decision(tmp_path: Path) -> None:
    write(tmp_path / "one.json", INSTANCE)
    entry = {"model": "kube", "decision": {"binds": {"p": "n"}, "evicted": ["v"]}, "shows": "gang"}
    write(tmp_path / "expected.json", {"one.json": entry})
    (case,) = cases(str(tmp_path))
    assert case.model == "kube"
    (outcome,) = outcomes(case)
    assert (outcome.solution.binds, outcome.solution.evicted) == ({"p": "n"}, {"v"})


def test_a_solution_lies_beside_its_instance(tmp_path: Path) -> None:
    write(tmp_path / "one.json.gz", INSTANCE)
    write(tmp_path / "one.solution.json", {"kind": "Solution", "engine": "mine", "binds": {"p": "n"}})
    (case,) = cases(str(tmp_path))
    (outcome,) = outcomes(case)
    assert (outcome.solution.engine, outcome.solution.binds) == ("mine", {"p": "n"})


def test_rows_bring_outcomes_most_frequent_first(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    rows(
        path,
        {"id": "a", "objects": [POD], "outcomes": [{"binds": {}, "count": 2}, {"binds": {"ns/p": "n"}, "count": 5}]},
    )
    (case,) = cases(str(path))
    assert [(one.count, one.solution.binds) for one in outcomes(case)] == [(5, {"ns/p": "n"}), (2, {})]
    assert list(case.load().tasks) == ["ns/p"]


def test_a_json_list_of_rows_is_rows_and_a_list_of_objects_is_one_cluster(tmp_path: Path) -> None:
    write(tmp_path / "rows.json.gz", [{"id": "a", "objects": [POD]}, {"objects": []}])
    write(tmp_path / "list.json", [POD])
    found = list(cases(str(tmp_path)))
    assert [case.id for case in found] == ["list.json", "rows.json.gz#a", "rows.json.gz#2"]
    assert count(str(tmp_path)) == 3
    assert [list(case.load().tasks) for case in found] == [["ns/p"], ["ns/p"], []]


def test_kube_rows_wait_where_they_were_nominated_in_this_session(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    attempts = [{"pod": "ns/p", "nominated": "n1"}, {"pod": "ns/q", "nominated": "n2"}, {"pod": "ns/r"}]
    outcome = {
        "binds": {},
        "evictions": [{"task": "ns/v", "node": "n1", "for": "ns/p"}],
        "nominations": {"ns/p": "n1", "ns/old": "n9"},
        "attempts": attempts,
    }
    rows(path, {"id": "a", "objects": [POD], "outcomes": [outcome]})
    (case,) = cases(str(path))
    (found,) = outcomes(case)
    assert found.solution.pipelined == {"ns/p": "n1"}
    assert found.solution.evictions[0].for_job == "ns/p"


def test_a_row_for_one_pod_leaves_others_that_wait_out(tmp_path: Path) -> None:
    def pod(name: str, **fields: Any) -> dict[str, Any]:
        return {**POD, "metadata": {"name": name, "namespace": "ns"}, **fields}

    others = [pod("waits"), pod("runs", spec={"nodeName": "n"}), pod("ended", status={"phase": "Failed"})]
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    rows(tmp_path / "r.jsonl.gz", {"id": "a", "pod": "ns/p", "objects": [node, POD, *others]})
    (case,) = cases(str(tmp_path))
    assert case.only == "ns/p"
    assert sorted(case.load().tasks) == ["ns/ended", "ns/p", "ns/runs"]


@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    [
        ("r.jsonl", b"{]\n", r"r\.jsonl: line 1 column 2: not valid JSON"),
        ("r.jsonl", b"\n[1]\n", r"r\.jsonl: line 2: a row is a mapping"),
        ("r.jsonl.gz", b"no gzip", r"r\.jsonl\.gz: broken gzip data"),
        ("r.jsonl.gz", gzip.compress(b"{}" * 9999, mtime=0)[:40], r"r\.jsonl\.gz: broken gzip data"),
        ("expected.json", b"[]", r": no case in this folder"),
    ],
)
def test_what_is_no_corpus_is_one_line(tmp_path: Path, name: str, content: bytes, wrong: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=wrong):
        list(cases(str(tmp_path)))


def test_a_row_without_a_cluster_names_its_line(tmp_path: Path) -> None:
    rows(tmp_path / "r.jsonl.gz", {"id": "a"}, {"id": "b", "objects": [{}]})
    first, second = cases(str(tmp_path))
    with pytest.raises(InputError, match=r"r\.jsonl\.gz:1: the row has no cluster"):
        first.load()
    with pytest.raises(InputError, match=r"r\.jsonl\.gz:2: .*without a kind"):
        second.load()


def _written(folder: Path, name: str, *kinds: str) -> None:
    items = [{"apiVersion": "v1", "kind": kind, "metadata": {"name": kind.lower()}} for kind in kinds]
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def test_a_folder_of_one_cluster_is_one_case(tmp_path: Path) -> None:
    _written(tmp_path, "nodes.json", "Node")
    _written(tmp_path, "default/pods.json", "Pod")
    _written(tmp_path, "default/events.json", "Event")
    (tmp_path / "broken.json").write_text("{")
    assert [(case.id, case.file) for case in cases(str(tmp_path))] == [(tmp_path.name, str(tmp_path))]
    assert count(str(tmp_path)) == 1


@pytest.mark.parametrize("name", ["a-case.json", "z-case.json", "expected.json", "rows.jsonl"])
def test_a_folder_with_a_case_of_its_own_is_a_corpus(tmp_path: Path, name: str) -> None:
    _written(tmp_path, "nodes.json", "Node")
    _written(tmp_path, "pods.json", "Pod")
    if name == "expected.json":
        (tmp_path / name).write_text("{}")
    elif name == "rows.jsonl":
        (tmp_path / name).write_text('{"id": "a", "objects": []}\n')
    else:
        _written(tmp_path, name, "Node", "Pod")
    assert len(list(cases(str(tmp_path)))) == count(str(tmp_path)) > 1


def test_nodes_alone_are_cases(tmp_path: Path) -> None:
    _written(tmp_path, "a.json", "Node")
    _written(tmp_path, "b.json", "Node")
    assert [case.id for case in cases(str(tmp_path))] == ["a.json", "b.json"]
