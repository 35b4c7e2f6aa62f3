"""Validated shapes: pydantic's findings as one line, unknown fields as warnings with their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from cpsched.complaints import accepted
from cpsched.objects.base import Shape
from cpsched.policy.notes import Notes, known, shown, subplace

AnyModel = TypeVar("AnyModel", bound=BaseModel)
Location = Sequence[int | str]


class ClosedShape(Shape):
    """A Kubernetes shape that knows all its fields."""

    model_config = ConfigDict(extra="forbid")


def validated(shape: type[AnyModel], data: object, notes: Notes, place: str | None = None) -> AnyModel:
    """The data in its shape; unknown fields are warnings, or errors for the strict, and left out."""
    try:
        return shape.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False)
    unknown = [detail for detail in details if detail["type"] == "extra_forbidden"]
    if not unknown:
        raise _refusal(details[0], notes, place)
    for detail in unknown:
        *outer, key = detail["loc"]
        right = known(key, _fields(_shape_at(shape, outer)))
        notes.unknown(f"unknown field {key}", place=_place(place, outer), right=right)
    return validated(shape, _without(data, [detail["loc"] for detail in unknown]), notes, place)


def _refusal(detail: ErrorDetails, notes: Notes, place: str | None) -> Exception:
    where = _place(place, detail["loc"])
    if detail["type"] in ("missing", "value_error"):
        return notes.error(accepted(detail), place=where)
    return notes.error(f"{shown(detail['input'])} does not fit", place=where, right=f"it {accepted(detail)}")


def _place(place: str | None, location: Location) -> str | None:
    for step in location:
        place = subplace(place, step)
    return place


def _fields(shape: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in shape.model_fields.items()]


def _shape_at(shape: type[BaseModel], location: Location) -> type[BaseModel]:
    for step in location:
        inner = (field for name, field in shape.model_fields.items() if step in (name, field.alias))
        field = next(inner, None)
        shape = next(_models(field.annotation), shape) if field else shape
    return shape


def _models(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _without(data: object, locations: Sequence[Location]) -> object:
    copy: Any = deepcopy(data)
    for *outer, key in locations:
        part = copy
        for step in outer:
            part = part[step]
        del part[key]
    return copy


def plain(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """A mapping of any class as dicts and lists without null, which means absent: what strict validation wants."""
    return {key: _plain(value) for key, value in data.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
