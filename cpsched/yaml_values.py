"""YAML as Kubernetes reads it: only what JSON can say, times stay text, and no document that explodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml

from cpsched.errors import InputError

MAX_DEPTH = 200
"""Kubernetes objects are about twenty deep."""
MAX_VALUES_WITH_ALIASES = 5_000_000
MAX_MERGED = 100
MAX_KEYS_WITH_MERGES = 10_000
_SURELY_SHALLOW = 400
_TAG = "tag:yaml.org,2002:"
_NOT_TEXT = frozenset(f"{_TAG}{name}" for name in ("int", "float", "bool", "null"))
_NOT_JSON = ("timestamp", "binary", "omap", "pairs", "set")


def yaml_values(text: str, file: str) -> Iterator[Any]:
    """All documents; InputError tells the line and column."""
    aliased = "*" in text and "&" in text
    try:
        _refuse_deep(text)
        for value in yaml.load_all(text, Loader=_KubernetesLoader):
            if aliased and _expanded_size(value, {}, set()) > MAX_VALUES_WITH_ALIASES:
                raise InputError("YAML aliases expand to millions of values", file=file, right="write the values out")
            yield value
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1} column {mark.column + 1}" if mark else None
        raise InputError(f"not valid YAML: {error.problem or error.context}", file=file, place=place) from None
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError) as error:
        # A scalar that denies its tag (!!bool maybe) leaves PyYAML as a plain error.
        raise InputError(f"not valid YAML: {error}", file=file) from None


def _refuse_deep(text: str) -> None:
    """PyYAML's C code nests as deep as the text does, and the stack with it: look at the events first, if need be."""
    indented = max((len(line) - len(line.lstrip(" -?:")) for line in text.split("\n")), default=0)
    if 2 * indented + text.count("[") + text.count("{") < _SURELY_SHALLOW:
        return
    depth = 0
    for event in yaml.parse(text, Loader=_KubernetesLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH} levels", problem_mark=event.start_mark)


class _KubernetesLoader(yaml.CSafeLoader):
    """Values are JSON values, as after the API server's own conversion."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != f"{_TAG}timestamp"]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }
    yaml_constructors = {
        tag: make
        for tag, make in yaml.CSafeLoader.yaml_constructors.items()
        if tag not in {f"{_TAG}{name}" for name in _NOT_JSON}
    }

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge keys, within limits: merges of merges double with every line. Then keys are text: 1 becomes "1"."""
        merges = [value for key, value in node.value if key.tag == f"{_TAG}merge"]
        sources = sum(len(value.value) if isinstance(value, yaml.SequenceNode) else 1 for value in merges)
        if sources <= MAX_MERGED:
            super().flatten_mapping(node)
        if sources > MAX_MERGED or (merges and len(node.value) > MAX_KEYS_WITH_MERGES):
            raise yaml.MarkedYAMLError(problem="merge keys (<<) bring in too much", problem_mark=node.start_mark)
        for key, _ in node.value:
            if key.tag in _NOT_TEXT:
                key.value, key.tag = json.dumps(self.yaml_constructors[key.tag](self, key)), f"{_TAG}str"

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        """A number that fits 64 bits; neither infinite nor no number at all."""
        number = self.construct_yaml_int(node) if node.tag == f"{_TAG}int" else self.construct_yaml_float(node)
        if not -(2**64) < number < 2**64:
            problem = f"the number {node.value[:20]} is too large or not a number"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return number


_KubernetesLoader.add_constructor(f"{_TAG}int", _KubernetesLoader.construct_number)
_KubernetesLoader.add_constructor(f"{_TAG}float", _KubernetesLoader.construct_number)


def _expanded_size(value: Any, known: dict[int, int], open_: set[int]) -> int:
    if not isinstance(value, dict | list):
        return 1
    key = id(value)
    if key in open_:
        return MAX_VALUES_WITH_ALIASES + 1
    if key not in known:
        open_.add(key)
        children = value.values() if isinstance(value, dict) else value
        known[key] = 1 + sum(_expanded_size(child, known, open_) for child in children)
        open_.discard(key)
    return known[key]
