"""`cpsched generate`: instances of a family, each with the recipe that makes it again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpsched.cli.delivery import check_outputs, write_output
from cpsched.cli.output import as_json, busy, emit, emit_tables
from cpsched.errors import InputError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from rich.table import Table

    from cpsched.lab.families import Family

MOST_FILES = 100_000

FamilyName = Annotated[
    str | None, typer.Argument(metavar="FAMILY", help="Which family; --list shows them.", show_default=False)
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter; may be given several times. NAME=A,B,C makes an instance for every combination.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed; the same seed produces the same file.")]
Count = Annotated[
    int, typer.Option("--count", min=1, max=MOST_FILES, help="Number of instances; each uses the next seed.")
]
Trace = Annotated[
    str | None,
    typer.Option("--trace", metavar="DIR", help="The trace's folder (families openb, dlrm).", show_default=False),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe", metavar="FILE", help="Make this generated instance again, from its recipe.", show_default=False
    ),
]
ListAll = Annotated[bool, typer.Option("--list", help="Show the families and their parameters.")]
Json = Annotated[bool, typer.Option("--json", help="With --list: print JSON instead of tables.")]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE|DIR", help="Write to this file, or into this folder.", show_default=False
    ),
]


def generate(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    family: FamilyName = None,
    seed: Seed = 1,
    set_: Set = None,
    count: Count = 1,
    trace: Trace = None,
    recipe: Recipe = None,
    list_: ListAll = False,
    json: Json = False,
    output: Output = None,
) -> int:
    """Make instances of a family, seeded.

    Each holds its recipe: family, parameters, seed and version. One instance goes to stdout or to the file of -o,
    several into a folder.
    """
    from cpsched.lab.generate import as_text, parameters_of
    from cpsched.lab.generate import generate as make

    if list_:
        _list_families(family, json)
        return 0
    if recipe is not None:
        _only_recipe(family, set_)
        check_outputs(output)
        with busy("Generating"):
            text = as_text(_again(recipe, trace))
        _deliver(text, output)
        return 0
    if family is None:
        raise InputError("no family", right="name one; cpsched generate --list shows them")
    cells = [*product(_combinations(set_ or []), range(seed, seed + count))]
    if len(cells) > MOST_FILES:
        raise InputError(f"{len(cells)} instances", right=f"at most {MOST_FILES} at once")
    for chosen, _ in cells:
        parameters_of(family, chosen)
    if len(cells) == 1 and not _is_folder(output):
        check_outputs(output)
        _deliver(as_text(make(family, cells[0][0], seed=seed, trace=trace)), output)
        return 0
    if output is None:
        raise InputError(f"{len(cells)} instances for stdout", right="give a folder: -o DIR")
    folder = _folder(output)
    with busy(f"Generating {len(cells)} instances"):
        for chosen, number in cells:
            made = make(family, chosen, seed=number, trace=trace)
            write_output(str(folder / _file_name(made["recipe"], chosen)), as_text(made))
    return 0


def _combinations(stated: Iterable[str]) -> Iterator[dict[str, str]]:
    values: dict[str, list[str]] = {}
    for text in stated:
        name, sign, rest = text.partition("=")
        if not sign or not name:
            raise InputError(f"--set {text}", right="write NAME=VALUE")
        if name in values:
            raise InputError(f"--set {name} twice", right="write NAME=A,B for both")
        values[name] = [one.strip() for one in rest.split(",")]
    for chosen in product(*values.values()):
        yield dict(zip(values, chosen, strict=True))


def _again(file: str, trace: str | None) -> dict[str, Any]:
    from cpsched.files import read_document
    from cpsched.lab.generate import again

    document = read_document(file)
    stated = document.data.get("recipe") if isinstance(document.data, Mapping) else None
    return again(stated, trace=trace, file=document.file)


def _only_recipe(family: str | None, set_: list[str] | None) -> None:
    if family is not None or set_:
        raise InputError("a recipe and a family or --set", right="the recipe says it all; give only --recipe FILE")


def _deliver(text: str, output: str | None) -> None:
    write_output(output, text)
    if output is None:
        emit(text)


def _is_folder(output: str | None) -> bool:
    return output is not None and (output.endswith("/") or os.path.isdir(output))


def _folder(output: str) -> Path:
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"no folder can be made: {error.strerror or error}", file=output) from None
    return folder


def _file_name(recipe: Mapping[str, Any], chosen: Iterable[str]) -> str:
    stated = (f"{name}={recipe['parameters'][name]}" for name in chosen)
    return "-".join((recipe["family"], *stated, f"seed={recipe['seed']}")) + ".json"


def _list_families(name: str | None, json: bool) -> None:
    from cpsched.lab.families import FAMILIES
    from cpsched.lab.generate import find

    shown = FAMILIES if name is None else {name: find(name)}
    if json:
        emit(as_json({key: _described(family) for key, family in shown.items()}))
    else:
        emit_tables(*(part for key, family in shown.items() for part in _tables(key, family)))


def _described(family: Family) -> dict[str, Any]:
    schema = family.parameters.model_json_schema()["properties"]
    parameters = {
        key: {part: value for part, value in field.items() if part != "title"} for key, field in schema.items()
    }
    return {
        "about": family.about,
        "model": family.model,
        "trace": family.trace is not None,
        "parameters": parameters,
    }


def _tables(name: str, family: Family) -> Iterator[Table | str]:
    from cpsched.cli.tables import table

    rows = [
        (key, str(field.default), values_of(field), field.description or "")
        for key, field in family.parameters.model_fields.items()
    ]
    yield table(f"{name}: {family.about}; model {family.model}", ["parameter", "#default", "values", "means"], rows)


def values_of(field: FieldInfo) -> str:
    """The range of a number, or the words to choose from."""
    from typing import get_args

    words = get_args(field.annotation)
    if words:
        return ", ".join(words)
    limits = {kind: getattr(limit, kind) for limit in field.metadata for kind in ("ge", "le") if hasattr(limit, kind)}
    return f"{limits['ge']} to {limits['le']}" if limits else "a name"
