"""predicates: kube-scheduler's filters in a session; mirrors `plugins/predicates/predicates.go`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cpsched.errors import InputError
from cpsched.filters import (
    dynamic_resources,
    inter_pod_affinity,
    node_affinity,
    node_ports,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    taint_toleration,
    volume_binding,
    volume_zone,
)
from cpsched.filters.args import Args
from cpsched.filters.contract import Filter, PreFilterResult
from cpsched.filters.status import Code, Status, error
from cpsched.greedy.volcano.devices.contract import Books
from cpsched.greedy.volcano.fast.plugin_bulk import FilterBulk
from cpsched.greedy.volcano.fit import TOO_MANY_PODS, FitError, aborts
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.picture import FilterView
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Task
from cpsched.policy import PluginConf

NAME = "predicates"
CACHED_FAILURE = error("predicate.CacheEnable", "plugin equivalence cache predicates failed")
TEMPLATE = "volcano.sh/template-uid"
_ARGS = Args()

STABLE: dict[str, tuple[str | None, Filter]] = {
    "NodeUnschedulable": (None, node_unschedulable.FILTER),
    "NodeAffinity": ("predicate.NodeAffinityEnable", node_affinity.FILTER),
    "TaintToleration": ("predicate.TaintTolerationEnable", taint_toleration.FILTER),
}
"""Filters that no placement changes, asked first; with the argument that switches them."""

OTHERS: dict[str, tuple[str | None, Filter]] = {
    "NodePorts": ("predicate.NodePortsEnable", node_ports.FILTER),
    "InterPodAffinity": ("predicate.PodAffinityEnable", inter_pod_affinity.FILTER),
    "NodeVolumeLimits": ("predicate.NodeVolumeLimitsEnable", node_volume_limits.FILTER),
    "VolumeZone": ("predicate.VolumeZoneEnable", volume_zone.FILTER),
    "PodTopologySpread": ("predicate.PodTopologySpreadEnable", pod_topology_spread.FILTER),
    "VolumeBinding": ("predicate.VolumeBindingEnable", volume_binding.FILTER),
    "DynamicResources": (None, dynamic_resources.FILTER),
}


def predicates(session: Session, conf: PluginConf) -> Hooks:
    """Filters, reservations, and the dry run's view of inter-pod affinity."""
    if not conf.on("enablePredicate"):
        raise InputError(
            "predicates with enablePredicate: false lets Volcano place nothing and may stop it",
            place="tiers",
            right="take the plugin out, or leave the flag on",
        )
    plugin = TaskFilters(session, conf)
    return Hooks(
        pre_predicate=plugin.prepare,
        predicate=plugin.check,
        simulate=plugin.simulate,
        on_allocate=plugin.reserve,
        on_deallocate=plugin.release,
        bulk=plugin.bulk(),
    )


