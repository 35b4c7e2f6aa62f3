"""Which nodes a task fits, which is best; mirrors `util/predicate_helper.go` and `util/scheduler_helper.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.outcomes import First
from cpsched.greedy.volcano import tiers
from cpsched.greedy.volcano.amounts import fits, give
from cpsched.greedy.volcano.fast.bulk_finder import NodeSet
from cpsched.greedy.volcano.finder import NodeFinder, Nodes, Test, nodes_to_find
from cpsched.greedy.volcano.fit import NOT_IN_SHARD, FitError, FitErrors, insufficient
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import less_equal_names


class PlainFinder:
    """The NodeFinder that asks node by node; remembers per role where a task failed, as long as upstream's helper."""

    def __init__(self, session: Session, *, cached: bool = False):
        self._session, self._cached = session, cached
        self._failed: dict[tuple[str, str], dict[str, FitError]] = {}

    def feasible(self, task: TaskState, nodes: Nodes, test: Test, *, detailed: bool) -> tuple[Nodes, FitErrors]:  # noqa: D102
        session, found, errors = self._session, list[NodeAccount](), FitErrors()
        group = (task.job, task.role)
        known = self._failed.get(group, {}) if self._cached and task.role else {}
        failed: dict[str, FitError] = {}
        wanted, processed = nodes_to_find(len(nodes)), 0
        for step in range(len(nodes)):
            node = nodes[(session.start_index + step) % len(nodes)]
            processed += 1
            error = known.get(node.name) or self._error(task, node, test)
            if error is not None:
                failed[node.name] = errors.by_node[node.name] = error
            elif len(found) == wanted:
                # Upstream notices that it has enough only when it finds one more.
                break
            else:
                found.append(node)
        if failed:
            self._failed.setdefault(group, {}).update(failed)
        session.start_index = (session.start_index + processed) % len(nodes)
        return found, errors

    def now_and_later(self, task: TaskState, nodes: Nodes) -> tuple[Nodes, Nodes]:  # noqa: D102
        now = [node for node in nodes if fits(task.request, node.idle)]
        names = {node.name for node in now}
        return now, [node for node in nodes if node.name not in names and node.fits_future(task.request)]

    def best(self, task: TaskState, nodes: Nodes) -> NodeAccount:  # noqa: D102
        rated = scores(self._session, task, nodes)
        top = max(rated)
        equal = [node for node, score in zip(nodes, rated, strict=True) if score == top]
        return equal[self._session.choices.pick(len(equal))]

    def reclaiming(self, task: TaskState, nodes: Nodes) -> Nodes:  # noqa: D102
        return nodes

    def _error(self, task: TaskState, node: NodeAccount, test: Test) -> FitError | None:
        sharding = self._session.instance.sharding
        if sharding is not None and sharding.mode == "hard" and node.name not in sharding.nodes:
            return NOT_IN_SHARD
        return test.ask(task, node)


class Search:
    """Looks for nodes with the finder that can answer for the task."""

    def __init__(self, session: Session, *, cached: bool):
        self._session, self._plain = session, PlainFinder(session, cached=cached)

    def feasible(self, task: TaskState, nodes: Nodes, test: Test, *, detailed: bool = True) -> tuple[Nodes, FitErrors]:
        """Feasible nodes in the order found, and what speaks against the others, if `detailed` says it is read."""
        if not nodes:
            return [], FitErrors()
        bulk = self._session.bulk_finder
        in_bulk = bulk is not None and len(nodes) > 1 and test.purpose != "gang" and bulk.knows(task)
        finder: NodeFinder = bulk if bulk is not None and in_bulk else self._plain
        return finder.feasible(task, nodes, test, detailed=detailed)


def finder_of(session: Session, nodes: Nodes) -> NodeFinder:
    """The finder that found the nodes."""
    bulk = session.bulk_finder
    return bulk if bulk is not None and isinstance(nodes, NodeSet) else PlainFinder(session)


