"""What the configured plugins hand over for the fast path, and what tells kinds of tasks apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpsched.greedy.volcano.fast.plugin_bulk import BinpackBulk, CardBulk, FilterBulk, NearBulk, OrderBulk, ShareBulk
from cpsched.greedy.volcano.picture import FilterView, has_pod_affinity
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Task
from cpsched.objects.cluster import ReplicaSet, ReplicationController, Service, StatefulSet


class PluginParts:
    """The plugins' bulk forms, and which scores depend on the candidates."""

    def __init__(self, session: Session, bulks: Mapping[type, Any]):
        self.filters: FilterBulk | None = bulks.get(FilterBulk)
        self.order: OrderBulk | None = bulks.get(OrderBulk)
        self.pack: BinpackBulk | None = bulks.get(BinpackBulk)
        self.near: NearBulk | None = bulks.get(NearBulk)
        self.cards: CardBulk | None = bulks.get(CardBulk)
        filters, order = self.filters, self.order
        self.picture: FilterView | None = filters.picture if filters else order.picture if order else None
        tasks = [state.task for state in session.tasks.values()]
        choosy = [task for task in tasks if task.pod.spec.affinity.pod_anti_affinity.required]
        self._labels_matter = bool(choosy)
        if self.picture is not None:
            for task in choosy:
                self.picture.facts(task)
        self._relative = [key for key in _relative_scores(session, tasks) if order is not None and order.weights[key]]

    @classmethod
    def of(cls, session: Session) -> PluginParts | None:
        """The parts, None if a plugin answers for single nodes only."""
        found: dict[type, Any] = {}
        for tier in session.hooks:
            for conf, hooks in tier:
                filters = hooks.predicate is not None and conf.on("enablePredicate")
                scores = (hooks.node_order or hooks.batch_node_order) is not None and conf.on("enableNodeOrder")
                if filters or scores:
                    if hooks.bulk is None or type(hooks.bulk) in found:
                        return None
                    if isinstance(hooks.bulk, FilterBulk) and CardBulk in found:
                        # Its refusal, which an eviction may remove, would hide one that no eviction removes.
                        return None
                    found[type(hooks.bulk)] = hooks.bulk
        return cls(session, found)

    def company(self, task: Task) -> tuple[Any, ...]:
        """What tells kinds apart besides request and node constraints: all that other filters or pods may look at."""
        spec = task.pod.spec
        cards = () if self.cards is None or (look := self.cards.books.look(task)) is None else (look,)
        if (
            has_pod_affinity(task)
            or spec.volumes
            or spec.resource_claims
            or spec.topology_spread_constraints
            or spec.init_containers
            or any(port.host_port for container in spec.containers for port in container.ports)
        ):
            return (task.key,)
        return (*cards, task.namespace, tuple(sorted(task.labels.items()))) if self._labels_matter else cards

    def is_unwelcome(self, task: Task) -> bool:
        """Whether some pod, placed or not yet, keeps such pods away from itself."""
        if self.picture is None or not self._labels_matter:
            return False
        labels, namespaces = self.picture.facts(task).labels, self.picture.namespaces
        return bool(self.picture.anti.against(labels, namespaces.get(task.namespace, {})))

    def relative(self, task: TaskState) -> list[str]:
        """Scores that must be asked about the candidates."""
        preferred = task.task.pod.spec.affinity.node_affinity.preferred
        if preferred and self.order is not None and self.order.weights["nodeaffinity.weight"]:
            return [*self._relative, "nodeaffinity.weight"]
        return self._relative


def _relative_scores(session: Session, tasks: list[Task]) -> list[str]:
    """Scores whose answer may depend on the candidates, whatever the task."""
    found = []
    affinities = [task.pod.spec.affinity for task in tasks]
    if any(one.pod_affinity.preferred or one.pod_anti_affinity.preferred for one in affinities):
        found.append("podaffinity.weight")
    taints = (taint for node in session.node_list for taint in node.node.node.spec.taints)
    if any(taint.effect == "PreferNoSchedule" for taint in taints):
        found.append("tainttoleration.weight")
    owners = (Service, ReplicationController, ReplicaSet, StatefulSet)
    constrained = any(task.pod.spec.topology_spread_constraints for task in tasks)
    if constrained or any(session.instance.of_kind(owner) for owner in owners):
        found.append("podtopologyspread.weight")
    return found


def only_limits(session: Session) -> ShareBulk | None:
    """What queues hold and are due, if that alone limits what they may take."""
    limiting = [
        hooks.bulk
        for tier in session.hooks
        for conf, hooks in tier
        if hooks.allocatable is not None and conf.on("enabledAllocatable")
    ]
    return limiting[0] if len(limiting) == 1 and isinstance(limiting[0], ShareBulk) else None


def events_cancel_out(session: Session) -> bool:
    """Whether an eviction that is taken back leaves traces with predicates only, and there only the first time."""
    listening = [
        (conf.name, hooks)
        for tier in session.hooks
        for conf, hooks in tier
        if hooks.on_allocate is not None or hooks.on_deallocate is not None
    ]
    undone = ("predicates", "proportion", "network-topology-aware", "deviceshare")
    # drf's shares go back to what they were; its tree of queues adds up fractions.
    return all(name in undone or (name == "drf" and hooks.queue_order is None) for name, hooks in listening)
