"""What pydantic finds wrong with an input, in the words of this package: what was found and what is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cpsched.errors import InputError
from cpsched.visible import visible

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_LONGEST = 60
_SORTS: Mapping[type, str] = {
    dict: "a mapping",
    list: "a list",
    tuple: "a list",
    str: "a text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}
_TEXT, _LIST, _MAPPING = "should be a text", "should be a list", "should be a mapping"
_WHOLE, _NUMBER, _BOOLEAN = "should be a whole number", "should be a number", "should be true or false"
EXPECTED: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "no such field",
    "string_type": _TEXT,
    "string_too_short": "should have {min_length} characters or more",
    "string_too_long": "should have {max_length} characters or fewer",
    "string_pattern_mismatch": "should match {pattern}",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "should be a smaller number",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "should be a finite number",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "none_required": "should be left out",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "too_short": "should have {min_length} entries or more",
    "too_long": "should have {max_length} entries or fewer",
    "set_item_not_hashable": "should be a text or a number",
    "dict_type": _MAPPING,
    "mapping_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dataclass_type": _MAPPING,
    "is_instance_of": _MAPPING,
    "invalid_key": "should have texts as keys",
    "literal_error": "should be {expected}",
    "enum": "should be {expected}",
    "greater_than": "should be greater than {gt}",
    "greater_than_equal": "should be greater than or equal to {ge}",
    "less_than": "should be less than {lt}",
    "less_than_equal": "should be less than or equal to {le}",
    "union_tag_invalid": "has an unknown {discriminator}; known: {expected_tags}",
    "union_tag_not_found": "has no {discriminator}",
    "json_invalid": "not JSON: {error}",
}
"""By pydantic's name for the fault; the text is filled with what pydantic knows about it."""
OTHERWISE = "is not what belongs here"
_ALONE = ("missing", "extra_forbidden", "json_invalid", "value_error")
"""Faults whose words do not go with a value."""


def named(value: Any) -> str:
    """What sort of value this is, for an error."""
    return "nothing" if value is None else _SORTS.get(type(value), type(value).__name__)


def shown(value: Any) -> str:
    """The value itself if it is short, else what sort it is."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if not isinstance(value, str | int | float):
        return named(value)
    # A lone surrogate cannot be written as UTF-8, which pydantic does with the text of an error.
    text = f'"{visible(value)}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def accepted(detail: ErrorDetails) -> str:
    """What is accepted, as it goes on from "it"; or all there is to say."""
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    known = {key: str(value).strip("'") if key == "discriminator" else value for key, value in _known(detail).items()}
    return EXPECTED.get(detail["type"], OTHERWISE).format_map(known)


def complaint(detail: ErrorDetails) -> str:
    """What was found and what is accepted."""
    text = accepted(detail)
    return text if detail["type"] in _ALONE else f"{shown(detail['input'])} {text}"


def refusal(
    error: ValidationError, *, file: str | None = None, place: str | None = None, right: str | None = None
) -> InputError:
    """The first complaint as one line, at `place` or at the place inside what was validated."""
    first = error.errors(include_url=False)[0]
    return InputError(complaint(first), file=file, place=place or place_in(first), right=right)


def place_in(detail: ErrorDetails) -> str:
    """Where it is, as `levels.0.name`."""
    return ".".join(map(str, detail["loc"]))


def _known(detail: ErrorDetails) -> Mapping[str, Any]:
    return detail.get("ctx", {})
