"""From a pod to the nodes that fit it; mirrors `schedule_one.go` (findNodesThatFitPod and what it calls)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cpsched.filters import PreFiltered
from cpsched.filters.status import Code, Status
from cpsched.greedy.kube.extenders import ExtenderError
from cpsched.greedy.kube.filtering import CachedVerdicts, filter_all, filter_node
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.report import Via
from cpsched.greedy.kube.statuses import NodeStatuses
from cpsched.greedy.kube.world import World
from cpsched.instance import Task

EXTENDER = "Extender"
Places = npt.NDArray[np.int64]
_FEWEST = 100
_LEAST_PERCENT = 5


class AttemptError(Exception):
    """Something broke: the whole attempt is given up and tried again soon."""


@dataclass
class NodeSearch:
    """What a search for nodes found: places of nodes that fit, in the order in which they were found."""

    pre: PreFiltered
    feasible: list[int] = field(default_factory=list)
    statuses: NodeStatuses = field(default_factory=NodeStatuses)
    via: Via = ""
    hint: str = ""
    pre_filter_message: str = ""
    rejectors: set[str] = field(default_factory=set)
    bare: bool = False

    def refuse(self, node: str, status: Status) -> None:
        """Note why a node does not do."""
        self.statuses.explicit[node] = status
        if status.plugin and status.is_rejected:
            self.rejectors.add(status.plugin)


def search(world: World, framework: Framework, task: Task) -> NodeSearch:
    """All nodes that fit the task, or as many as the scheduler cares to find."""
    found = NodeSearch(framework.pre_filter(task, world.snapshot.cluster))
    status = found.pre.status
    if not status.is_success:
        if not status.is_rejected:
            raise AttemptError(f'running PreFilter plugin "{status.plugin}": {", ".join(status.reasons)}')
        found.statuses.absent = status
        found.pre_filter_message = ", ".join(status.reasons)
        found.rejectors |= {status.plugin} if status.plugin else found.pre.narrowed_by
        return found
    found.rejectors |= found.pre.narrowed_by
    found.hint = world.batch(framework).hint(world, framework, task, found.pre)
    promised = world.nominated.get(task.key, "") or found.hint
    if promised and _promised_fits(world, framework, task, promised, found):
        found.via = "nominated" if world.nominated.get(task.key) else "hint"
        return found
    _full_scan(world, framework, task, found)
    return found


def _promised_fits(world: World, framework: Framework, task: Task, name: str, found: NodeSearch) -> bool:
    """Whether the node the pod was promised does; if so, nothing else is looked at."""
    node = world.snapshot.cluster.nodes.get(name)
    if node is None:
        return False
    status = filter_node(world, framework, task, found.pre, node)
    if not status.is_success:
        if status.code is not Code.ERROR:
            found.refuse(name, status)
        return False
    try:
        found.feasible = _ask_extenders(world, task, [node.index], found)
    except ExtenderError:
        found.feasible = []
    return bool(found.feasible)


def _full_scan(world: World, framework: Framework, task: Task, found: NodeSearch) -> None:
    if found.pre.nodes is not None:
        plugins = " ".join(sorted(found.rejectors))
        reason = f"node(s) didn't satisfy plugin(s) [{plugins}]"
        found.statuses.absent = Status(Code.UNRESOLVABLE, (reason,))
    names, allowed = world.snapshot.names, found.pre.nodes
    places = np.arange(len(names))
    if allowed is not None:
        places = places[[name in allowed for name in names]]
    verdicts = filter_all(world, framework, task, found.pre)
    order, codes = visit(places, verdicts, world.next_start, nodes_to_find(world, framework, len(places)))
    table, refused = verdicts.table, codes != 0
    for place, code in zip(order[refused].tolist(), codes[refused].tolist(), strict=True):
        found.statuses.explicit[names[place]] = table[code]
    refusals = [table[code] for code in np.unique(codes[refused]).tolist()]
    found.rejectors |= {status.plugin for status in refusals if status.plugin and status.is_rejected}
    found.feasible = order[~refused].tolist()
    processed = len(found.feasible) + len(found.statuses.explicit)
    world.next_start = (world.next_start + processed) % len(world.snapshot.nodes)
    broken = next((status for status in refusals if status.code is Code.ERROR), None)
    if broken is not None:
        raise AttemptError(", ".join(broken.reasons))
    before = len(found.feasible)
    try:
        found.feasible = _ask_extenders(world, task, found.feasible, found)
    except ExtenderError as error:
        raise AttemptError(str(error)) from error
    if len(found.feasible) != before:
        found.rejectors.add(EXTENDER)


def visit(places: Places, verdicts: CachedVerdicts, start: int, wanted: int) -> tuple[Places, Places]:
    """Nodes with their verdicts in the order in which they are looked at, until one more than wanted would fit."""
    order = np.roll(places, -(start % len(places)) if len(places) else 0)
    codes = verdicts.codes[order]
    fitting = np.flatnonzero(codes == 0)
    end = len(order) if len(fitting) <= wanted else int(fitting[wanted])
    return order[:end], codes[:end]


def nodes_to_find(world: World, framework: Framework, nodes: int) -> int:
    """How many fitting nodes are enough (`numFeasibleNodesToFind`)."""
    filters = any(extender.conf.filter_verb for extender in world.extenders)
    scores = framework.profile.scores or any(extender.conf.prioritize_verb for extender in world.extenders)
    if not filters and not scores:
        return 1
    if nodes < _FEWEST:
        return nodes
    percentage = framework.profile.percentage_of_nodes_to_score or max(50 - nodes // 125, _LEAST_PERCENT)
    return max(nodes * percentage // 100, _FEWEST)


def _ask_extenders(world: World, task: Task, places: list[int], found: NodeSearch) -> list[int]:
    """Extenders one after another strike nodes off the list; what they call unresolvable counts as such."""
    for extender in world.extenders:
        if not places:
            break
        if not extender.is_interested(task):
            continue
        nodes = [world.snapshot.nodes[place] for place in places]
        try:
            answer = extender.filter(task, nodes)
        except ExtenderError:
            if extender.conf.ignorable:
                continue
            raise
        for name, reason in answer.failed.items():
            found.statuses.explicit[name] = Status(Code.UNSCHEDULABLE, (reason,))
        for name, reason in answer.unresolvable.items():
            found.statuses.explicit[name] = Status(Code.UNRESOLVABLE, (reason,))
        places = [world.snapshot.cluster.nodes[name].index for name in answer.nodes]
        found.bare |= answer.bare
    return places
