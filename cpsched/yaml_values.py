"""YAML as Kubernetes reads it: only what JSON can say, times stay text, and no document that explodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml

from cpsched.errors import InputError
from cpsched.json_values import MAX_DEPTH, RepeatedKeyError

MAX_VALUES_WITH_ALIASES = 5_000_000
_TEXT_LIKE_A_VALUE = 100
"""So many characters of a text count as one value more."""
MAX_MERGED = 100
MAX_KEYS_WITH_MERGES = 10_000
MAX_DIGITS = 400
_SURELY_SHALLOW = 400
_TAG = "tag:yaml.org,2002:"
_NOT_TEXT = frozenset(f"{_TAG}{name}" for name in ("int", "float", "bool", "null"))
_NOT_JSON = ("timestamp", "binary", "omap", "pairs", "set")


def yaml_values(text: str, file: str, line: int = 1) -> Iterator[Any]:
    """All documents of a text that begins in that line of the file; InputError tells the line and column."""
    aliased = "*" in text and "&" in text
    try:
        _refuse_deep(text)
        for value in yaml.load_all(text, Loader=_KubernetesLoader):
            if aliased and _expanded_size(value, {}, set()) > MAX_VALUES_WITH_ALIASES:
                raise InputError("YAML aliases expand to millions of values", file=file, right="write the values out")
            yield value
    except _RepeatedKeyError as error:
        first, second = error.first_line + line - 1, error.line + line - 1
        raise RepeatedKeyError(error.key, first, file=file, place=f"line {second}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + line} column {mark.column + 1}" if mark else None
        raise InputError(f"not valid YAML: {error.problem or error.context}", file=file, place=place) from None
    except yaml.reader.ReaderError as error:
        wrong = f"not valid YAML: a character that may not be in it (number {error.position + 1} of the text)"
        raise InputError(wrong, file=file) from None
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError):
        raise InputError("not valid YAML: a value is not what its tag says", file=file) from None


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

    def __init__(self, stream: str):
        super().__init__(stream)
        self._merged: dict[int, tuple[yaml.MappingNode, bool]] = {}
        """Mappings with merge keys, and whether those are done; kept, so that no other node gets their id."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Keys become text (1 is "1"), none twice; merge keys within limits: merges of merges double each time."""
        _, done = self._merged.get(id(node), (None, None))
        if done is False:
            raise _error("a mapping merges itself", node)
        if done:
            return
        merges = [value for key, value in node.value if key.tag == f"{_TAG}merge"]
        self._write_keys(node)
        if not merges:
            return
        self._merged[id(node)] = node, False
        sources = sum(len(value.value) if isinstance(value, yaml.SequenceNode) else 1 for value in merges)
        if sources <= MAX_MERGED:
            super().flatten_mapping(node)
        if sources > MAX_MERGED or len(node.value) > MAX_KEYS_WITH_MERGES:
            raise _error("merge keys (<<) bring in too much", node)
        self._merged[id(node)] = node, True

    def _write_keys(self, node: yaml.MappingNode) -> None:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _error("a key is a list or a mapping", key)
            if key.tag in _NOT_TEXT:
                key.value, key.tag = json.dumps(self.yaml_constructors[key.tag](self, key)), f"{_TAG}str"
            if key.value in lines:
                raise _RepeatedKeyError(key.value, lines[key.value], key.start_mark.line + 1)
            lines[key.value] = key.start_mark.line + 1

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        """A number that fits 64 bits; neither infinite nor no number at all."""
        if len(node.value) > MAX_DIGITS:
            raise _error(f"a number of {sum(map(str.isdigit, node.value))} digits", node)
        try:
            number = self.construct_yaml_int(node) if node.tag == f"{_TAG}int" else self.construct_yaml_float(node)
        except ValueError:
            raise _error(f"{node.value[:20]} is not a number", node) from None
        if not -(2**64) < number < 2**64:
            raise _error(f"the number {node.value[:20]} is too large or not a number", node)
        return number

    def construct_boolean(self, node: yaml.ScalarNode) -> bool:
        """One of YAML's words for it."""
        word = str(self.construct_scalar(node)).lower()
        if word not in self.bool_values:
            raise _error(f"{node.value[:20]} is neither true nor false", node)
        return bool(self.bool_values[word])

    def refuse(self, node: yaml.Node) -> Any:
        """A tag for something that JSON cannot say, or for an object of some program."""
        raise _error(f"the tag {node.tag[:60].replace(_TAG, '!!')} is not read here", node)


_KubernetesLoader.add_constructor(f"{_TAG}int", _KubernetesLoader.construct_number)
_KubernetesLoader.add_constructor(f"{_TAG}float", _KubernetesLoader.construct_number)
_KubernetesLoader.add_constructor(f"{_TAG}bool", _KubernetesLoader.construct_boolean)
_KubernetesLoader.add_constructor(None, _KubernetesLoader.refuse)


class _RepeatedKeyError(Exception):
    """The same as RepeatedKeyError, before the file is known."""

    def __init__(self, key: str, first_line: int, line: int):
        self.key, self.first_line, self.line = key, first_line, line
        super().__init__(key)


def _error(problem: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _expanded_size(value: Any, known: dict[int, int], open_: set[int]) -> int:
    if not isinstance(value, dict | list):
        return 1 + len(value) // _TEXT_LIKE_A_VALUE if isinstance(value, str) else 1
    key = id(value)
    if key in open_:
        return MAX_VALUES_WITH_ALIASES + 1
    if key not in known:
        open_.add(key)
        children = value.values() if isinstance(value, dict) else value
        known[key] = 1 + sum(_expanded_size(child, known, open_) for child in children)
        open_.discard(key)
    return known[key]
