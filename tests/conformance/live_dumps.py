"""Dumps of two live clusters at many moments (data/dumps): every object once, rows name theirs by number."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import cpsched
from cpsched.instance import Instance

DATA = Path(__file__).parent / "data" / "dumps"
Row = dict[str, Any]


@cache
def _document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))
    return found


def rows(name: str) -> dict[str, Row]:
    """The rows of kube or volcano, by step."""
    return {row["step"]: row for row in _document(name)["rows"]}


def dump(name: str, step: str) -> dict[str, Any]:
    """What kubectl printed before the row's decision."""
    objects = _document(name)["objects"]
    return {"apiVersion": "v1", "kind": "List", "items": [objects[number] for number in rows(name)[step]["objects"]]}


@cache
def cluster(name: str, step: str) -> Instance:
    """The cluster of a row, as any task would load it."""
    return cpsched.load(dump(name, step))
