"""`cpsched schema`: the JSON Schema of what cpsched reads and writes."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cpsched.cli.delivery import write_output
from cpsched.cli.output import as_json, emit
from cpsched.cli.parameters import Output

DIALECT = "https://json-schema.org/draft/2020-12/schema"

What = Annotated[
    Literal["instance", "model", "solution", "certificate"],
    typer.Argument(
        metavar="WHAT",
        help="instance: the compact form. model: a policy file. solution: a decision. certificate: one with evidence.",
        show_default=False,
    ),
]


def schema(what: What, output: Output = None) -> int:
    """Print a JSON Schema, for editors and for checking files."""
    from pydantic import BaseModel

    from cpsched.certificate import Certificate
    from cpsched.importers.compact import CompactInstance
    from cpsched.policy import Model
    from cpsched.solution import Solution

    shapes: dict[str, type[BaseModel]] = {
        "instance": CompactInstance,
        "model": Model,
        "solution": Solution,
        "certificate": Certificate,
    }
    text = as_json({"$schema": DIALECT, **shapes[what].model_json_schema()})
    write_output(output, text)
    if output is None:
        emit(text)
    return 0
