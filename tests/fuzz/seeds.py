"""What the fuzz tests start from, and what reading each kind of file means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from cpsched.files import read_document
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.solution import Solution
from tests.docs.blocks import blocks

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
SNAPSHOTS = ROOT / "tests" / "snapshots"


class Seed(NamedTuple):
    name: str
    suffix: str
    text: bytes
    read: Callable[[Path, bool], object]
    chunks: int

    @property
    def value(self) -> Any:
        documents = list(yaml.load_all(self.text, Loader=yaml.CSafeLoader))
        return documents if len(documents) > 1 else documents[0]


def instance(path: Path, lenient: bool) -> str:
    """An instance that loads can be hashed, written and loaded again."""
    read = load(path, lenient=lenient)
    assert load(read.to_dict(), lenient=True).sha256 == read.sha256
    return read.sha256


def dump(path: Path, lenient: bool) -> str:
    """A cache dump, with its queues beside it."""
    return load(path, lenient=lenient, queues=SNAPSHOTS / "queues.json").sha256


def model(path: Path, lenient: bool) -> object:
    return load_policy(path, lenient=lenient)


def volcano(path: Path, lenient: bool) -> object:
    return load_policy("volcano", path, lenient=lenient)


def kube(path: Path, lenient: bool) -> object:
    return load_policy("kube", path, lenient=lenient)


def solution(path: Path, lenient: bool) -> object:
    document = read_document(path)
    return Solution.parse(document.data, file=document.file).to_dict()


def _seed(path: Path, read: Callable[[Path, bool], object], chunks: int) -> Seed:
    return Seed(path.stem, path.suffix, path.read_bytes(), read, chunks)


SEEDS = (
    _seed(DATA / "kube-list.json", instance, 15),
    _seed(DATA / "volcano-list.json", instance, 15),
    _seed(DATA / "every-kind.yaml", instance, 10),
    Seed("compact", ".yaml", blocks(ROOT / "docs" / "instance.md", "yaml")[0].encode(), instance, 20),
    _seed(ROOT / "models" / "volcano.yaml", model, 10),
    _seed(DATA / "solution.json", solution, 10),
    _seed(DATA / "volcano-scheduler.conf", volcano, 10),
    _seed(DATA / "kube-scheduler.json", kube, 10),
    _seed(SNAPSHOTS / "kai-snapshot.json", instance, 3),
    _seed(SNAPSHOTS / "simulator-export.json", instance, 3),
    Seed("volcano-dump", ".yaml", (SNAPSHOTS / "volcano-dump.json").read_bytes().replace(b"\n", b"\n---\n"), dump, 3),
)
