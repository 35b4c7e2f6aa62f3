"""Options that several commands share, as one parameter: a dataclass with an option per field."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """The command as typer reads it: in the place of each dataclass the options that are its fields."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for one in signature.parameters.values():
        if not is_dataclass(one.annotation):
            parameters.append(one)
            continue
        groups[one.name] = one.annotation
        hints = get_type_hints(one.annotation, include_extras=True)
        parameters += [
            one.replace(name=field.name, default=field.default, annotation=hints[field.name])
            for field in fields(one.annotation)
        ]

    @wraps(command)
    def whole(**given: Any) -> int:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        return command(**given)

    whole.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return whole
