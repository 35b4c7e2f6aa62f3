"""What the page's explorer knows: the cluster and its decisions as one compact JSON text that only the page reads.

Names stand once and are numbers everywhere else, so that a cluster of 5,000 nodes is a page of a few megabytes. The
page shows nothing that is not also in the report's tables; without a script the tables are all there is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from cpsched.amounts import listed, short
from cpsched.instance import Task
from cpsched.objectives import IN_MILLIONTHS, PRIORITY_OFFSET
from cpsched.report.document import Picture, Section
from cpsched.report.explained import JobExplained
from cpsched.report.levels import proof
from cpsched.report.nodes import pictured_resources
from cpsched.report.scene import Scene, View, fate_before
from cpsched.report.standing import shown, standings
from cpsched.report.status import status_text
from cpsched.report.words import BETTER, level_words
from cpsched.solution import Level
from cpsched.topology.tree import TOP, Tree
from cpsched.visible import visible

ZONE = "topology.kubernetes.io/zone"
Reasons = Mapping[str, Mapping[str, str]]
"""Decision → pod → why the engine treats it otherwise than the best decision does."""
NONE = -1
"""Stands where there is no node, job or queue."""


class Numbers(dict[Any, int]):
    """Things in order of first use; each has a number, and a new thing gets the next one."""

    def __missing__(self, thing: Any) -> int:
        self[thing] = len(self)
        return self[thing]


def numbered(things: Iterable[Any]) -> Numbers:
    """The numbers of these things."""
    return Numbers((thing, number) for number, thing in enumerate(things))


@dataclass(frozen=True)
class Explorer:
    """The explorer of a scene; only a page asks for its text."""

    scene: Scene
    reasons: Reasons = field(default_factory=dict)
    left_pending: Sequence[JobExplained] = ()

    @property
    def text(self) -> str:
        """The data as JSON; every text is made visible, and no character can end the script element."""
        text = json.dumps(_clean(explorer_data(self.scene, self.reasons, self.left_pending)), separators=(",", ":"))
        return text.replace("<", "\\u003c").replace("\x7f", "\\u007f")


def explorer_section(scene: Scene, reasons: Reasons, left_pending: Sequence[JobExplained]) -> Section:
    """The first section: a map of all nodes, search, and the details of what is chosen."""
    return Section("explore", "Explore", (Picture("explorer", Explorer(scene, reasons, left_pending)),))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    return [_clean(one) for one in value] if isinstance(value, (list, tuple)) else value


def explorer_data(
    scene: Scene, reasons: Reasons = MappingProxyType({}), left_pending: Sequence[JobExplained] = ()
) -> dict[str, Any]:
    """The cluster, its tasks, and what each decision does with them."""
    instance, snapshot = scene.instance, scene.snapshot
    offered = {name for node in instance.nodes.values() for name in node.allocatable}
    drawn = [name for name in dict.fromkeys((*pictured_resources(scene), "pods")) if name in offered]
    shapes, asks = Numbers(), Numbers()
    nodes, jobs, queues = numbered(instance.nodes), numbered(snapshot.jobs), numbered(instance.queues)
    node_rows = [
        [name, shapes[tuple(node.allocatable.get(one, 0) for one in drawn)]] for name, node in instance.nodes.items()
    ]
    numbers: dict[str, int] = {}
    tasks: list[list[Any]] = []
    for key, task in instance.tasks.items():
        fate, where = fate_before(task)
        job = snapshot.job_of(task)
        asked = (_asks(task), tuple(task.requests.get(one, 0) for one in drawn))
        numbers[key] = len(tasks)
        owner = NONE if job is None or job.key not in jobs else jobs[job.key]
        place = nodes.get(where, NONE)
        tasks.append([key, owner, asks[asked], task.pod_priority, fate.value, place])
    return {
        "input": scene.title,
        "resources": [[name, short(name)] for name in drawn],
        "shapes": list(shapes),
        "nodes": node_rows,
        "groupings": _groupings(scene),
        "queues": list(queues),
        "jobs": [
            [job.name, queues.get(job.queue or "", NONE), job.priority, job.min_available, job.ready]
            for job in snapshot.jobs.values()
        ],
        "starving": [jobs[job.key] for job in snapshot.starving if job.key in jobs],
        "asks": list(asks),
        "millionths": sorted(IN_MILLIONTHS),
        "priority_offset": PRIORITY_OFFSET,
        "tasks": tasks,
        "explained": {str(jobs[one.key]): [one.explanation.summary, one.nodes, one.changes] for one in left_pending},
        "views": [_view(scene, view, numbers, nodes, jobs, reasons.get(view.name, {})) for view in scene.views],
    }


def _asks(task: Task) -> str:
    return listed({name: value for name, value in task.requests.items() if name != "pods"}) or "nothing"


def _view(
    scene: Scene, view: View, numbers: dict[str, int], nodes: Numbers, jobs: Numbers, reasons: Mapping[str, str]
) -> dict[str, Any]:
    """One decision: only what it changes, why pods stay pending, and its levels."""
    solution = view.solution
    places: dict[str, list[Any]] = {}
    for letter, found in (("S", solution.binds), ("W", solution.pipelined), ("H", solution.allocated)):
        for key, node in found.items():
            if key in numbers:
                places[str(numbers[key])] = [letter, nodes.get(node, NONE)]
    texts = Numbers()
    stays = {str(numbers[k]): texts["; ".join(why)] for k, why in solution.unplaced.items() if k in numbers and why}
    evictions = {
        str(numbers[key]): [one.action, jobs.get(one.for_job, NONE)]
        for key, one in view.evictions.items()
        if key in numbers
    }
    gaps = {one.view.name: one.gap.level for one in (standings(scene.views) if len(scene.views) > 1 else []) if one.gap}
    return {
        "name": view.name,
        "status": status_text(solution),
        "places": places,
        "evictions": evictions,
        "stays": stays,
        "reasons": {str(numbers[key]): texts[why] for key, why in reasons.items() if key in numbers},
        "texts": list(texts),
        "findings": [f"{one.rule}: {one.subject} {one.message}" for one in solution.findings[:100]],
        "levels": [_level(level, view) for level in solution.levels],
        "decides": gaps.get(view.name, ""),
    }


def _level(level: Level, view: View) -> list[Any]:
    """Label, words, which way is better, the value and its proof as text; value and bound as numbers, for a bar."""
    words, text = level_words(level.name, level.priority), shown(level, view.solution.levels)
    numbers = (one if isinstance(one, int) else None for one in (level.value, level.bound))
    return [level.label, words, BETTER[level.sense], text, proof(level), *numbers]


def _groupings(scene: Scene) -> dict[str, dict[str, Any]]:
    """Ways to group the map, each with the names of its groups and the group of every node; only those that divide."""
    instance = scene.instance
    drawn = [name for name in ("cpu", "memory") if any(name in n.allocatable for n in instance.nodes.values())]
    extra = sorted({n for one in instance.nodes.values() for n, v in one.allocatable.items() if "/" in n and v > 0})
    ways: dict[str, Callable[[str], str]] = {
        "node class": lambda name: _size(instance.nodes[name].allocatable, (*drawn, *extra)),
        "zone": lambda name: instance.nodes[name].labels.get(ZONE, "no zone"),
        "HyperNode": _path_of(scene),
    }
    groupings = {}
    for way, group_of in ways.items():
        names = Numbers()
        of = [names[group_of(name)] for name in instance.nodes]
        if len(names) > 1:
            groupings[way] = {"names": list(names), "of": of}
    return groupings


def _size(allocatable: dict[str, int], resources: Iterable[str]) -> str:
    return listed({name: allocatable.get(name, 0) for name in resources}) or "no capacity"


def _path_of(scene: Scene) -> Callable[[str], str]:
    """The path of HyperNodes around a node, from the widest; the same for all nodes without any."""
    from cpsched.objects.topology import HyperNode

    if not scene.instance.of_kind(HyperNode):
        return lambda name: ""
    tree = Tree(scene.instance)
    smallest: dict[str, str] = {}
    for tier in reversed(tree.tiers):
        smallest |= {node: name for name in tree.by_tier[tier] for node in tree.nodes.get(name, ())}
    paths = {
        name: " / ".join(one for one in reversed(tree.ancestors(name)) if one != TOP) for name in set(smallest.values())
    }
    return lambda name: paths.get(smallest.get(name, ""), "") or "no HyperNode"
