"""Bytes into documents: what is read as what, and what is refused before it can do harm."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from cpsched.errors import InputError
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
    text = "{time: 2026-01-01T00:00:00Z, 1: a, true: b, null: c, yes: d, number: 0x10, merged: {<<: {x: 1}, y: 2}}"
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
    ("text", "said"),
    [
        ('{"a": NaN}', "x.json: not valid JSON: NaN is not a number in JSON"),
        ('{"a": "\\ud800"}', r"x.json: holds half a character (a lone \ud800 to \udfff)"),
        ('["a" 1]', "x.json: line 1 column 6: not valid JSON: Expecting ',' delimiter"),
        ("[" * 300, "x.json: line 1 column 301: not valid JSON: Expecting value"),
        ("[" * 300 + "]" * 300, "x.json: nested deeper than 200 levels; Kubernetes objects are far shallower"),
        ("[" * 10**5 + "]" * 10**5, "x.json: nested deeper than 200 levels; Kubernetes objects are far shallower"),
    ],
)
def test_json_that_is_refused(text: str, said: str) -> None:
    assert refusal(text, "x.json") == said


def test_whole_characters_may_be_spelt_in_halves() -> None:
    assert values('["\\ud83d\\ude00"] ["\\ud83d\\ude00"]', "x.json") == [["\U0001f600"], ["\U0001f600"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: .nan", "line 1 column 4: not valid YAML: the number .nan is too large or not a number"),
        ("a: -.inf", "line 1 column 4: not valid YAML: the number -.inf is too large or not a number"),
        (f"a: 0x{'f' * 20}", "line 1 column 4: not valid YAML: the number 0xffffffffffffffffff is too large"),
        ("a: !!binary aGk=", "line 1 column 4: not valid YAML: could not determine a constructor"),
        ("a: !!python/object/apply:os.system [ls]", "line 1 column 4: not valid YAML: could not determine a"),
        ("a: !!bool maybe", "not valid YAML: 'maybe'"),
        ("[a]: b", "line 1 column 1: not valid YAML: found unhashable key"),
        ("[" * 10**5, "line 1 column 201: not valid YAML: nested deeper than 200 levels"),
        ("- " * 10**5 + "x", "line 1 column 401: not valid YAML: nested deeper than 200 levels"),
        ("&a [*a]", "YAML aliases expand to millions of values; write the values out"),
        (f"a: &a {{k: v}}\nb: {{<<: [{'*a, ' * 101}]}}", "line 2 column 4: not valid YAML: merge keys (<<) bring in"),
    ],
)
def test_yaml_that_is_refused(text: str, said: str) -> None:
    assert refusal(text, "x.yaml").startswith(f"x.yaml: {said}")
