"""A corpus: an instance, a folder of them, or rows of recorded sessions; case after case, each with a stable id."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from cpsched.aside import Aside
from cpsched.errors import InputError
from cpsched.files import begins_with, files_below, read_document, read_documents, read_lines
from cpsched.importers.listed import objects_in
from cpsched.importers.load import load
from cpsched.instance import Instance
from cpsched.json_values import json_line
from cpsched.located import located
from cpsched.parsing import SUFFIXES
from cpsched.policy import stated_model
from cpsched.what_if.changes import Changes

ROW_SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
EXPECTED = "expected.json"
"""Beside instances: file name → what is known about the case. Read are `model`, `only`, `pod_groups`, `decision`."""
HEADER = "Corpus"
"""Kind of the first line that `corpus export` writes before its rows; it is no case."""
SOLUTION = ".solution.json"
"""Beside `case.json`: the recorded decision `case.solution.json`."""
_CLUSTER = frozenset({"Node", "Pod"})
_NO_CASES = (EXPECTED, "baseline.json")
_NO_CASE_ENDINGS = (SOLUTION, ".baseline.json")


@dataclass(frozen=True)
class Case:
    """One session to decide, not loaded yet; small enough to be handed to another process."""

    id: str
    file: str
    line: int | None = None
    """Of a row: its line, or its number in a list of rows, from 1."""
    row: Mapping[str, Any] | None = None
    stated: Mapping[str, Any] = field(default_factory=dict)
    """What is known about the case besides its cluster: the row, or its entry of expected.json."""
    more: tuple[str, ...] = ()
    """Further files of the same cluster."""

    @property
    def place(self) -> str:
        """The file, with the line where there is one."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def model(self) -> str | None:
        """The shipped model that the case is meant for, if it says so; only a user names files."""
        named = self.stated.get("model", self.stated.get("policy"))
        return stated_model(named, file=self.place) if isinstance(named, str) else None

    @property
    def conf(self) -> Mapping[str, Any] | None:
        """A row's configuration; an instance in a file brings its own."""
        conf = None if self.row is None else self.row.get("conf")
        if conf is not None and not isinstance(conf, Mapping):
            raise InputError("conf is no mapping", file=self.place, right="write the configuration itself")
        return conf

    @property
    def only(self) -> str | None:
        """The one pod that is tried."""
        named = self.stated.get("only", self.stated.get("pod"))
        return named if isinstance(named, str) else None

    def load(self, *, lenient: bool = False, strict: bool = True, changes: Changes | None = None) -> Instance:
        """The cluster; in rows, which a recorder wrote, gaps are warnings.

        A row that tries one pod is a session of that pod alone: others that wait are left out.
        """
        if self.row is None:
            return load([self.file, *self.more], lenient=lenient, strict=strict, changes=changes)
        source = self.row.get("instance", self.row.get("objects"))
        if source is None:
            raise InputError("the row has no cluster", file=self.place, right="give it objects or an instance")
        if self.only is not None and isinstance(source, list):
            source = [item for item in source if not _waits_beside(item, self.only)]
        try:
            return load(source, sharding=self.row.get("sharding"), lenient=True, strict=True, changes=changes)
        except InputError as error:
            where = None if error.place is None and error.file == "input" else error.place
            raise InputError(error.wrong, file=self.place, place=where, right=error.right) from None


def cases(corpus: str) -> Iterator[Case]:
    """Every case of the corpus in order of names; ids are paths below the corpus, rows add `#id`."""
    root = Path(located(corpus))
    expected: dict[Path, Mapping[str, Any]] = {}
    if corpus == "-":
        yield Case("stdin", "-")
        return
    if not os.path.exists(root):
        raise InputError("no such file", file=corpus, right="name an instance, a folder of them, or rows of sessions")
    if is_one_cluster(root):
        yield Case(root.name or str(root), str(root))
        return
    for file in _files(root) if os.path.isdir(root) else [root]:
        name = file.relative_to(root).as_posix() if os.path.isdir(root) else file.name
        if (rows := _rows_of(file)) is not None:
            yield from _rows(file, name, rows)
            continue
        if file.parent not in expected:
            expected[file.parent] = _expected(file.parent / EXPECTED)
        yield Case(name, str(file), stated=_stated(file, expected[file.parent]))


def cases_of_all(corpora: Sequence[str]) -> Iterator[Case]:
    """Every case of several corpora; files that have only together what makes a cluster are one case."""
    if are_one_cluster(corpora):
        first, *more = map(located, corpora)
        yield Case(", ".join(Path(file).name for file in corpora), first, more=tuple(more))
        return
    for corpus in corpora:
        yield from cases(corpus)


def count_all(corpora: Sequence[str]) -> int:
    """How many cases they have; stdin is one."""
    return 1 if are_one_cluster(corpora) else sum(1 if corpus == "-" else count(corpus) for corpus in corpora)


def are_one_cluster(corpora: Sequence[str]) -> bool:
    """Whether these are files of one cluster, as in a folder."""
    files = [Path(located(corpus)) for corpus in corpora]
    return len(files) > 1 and all(map(os.path.isfile, files)) and _have_one_cluster(files)


