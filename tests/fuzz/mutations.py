"""Ways to spoil a file: in its bytes, in its values, in how it is written down."""

from __future__ import annotations

import copy
import gzip
import json
from random import Random
from typing import Any

import yaml

Path = list[Any]

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, -(2**31), 2**63, -(2**63) - 1, 2**64, 10**40, 0.5, -1e308, 1e308, float("nan"),
    float("inf"), "", " ", "0", "-1", "1 Gi", "1e400", "1e-400", "-5Gi", "9" * 400, "NaN", "n0", "ns/j0", "default",
    "root", "q0",
    "\x00", "\x1b[31mred", "a\nb\u2028c", "\ud800", "\U0001f600" * 20, "ü", "a" * 3000, "../../etc/passwd", "{}", "[]",
    "2026-01-01T00:00:00Z", "0000-00-00T00:00:00Z", "9999-12-31T23:59:59.999999999-23:59", "kind", "metadata.name",
    [], {}, [[]], {"": ""}, [None], {"a": None}, [{}], {"kind": "Instance"}, {"kind": "Pod"}, ["a", 1, None, {}],
    {"cpu": "1", "memory": -1}, {"matchLabels": {"a": 1}}, {"name": "x", "value": 1},
)  # fmt: skip
SPLINTERS = (
    b"\x00", b"\xff", b"{", b"}", b"[", b"]", b'"', b",", b":", b"\n", b"- ", b"&a ", b"*a ", b"---\n", b"\xed\xa0\x80",
    b"9" * 30, b"\xef\xbb\xbf",
)  # fmt: skip
NAMES = (
    "kind", "apiVersion", "metadata", "spec", "status", "items", "name", "namespace", "labels", "replicas", "running",
    "requests", "cpu", "annotations", "queue", "parent", "minMember", "value", "tasks", "objects", "conf", "plugins",
)  # fmt: skip
TYPES = ("int", "float", "bool", "null", "binary", "set", "omap", "timestamp", "map", "seq")


def _chain(first: str, link: str, length: int) -> str:
    """YAML in which every line refers to the one before it."""
    return "".join(
        [f"a: &b0 {first}\n", *(f"b{n}: &b{n} {link.replace('@', f'*b{n - 1}')}\n" for n in range(1, length))]
    )


BOMBS = (
    _chain("[x, x]", "[@, @]", 40),
    _chain("{k: v}", "{<<: [@, @], k@: v}", 40),
    _chain("{k: v}", "{<<: @, b: @}", 40),
    _chain("[]", "[@]", 1500),
    "&a [*a, *a]",
    "&a {b: *a}",
    "&a {<<: *a, b: 1}",
    "[" * 5000,
    "{a: " * 5000,
    "- " * 5000 + "x",
    "".join(" " * depth + "a:\n" for depth in range(1500)),
)


def mutated_bytes(random: Random, data: bytes) -> bytes:
    """Flip, insert, delete, repeat, truncate; sometimes several."""
    spoiled = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 5, 20))):
        at = random.randrange(len(spoiled) + 1)
        end = min(len(spoiled), at + random.choice((1, 1, 2, 10, 100)))
        match random.randrange(6):
            case 0 if at < len(spoiled):
                spoiled[at] ^= 1 << random.randrange(8)
            case 1:
                spoiled[at:at] = random.choice(SPLINTERS)
            case 2:
                del spoiled[at:end]
            case 3:
                spoiled[at:at] = spoiled[at:end] * random.choice((1, 3))
            case 4:
                del spoiled[at:]
            case _:
                spoiled[at:end] = random.randbytes(end - at)
    return bytes(spoiled)


def mutated_value(random: Random, value: Any) -> Any:
    """Replace, remove, repeat, rename or swap parts of the value."""
    spoiled = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 1, 1, 2, 4))):
        path = random.choice(_paths(spoiled))
        if not path:
            return random.choice(STRANGE)
        container, key = _at(spoiled, path[:-1]), path[-1]
        match random.randrange(7):
            case 0 | 1 | 2:
                container[key] = copy.deepcopy(random.choice(STRANGE))
            case 3:
                del container[key]
            case 4:
                _rename(random, container, key)
            case 5:
                container[key] = copy.deepcopy(_at(spoiled, random.choice(_paths(spoiled))))
            case _:
                _repeat(random, container, key)
        if not isinstance(spoiled, dict | list) or not spoiled:
            break
    return spoiled


def written(random: Random, value: Any) -> tuple[str, bytes]:
    """(suffix, bytes) of the value as JSON or YAML, sometimes with tags, aliases, bombs or broken gzip."""
    match random.randrange(10):
        case 0 | 1 | 2 | 3 | 4 | 5:
            return ".json", json.dumps(value).encode()
        case 6:
            return ".yaml", _yaml(value).encode(errors="replace")
        case 7:
            return ".yaml", _tagged(random, _yaml(value)).encode(errors="replace")
        case 8:
            packed = gzip.compress(json.dumps(value).encode(), compresslevel=1, mtime=0)
            return ".json.gz", packed if random.random() < 0.3 else b"\x1f\x8b" + mutated_bytes(random, packed[2:])
        case _:
            return ".yaml", (_yaml(value) + random.choice(("", "\n", "\n---\n")) + random.choice(BOMBS)).encode(
                errors="replace"
            )


def _yaml(value: Any) -> str:
    try:
        return str(yaml.dump(value, Dumper=yaml.CSafeDumper, sort_keys=False))  # what is shared gets an anchor
    except UnicodeEncodeError:
        return json.dumps(value)


def _tagged(random: Random, text: str) -> str:
    lines = text.split("\n")
    for _ in range(random.choice((1, 3))):
        at = random.randrange(len(lines))
        head, colon, tail = lines[at].partition(": ")
        lines[at] = (
            f"{head}{colon}{random.choice((*(f'!!{name} ' for name in TYPES), '&a ', '*a ', '! '))}{tail}"
            if colon
            else lines[at]
        )
    return "\n".join(lines)


def _paths(value: Any, path: Path | None = None) -> list[Path]:
    path = path or []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for key, child in children for inner in _paths(child, [*path, key]))]


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _rename(random: Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[random.choice((*NAMES, str(key) + "s", str(key).upper(), "", "\u2028"))] = container.pop(key)
    else:
        container.insert(0, container[key])


def _repeat(random: Random, container: Any, key: Any) -> None:
    if isinstance(container, list):
        container.extend([container[key]] * random.choice((1, 50)))
    else:
        container[key] = [container[key]] * random.choice((1, 2, 50))