def for_allocation(session: Session) -> Test:
    """Room first, then every objection of a filter counts (`predicate` of `actions/allocate/allocate.go`)."""
    filters = for_backfill(session).ask

    def ask(task: TaskState, node: NodeAccount) -> FitError | None:
        room = node.future_idle
        if not fits(task.request, room):
            return insufficient(less_equal_names(task.request, room))
        return filters(task, node)

    return Test("allocate", ask)


def for_backfill(session: Session) -> Test:
    """Every objection of a filter counts, room does not (`PredicateForAllocateAction`)."""

    def ask(task: TaskState, node: NodeAccount) -> FitError | None:
        error = session.predicate(task, node)
        return error if error is not None and error.blocks_allocation else None

    return Test("backfill", ask)


def for_preemption(session: Session) -> Test:
    """What an eviction may remove does not count (`PredicateForPreemptAction`)."""

    def ask(task: TaskState, node: NodeAccount) -> FitError | None:
        error = session.predicate(task, node)
        return error if error is not None and error.blocks_preemption else None

    return Test("preempt", ask)


def for_gang(session: Session) -> Test:
    """As for preemption, but there must be room already: victims are gone by then (`simulatePredicate`)."""
    filters = for_preemption(session).ask

    def ask(task: TaskState, node: NodeAccount) -> FitError | None:
        room = node.future_idle
        if not fits(task.request, room):
            return insufficient(less_equal_names(task.request, room))
        return filters(task, node)

    return Test("gang", ask)


def by_shard(session: Session, nodes: Nodes) -> list[Nodes]:
    """Own nodes, then those of other shards (soft sharding only)."""
    sharding = session.instance.sharding
    if sharding is None or sharding.mode != "soft":
        return [nodes, []]
    own = [node for node in nodes if node.name in sharding.nodes]
    return [own, [node for node in nodes if node.name not in sharding.nodes]]


def scores(session: Session, task: TaskState, nodes: Sequence[NodeAccount]) -> list[float]:
    """The score of every node (`PrioritizeNodes`)."""
    own = session.point("node_order")
    batches = [ask(task, nodes) for tier in session.point("batch_node_order") for ask in tier]
    return [tiers.total(own, task, node) + sum(batch.get(node.name, 0.0) for batch in batches) for node in nodes]


def choose(session: Session, task: TaskState, nodes: Nodes) -> NodeAccount | None:
    """The best node of the first group that has any (`prioritizeNodes`).

    Free now and own, free now and of other shards, free soon and own, free soon and of other shards.
    """
    finder = finder_of(session, nodes)
    for room in finder.now_and_later(task, nodes):
        for group in by_shard(session, room):
            if group:
                return group[0] if len(group) == 1 else finder.best(task, group)
    return None


def ranked(session: Session, task: TaskState, nodes: Sequence[NodeAccount]) -> list[NodeAccount]:
    """Nodes by falling score, equal ones as given (`SortNodes`)."""
    rated = zip(scores(session, task, nodes), nodes, strict=True)
    return [node for _, node in sorted(rated, key=lambda pair: -pair[0])]


def resolvable(session: Session, task: TaskState) -> Nodes:
    """Nodes where an eviction may help, by what earlier actions found (`FilterOutUnschedulableAndUnresolvable…`)."""
    errors = session.jobs[task.job].fit_errors.get(task.key)
    hopeless = errors.unresolvable_nodes() if errors is not None else set()
    if not hopeless:
        return session.node_list
    if session.bulk_finder is not None and session.bulk_finder.knows(task) and isinstance(session.choices, First):
        return session.bulk_finder.nodes(hopeless)
    # Upstream walks a map here.
    return session.choices.order(node for node in session.node_list if node.name not in hopeless)


def enough(task: TaskState, node: NodeAccount, victims: Sequence[TaskState]) -> bool:
    """Whether the node has room for the task once all victims are gone (`ValidateVictims`)."""
    room = node.future_idle
    for victim in victims:
        give(room, victim.request)
    return fits(task.request, room)
