"""Options that change the cluster before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.what_if.changes import Changes


@dataclass(frozen=True)
class WhatIf:
    """What the options say."""

    submit: Annotated[
        list[str] | None,
        typer.Option(
            "--submit",
            metavar="FILE",
            help="What if the objects of this file were created: Jobs, Deployments and the like with the pods that "
            "their controllers make, pods, queues; may be repeated.",
            show_default=False,
        ),
    ] = None
    cordon: Annotated[
        list[str] | None,
        typer.Option(
            "--cordon", metavar="NODE", help="What if this node took no new pods; may be repeated.", show_default=False
        ),
    ] = None
    drain: Annotated[
        list[str] | None,
        typer.Option(
            "--drain",
            metavar="NODE",
            help="What if this node was drained: the pods of controllers on it are pending again; may be repeated.",
            show_default=False,
        ),
    ] = None
    add_nodes: Annotated[
        list[int] | None,
        typer.Option(
            "--add-nodes",
            metavar="N",
            help="What if there were N more nodes like that of --like; may be repeated, with --like.",
            show_default=False,
        ),
    ] = None
    like: Annotated[
        list[str] | None,
        typer.Option(
            "--like", metavar="NODE", help="The node that the added ones are like; may be repeated.", show_default=False
        ),
    ] = None
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without", metavar="NS/POD", help="What if this pod was gone; may be repeated.", show_default=False
        ),
    ] = None
    assume_nodes: Annotated[
        bool,
        typer.Option(
            "--assume-nodes",
            help="Make the nodes that only the pods name (spec.nodeName), each as large as what its pods request.",
        ),
    ] = False
    node_usage: Annotated[
        str | None,
        typer.Option(
            "--node-usage",
            metavar="FILE",
            help="The measured load of nodes, for Volcano's plugins usage and rescheduling: JSON or YAML, node → "
            "{cpu: percent, memory: percent, age: seconds}. Overrules nodeUsage of the input.",
            show_default=False,
        ),
    ] = None

    def changes(self, inputs: Sequence[str]) -> Changes:
        """The changes that the options ask for."""
        from cpsched.what_if.changes import Changes

        counts, nodes = self.add_nodes or [], self.like or []
        if len(counts) != len(nodes):
            wrong = f"--add-nodes is given {len(counts)} times and --like {len(nodes)} times"
            raise InputError(wrong, right="--add-nodes 2 --like n1 adds two nodes like n1")
        if [*inputs, *(self.submit or [])].count("-") > 1:
            place = "--submit" if self.submit and "-" in self.submit else None
            raise InputError("two inputs are stdin", place=place, right="name a file for one of them")
        if self.node_usage == "-" and "-" in (*inputs, *(self.submit or [])):
            raise InputError("two inputs are stdin", place="--node-usage", right="name a file for one of them")
        return Changes(
            submit=tuple(self.submit or ()),
            cordon=tuple(self.cordon or ()),
            drain=tuple(self.drain or ()),
            add_nodes=tuple(zip(counts, nodes, strict=True)),
            without=tuple(self.without or ()),
            assume_nodes=self.assume_nodes,
            node_usage=self.node_usage,
        )


AS_IT_IS = WhatIf()
"""Nothing is changed."""
