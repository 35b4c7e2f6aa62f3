"""The NodeFinder for all nodes at once: for simple tasks what `PlainFinder` finds node by node, never differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from cpsched.filters.contract import PreFilterResult
from cpsched.greedy.outcomes import First
from cpsched.greedy.volcano.fast.arrays import Ints, Mask, NodeArrays
from cpsched.greedy.volcano.fast.bounds import Bounds, Prospect
from cpsched.greedy.volcano.fast.card_arrays import CardArrays
from cpsched.greedy.volcano.fast.plugin_parts import PluginParts, events_cancel_out, only_limits
from cpsched.greedy.volcano.fast.task_kind import TaskKind, signature
from cpsched.greedy.volcano.finder import Nodes, Purpose, Test, nodes_to_find
from cpsched.greedy.volcano.fit import TOO_MANY_PODS, FitError, FitErrors, insufficient
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState


class NodeSet(Sequence[NodeAccount]):
    """Nodes by their numbers, in order."""

    def __init__(self, nodes: Sequence[NodeAccount], indexes: Ints):
        self._nodes, self.indexes = nodes, indexes

    def __len__(self) -> int:
        return len(self.indexes)

    @overload
    def __getitem__(self, place: int) -> NodeAccount: ...
    @overload
    def __getitem__(self, place: slice) -> NodeSet: ...
    def __getitem__(self, place: int | slice) -> NodeAccount | NodeSet:
        if isinstance(place, slice):
            return NodeSet(self._nodes, self.indexes[place])
        return self._nodes[int(self.indexes[place])]

    def __iter__(self) -> Iterator[NodeAccount]:
        nodes = self._nodes
        return (nodes[index] for index in self.indexes.tolist())


class GroupedErrors(FitErrors):
    """Fit errors of many nodes, one entry per distinct error."""

    def __init__(self, groups: list[tuple[FitError, Ints]], nodes: Sequence[NodeAccount]):
        super().__init__()
        self._groups, self._nodes = groups, nodes

    def unresolvable_nodes(self) -> set[str]:
        """Nodes on which no eviction helps."""
        return {self._nodes[index].name for error, at in self._groups if error.unresolvable for index in at.tolist()}

    def message(self) -> str:
        """The text for the pod."""
        counts: Counter[str] = Counter()
        for error, at in self._groups:
            for reason in error.reasons:
                counts[reason] += len(at)
        total = sum(len(at) for _, at in self._groups)
        listed = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
        return f"{self._where()}0/{total} nodes are unavailable: {listed}."


class BulkFinder:
    """Kinds of tasks over the arrays of nodes."""

    def __init__(self, session: Session, parts: PluginParts):
        self._session, self._parts = session, parts
        names = sorted({name for task in session.tasks.values() for name in task.request} | _weighed(parts))
        self.arrays = NodeArrays(session.node_list, parts.picture, names)
        self._cards = None
        if parts.cards is not None:
            self._cards = CardArrays(parts.cards, session.node_list, self.arrays.log)
        self._kind_by_task: dict[str, TaskKind] = {}
        self._bounds: Bounds | None = None
        self.limits = only_limits(session)
        self._restores = events_cancel_out(session)

    @classmethod
    def over(cls, session: Session) -> BulkFinder | None:
        """A finder for the session, unless some plugin or amount cannot be answered for in bulk."""
        parts = PluginParts.of(session)
        if parts is None or not session.node_list:
            return None
        finder = cls(session, parts)
        if not finder.arrays.exact or (parts.order and not finder.arrays.all_have_cpu_and_memory):
            return None
        finder._sort()
        session.watch(finder._changed)
        return finder

    def knows(self, task: TaskState) -> bool:
        """Whether the task is simple: no filter or score of its kind depends on other pods."""
        return task.key in self._kind_by_task

    def is_local(self, task: TaskState) -> bool:
        """Whether the task is simple and its scores on a node depend on the node and its domains alone."""
        return self.knows(task) and not self._parts.relative(task)

    def kinds_of(self, tasks: Sequence[TaskState]) -> list[TaskKind]:
        """The kinds of known tasks, each once."""
        return list({id(kind): kind for kind in (self._kind_by_task[task.key] for task in tasks)}.values())

    def state(self, nodes: Ints, kinds: Sequence[TaskKind]) -> bytes:
        """All that fit and scores of some kinds depend on, for some nodes in order."""
        self.arrays.sync()
        return self.arrays.state(nodes) + b"".join(kind.static_ok[nodes].tobytes() for kind in kinds)

    def domain_state(self, name: str) -> Hashable:
        """The same for the room of a HyperNode as a whole."""
        return None if self._parts.near is None else self._parts.near.state(name)

    def prepare(self, task: TaskState) -> None:
        """PrePredicate of a known task."""
        if self._parts.filters is not None:
            self._parts.filters.mark(task.key, self._kind_by_task[task.key].prepared)

    def subset(self, nodes: Nodes) -> NodeSet:
        """Some of the nodes."""
        return nodes if isinstance(nodes, NodeSet) else NodeSet(self._session.node_list, _numbers(nodes))

    def nodes(self, names_to_leave_out: set[str]) -> NodeSet:
        """All nodes but some."""
        kept = [node.index for node in self._session.node_list if node.name not in names_to_leave_out]
        return NodeSet(self._session.node_list, np.array(kept, dtype=np.int64))

    def feasible(self, task: TaskState, nodes: Nodes, test: Test, *, detailed: bool) -> tuple[NodeSet, FitErrors]:
        """As a PlainFinder has them; what speaks against nodes only where upstream looks at it: if none is found.

        The questions below are asked about the same task before anything changes again.
        """
        session = self._session
        found, processed = self._found(task, nodes, test.purpose, nodes_to_find(len(nodes)))
        session.start_index = (session.start_index + processed) % len(nodes)
        none = detailed and not found and test.purpose != "preempt"
        return found, self._errors(task, nodes, test.purpose) if none else FitErrors()

    def _found(self, task: TaskState, nodes: Nodes, purpose: Purpose, wanted: int) -> tuple[NodeSet, int]:
        """Feasible nodes in the order found, and how many were looked at."""
        kind = self._kind_by_task[task.key]
        kind.refresh()
        if purpose != "allocate":
            kind.rate_all()
        order = None if nodes is self._session.node_list else _numbers(nodes)
        if purpose == "allocate" and order is None:
            places, _ = kind.fitting()
        else:
            passing = kind.fits if purpose == "allocate" else kind.open if purpose == "backfill" else kind.static_ok
            places = (passing if order is None else passing[order]).nonzero()[0]
        count, start, found = len(nodes), self._session.start_index % len(nodes), len(places)
        looked_at = count
        if start:
            cut = int(places.searchsorted(start))
            if found - cut > wanted:
                places = places[cut : cut + wanted + 1]
            else:
                places = np.concatenate((places[cut:], places[:cut]))
        if found > wanted:
            looked_at = (int(places[wanted]) - start) % count + 1
            places = places[:wanted]
        return NodeSet(self._session.node_list, places if order is None else order[places]), looked_at

    def _errors(self, task: TaskState, nodes: Nodes, purpose: Purpose) -> FitErrors:
        """What speaks against every one of the nodes, where none was found."""
        kind = self._kind_by_task[task.key]
        left = np.ones(self.arrays.count, dtype=np.bool_)
        if nodes is not self._session.node_list:
            left[:] = False
            left[_numbers(nodes)] = True
        groups: list[tuple[FitError, Ints]] = []
        if purpose == "allocate":
            others = sorted(name for name in task.request if name not in ("cpu", "memory"))
            for name in ("cpu", "memory", *others):
                _split(groups, left, ~kind.room(name), insufficient([name]))
        crowded = self.arrays.crowded
        for status, mask in kind.static_status:
            _split(groups, left, mask & crowded, FitError((TOO_MANY_PODS, status)))
            _split(groups, left, mask, FitError((status,)))
        _split(groups, left, crowded, FitError((TOO_MANY_PODS,)))
        if kind.cards is not None:
            for error, refused in kind.cards.refusals(left):
                _split(groups, left, refused, error)
        return GroupedErrors(groups, self._session.node_list)

    def now_and_later(self, task: TaskState, nodes: Nodes) -> tuple[NodeSet, NodeSet]:  # noqa: D102
        nodes = self.subset(nodes)
        kind = self._kind_by_task[task.key]
        if kind.fitting()[1]:
            return nodes, nodes[:0]
        now = kind.fits_now[nodes.indexes]
        later = ~now & kind.fits[nodes.indexes]
        listed = self._session.node_list
        return NodeSet(listed, nodes.indexes[now]), NodeSet(listed, nodes.indexes[later])

    def scores(self, task: TaskState, nodes: NodeSet) -> Any:
        """The score of each of the nodes."""
        kind = self._kind_by_task[task.key]
        if kind.apart is None:
            return kind.total[nodes.indexes]
        near = None if self._parts.near is None else self._parts.near.scores(task, nodes.indexes)
        extra = self._extra(task, nodes)
        if near is None and extra is None:
            return kind.total[nodes.indexes]
        own, batch = kind.apart
        # Whole numbers first, as where plugins are asked one by one.
        whole = batch[nodes.indexes] if extra is None else batch[nodes.indexes] + extra
        return own[nodes.indexes] + (whole if near is None else whole + near)

    def best(self, task: TaskState, nodes: Nodes) -> NodeAccount:  # noqa: D102
        scores = self.scores(task, self.subset(nodes))
        top = scores.argmax()
        if isinstance(self._session.choices, First):
            return nodes[int(top)]
        equal = np.flatnonzero(scores == scores[top])
        return nodes[int(equal[self._session.choices.pick(len(equal))])]

    def ranked(self, task: TaskState, nodes: NodeSet, worth: Mask) -> NodeSet:
        """Nodes by falling score, equal ones as given, without those not worth a look."""
        kept = worth[nodes.indexes]
        if not kept.any():
            return nodes[:0]
        scores = self.scores(task, nodes)[kept]
        return NodeSet(self._session.node_list, nodes.indexes[kept][np.argsort(-scores, kind="stable")])

    def preempting(self, task: TaskState, *, within_job: bool) -> Prospect:
        """What preempt would find on the nodes."""
        return self._bound().preempting(task, within_job=within_job)

    def leave_traces(self, victims: Sequence[TaskState]) -> None:
        """Evict and restore: all is as before, but filters no longer see the victims and Bound is Running."""
        session, rows = self._session, self._bound().rows
        before = rows.version
        for victim in victims:
            session.deallocated(victim)
        for victim in victims:
            if victim.status is Status.BOUND:
                session.jobs[victim.job].set_status(victim, Status.RUNNING)
                before = -1
            session.allocated(victim)
        if before >= 0:
            # Nothing that bounds depend on has changed, so answers they keep stay good.
            rows.version = before

    def victims(self, prospect: Prospect, node: NodeAccount) -> list[TaskState]:
        """The victims whose eviction does not help on a doomed node."""
        tasks, nodes = self._bound().rows.tasks, self._bound().rows.node[prospect.victims]
        start, end = np.searchsorted(nodes, (node.index, node.index + 1))
        return [tasks[row] for row in prospect.victims[start:end].tolist()]

    def unsettled(self, prospect: Prospect) -> set[int]:
        """Nodes on which evicting the victims without success would leave traces; elsewhere it has been done before."""
        rows = self._bound().rows
        if not self._restores:
            return set(rows.node[prospect.victims].tolist())
        new = ~(rows.heard_of & rows.running)[prospect.victims]
        return set(rows.node[prospect.victims[new]].tolist())

    def reclaiming(self, task: TaskState, nodes: Nodes) -> NodeSet:  # noqa: D102
        indexes = _numbers(nodes)
        worth = self._bound().reclaiming(task)
        kind = self._kind_by_task[task.key]
        if kind.cards is not None and self._restores:
            kind.refresh()
            # There is room without an eviction and no card: it is placed, refused and taken back, without a trace.
            idle = worth & kind.roomy & ~kind.cards.mask(worth & kind.roomy)
            if idle[indexes].any():
                task.after_eviction = False
                worth = worth & ~idle
        return NodeSet(self._session.node_list, indexes[worth[indexes]])

    def lacks_cards(self, task: TaskState, prospect: Prospect) -> Callable[[NodeAccount], bool]:
        """For a node whether the task finds no card there even if all victims go, while its queue takes it anyway."""
        cards, session = self._kind_by_task[task.key].cards, self._session
        limited = session.not_allocatable(session.queue_of(task), task) is not None
        if cards is None or not cards.is_plain or limited or not self._bound().names_exactly or session.trace.wanted:
            return lambda node: False
        return lambda node: cards.hopeless(node.index, lambda: self.victims(prospect, node), prospect)

    def _bound(self) -> Bounds:
        if self._bounds is None:
            self._bounds = Bounds(self._session, self.arrays, self.limits)
        return self._bounds

    def _changed(self, task: TaskState) -> None:
        if task.node:
            self.arrays.touch(self._session.nodes[task.node].index)
        if self._bounds is not None:
            self._bounds.rows.changed(task)

    def _extra(self, task: TaskState, nodes: NodeSet) -> Any:
        """Scores that are normalised over the candidates; None if there are none but a constant."""
        order = self._parts.order
        if order is None:
            return None
        extra: Any = None
        for key in self._parts.relative(task):
            scores = order.scores[key](order.picture, task.task, nodes.indexes.tolist())
            if scores is not None:
                part = np.array(scores, dtype=np.int64) * order.weights[key]
                extra = part if extra is None else extra + part
        return extra

    def _sort(self) -> None:
        """Give every pending task its kind if that is simple.

        Tasks of one role share upstream's memory of nodes that failed, so all of them must be of one kind.
        """
        kinds: dict[tuple[Any, ...], TaskKind | None] = {}
        for job in self._session.jobs.values():
            by_role: dict[str, list[tuple[TaskState, tuple[Any, ...]]]] = {}
            for task in job.pending():
                key = (*signature(task), *self._parts.company(task.task))
                by_role.setdefault(task.role, []).append((task, key))
            for role, members in by_role.items():
                if role and any(key != members[0][1] for _, key in members):
                    continue
                for task, key in members:
                    if key not in kinds:
                        kinds[key] = self._new_kind(task)
                    if (kind := kinds[key]) is not None:
                        self._kind_by_task[task.key] = kind

    def _new_kind(self, task: TaskState) -> TaskKind | None:
        parts = self._parts
        prepared: dict[str, PreFilterResult] | None = {}
        if parts.filters is not None:
            if parts.is_unwelcome(task.task):
                return None
            prepared = parts.filters.look(task.task)
            if prepared is None or not all(prepared[one.name].status.is_skip for one in parts.filters.others):
                return None
        cards = None if self._cards is None else self._cards.of(task.task)
        apart = bool(parts.relative(task)) or parts.near is not None
        return TaskKind(
            task, prepared or {}, parts.filters, parts.order, parts.pack, self.arrays, apart=apart, cards=cards
        )


def _numbers(nodes: Nodes) -> Ints:
    if isinstance(nodes, NodeSet):
        return nodes.indexes
    return np.array([node.index for node in nodes], dtype=np.int64)


def _split(groups: list[tuple[FitError, Ints]], left: Mask, mask: Mask, error: FitError) -> None:
    fresh = np.flatnonzero(mask & left)
    if len(fresh):
        groups.append((error, fresh))
        left[fresh] = False


def _weighed(parts: PluginParts) -> set[str]:
    return {"cpu", "memory", *(parts.pack.weights if parts.pack is not None else ())}
