"""The cluster before and after: which nodes are drawn, in what order, and what is left out."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.amounts import short, shown
from cpsched.report.bars import NodePicture, node_picture
from cpsched.report.document import Block, Cell, Picture, Section, Table, Text, table
from cpsched.report.fleet import fleet
from cpsched.report.nodes import DrawnNodes, by_interest, node_groups
from cpsched.report.scene import Scene

MOST_NODES = 40
"""So many nodes (or groups of nodes that look alike) are drawn task by task."""
MOST_QUIET = 12
"""So many of those are nodes that no decision touches."""
FEW_NODES = 24
"""A cluster of so few needs no overview."""


@dataclass(frozen=True)
class ClusterPicture:
    """The nodes drawn: where something changes, and a few where nothing does."""

    states: tuple[str, ...]
    touched: tuple[NodePicture, ...]
    quiet: tuple[NodePicture, ...]


def cluster_section(scene: Scene, resources: list[str], most: int = MOST_NODES) -> Section:
    """Nodes as bars per resource, before and after every decision, with a table of the same numbers."""
    groups = by_interest(node_groups(scene))
    touched = [group for group in groups if group.is_touched]
    quiet = [group for group in groups if not group.is_touched]
    drawn = touched[:most]
    calm = quiet[: max(0, min(MOST_QUIET, most - len(drawn)))]
    states = ("before", *(view.name for view in scene.views))
    picture = ClusterPicture(
        states,
        tuple(node_picture(scene, group, resources) for group in drawn),
        tuple(node_picture(scene, group, resources) for group in calm),
    )
    blocks: list[Block] = [Text(_summary(scene, groups, drawn, calm))]
    if len(scene.instance.nodes) > FEW_NODES:
        blocks.append(Picture("fleet", fleet(scene, resources)))
    blocks += [Picture("cluster", picture), _table(groups, states, resources)]
    return Section("cluster", "The cluster", tuple(blocks))


def _summary(scene: Scene, groups: list[DrawnNodes], drawn: list[DrawnNodes], calm: list[DrawnNodes]) -> str:
    total = len(scene.instance.nodes)
    pictured = sum(len(group.names) for group in (*drawn, *calm))
    changed = sum(len(group.names) for group in groups if group.is_touched)
    if pictured == total:
        return f"All {total} nodes; nodes that look alike are drawn once." if total > 1 else "The cluster has one node."
    left_out = sum(len(group.names) for group in groups if group.is_touched) - sum(len(one.names) for one in drawn)
    more = f" {left_out} nodes on which something changes are left out." if left_out else ""
    return (
        f"{pictured} of {total} nodes, in {len(drawn) + len(calm)} pictures: those where the decisions differ first, "
        f"then the others of the {changed} on which something changes, then some of the rest.{more} "
        "Nodes that look alike are drawn once."
    )


def _table(groups: list[DrawnNodes], states: tuple[str, ...], resources: list[str]) -> Table:
    rows = []
    for group in groups:
        name = group.names[0] + (f" and {len(group.names) - 1} alike" if len(group.names) > 1 else "")
        for resource in [*resources, "pods"]:
            size = group.allocatable.get(resource, 0)
            if group.size(resource) > 0:
                before, *after = [state.used(resource) for state in group.states]
                ending = group.states[0].ending(resource)
                free = Cell(shown(resource, size - before), "worse" if before > size else "")
                sums = (Cell(shown(resource, value)) for value in (size, before - ending, ending))
                cells = [Cell(shown(resource, value), "worse" if value > size else "") for value in after]
                rows.append((Cell(name), Cell(short(resource)), *sums, free, *cells))
    sums_before = ("#allocatable", "#running before", "#ending before", "#free before")
    columns = ("node", "resource", *sums_before, *(f"#taken {state}" for state in states[1:]))
    return table("Nodes: how much is taken", columns, rows, of_picture=True)
