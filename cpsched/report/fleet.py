"""All nodes at a glance: one small cell each, filled as far as the node is, marked where tasks come or go."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.report.nodes import COMING, DrawnNode, states_by_node
from cpsched.report.scene import Fate, Scene

CELL, GAP = 12, 2
COLUMNS = 48
MOST_CELLS = 6000


@dataclass(frozen=True)
class FleetMap:
    """The cells of one state as SVG path data."""

    state: str
    caption: str
    width: int
    height: int
    cells: str
    filled: str
    comes: str
    goes: str


def fleet(scene: Scene, resources: list[str]) -> tuple[FleetMap, ...]:
    """One map per state; the nodes stand in the same order in each."""
    nodes = list(states_by_node(scene).items())[:MOST_CELLS]
    states = ("before", *(view.name for view in scene.views))
    return tuple(_map(scene, resources, number, state, nodes) for number, state in enumerate(states))


def _map(
    scene: Scene, resources: list[str], number: int, name: str, nodes: list[tuple[str, tuple[DrawnNode, ...]]]
) -> FleetMap:
    cells, filled, comes, goes = [], [], [], []
    step, columns = CELL + GAP, min(COLUMNS, len(nodes))
    for index, (node, states) in enumerate(nodes):
        x, y, state = index % columns * step, index // columns * step, states[number]
        cells.append(_rectangle(x, y, CELL))
        if state.present:
            height = max(1, round(CELL * min(1.0, _full(scene, node, state, resources))))
            filled.append(_rectangle(x, y + CELL - height, height))
        fates = {one.fate for one in state.occupants} if number else set()
        if fates & COMING:
            comes.append(f"M{x + 3} {y + 6}h6m-3 -3v6")
        if Fate.VICTIM in fates:
            goes.append(f"M{x} {y}l{CELL} {CELL}m0 -{CELL}l-{CELL} {CELL}")
    rows = (len(nodes) + columns - 1) // columns
    caption = f"{name}: {len(filled)} of {len(nodes)} nodes in use"
    if number:
        caption += f", tasks are placed (+) on {len(comes)}, tasks are evicted (×) from {len(goes)}"
    size = (columns * step - GAP, rows * step - GAP)
    return FleetMap(name, caption, *size, *("".join(part) for part in (cells, filled, comes, goes)))


def _rectangle(x: int, y: int, height: int) -> str:
    return f"M{x} {y}h{CELL}v{height}h-{CELL}z"


def _full(scene: Scene, node: str, state: DrawnNode, resources: list[str]) -> float:
    """The fullest of the drawn resources."""
    sizes = scene.instance.nodes[node].allocatable
    return max((state.used(name) / sizes[name] for name in resources if sizes.get(name)), default=0.0)
