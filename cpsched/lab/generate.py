"""generate(): one instance of a family, with the recipe that makes the very same bytes again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import cpsched.version
from cpsched.errors import InputError
from cpsched.importers.kubernetes import input_error
from cpsched.importers.sizes import check_size
from cpsched.lab.draw import Draw
from cpsched.lab.families import FAMILIES, Family, Parameters
from cpsched.lab.families.family import Raw
from cpsched.visible import json_text

_RECIPE = {"family", "parameters", "seed", "cpsched", "trace_sha256"}
MOST_SEEDS = 2**63


def find(name: str) -> Family:
    """The family of that name; InputError for one that is unknown."""
    if name not in FAMILIES:
        near = get_close_matches(name, FAMILIES, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"unknown family {name}", right=f"{meant}known: {', '.join(FAMILIES)}")
    return FAMILIES[name]


def parameters_of(name: str, given: Mapping[str, Any]) -> Parameters:
    """The family's parameters, each checked for its range; texts such as "50" are read as numbers."""
    family = find(name)
    known = family.parameters.model_fields
    for key in given:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise InputError(f"no parameter {key}", place=f"family {name}", right=f"{meant}known: {', '.join(known)}")
    try:
        return family.parameters.model_validate(dict(given))
    except ValidationError as error:
        raise input_error(error, file=None, place=f"family {name}") from None


def generate(
    name: str, parameters: Mapping[str, Any] | None = None, *, seed: int = 1, trace: Path | str | None = None
) -> Raw:
    """A compact instance with its recipe inside; the same arguments give the same instance everywhere.

    Args:
        name: a key of FAMILIES.
        parameters: those that differ from the defaults.
        seed: what chance does.
        trace: the folder of the trace, for families that sample one.
    """
    family, given = find(name), parameters_of(name, parameters or {})
    if not 0 <= seed < MOST_SEEDS:
        raise InputError(f"seed {seed}", right="a seed is a whole number from 0 to 2^63 - 1")
    recipe: Raw = {
        "family": name,
        "parameters": given.model_dump(mode="json"),
        "seed": seed,
        "cpsched": cpsched.version.__version__,
    }
    draw = Draw(seed)
    if family.trace is None:
        made = family.make(given, draw)
    else:
        if trace is None:
            raise InputError(f"family {name} samples a trace", right="say where it is: --trace DIR")
        rows = family.trace(Path(trace), given)
        recipe["trace_sha256"] = hashlib.sha256(repr(rows).encode()).hexdigest()
        made = family.make(given, draw, rows)
    tasks = (task for job in made["jobs"] for task in job["tasks"])
    check_size(((task.get("replicas", 1), ()) for task in tasks), f"family {name}")
    head = {"apiVersion": made.pop("apiVersion"), "kind": made.pop("kind"), "name": f"{name}-{seed}"}
    return {**head, "recipe": recipe, **made}


def again(recipe: Any, *, trace: Path | str | None = None, file: str | None = None) -> Raw:
    """The instance that the recipe describes; InputError if the recipe, the version or the trace is another."""
    if not isinstance(recipe, Mapping) or not {"family", "parameters", "seed"} <= recipe.keys() <= _RECIPE:
        raise InputError("no recipe", file=file, place="recipe", right="give an instance that cpsched generate wrote")
    if recipe.get("cpsched") != cpsched.version.__version__:
        raise InputError(
            f"made by cpsched {recipe.get('cpsched')}",
            file=file,
            place="recipe",
            right=f"this is {cpsched.version.__version__}: families may have changed in between",
        )
    seed, parameters = recipe["seed"], recipe["parameters"]
    if not isinstance(seed, int) or not isinstance(parameters, Mapping) or not isinstance(recipe["family"], str):
        raise InputError("no recipe", file=file, place="recipe", right="give an instance that cpsched generate wrote")
    made = generate(recipe["family"], parameters, seed=seed, trace=trace)
    if made["recipe"].get("trace_sha256") != recipe.get("trace_sha256"):
        raise InputError("made from another trace", file=str(trace), right="give the trace that it was made from")
    return made


def as_text(instance: Mapping[str, Any]) -> str:
    """The bytes of an instance's file."""
    return json_text(instance, indent=1) + "\n"
