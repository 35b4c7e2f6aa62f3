"""Files in which every name is hostile: escape sequences, C1 controls, bidi controls, carriage returns."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b31m\u202e\rx\u2028"
OBEYED = {
    *map(chr, (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))),
    *"\u061c\u200b\u200e\u200f\u2028\u2029",
} - {"\n"}
"""What a terminal obeys, hides or reorders."""
NAMESPACE = f"ns{EVIL}"


def obeyed(text: str) -> list[str]:
    """The characters of the text that no output may have."""
    return sorted({hex(ord(one)) for one in text if one in OBEYED})


def _job(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name + EVIL, "namespace": NAMESPACE, "queue": f"queue{EVIL}", "minMember": 1, **more}


CLUSTER = {
    "apiVersion": "cpsched/v1",
    "kind": "Instance",
    "name": f"name{EVIL}",
    "description": f"description{EVIL}",
    "now": "2026-01-01T12:00:00Z",
    "nodes": [
        {
            "name": f"node{EVIL}",
            "allocatable": {"cpu": 8, "pods": 110, f"example.com/thing{EVIL}": 4},
            "labels": {f"key{EVIL}": f"value{EVIL}"},
            "taints": [{"key": f"taint{EVIL}", "value": EVIL, "effect": "NoSchedule"}],
        },
        {"name": "plain", "allocatable": {"cpu": 4, "pods": 110}},
    ],
    "priorityClasses": {f"high{EVIL}": 1000, f"low{EVIL}": 10},
    "queues": [{"name": f"queue{EVIL}", "weight": 1}],
    "jobs": [
        _job(
            "runs",
            priorityClassName=f"low{EVIL}",
            tasks=[{"role": f"role{EVIL}", "replicas": 2, "requests": {"cpu": 2}, "running": "plain"}],
        )
        | {"minMember": 0},
        _job("waits", priorityClassName=f"high{EVIL}", tasks=[{"role": f"role{EVIL}", "requests": {"cpu": 3}}]),
        _job("never", priorityClassName=f"high{EVIL}", tasks=[{"role": f"role{EVIL}", "requests": {"cpu": 300}}]),
    ],
}
SOLUTION = {
    "apiVersion": "cpsched/v1",
    "kind": "Solution",
    "engine": EVIL,
    "binds": {EVIL: EVIL},
    "evictions": [{"task": EVIL, "node": EVIL}],
    "unplaced": {EVIL: [EVIL]},
    "notes": [EVIL],
    "versions": {EVIL: EVIL},
}
OBJECTS = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{EVIL}"},
        "spec": {EVIL: 1},
        "status": {"allocatable": {"cpu": "4", "pods": "9", f"x.com/{EVIL}": "1"}},
    },
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p{EVIL}", "namespace": NAMESPACE},
        "spec": {
            "schedulerName": "volcano",
            EVIL: 1,
            "containers": [{"name": EVIL, "resources": {"requests": {"cpu": "9"}}}],
        },
        "status": {"phase": "Pending"},
    },
]
MODEL = {
    "name": f"model{EVIL}",
    "description": EVIL,
    "scheduler": "volcano",
    "jobs": "podgroups",
    "rules": {"assignment": "on", "capacity": "on"},
    "levels": ["tasks_bound"],
}
CONF = {"actions": f"allocate, {EVIL}", "tiers": [{"plugins": [{"name": f"plugin{EVIL}", "arguments": {EVIL: EVIL}}]}]}
ROW = {
    "id": EVIL,
    "objects": OBJECTS,
    "conf": None,
    "policy": "volcano",
    "outcomes": [{"binds": {f"{NAMESPACE}/p{EVIL}": f"n{EVIL}"}, "evicted": []}],
}


def write_files(folder: Path, certificate: dict[str, Any]) -> None:
    """Everything that a command can be given; `certificate` is one of the cluster."""
    other_kind = {"apiVersion": EVIL, "kind": f"Kind{EVIL}", "metadata": {"name": EVIL}}
    documents: dict[str, Any] = {
        "cluster.json": CLUSTER,
        f"cluster{EVIL.replace('/', '')}.json": CLUSTER,
        "solution.json": SOLUTION,
        "objects.json": {"apiVersion": "v1", "kind": "List", "items": [other_kind, *OBJECTS]},
        "rows.jsonl": ROW,
        "model.yaml": MODEL,
        "bad-model.yaml": {"name": "m", "scheduler": EVIL, f"key{EVIL}": 1},
        "conf": CONF,
        "certificate.json": certificate,
    }
    for kind, by in (("claimed", f"cp-sat{EVIL}"), (EVIL, "")):
        levels = [dict(level) for level in certificate["levels"]]
        levels[0]["evidence"] = {"kind": kind, "by": by}
        unsealed = {**certificate, "levels": levels, "sha256": ""}
        documents[f"{'claimed' if by else 'unknown'}.json"] = unsealed
    for name, data in documents.items():
        (folder / name).write_text(json.dumps(data))
    (folder / "engine.py").write_text(f"print({json.dumps(SOLUTION)!r})\n")
    (folder / "complains.py").write_text(f"import sys\nsys.stderr.write({EVIL!r})\nsys.exit(3)\n")
    (folder / "rubbish.py").write_text(f"print({EVIL!r})\n")


def engine(folder: Path, name: str, *arguments: str) -> str:
    """The engine that is this program."""
    quoted = " ".join(f"'{one}'" for one in arguments)
    return f"exec:{sys.executable} {folder / name}.py {quoted}".strip()
