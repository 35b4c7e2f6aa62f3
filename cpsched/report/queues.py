"""What every queue holds before and after, against what it deserves."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.amounts import short, shown
from cpsched.report.document import Block, Cell, Picture, Section, Text, table
from cpsched.report.scene import Scene
from cpsched.resources import Vector
from cpsched.shares import Exact
from cpsched.snapshot.queues import cluster_total

MOST_QUEUES = 24


@dataclass(frozen=True)
class Holding:
    """What a queue holds of one resource in one state."""

    state: str
    held: str
    width: float
    beyond: bool
    """More than deserved."""


@dataclass(frozen=True)
class QueueBar:
    """One resource of one queue in all states; places in hundredths of the scale."""

    resource: str
    deserved: str
    deserved_at: float
    limit: str
    limit_at: float
    wants: str
    holdings: tuple[Holding, ...]


@dataclass(frozen=True)
class QueuePicture:
    """One queue."""

    name: str
    bars: tuple[QueueBar, ...]


def queue_section(scene: Scene, resources: list[str]) -> Section | None:
    """Held against deserved, per queue and resource; None where queues have no shares."""
    if scene.snapshot.shares_refused:
        return Section("queues", "Queues", (Text(f"Shares are not computed: {scene.snapshot.shares_refused}."),))
    if not scene.snapshot.shares:
        return None
    pictures = [picture for name in scene.snapshot.shares if (picture := _queue(scene, name, resources)).bars]
    states = ("before", *(view.name for view in scene.views))
    columns = ("queue", "resource", "#deserved", "#limit", "#requests", *(f"#{state}" for state in states))
    rows = [
        (Cell(one.name), Cell(bar.resource), Cell(bar.deserved), Cell(bar.limit), Cell(bar.wants),
         *(Cell(held.held, "worse" if held.beyond else "") for held in bar.holdings))
        for one in pictures for bar in one.bars
    ]  # fmt: skip
    blocks: list[Block] = [
        Text("What each queue holds, against what it deserves and the most it may hold; reserved capacity counts."),
        Picture("queues", tuple(pictures[:MOST_QUEUES])),
    ]
    if len(pictures) > MOST_QUEUES:
        blocks.append(Text(f"The first {MOST_QUEUES} of {len(pictures)} queues are drawn; the table goes on."))
    blocks.append(table("Queues: what they hold against what they deserve", columns, rows, of_picture=True))
    return Section("queues", "Queue shares", tuple(blocks))


def _queue(scene: Scene, name: str, resources: list[str]) -> QueuePicture:
    share, total = scene.snapshot.shares[name], cluster_total(scene.instance)
    held = [("before", share.allocated), *((v.name, v.decision.allocated_after[name]) for v in scene.views)]
    bars = []
    for resource in resources:
        if total.get(resource, 0) <= 0 or not (share.request.get(resource) or share.deserved.get(resource)):
            continue
        due, limit = share.deserved.get(resource, 0), share.real_capability.get(resource, total[resource])
        limit = min(limit, total[resource])
        scale = max(due, share.request.get(resource, 0), *(vector.get(resource, 0) for _, vector in held)) or 1
        bars.append(
            QueueBar(
                resource=short(resource),
                deserved=shown(resource, due),
                deserved_at=round(float(100 * due / scale), 2),
                limit=shown(resource, limit),
                limit_at=round(float(100 * limit / scale), 2),
                wants=shown(resource, share.request.get(resource, 0)),
                holdings=tuple(_holding(state, vector, resource, due, scale) for state, vector in held),
            )
        )
    return QueuePicture(name, tuple(bars))


def _holding(state: str, vector: Vector, resource: str, due: Exact, scale: Exact) -> Holding:
    value = vector.get(resource, 0)
    return Holding(state, shown(resource, value), round(float(100 * max(0, value) / scale), 2), value > due)
