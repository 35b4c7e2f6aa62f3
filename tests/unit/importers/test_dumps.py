"""Whole dumps: cluster-info as stream and folder, bundles as folders and archives, several files of a cluster."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cpsched.errors import InputError
from cpsched.importers.kubernetes import ReadReport
from cpsched.importers.load import TITLE, load
from cpsched.instance import Instance
from cpsched.objects.event import Event
from tests.dumps import FOUND, as_folder, cluster_info, list_of, node, pod, tarred, with_kind, zipped

SNAPSHOTS = Path(__file__).parents[2] / "snapshots"
CLUSTER_INFO_FOLDER = {
    "nodes.json": list_of("Node", node("n1"), node("n2")),
    "kube-system/events.json": list_of("Event", {"metadata": {"name": "e"}}),
    "kube-system/pods.json": list_of("Pod", pod("dns", "n1", "kube-system")),
    "kube-system/dns/logs.txt": "==== START logs for container main of pod kube-system/dns ====\n{\n",
    "default/services.json": list_of("Service"),
    "default/pods.json": list_of("Pod", pod("web", "n2"), pod("waits")),
    "default/web/logs.txt": list_of("Pod", pod("ghost")),
}
BUNDLE = {
    "bundle/version.yaml": "apiVersion: example.com/v1\nkind: SupportBundle\n",
    "bundle/cluster-resources/nodes.json": json.dumps([node("n1"), node("n2")]),
    "bundle/cluster-resources/pods/kube-system.json": json.dumps([pod("dns", "n1", "kube-system")]),
    "bundle/cluster-resources/pods/default.json": json.dumps({"items": [pod("web", "n2"), pod("waits")]}),
    "bundle/cluster-resources/events/default.json": json.dumps([{"metadata": {"name": "e"}, "reason": "x"}] * 30),
    "bundle/cluster-resources/pods/logs/default/web/main.log": json.dumps(with_kind("Pod", pod("ghost"))),
    "bundle/cluster-resources/pods-errors.json": "null",
    "bundle/all-logs/main.log": "->/var/log/main.log",
    "bundle/empty.json": "",
    "bundle/values.yaml": "replicas: 3\n",
    "bundle/chart/templates/node.yaml": "{{- if .Values.x }}\nkind: Node\n{{- end }}\n",
    "bundle/picture.png": b"\x89PNG\r\n\x1a\n\x00\xff",
    "bundle/._nodes.json": b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X",
    "bundle/junk.json": b"\x80\x81\x82",
}


def found(instance: Instance) -> tuple[list[str], set[str]]:
    return list(instance.nodes), set(instance.tasks)


ALL = (FOUND[0], set(FOUND[1]))
Pack = Callable[[Path, dict[str, bytes | str]], Path]


def as_file(name: str, made: Callable[[dict[str, bytes | str]], bytes]) -> Pack:
    def pack(folder: Path, members: dict[str, bytes | str]) -> Path:
        path = folder / name
        path.write_bytes(made(members))
        return path

    return pack


PACKS: dict[str, Pack] = {
    "folder": as_folder,
    "tar": as_file("dump", tarred),
    "tar.gz": as_file("dump.txt", lambda members: tarred(members, "w:gz")),
    "tar.bz2": as_file("dump.json", lambda members: tarred(members, "w:bz2")),
    "tar.xz": as_file("dump.yaml", lambda members: tarred(members, "w:xz")),
    "tar in zip": as_file("dump.zip", lambda members: zipped({"dump.tar.gz": tarred(members, "w:gz")})),
}


def test_the_real_stream_holds_what_kubectl_get_printed_at_the_same_moment() -> None:
    report = ReadReport()
    stream = load(SNAPSHOTS / "plain-cluster-info-dump.txt.gz", report=report)
    listed = load(SNAPSHOTS / "plain.json.gz")
    shapes = {type(one) for one in stream.objects}
    objects, expected = (
        {(type(one), one.key): one for one in instance.objects if type(one) in shapes and type(one) is not Event}
        for instance in (stream, listed)
    )
    assert objects == expected
    read = {"DaemonSet": 3, "Deployment": 9, "Event": 9, "Node": 12, "Pod": 103, "ReplicaSet": 9, "Service": 3}
    assert dict(report.read) == read
    assert stream.warnings[0].partition(": ")[2] == "set aside: 131 container logs"


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_stream(tmp_path: Path, encoding: str, strict: bool) -> None:
    data = cluster_info({"main of pod kube-system/dns": "{\n", "main of pod default/web": "x"}).encode(encoding)
    for path, content in ((tmp_path / "dump.txt", data), (tmp_path / "dump.txt.gz", gzip.compress(data))):
        path.write_bytes(content)
        assert found(load(path, strict=strict)) == ALL


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS.keys())
def test_the_folder_of_cluster_info(tmp_path: Path, pack: Pack) -> None:
    path = pack(tmp_path, CLUSTER_INFO_FOLDER)
    instance = load(path)
    assert found(instance) == ALL
    [line] = instance.warnings
    assert line.startswith(f"{path}: set aside: 2 files that are neither JSON nor YAML (")
    assert found(load(path, strict=True)) == ALL


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS.keys())
def test_a_bundle(tmp_path: Path, pack: Pack) -> None:
    path, report = pack(tmp_path, BUNDLE), ReadReport()
    instance = load(path, report=report)
    assert found(instance) == ALL
    rows = {(what, why): count for what, why, count, _ in report.aside.rows(str(path))}
    counts = {what: sum(count for (one, _), count in rows.items() if one == what) for what, _ in rows}
    assert counts == {
        "unreadable files": 3,
        "links and special files, which are not read": 1,
        "documents that hold no objects": 1,
        "files that are neither JSON nor YAML": 3,
    }
    assert len(instance.warnings) == 4
    with pytest.raises(InputError):
        load(path, strict=True)


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(json.dumps(with_kind("Node", node("secret"))))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "more.json").write_text(json.dumps(with_kind("Node", node("more"))))
    folder = as_folder(
        tmp_path / "dump", {"nodes.json": json.dumps([node("n1")]), "x.json": "->../secret.json", "y": "->../elsewhere"}
    )
    (folder / "loop.json").symlink_to("loop.json")
    instance = load(folder)
    assert list(instance.nodes) == ["n1"]
    output = f"{folder}: set aside: 3 links and special files, which are not read (loop.json; x.json; y)"
    assert instance.warnings == (output,)
    with pytest.raises(InputError, match="a link out of"):
        load(folder, strict=True)
    (folder / "nodes.json").unlink()
    with pytest.raises(InputError, match="name that file itself, or copy it into the folder"):
        load(folder)


def test_a_link_within_the_folder_gives_nothing_twice(tmp_path: Path) -> None:
    members = {"..data/nodes.json": json.dumps([node("n1")]), "nodes.json": "->..data/nodes.json", "more": "->..data"}
    instance = load(as_folder(tmp_path, members))
    assert (list(instance.nodes), instance.warnings) == (["n1"], ())


def test_a_link_to_a_file_of_another_sort_within_the_folder_is_read(tmp_path: Path) -> None:
    folder = as_folder(tmp_path, {"data/..1": json.dumps([node("n1")]), "nodes.json": "->data/..1"})
    assert list(load(folder).nodes) == ["n1"]


def test_several_paths_are_one_cluster(tmp_path: Path) -> None:
    nodes, pods = tmp_path / "nodes.json", tmp_path / "more"
    nodes.write_text(list_of("Node", node("n1"), node("n2")))
    as_folder(pods, {"pods.json": list_of("Pod", pod("web", "n2"))})
    instance = load([nodes, str(pods)])
    assert found(instance) == (["n1", "n2"], {"default/web"})
    assert (instance.file, instance.found_out[TITLE]) == (f"{nodes}, {pods}", "nodes.json, more")
    assert [load(one).found_out[TITLE] for one in (nodes, [node("n1")], node("n1"))] == ["nodes.json", "", ""]
    with pytest.raises(InputError, match=r"gone\.json: no such file"):
        load([nodes, tmp_path / "gone.json"])
    with pytest.raises(InputError, match="a text where an object was expected"):
        load(["x", {"kind": "Node"}], strict=True)
    assert load([]).objects == ()


def test_json_lines_in_a_folder_are_objects(tmp_path: Path) -> None:
    lines = [json.dumps(pod(name, "n1")) for name in ("a", "b")]
    folder = as_folder(tmp_path, {"nodes.json": list_of("Node", node("n1")), "dump/pods.jsonl": "\n".join(lines)})
    assert found(load(folder)) == (["n1"], {"default/a", "default/b"})


def test_recorded_sessions_are_not_one_cluster(tmp_path: Path) -> None:
    row = {"id": "a", "conf": {}, "objects": [with_kind("Node", node("n1"))]}
    rows = "\n".join(json.dumps(row) for _ in range(3))
    folder = as_folder(tmp_path, {"rows.jsonl": rows, "nodes.json": list_of("Node", node("n2"))})
    with pytest.raises(InputError, match=r"rows\.jsonl: holds 3 recorded sessions; give them to compare or check"):
        load(folder / "rows.jsonl")
    instance = load(folder)
    assert list(instance.nodes) == ["n2"]
    assert "rows.jsonl: holds 3 recorded sessions" in instance.warnings[0]
    (folder / "one.jsonl").write_text(json.dumps(row))
    assert list(load(folder / "one.jsonl").nodes) == ["n1"]


def test_nothing_readable_is_an_error_with_the_reason(tmp_path: Path) -> None:
    for members, output in (
        ({"a.json": "", "b.txt": ""}, "a.json: the file is empty"),
        ({"a.yaml": "{{ x }}", "c.yaml": "kind: ConfigMap"}, "a.yaml: line 1 column "),
        ({"a.yaml": "a: 1", "c.yaml": "kind: ConfigMap"}, "nothing here is of a kind that scheduling looks at"),
        ({"a.yaml": "a: 1", "b.yaml": "b: 1"}, "none of 2 documents holds an object"),
        ({"a.json": json.dumps([{**node("n"), "kind": "Pod"}, {"kind": "Pod"}])[:-1]}, "a.json: line 1 column "),
        ({"a.json": json.dumps([{"kind": "Pod"}, {"kind": "Node"}])}, "a.json: [0] Pod: metadata.name is missing"),
    ):
        path = tmp_path / "dump.zip"
        path.write_bytes(zipped(members))
        with pytest.raises(InputError) as caught:
            load(path)
        assert output in str(caught.value)


def test_a_snapshot_and_what_it_lacks_are_one_cluster() -> None:
    paths = [SNAPSHOTS / "volcano-dump.json", SNAPSHOTS / "queues.json"]
    beside = load(paths[0], queues=paths[1])
    assert load(paths).queues.keys() == load(paths[::-1]).queues.keys() == beside.queues.keys()


def test_a_table_holds_the_objects_of_its_rows() -> None:
    """`kubectl get --raw` with a header that asks for columns; mostly rows hold names alone."""
    rows = [{"cells": ["n1"], "object": with_kind("Node", node("n1"))}, {"cells": ["x"], "object": None}, 5]
    table = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "columnDefinitions": [], "rows": rows}
    assert list(load(table).nodes) == ["n1"]
    names = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "n1"}}
    with pytest.raises(InputError, match="of a kind that scheduling looks at"):
        load({**table, "rows": [{"cells": ["n1"], "object": names}]})


def test_many_documents_without_an_object_are_one_refusal(tmp_path: Path) -> None:
    """The place of one of them would explain nothing."""
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    (tmp_path / "version.json").write_text('{"major": "1"}')
    with pytest.raises(InputError, match=r"none of 2 documents holds an object; give Kubernetes objects"):
        load(tmp_path)
