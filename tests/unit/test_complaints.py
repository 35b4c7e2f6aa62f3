"""Whatever pydantic can find wrong with any shape of this package is stated in its own words."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

import cpsched
from cpsched import complaints
from cpsched.certificate.document import Certificate
from cpsched.complaints import EXPECTED, OTHERWISE, complaint, shown
from cpsched.errors import InputError
from cpsched.policy import Policy
from cpsched.policy.notes import Notes
from cpsched.policy.shapes import validated
from cpsched.solution import Solution

PYTHON = re.compile(
    r"Input|\b([Tt]uple|frozenset|dict|None|NoneType|instance|integer|valid|string|str|int|bool|float)\b"
    r"|Value error|Field"
)
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
WRONG: list[Any] = [
    None, True, 5, -1, 10**30, 1.5, float("nan"), "", "x", "5", [], [None], [[]], ["x"], [5], {}, {"x": None},
    {"x": {}}, {"x": []}, {"x": 5}, {5: "x"}, {"x": "x"}, [{}], [{"x": {}}],
]  # fmt: skip


def models() -> list[type[BaseModel]]:
    """Every shape there is but policies, which are made and never read."""
    for module in pkgutil.walk_packages(cpsched.__path__, "cpsched."):
        if not module.name.endswith(("__main__", ".ray")):
            import_module(module.name)
    found: dict[type[BaseModel], None] = {}
    left: list[type[BaseModel]] = [BaseModel]
    while left:
        for one in left.pop().__subclasses__():
            if one.__module__.startswith("cpsched.") and one not in found and not issubclass(one, Policy):
                found[one] = None
            left.append(one)
    return list(found)


def faults(shape: type[BaseModel]) -> Iterator[ErrorDetails]:
    """What pydantic says of wrong values in each of its fields, and of itself."""
    names = [field.alias or name for name, field in shape.model_fields.items()]
    for data in (*WRONG, *({name: value} for name in names for value in WRONG)):
        try:
            shape.model_validate(data)
        except ValidationError as error:
            yield from error.errors(include_url=False)


def test_every_fault_of_every_shape_has_words_of_ours() -> None:
    met = set()
    for shape in models():
        for fault in faults(shape):
            met.add(fault["type"])
            output = complaint(fault)
            assert fault["type"] in EXPECTED or fault["type"] == "value_error", (shape, fault)
            assert not PYTHON.search(QUOTED.sub("", output)), (shape, output)
    assert met >= {"missing", "literal_error", "string_type", "tuple_type", "int_type", "bool_type", "extra_forbidden"}


@pytest.mark.parametrize(
    ("read", "data", "line"),
    [
        (Solution.parse, {"binds": 1}, "binds: 1 should be a mapping"),
        (Solution.parse, {"binds": {"a": None}}, "binds.a: null should be a text"),
        (Solution.parse, {"levels": None}, "levels: null should be a list"),
        (Solution.parse, {"evictions": {"a": 1}}, "evictions: a mapping should be a list"),
        (Solution.parse, {"seed": "one"}, 'seed: "one" should be a whole number'),
        (Solution.parse, {"interrupted": "yes please"}, 'interrupted: "yes please" should be true or false'),
        (Certificate.parse, {"kind": "Certificate"}, "model: is missing"),
    ],
)
def test_a_line_says_what_was_found_and_what_is_accepted(read: Any, data: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as refused:
        read(data)
    assert str(refused.value) == line


class Odd(BaseModel):
    """A shape with a type that no other has."""

    when: bytes


def test_what_no_task_thought_of_is_no_word_of_pydantics() -> None:
    with pytest.raises(ValidationError) as refused:
        Odd.model_validate({"when": []})
    assert complaint(refused.value.errors()[0]) == f"a list {OTHERWISE}"
    with pytest.raises(InputError, match=r"^when: \[\] does not fit; it is not what belongs here$"):
        validated(Odd, {"when": []}, Notes())


@pytest.mark.parametrize(
    ("value", "text"), [(None, "null"), (True, "true"), ("a", '"a"'), (1.5, "1.5"), ([1], "a list")]
)
def test_what_was_found_is_shown_as_it_is_written(value: Any, text: str) -> None:
    assert shown(value) == text
    assert complaints.shown("x" * 100) == f'"{"x" * 56}...'
