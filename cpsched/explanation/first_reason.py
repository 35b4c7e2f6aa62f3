"""The first reason why tasks of a job wait, found without any search: gates, nodes, queue, entering, gang."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from cpsched.explanation.groups import NO_CARD, kind_of
from cpsched.filters import feasible
from cpsched.filters.status import SUCCESS
from cpsched.importers.chosen import model_for, undecided
from cpsched.instance import Task
from cpsched.rules.cards import without_cards
from cpsched.snapshot import SessionJob, Shape, Snapshot
from cpsched.snapshot.enqueue import refusal

NO_NODES = "the cluster has no nodes"
TOO_FEW = "gang: fewer tasks exist than its minimum, in all or of a role"
PART_OF_GANG = "gang: free capacity for some of its tasks, not for as many as have to start together"


class FirstReasons:
    """Reasons as texts that name no amounts, so that jobs with the same reason have the same text."""

    def __init__(self, snapshot: Snapshot, engine: str):
        self.snapshot = snapshot
        self._otherwise = f"some node has free capacity, but the decision of engine {engine} does not place it"
        self._by_kind: dict[Hashable, tuple[str, dict[str, int]]] = {}

    def of_strangers(self, task: Task) -> str:
        """For a pending task that is in no job of the session."""
        scheduler = undecided(task, self.snapshot.policy)
        if scheduler is None:
            return "not part of this session: its PodGroup or queue is not in the input"
        model = model_for(scheduler, self.snapshot.policy)
        return f"not part of this session: its scheduler is {scheduler}{f', see --model {model}' if model else ''}"

    def of_tasks(self, job: SessionJob, waiting: Sequence[Task]) -> Iterator[tuple[str, list[Task]]]:
        """The tasks of one job that wait, by reason."""
        gated: dict[str, list[Task]] = {}
        kinds: dict[Hashable, list[Task]] = {}
        for task in waiting:
            if task.gated:
                gates = ", ".join(gate.name for gate in task.pod.spec.scheduling_gates)
                gated.setdefault(f"scheduling gates: {gates}", []).append(task)
            else:
                kinds.setdefault(self._kind(task), []).append(task)
        yield from gated.items()
        if not kinds:
            return
        if (reason := self._of_job(job)) is not None:
            yield reason, [task for tasks in kinds.values() for task in tasks]
            return
        rest = self._of_session(job, [tasks[0] for tasks in kinds.values()])
        for tasks in kinds.values():
            yield self._on_nodes(tasks[0])[0] or rest, tasks

    def _of_job(self, job: SessionJob) -> str | None:
        """What keeps all of the job out, whatever the nodes."""
        if not self.snapshot.instance.nodes:
            return NO_NODES
        if self.snapshot.needs_valid_jobs and not job.is_valid:
            return TOO_FEW
        queue = None if job.queue is None else self.snapshot.instance.queues.get(job.queue)
        if queue is not None and not queue.is_open and self.snapshot.policy.limits_queues:
            return f"queue: {job.queue} is {queue.queue.status.state}"
        if self.snapshot.shares_refused:
            return f"deserved: {self.snapshot.shares_refused}"
        return None

    def _of_session(self, job: SessionJob, kinds: Sequence[Task]) -> str:
        """What keeps tasks out that some node has free capacity for."""
        missing = max(1, job.min_available - job.ready)
        return self._queue(job, missing) or self._entering(job) or self._gang(job, missing, kinds) or self._otherwise

    def _queue(self, job: SessionJob, missing: int) -> str | None:
        """A queue whose limit the job exceeds even with the smallest requests among its tasks."""
        snapshot = self.snapshot
        if job.queue is None or not snapshot.policy.limits_queues or job.queue not in snapshot.shares:
            return None
        by_deserved = snapshot.policy.share_plugin == "proportion"
        what = "deserved share" if by_deserved else "capability"
        for queue in (job.queue, *reversed(snapshot.shares[job.queue].ancestors)):
            share = snapshot.shares[queue]
            limit = share.deserved if by_deserved else share.real_capability
            for name in sorted({name for task in job.pending for name in task.requests} - {"pods"}):
                least = sum(sorted(task.requests.get(name, 0) for task in job.pending)[:missing])
                if 0 < least > limit.get(name, 0) - share.allocated.get(name, 0):
                    return f"queue: {queue} has too little {name} left of its {what}"
        return None

    def _entering(self, job: SessionJob) -> str | None:
        how = self.snapshot.policy.pending_jobs_enter
        if job.is_pending and how == "never":
            return "enqueue: its PodGroup is Pending, and no configured action lets it in"
        if job.is_pending and how == "enqueue" and (refused := refusal(self.snapshot, job, [job])):
            return f"enqueue: {refused[0]} refuses it for {', '.join(refused[1:])}"
        return None

    def _gang(self, job: SessionJob, missing: int, kinds: Sequence[Task]) -> str | None:
        """Whether fewer tasks fit than have to start together; an upper bound, each size counted as if alone."""
        if not self.snapshot.policy.requires_gangs or missing < 2:
            return None
        room: dict[Shape, dict[str, int]] = {}
        for task in kinds:
            room.setdefault(self.snapshot.shape_of(task), {}).update(self._on_nodes(task)[1])
        counts = Counter(map(self.snapshot.shape_of, job.pending))
        fit = sum(min(counts[shape], sum(nodes.values())) for shape, nodes in room.items())
        return PART_OF_GANG if fit < missing else None

    def _kind(self, task: Task) -> Hashable:
        return (kind_of(task), task.namespace, task.pod.spec.scheduler_name)

    def _on_nodes(self, task: Task) -> tuple[str, dict[str, int]]:
        """Why no node takes the task now, empty if one does; and per node how many tasks of its size fit now."""
        key = self._kind(task)
        if key not in self._by_kind:
            self._by_kind[key] = self._looked_up(task)
        return self._by_kind[key]

    def _looked_up(self, task: Task) -> tuple[str, dict[str, int]]:
        snapshot, predicates = self.snapshot, self.snapshot.predicates
        verdicts = feasible(task, predicates.cluster, predicates.names(task), predicates.args(task)).by_node()
        counts: Counter[str] = Counter()
        fit: dict[str, int] = {}
        full = frozenset(without_cards(snapshot, task))
        for node in snapshot.instance.nodes:
            status = verdicts[node] if not verdicts[node].is_success else predicates.refused(task).get(node, SUCCESS)
            reason = self._short(task, node) if status.is_success else ", ".join(status.reasons)
            if not reason and node in full:
                reason = f"cards: {NO_CARD}"
            if reason:
                counts[reason] += 1
            else:
                fit[node] = self._slots(task, node)
        if fit:
            return "", fit
        total = len(snapshot.instance.nodes)
        if len(counts) == 1:
            return f"{next(iter(counts))} ({'all ' * (total > 1)}{total} node{'s' * (total > 1)})", {}
        ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        return f"0/{total} nodes fit: {', '.join(f'{count} {text}' for text, count in ordered)}", {}

    def _short(self, task: Task, node: str) -> str:
        """The resources of which the node has too little now."""
        free, size = self.snapshot.idle[node], self.snapshot.instance.nodes[node].allocatable
        short = [name for name, needs in sorted(task.requests.items()) if needs > max(0, free.get(name, 0))]
        if not short:
            return ""
        small = any(task.requests[name] > size.get(name, 0) for name in short)
        return f"Insufficient {' and '.join(short)}{' even if the node were empty' if small else ''}"

    def _slots(self, task: Task, node: str) -> int:
        free = self.snapshot.idle[node]
        slots = (int(free.get(name, 0) // needs) for name, needs in task.requests.items() if needs > 0)
        return min(slots, default=sys.maxsize)
