"""`--sharding` and `--shard-nodes`: which nodes are this scheduler's own, in place of what the input says."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from cpsched.errors import InputError

Sharding = Annotated[
    Literal["none", "soft", "hard"] | None,
    typer.Option("--sharding", help="Node sharding; overrules the input's own.", show_default=False),
]
ShardNodes = Annotated[
    str | None,
    typer.Option("--shard-nodes", metavar="A,B,...", help="The nodes of this scheduler's shard.", show_default=False),
]


def shard_of(mode: str | None, nodes: str | None) -> dict[str, Any] | None:
    """The shard as the importer reads it; None leaves it to the input."""
    if nodes is not None and mode not in ("soft", "hard"):
        raise InputError("--shard-nodes without a sharding mode", right="add --sharding soft or --sharding hard")
    if mode is None:
        return None
    return {"mode": mode, "nodes": [name.strip() for name in (nodes or "").split(",") if name.strip()]}