def chosen(corpus: str, ids: Collection[str]) -> Iterator[Case]:
    """The cases of these ids; an id that no case has is an error, after those that are there."""
    left = set(ids)
    for case in cases(corpus):
        if case.id in left:
            left.remove(case.id)
            yield case
    if left:
        name = min(left)
        raise InputError(f"no case is called {name}", file=corpus, right="an id is as check and compare show it")


def count(corpus: str) -> int:
    """How many cases there are, without reading more than line ends."""
    root = Path(located(corpus))
    if is_one_cluster(root):
        return 1
    files = _files(root) if os.path.isdir(root) else [root]
    rows = (_row_lines(file) if file.name.endswith(ROW_SUFFIXES) else _rows_of(file) for file in files)
    return sum(1 if found is None else sum(1 for _ in found) for found in rows)


def _row_lines(file: Path) -> Iterator[bytes]:
    """The lines of a file of rows; its header is recognised by how it begins, without reading it."""
    head = f'{{"apiVersion": "cpsched/v1", "kind": "{HEADER}"'.encode()
    return (line for _, line in read_lines(file) if not line.startswith(head))


@cache
def is_one_cluster(root: Path) -> bool:
    """Whether a folder holds one cluster in several files: nodes in one, pods in another, and no file has both.

    A corpus shows itself by its first case: an Instance, rows, a file with nodes and pods, or what stands beside cases.
    """
    return os.path.isdir(root) and not os.path.exists(root / EXPECTED) and _have_one_cluster(_files(root))


def _have_one_cluster(files: Iterable[Path]) -> bool:
    found: set[str] = set()
    for file in files:
        kinds = set() if file.name.endswith(ROW_SUFFIXES) else _kinds(file)
        if not kinds or "Instance" in kinds or kinds >= _CLUSTER:
            return False
        found |= kinds
    return found >= _CLUSTER


def _kinds(file: Path) -> set[str]:
    """The kinds of the objects in a file; one that holds none, or cannot be read, has the kind of an empty name."""
    try:
        documents = read_documents(file, Aside())
        objects = [item for document in documents for _, item in objects_in(document)]
    except InputError:
        return {""}
    return {str(item.get("kind")) if isinstance(item, Mapping) else "" for item in objects} or {""}


def is_beside(name: str) -> bool:
    """Whether a file of this name lies beside cases and is none itself."""
    return name in _NO_CASES or name.endswith(_NO_CASE_ENDINGS)


def _files(root: Path) -> list[Path]:
    endings = (*SUFFIXES, *ROW_SUFFIXES)
    found = files_below(root, lambda name: name.endswith(endings) and not is_beside(name))
    if not found:
        raise InputError("no case in this folder", file=str(root), right="a case is a .json, .yaml or .jsonl file")
    return found


def _rows_of(file: Path) -> Iterable[tuple[int, Any]] | None:
    """The rows with their numbers: lines of JSON Lines, or a JSON list of rows; None for an instance."""
    if file.name.endswith(ROW_SUFFIXES):
        return _parsed_lines(file)
    if file.name.removesuffix(".gz").endswith(".json") and begins_with(file, b"["):
        rows = read_document(file).data
        if isinstance(rows, list) and rows and all(isinstance(row, Mapping) and "objects" in row for row in rows):
            return enumerate(rows, start=1)
    return None


def _parsed_lines(file: Path) -> Iterator[tuple[int, Any]]:
    for number, line in read_lines(file):
        yield number, json_line(line, str(file), number)


def _rows(file: Path, name: str, rows: Iterable[tuple[int, Any]]) -> Iterator[Case]:
    for number, row in rows:
        if not isinstance(row, Mapping):
            place = f"line {number}"
            raise InputError("a row is a mapping", file=str(file), place=place, right="give id, objects and conf")
        if row.get("kind") == HEADER and "objects" not in row and "instance" not in row:
            continue
        yield Case(f"{name}#{row.get('id', number)}", str(file), number, row, row)


def _stated(file: Path, expected: Mapping[str, Any]) -> Mapping[str, Any]:
    stated = dict(expected.get(file.name, {}))
    recorded = file.parent / f"{_stem(file.name)}{SOLUTION}"
    if os.path.isfile(recorded):
        stated["solution"] = recorded
    return stated


def _expected(path: Path) -> Mapping[str, Any]:
    if not os.path.isfile(path):
        return {}
    entries = read_document(path).data
    if not isinstance(entries, Mapping) or not all(isinstance(one, Mapping) for one in entries.values()):
        raise InputError("not a mapping of file names to mappings", file=str(path), right='write {"case.json": {...}}')
    return entries


def _stem(name: str) -> str:
    endings = sorted(SUFFIXES, key=len, reverse=True)
    return name.removesuffix(next((ending for ending in endings if name.endswith(ending)), ""))


def _waits_beside(item: Any, only: str) -> bool:
    """Whether this is a waiting pod other than the one that is tried."""
    if not isinstance(item, Mapping) or item.get("kind") != "Pod" or item.get("spec", {}).get("nodeName"):
        return False
    metadata = item.get("metadata", {})
    ended = item.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return not ended and f"{metadata.get('namespace', 'default')}/{metadata.get('name')}" != only
