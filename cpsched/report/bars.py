"""The picture of the cluster: for every node and state one bar per resource, with a block per task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cpsched.amounts import exact, listed, short
from cpsched.instance import Task
from cpsched.report.nodes import DrawnNode, DrawnNodes, Occupant
from cpsched.report.scene import Fate, Scene, View

MOST_BLOCKS = 24
"""With more tasks on a node, those of one job and one fate become one block."""

LEGIBLE = 9
"""A block of less than so many hundredths of its bar has no room for a name."""

WORDS = {
    Fate.STAYS: "runs",
    Fate.ENDS: "is ending",
    Fate.VICTIM: "is evicted",
    Fate.STARTS: "starts now",
    Fate.WAITS: "waits for reserved capacity",
    Fate.HOLDS: "is allocated, its gang is not ready",
}
CLASSES = {
    Fate.STAYS: "stays",
    Fate.ENDS: "ends",
    Fate.VICTIM: "victim",
    Fate.STARTS: "starts",
    Fate.WAITS: "waits",
    Fate.HOLDS: "holds",
}


@dataclass(frozen=True)
class Block:
    """One task, or several alike, in one bar; x and width in hundredths of the bar."""

    x: float
    width: float
    kind: str
    letter: str
    label: str
    tooltip: str
    key: str


@dataclass(frozen=True)
class Bar:
    """One resource of one node in one state."""

    resource: str
    used: str
    size: str
    full: float
    """Where the node's size ends, in hundredths of the bar; below 100 if more is taken than there is."""
    present: tuple[Block, ...]
    leaving: tuple[Block, ...]


@dataclass(frozen=True)
class Panel:
    """One node in one state."""

    state: str
    bars: tuple[Bar, ...]
    pods: str


@dataclass(frozen=True)
class NodePicture:
    """One node, or several that look alike, in all states side by side."""

    name: str
    alike: tuple[str, ...]
    size: str
    panels: tuple[Panel, ...]


def node_picture(scene: Scene, group: DrawnNodes, resources: Sequence[str]) -> NodePicture:
    """The node's bars before and after every decision."""
    views: list[View | None] = [None, *scene.views]
    panels = []
    for view, state in zip(views, group.states, strict=True):
        parts = (_merged(scene, view, state.present), _merged(scene, view, state.leaving))
        bars = tuple(_bar(group, state, name, *parts) for name in resources if group.size(name) > 0)
        pods = f"{len(state.present)} of {exact('pods', group.allocatable.get('pods', 0))} pods"
        panels.append(Panel("before" if view is None else view.name, bars, pods))
    size = listed({name: group.allocatable.get(name, 0) for name in resources})
    return NodePicture(group.names[0], group.names[1:], size, tuple(panels))


@dataclass(frozen=True)
class _Piece:
    """What becomes a block in every bar of a panel."""

    tasks: tuple[Task, ...]
    fate: Fate
    label: str
    tooltip: str


def _merged(scene: Scene, view: View | None, occupants: Sequence[Occupant]) -> list[_Piece]:
    if len(occupants) <= MOST_BLOCKS:
        return [_piece(scene, view, [one.task], one.fate) for one in occupants]
    by_job: dict[tuple[Fate, str], list[Task]] = {}
    for one in occupants:
        by_job.setdefault((one.fate, one.task.group or one.task.key), []).append(one.task)
    return [_piece(scene, view, tasks, fate) for (fate, _), tasks in by_job.items()]


def _piece(scene: Scene, view: View | None, tasks: list[Task], fate: Fate) -> _Piece:
    first, job = tasks[0], scene.snapshot.job_of(tasks[0])
    many = f"{len(tasks)} × " if len(tasks) > 1 else ""
    key = job.key if many and job is not None else first.key
    tooltip = [f"{many}{key}: {WORDS[fate]}"]
    tooltip.append(f"{'each ' if many else ''}{listed(_without_pods(first)) or 'requests nothing'}")
    tooltip.append(f"priority {first.pod_priority}" + (f", queue {job.queue}" if job is not None and job.queue else ""))
    if view is not None and fate is Fate.VICTIM:
        eviction = view.evictions[first.key]
        tooltip.append(" ".join(filter(None, (eviction.action, eviction.for_job and f"for {eviction.for_job}"))))
    label = f"{many}{key.rpartition('/')[2]}" if many else first.name
    return _Piece(tuple(tasks), fate, label, "\n".join(filter(None, tooltip)))


def _without_pods(task: Task) -> dict[str, int]:
    return {name: value for name, value in task.requests.items() if name != "pods"}


def _bar(group: DrawnNodes, state: DrawnNode, resource: str, present: list[_Piece], leaving: list[_Piece]) -> Bar:
    size = group.size(resource)
    used, allocatable = state.used(resource), group.allocatable.get(resource, 0)
    remain = sum(one.task.requests.get(resource, 0) for one in state.present if one.fate in (Fate.STAYS, Fate.ENDS))
    return Bar(
        resource=short(resource),
        used=exact(resource, used),
        size=exact(resource, allocatable),
        full=round(100 * allocatable / size, 2),
        present=tuple(_blocks(present, resource, size, 0)),
        leaving=tuple(_blocks(leaving, resource, size, remain)),
    )


def _blocks(pieces: list[_Piece], resource: str, size: float, start: float) -> list[Block]:
    """Side by side; what leaves hangs over the room that it makes, moved left if it would stick out."""
    wants = [(piece, sum(task.requests.get(resource, 0) for task in piece.tasks)) for piece in pieces]
    x = max(0.0, min(start, size - sum(want for _, want in wants)))
    blocks = []
    for piece, want in wants:
        if want > 0:
            place, width = round(100 * x / size, 2), round(100 * want / size, 2)
            kind, letter = CLASSES[piece.fate], piece.fate.value
            label = piece.label if width >= LEGIBLE else ""
            blocks.append(Block(place, width, kind, letter, label, piece.tooltip, piece.tasks[0].key))
            x += want
    return blocks