class TaskFilters:
    """The filters with their state per task."""

    def __init__(self, session: Session, conf: PluginConf):
        def enabled(table: dict[str, tuple[str | None, Filter]]) -> list[Filter]:
            return [one for key, one in table.values() if key is None or conf.arguments.boolean(key)]

        self.stable, self.others = enabled(STABLE), enabled(OTHERS)
        self._reserving = [(one, one.reserve) for one in self.others if one.reserve is not None]
        self.cluster, self._session = cluster_of(session), session
        self.prepared: dict[str, dict[str, PreFilterResult]] = {}
        self._reserved: dict[str, list[Callable[[], None]]] = {}
        self._remembers = conf.arguments.boolean("predicate.CacheEnable")
        self._remembered: dict[tuple[str, str], bool] = {}

    def prepare(self, task: TaskState) -> str | None:
        """PrePredicate: every filter looks at the task as the cluster is now, until one fails.

        Upstream creates one cycle state per task when the session opens and takes nothing out of its set of skipped
        filters. So a filter that once answered Skip is not asked again for this task, whatever is placed later.
        """
        states = self.prepared.setdefault(task.key, {})
        for one in (*self.stable, *self.others):
            result = one.prefilter(task.task, self.cluster, _ARGS)
            if not result.status.is_skip and not result.status.is_success:
                return f"plugin {one.name} pre-predicates failed {', '.join(result.status.reasons)}"
            if one.name not in states or not states[one.name].status.is_skip:
                states[one.name] = result
        return None

    def bulk(self) -> FilterBulk | None:
        """The filters for all nodes at once; not with the cache, whose answers depend on who asked before."""
        if self._remembers:
            return None
        return FilterBulk(self.stable, self.others, self.cluster, self._look, self.prepared.__setitem__)

    def _look(self, task: Task) -> dict[str, PreFilterResult] | None:
        states = {one.name: one.prefilter(task, self.cluster, _ARGS) for one in (*self.stable, *self.others)}
        passing = all(result.status.is_skip or result.status.is_success for result in states.values())
        return states if passing else None

    def check(self, task: TaskState, node: NodeAccount) -> FitError | None:
        """Predicate: the pod count, the stable filters, then the others, until one ends it."""
        statuses: list[Status] = []
        if node.max_pods <= len(self.cluster.nodes[node.name].tasks):
            statuses.append(TOO_MANY_PODS)
        passed = self._check_stable(task, node, statuses)
        if passed:
            self._check_others(task, node, statuses)
        return FitError(tuple(statuses)) if statuses else None

    def _check_stable(self, task: TaskState, node: NodeAccount, statuses: list[Status]) -> bool:
        template = task.task.pod.metadata.annotations.get(TEMPLATE) if self._remembers else None
        if template is not None and (node.name, template) in self._remembered:
            if not self._remembered[node.name, template]:
                statuses.append(CACHED_FAILURE)
            return self._remembered[node.name, template]
        states = self.prepared.get(task.key, {})
        passed = True
        for one in self.stable:
            result = states.get(one.name) or one.prefilter(task.task, self.cluster, _ARGS)
            if not self._ask(one, result, task, node, statuses):
                passed = False
                break
        if template is not None:
            self._remembered[node.name, template] = passed
        return passed

    def _check_others(self, task: TaskState, node: NodeAccount, statuses: list[Status]) -> None:
        states = self.prepared.get(task.key, {})
        for one in self.others:
            if one.name not in states:
                # No PrePredicate of the task came as far as this filter: it does not find its state.
                statuses.append(error(NAME, "no PreFilter state"))
                return
            if not self._ask(one, states[one.name], task, node, statuses):
                return

    def _ask(
        self, one: Filter, result: PreFilterResult, task: TaskState, node: NodeAccount, statuses: list[Status]
    ) -> bool:
        """Whether the next filter is asked."""
        if result.status.is_skip:
            return True
        status = one.filter(result.state, task.task, self.cluster.nodes[node.name], self.cluster)
        if status.code in (Code.SUCCESS, Code.PENDING):
            return True
        statuses.append(status)
        return not aborts(status)

    def reserve(self, task: TaskState) -> str | None:
        """A task takes its place; one that no PrePredicate has seen, such as a restored victim, is not let back."""
        states = self.prepared.get(task.key, {})
        if any(one.name not in states for one, _ in self._reserving):
            return "Reserve found no PreFilter state"
        node = self.cluster.nodes[task.node]
        for one, reserve in self._reserving:
            if not states[one.name].status.is_skip:
                undo = reserve(states[one.name].state, task.task, node, self.cluster)
                self._reserved.setdefault(task.key, []).append(undo)
        if self.devices is not None and not self.devices.book(task):
            return "no card is left for the task"
        self.cluster.add(task.task, task.node)
        return None

    def release(self, task: TaskState) -> None:
        """A task leaves its place, if it has one here."""
        for undo in reversed(self._reserved.pop(task.key, [])):
            undo()
        if self.devices is not None:
            self.devices.release(task)
        if task.key in self.cluster.node_by_task:
            self.cluster.remove(task.task)

    @property
    def devices(self) -> Books | None:
        """The books of shared cards, if any are kept."""
        return self._session.devices

    def simulate(self, task: TaskState, node: NodeAccount) -> FilterTrial:
        """Victims come and go for inter-pod affinity and shared cards only."""
        one = inter_pod_affinity.FILTER
        result = self.prepared.get(task.key, {}).get(one.name)
        if one not in self.others or result is None or result.status.is_skip:
            return FilterTrial(self, task, node, None)
        return FilterTrial(self, task, node, one.cloned(result.state))


class FilterTrial:
    """Inter-pod affinity and shared cards while victims are tried out."""

    def __init__(self, plugin: TaskFilters, task: TaskState, node: NodeAccount, state: Any):
        self._cluster, self._task, self._state = plugin.cluster, task.task, state
        self._node = plugin.cluster.nodes[node.name]
        cards = None if plugin.devices is None else plugin.devices.of(task.task, node.name)
        self._cards = None if cards is None else cards.copied()

    def add(self, other: TaskState) -> bool:
        """The other comes back."""
        if self._state is not None:
            inter_pod_affinity.add_task(self._state, self._task, other.task, self._node)
        if self._cards is not None:
            self._cards.enter(other.task)
        return True

    def remove(self, other: TaskState) -> bool:
        """The other goes."""
        if self._state is not None:
            inter_pod_affinity.remove_task(self._state, self._task, other.task, self._node)
        if self._cards is not None:
            self._cards.leave(other.task)
        return True

    def allocatable(self) -> bool:
        """Nothing to say about queues."""
        return True

    def predicate(self) -> bool:
        """Whether inter-pod affinity lets the task in, and some card."""
        if self._cards is not None and self._cards.lacks(self._task):
            return False
        if self._state is None:
            return True
        return inter_pod_affinity.check(self._state, self._task, self._node, self._cluster).is_success


def cluster_of(session: Session) -> FilterView:
    """The picture of the nodes that predicates and nodeorder share, made when first asked for."""
    if session.picture is None:
        session.picture = FilterView.opened(session.instance)
    return session.picture
