"""The smallest repair of every kind: found by asking the solver about changed clusters, and so verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from cpsched.explanation.changes import Change
from cpsched.explanation.goal import is_large
from cpsched.explanation.levers import asked, gang_levers, node_levers, queue_levers, size_levers
from cpsched.explanation.lifting import Lifted
from cpsched.explanation.obstacles import obstacles
from cpsched.explanation.requirements import PROTECTIONS, Requirement
from cpsched.explanation.trial import Changes, Lever, Progress, Trial
from cpsched.instance import Task
from cpsched.optimum.queries.feasibility import UndecidedError, find
from cpsched.snapshot import Snapshot

DEAR = 1000
"""What a victim that may not go costs against one that may."""
MOST_KINDS = 25
"""On how many kinds of nodes more of a resource is tried, those with most room first."""
TOGETHER = "together"
"""The name of several kinds of repairs at once."""


def repairs(trial: Trial) -> Iterator[Changes]:
    """One repair per kind that has one, in the order of KINDS; if no kind suffices alone, several kinds together.

    What was left open is noted in `trial.progress`.
    """
    found = False
    for kind, search in KINDS.items():
        trial.progress.kind = kind
        for changes in search(trial):
            found = True
            yield changes
    if not found:
        trial.progress.kind = TOGETHER
        yield from _together(trial)


def unfinished(progress: Progress) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Kinds of repairs that were not tried, and those that were not finished, in the order of KINDS."""
    kinds = [kind for kind in (*KINDS, TOGETHER) if kind in progress.open]
    not_tried = tuple(kind for kind in kinds if kind not in progress.begun)
    return not_tried, tuple(kind for kind in kinds if kind in progress.begun)


def _queue(trial: Trial) -> Iterator[Changes]:
    for levers in queue_levers(trial):
        if trial.reached([lever.largest for lever in levers]):
            yield trial.smallest(levers)
            return


def _gang(trial: Trial) -> Iterator[Changes]:
    levers = gang_levers(trial)
    if levers and trial.reached([levers[0].largest]):
        yield trial.smallest(levers)


def _eviction(trial: Trial) -> Iterator[Changes]:
    """Stop those whom the solver evicts once rights and protections are lifted: as few who may not go as can be."""
    snapshot, goal = trial.snapshot, trial.goal
    task = snapshot.instance.tasks[goal.task] if goal.task else snapshot.jobs[goal.job].pending[0]

    def cost(victim: Task) -> int:
        return DEAR if obstacles(snapshot, task, victim) else 1

    if not trial.has_time():
        return
    lifted = [Requirement(key) for key in ("eviction", "charge", *PROTECTIONS)]
    only = {goal.job, *trial.ahead(snapshot)} if is_large(snapshot) else None
    try:
        wanted = goal.wanted(trial.ahead(snapshot))
        looser = Lifted(snapshot, goal.job, lifted, only=only, apart=wanted.tasks)
        found = find(looser, wanted, trial.clock.part(0.2), cost)
    except UndecidedError:
        trial.leaves_open()
        return
    victims = [] if found is None else list(found.victims)
    forbidden = [victim for victim in victims if obstacles(snapshot, task, victim)]
    for stopped in (forbidden, victims):
        changes = [_stopped(snapshot, task, victim) for victim in stopped]
        if changes and trial.reached(changes):
            yield trial.smallest([_once(change) for change in changes])
            return


def _once(change: Change) -> Lever:
    return Lever(lambda _: change, 1)


def _stopped(snapshot: Snapshot, task: Task, victim: Task) -> Change:
    why = "; ".join(obstacles(snapshot, task, victim)) or "may go, but not with the others"
    return Change("eviction", victim.key, 1, text=f"evict {victim.key} on {victim.node} (now: {why})")


def _capacity(trial: Trial) -> Iterator[Changes]:
    """More of one resource on one node: per resource the node that needs least; or else of several resources."""
    found = False
    for resource in asked(trial):
        best = _least(trial, islice(size_levers(trial, resource), MOST_KINDS))
        if best is not None:
            found = True
            yield (best,)
    if found:
        return
    if several := _several_resources(trial):
        yield several
    elif any(len(list(islice(size_levers(trial, one), MOST_KINDS + 1))) > MOST_KINDS for one in asked(trial)):
        trial.leaves_open()


def _several_resources(trial: Trial) -> Changes:
    """More of everything on one node, as far as it is needed: on the node that needs more of the fewest resources."""
    ways = [
        trial.smallest(levers) for levers in _sizes_by_node(trial) if trial.reached([lever.largest for lever in levers])
    ]
    return min(ways, key=len, default=())


def _sizes_by_node(trial: Trial) -> list[list[Lever]]:
    """Per node levers for all resources that the job asks for."""
    by_node: dict[str, list[Lever]] = {}
    for resource in asked(trial):
        for lever in islice(size_levers(trial, resource), MOST_KINDS):
            by_node.setdefault(lever.largest.subject, []).append(lever)
    return list(by_node.values())


def _nodes(trial: Trial) -> Iterator[Changes]:
    """More nodes of a class: of all classes the one of which fewest are needed."""
    best = _least(trial, node_levers(trial))
    if best is not None:
        yield (best,)


def _least(trial: Trial, levers: Iterator[Lever]) -> Change | None:
    """Of all levers the one that needs fewest steps; each must beat the best so far."""
    best: tuple[int, Lever] | None = None
    for lever in levers:
        limit = lever.most if best is None else min(lever.most, best[0] - 1)
        if limit > 0 and trial.reached([lever.version(limit)]):
            best = trial.fewest(Lever(lever.version, limit)), lever
    return None if best is None else best[1].version(best[0])


def _together(trial: Trial) -> Iterator[Changes]:
    """All settings with a larger node or more nodes: as much of each as is needed."""
    settings = [*gang_levers(trial), *next(iter(list(queue_levers(trial))[-1:]), [])]
    for hardware in (*_sizes_by_node(trial), *([lever] for lever in node_levers(trial))):
        levers = [*settings, *hardware]
        if trial.reached([lever.largest for lever in levers]):
            yield trial.smallest(levers)
            return


KINDS: dict[str, Callable[[Trial], Iterator[Changes]]] = {
    "queue": _queue,
    "gang": _gang,
    "eviction": _eviction,
    "capacity": _capacity,
    "nodes": _nodes,
}
"""In the order in which repairs are ranked: settings of a queue and of the job, harm to others, hardware."""
