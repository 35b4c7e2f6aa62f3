"""Bytes into documents: what is read as what, and what is refused before it can do harm."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.json_values import json_line
from cpsched.parsing import parse_documents


def values(text: str, file: str) -> list[Any]:
    return [document.data for document in parse_documents(text.encode(), file)]


def refusal(text: str, file: str) -> str:
    with pytest.raises(InputError) as refused:
        parse_documents(text.encode(), file)
    return str(refused.value)


def test_json_values_in_a_row_and_yaml_documents() -> None:
    assert values('{"a": 1}\n{"b": 2}', "x.json") == [{"a": 1}, {"b": 2}]
    assert values("a: 1\n---\n---\nb: 2\n", "x.yaml") == [{"a": 1}, {"b": 2}]
    assert values('{"a": 1}', "x.yaml") == [{"a": 1}]
    assert values('\ufeff {"a": 1}', "x") == [{"a": 1}]
    assert parse_documents(gzip.compress(b"[1]"), "x.json.gz")[0].data == [1]


def test_yaml_gives_what_json_could_say() -> None:
    text = "{time: 2026-01-01T00:00:00Z, 1: a, null: c, yes: d, number: 0x10, merged: {<<: {x: 1}, y: 2}}"
    assert values(text, "x.yaml") == [
        {
            "time": "2026-01-01T00:00:00Z",
            "1": "a",
            "true": "d",
            "null": "c",
            "number": 16,
            "merged": {"x": 1, "y": 2},
        }
    ]


def test_a_mapping_may_be_long() -> None:
    text = "".join(f"k{number}: v\n" for number in range(20_000))
    assert len(values(text, "x.yaml")[0]) == 20_000


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('{"a": NaN}', "x.json: line 1 column 7: not valid JSON: NaN is not a number in JSON"),
        ('{"a": "\\ud800"}', r"x.json: holds half a character (a lone \ud800 to \udfff)"),
        ('["a" 1]', "x.json: line 1 column 6: not valid JSON: a comma or a closing bracket is missing"),
        ("[" * 300, "x.json: line 1 column 301: not valid JSON: a value is missing"),
        ("[" * 300 + "]" * 300, "x.json: nested deeper than 200 levels; Kubernetes objects are far shallower"),
        ("[" * 10**5 + "]" * 10**5, "x.json: nested deeper than 200 levels; Kubernetes objects are far shallower"),
    ],
)
def test_json_that_is_refused(text: str, output: str) -> None:
    assert refusal(text, "x.json") == output


def test_whole_characters_may_be_spelt_in_halves() -> None:
    assert values('["\\ud83d\\ude00"] ["\\ud83d\\ude00"]', "x.json") == [["\U0001f600"], ["\U0001f600"]]


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("a: .nan", "line 1 column 4: not valid YAML: the number .nan is too large or not a number"),
        ("a: -.inf", "line 1 column 4: not valid YAML: the number -.inf is too large or not a number"),
        (f"a: 0x{'f' * 20}", "line 1 column 4: not valid YAML: the number 0xffffffffffffffffff is too large"),
        ("a: !!binary aGk=", "line 1 column 4: not valid YAML: the tag !!binary is not read here"),
        (
            "a: !!python/object/apply:os.system [ls]",
            "line 1 column 4: not valid YAML: the tag !!python/",
        ),
        ("a: !!bool maybe", "line 1 column 4: not valid YAML: maybe is neither true nor false"),
        ("[a]: b", "line 1 column 1: not valid YAML: a key is a list or a mapping"),
        ("[" * 10**5, "line 1 column 201: not valid YAML: nested deeper than 200 levels"),
        ("- " * 10**5 + "x", "line 1 column 401: not valid YAML: nested deeper than 200 levels"),
        ("&a [*a]", "YAML aliases expand to millions of values; write the values out"),
        (f"a: &a {{k: v}}\nb: {{<<: [{'*a, ' * 101}]}}", "line 2 column 4: not valid YAML: merge keys (<<) bring in"),
    ],
)
def test_yaml_that_is_refused(text: str, output: str) -> None:
    assert refusal(text, "x.yaml").startswith(f"x.yaml: {output}")


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('{"a": 1, "a": 1}', "line 1: the key a is there twice (first in line 1)"),
        ('{"a": {"b": 1},\n "c": [{"b": 1,\n "\\u0062": 2}]}', "line 3: the key b is there twice (first in line 2)"),
        ('{"a": 1}\n{"b": "x:y", "b": {}}', "line 2: the key b is there twice (first in line 2)"),
        ('{"a:": 1,\n "a\\u003a": 2}', "line 2: the key a: is there twice (first in line 1)"),
        ('{"a": "\\u003a", "b": 1, "b": 2}', "line 1: the key b is there twice (first in line 1)"),
        ('{"": 1, "": {"deep": 1}}', "line 1: the key  is there twice (first in line 1)"),
    ],
)
def test_json_with_the_same_key_twice(text: str, output: str) -> None:
    assert refusal(text, "x.json") == f"x.json: {' '.join(output.split())}; keep one of them"


@pytest.mark.parametrize(
    "text", ['{"a": {"b": 1}, "c": {"b": 1, "B": "b:"}}', '[{"a:": 1}, {"a\\u003a": 1}]', '{"a": "{a: 1, a: 2}"}']
)
def test_json_with_the_same_key_in_two_places(text: str) -> None:
    assert values(text, "x.json") == [json.loads(text)]


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("a: 1\nb: 2\na: 3", "line 3: the key a is there twice (first in line 1)"),
        ("- {a: {b: 1,\n 'b': 2}}", "line 2: the key b is there twice (first in line 1)"),
        ("<<: {a: 1}\nb: 2\n<<: {a: 2}", "line 3: the key << is there twice (first in line 1)"),
        ("1: x\n'1': y", "line 2: the key 1 is there twice (first in line 1)"),
        ("true: x\nyes: y", "line 2: the key true is there twice (first in line 1)"),
        ("a: 1\n---\nb: 1\nb: 1", "line 4: the key b is there twice (first in line 3)"),
        ("a: &a {x: 1}\nb: {<<: *a, y: 1, y: 2}", "line 2: the key y is there twice (first in line 2)"),
    ],
)
def test_yaml_with_the_same_key_twice(text: str, output: str) -> None:
    assert refusal(text, "x.yaml") == f"x.yaml: {output}; keep one of them"


def test_a_merged_key_may_be_overruled() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {<<: *a, x: 2}\nc: {<<: *b, y: 3}\nd: {<<: [*a, *b], x: 4}\ne: *b"
    found = {"a": {"x": 1, "y": 1}, "b": {"x": 2, "y": 1}, "c": {"x": 2, "y": 3}, "d": {"x": 4, "y": 1}}
    assert values(text, "x.yaml") == [{**found, "e": {"x": 2, "y": 1}}]


def test_lines_of_json() -> None:
    assert json_line(b'{"a": 1}\n', "x", 7) == {"a": 1}
    for line, output in [
        (b'{"a": 1, "a": 2}', "x: line 7: the key a is there twice (first in line 7); keep one of them"),
        (b"{", "x: line 7 column 2: not valid JSON: a key in double quotes is missing"),
        (b'"\xff"', "x: line 7: not UTF-8 text (byte 1)"),
        (b"1 2", "x: line 7: 2 values on one line; write one"),
        (b"[" * 10**5, "x: nested deeper than 200 levels; Kubernetes objects are far shallower"),
    ]:
        with pytest.raises(InputError) as refused:
            json_line(line, "x", 7)
        assert str(refused.value) == output
