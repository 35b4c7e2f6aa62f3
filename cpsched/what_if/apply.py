"""All changes in one order: what goes, what is closed, what is added, what is submitted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from cpsched.importers.kubernetes import Found
from cpsched.what_if import nodes, pods
from cpsched.what_if.assumed import assume
from cpsched.what_if.changes import Changes, Cluster
from cpsched.what_if.submit import create
from cpsched.workloads.expand import Given

Submitted = tuple[Any, Sequence[Found], Sequence[Given]]
"""A source, and the objects and workloads that it holds."""


def applied(cluster: Cluster, changes: Changes, submitted: Iterable[Submitted], there: Sequence[Given]) -> list[str]:
    """Change the cluster; what is to be known about it besides.

    Nodes are added before anything is closed, so that a new node is like the old one as it was.
    """
    if changes.assume_nodes:
        assume(cluster)
    for name in dict.fromkeys(changes.without):
        pods.remove(cluster, name)
    for name in dict.fromkeys(changes.evict):
        pods.evict(cluster, name)
    nodes.add(cluster, changes.add_nodes)
    for name in dict.fromkeys(changes.cordon):
        nodes.cordon(cluster, name)
    for name in dict.fromkeys(changes.drain):
        pods.drain(cluster, name)
    notes: list[str] = []
    known = [*there]
    for source, found, workloads in submitted:
        option = f"--submit {os.fspath(source)}" if isinstance(source, str | os.PathLike) else "--submit"
        notes += create(cluster, option, found, workloads, known)
        known += workloads
    return notes
