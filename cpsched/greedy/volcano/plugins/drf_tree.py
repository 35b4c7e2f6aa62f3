"""drf over a tree of queues (hdrf); mirrors the hierarchical half of `plugins/drf/drf.go`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cpsched.greedy.volcano.amounts import Amounts, give, take
from cpsched.greedy.volcano.hooks import PERMIT
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Queue
from cpsched.resources import THRESHOLD, scaled, share

HIERARCHY, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"


@dataclass
class Branch:
    """A queue of the tree, or at its end a job, which alone has no children."""

    weight: float = 1.0
    allocated: Amounts = field(default_factory=dict)
    share: float = 0.0
    saturated: bool = False
    request: Mapping[str, float] = field(default_factory=dict)
    children: dict[str, Branch] | None = None

    def copy(self) -> Branch:
        """The branch with everything below it."""
        below = None if self.children is None else {name: child.copy() for name, child in self.children.items()}
        return replace(self, allocated=dict(self.allocated), children=below)


class DrfTree:
    """Queues by their hierarchy annotations; only queues with jobs are in it."""

    def __init__(self, session: Session, names: Sequence[str]):
        self._session, self._names, self._total = session, names, session.total
        self._root = Branch(children={})
        self._held: Amounts = {}

    def enter(self, job: JobState, allocated: Amounts) -> None:
        """Put a job into the tree."""
        give(self._held, allocated)
        self._update(self._root, self._held, job, allocated)

    def move(self, job: JobState, allocated: Amounts, task: TaskState, sign: int) -> None:
        """A task of the job took room (1) or gave it back (-1)."""
        (give if sign > 0 else take)(self._held, task.request)
        self._update(self._root, self._held, job, allocated)

    def compare(self, left: Queue, right: Queue) -> float:
        """QueueOrder: down both paths, the unsaturated first, then the smaller share by weight."""
        return _compare(self._root, left, right)

    def victims(
        self, allocated: Mapping[str, Amounts]
    ) -> Callable[[TaskState, Sequence[TaskState]], tuple[list[TaskState], int]]:
        """Reclaimable: each candidate on its own, if its queue would still come after the reclaimer's."""

        def ask(reclaimer: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
            session = self._session
            held, root = dict(self._held), self._root.copy()
            own = session.jobs[reclaimer.job]
            mine = dict(allocated[own.key])
            give(mine, reclaimer.request)
            give(held, reclaimer.request)
            self._update(root, held, own, mine)
            named = []
            for candidate in candidates:
                if candidate.job not in session.jobs:
                    continue
                job = session.jobs[candidate.job]
                theirs = dict(allocated[job.key])
                take(held, candidate.request)
                take(theirs, candidate.request)
                self._update(root, held, job, theirs)
                if _compare(root, session.queues[own.queue], session.queues[job.queue]) < 0:
                    named.append(candidate)
                give(held, candidate.request)
                give(theirs, candidate.request)
                self._update(root, held, job, theirs)
            return named, PERMIT

        return ask

    def _update(self, root: Branch, held: Amounts, job: JobState, allocated: Amounts) -> None:
        demanding = {name for name in self._names if held.get(name, 0) < self._total[name]}
        branch = root
        queue = self._session.queues[job.queue]
        weights = _path(queue, WEIGHTS)
        for depth, name in enumerate(_path(queue, HIERARCHY)[1:], 1):
            assert branch.children is not None
            if name not in branch.children:
                branch.children[name] = Branch(weight=_weight(weights, depth), children={})
            branch = branch.children[name]
        assert branch.children is not None
        leaf = Branch(allocated=allocated, share=self._share(allocated), request=job.total_request)
        branch.children[job.key] = leaf
        self._refresh(root, demanding)

    def _refresh(self, branch: Branch, demanding: set[str]) -> None:
        if branch.children is None:
            branch.saturated = _saturated(branch, demanding)
            return
        smallest = 1.0
        for child in branch.children.values():
            self._refresh(child, demanding)
            if child.share != 0 and not child.saturated:
                smallest = min(smallest, self._share(child.allocated))
        branch.allocated = {}
        for child in branch.children.values():
            if child.share != 0:
                ratio = 1.0 if child.saturated else smallest / child.share
                give(branch.allocated, child.allocated if child.saturated else scaled(child.allocated, ratio))
        branch.share = self._share(branch.allocated)
        branch.saturated = all(child.saturated for child in branch.children.values())

    def _share(self, held: Mapping[str, float]) -> float:
        return max((share(held.get(name, 0), self._total[name]) for name in self._names), default=0.0)


def _compare(root: Branch, left: Queue, right: Queue) -> float:
    mine, other = root, root
    paths = _path(left, HIERARCHY), _path(right, HIERARCHY)
    depth = min(len(paths[0]), len(paths[1]))
    for place in range(depth):
        if mine.saturated != other.saturated:
            return 1 if mine.saturated else -1
        difference = mine.share / mine.weight - other.share / other.weight
        if difference:
            return difference
        if place < depth - 1:
            assert mine.children is not None
            assert other.children is not None
            mine, other = mine.children[paths[0][place + 1]], other.children[paths[1][place + 1]]
    return 0


def _saturated(leaf: Branch, demanding: set[str]) -> bool:
    """Holds all it asked for of something, or something it holds and asks for has run out."""
    for name, held in leaf.allocated.items():
        wanted = leaf.request.get(name, 0)
        if held >= THRESHOLD and wanted and (held >= wanted or name not in demanding):
            return True
    return False


def _path(queue: Queue, annotation: str) -> list[str]:
    return queue.queue.metadata.annotations.get(annotation, "").split("/")


def _weight(weights: Sequence[str], depth: int) -> float:
    """Unreadable and missing weights count as 1, as do those below it."""
    try:
        return max(1.0, float(weights[depth]))
    except (ValueError, IndexError):
        return 1.0
