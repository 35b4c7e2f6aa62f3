"""Spoiled dumps: archives and streams load or are refused in one line, and one bad object never stops the others."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpsched.errors import InputError
from cpsched.importers.load import load
from tests.dumps import FOUND, cluster_info, list_of, node, pod, tarred, zipped
from tests.fuzz.mutations import BOMBS, mutated_bytes, mutated_value
from tests.fuzz.seeds import DATA

CHUNK = 100
LISTED = json.loads((DATA / "kube-list.json").read_text())
MEMBERS: dict[str, bytes | str] = {
    "dump/nodes.json": json.dumps([node("n1"), node("n2")]),
    "dump/pods/default.json": json.dumps({"items": [pod("web", "n2"), pod("waits")]}),
    "dump/glued.yaml": "".join(f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n" for name in ("n3", "n4")),
    "dump/a-name-that-is-longer-than-a-header-has-room-for/" + "x" * 80 + ".json": "[]",
    "dump/x.log": "{",
    "dump/inner.zip": zipped({"list.json": json.dumps(LISTED)}),
    "dump/stream.json": cluster_info({"main of pod default/web": "{\n"}),
}
STREAM = cluster_info({"main of pod kube-system/dns": '{"a": 1}\n[\n', "main of pod default/web": "x"})


def end(path: Path, *, strict: bool = False) -> str:
    try:
        load(path, lenient=True, strict=strict)
    except InputError as error:
        line = str(error)
        assert line.isprintable()
        assert len(line) < 2000
        return "refused"
    return "loaded"


@pytest.mark.parametrize("chunk", range(6))
@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "zip"])
def test_a_spoiled_archive(mode: str, chunk: int, tmp_path: Path) -> None:
    ends = Counter[str]()
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        random = Random(f"{mode} {number}")
        members = dict(MEMBERS)
        name = random.choice(sorted(members))
        content = members[name]
        members[name] = mutated_bytes(random, content if isinstance(content, bytes) else content.encode())
        data = zipped(members) if mode == "zip" else tarred(members, mode)
        path = tmp_path / "dump"
        path.write_bytes(data if random.random() < 0.5 else mutated_bytes(random, data))
        try:
            ends[end(path, strict=random.random() < 0.2)] += 1
        except Exception as error:
            error.add_note(f"archive {number} of {mode}")
            raise
    assert ends["loaded"] > 0
    assert ends["refused"] > 0


@pytest.mark.parametrize("chunk", range(10))
def test_a_spoiled_stream(chunk: int, tmp_path: Path) -> None:
    ends = Counter[str]()
    lines = STREAM.splitlines(keepends=True)
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        random = Random(f"stream {number}")
        match random.randrange(4):
            case 0:
                text = mutated_bytes(random, STREAM.encode())
            case 1:
                text = "".join(line for line in lines if random.random() < 0.98).encode()
            case 2:
                at = random.randrange(len(lines))
                text = "".join([*lines[:at], random.choice(BOMBS), "\n", *lines[at:]]).encode()
            case _:
                at, other = random.randrange(len(lines)), random.randrange(len(lines))
                text = "".join([*lines[:at], *lines[other : other + 20], *lines[at:]]).encode("utf-16")
        path = tmp_path / "dump"
        path.write_bytes(text)
        try:
            ends[end(path, strict=random.random() < 0.2)] += 1
        except Exception as error:
            error.add_note(f"stream {number}")
            raise
    assert ends["loaded"] > 0
    assert ends["refused"] > 0


OF = "main of pod default/web"


LINES = [*STREAM.splitlines(keepends=True), "{\n", "}\n", "---\n", "kind: Pod\n"]


@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_lines_of_a_dump_in_a_log_give_no_object(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    """A log that is made of the dump's own lines, marks included, changes nothing, or the dump is refused."""
    ghost = list_of("Pod", pod("ghost"))
    path = tmp_path_factory.mktemp("log") / "dump"
    path.write_text(cluster_info({"main of pod kube-system/dns": "a\n", OF: "".join([*lines, ghost])}))
    if "==== START" in "".join(lines) or "==== END" in "".join(lines):
        with pytest.raises(InputError, match="holds marks of a dump"):
            load(path)
    else:
        instance = load(path)
        assert (list(instance.nodes), list(instance.tasks)) == FOUND


@given(st.text(max_size=200))
def test_any_text_is_a_log(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("log") / "dump"
    path.write_text(cluster_info({OF: text}), errors="replace", newline="")
    instance = load(path)
    assert (list(instance.nodes), list(instance.tasks)) == FOUND


@pytest.mark.parametrize("chunk", range(20))
def test_one_bad_object_stops_no_other(chunk: int) -> None:
    items: list[Any] = LISTED["items"]
    ends = Counter[str]()
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        random = Random(f"object {number}")
        victim = random.choice(items)
        others = [item for item in items if item is not victim]
        spoiled = mutated_value(random, victim)
        try:
            instance = load({"kind": "List", "items": [*others, spoiled]})
        except Exception as error:
            error.add_note(f"object {number}: {spoiled}")
            raise
        found = {(type(one).__name__, one.metadata.name) for one in instance.objects}
        assert {(item["kind"], item["metadata"]["name"]) for item in others} <= found
        ends["set aside" if any(" unreadable object " in line for line in instance.warnings) else "read"] += 1
    assert ends["set aside"] > 0
    assert ends["read"] > 0
