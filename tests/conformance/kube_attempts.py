"""Replay a recorded row of the running kube-scheduler attempt by attempt, asking the filters before each one.

Only the filters are ours here: what an attempt did to the cluster is taken from the recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cpsched.filters import Args, ClusterState, Features, NodeState, Status, add_task, chosen, feasible, first_failure
from cpsched.filters.feasible import PreFiltered
from cpsched.importers.load import load
from cpsched.instance import Task
from cpsched.objects.pod import Pod, PodSpec
from cpsched.policy.kube_conf import KubeConf
from cpsched.policy.kube_profile import Profile

Attempt = dict[str, Any]


def args_of(profile: Profile) -> Args:
    """The filters' arguments of a profile."""
    stated = profile.args
    return Args(
        features=Features.of("1.36"),
        added_affinity=stated.node_affinity.added_affinity,
        ignored_resources=frozenset(stated.fit.ignored_resources),
        ignored_resource_groups=frozenset(stated.fit.ignored_resource_groups),
        default_constraints=stated.topology_spread.constraints,
    )


class Replay:
    """One outcome of a recorded row."""

    def __init__(self, row: dict[str, Any], outcome: dict[str, Any]):
        self.row, self.outcome = row, outcome
        instance = load(row["objects"])
        self.tasks: dict[str, Task] = dict(instance.tasks)
        self.cluster = ClusterState.from_instance(instance)
        conf = row["conf"]
        self.conf = KubeConf.default() if conf is None else KubeConf.parse(conf)
        waiting = (task for task in self.tasks.values() if not task.node and self._profile(task) is not None)
        self.nominated: dict[str, str] = {
            task.key: task.pod.status.nominated_node_name for task in waiting if task.pod.status.nominated_node_name
        }

    def attempts(self) -> Iterator[tuple[Attempt, dict[str, Status]]]:
        """Each attempt with what our filters say about every node just before it."""
        for attempt in self.outcome["attempts"]:
            if attempt["result"] == "skipped":
                self._forget(attempt["pod"])
                continue
            yield attempt, self._ask(self.tasks[attempt["pod"]])
            self._apply(attempt)

    def _profile(self, task: Task) -> Profile | None:
        return self.conf.profile(task.pod.spec.scheduler_name or "default-scheduler")

    def _ask(self, task: Task) -> dict[str, Status]:
        profile = self._profile(task)
        assert profile is not None
        names = profile.filters
        verdicts = feasible(task, self.cluster, names, args_of(profile), prefilters=profile.pre_filters)
        prefiltered = verdicts.prefiltered
        if not prefiltered.status.is_success:
            return verdicts.by_node()
        found: dict[str, Status] = {}
        own = self.nominated.get(task.key)
        if own in self.cluster.nodes:
            found[own] = self._with_nominated(task, self.cluster.nodes[own], names, prefiltered)
            # Upstream lists the filter that refused the nominated node among those that narrowed the search.
            prefiltered.narrowed_by |= {found[own].plugin} - {""}
        for name, node in self.cluster.nodes.items():
            if prefiltered.nodes is None or name in prefiltered.nodes:
                found[name] = self._with_nominated(task, node, names, prefiltered)
            elif name != own:
                found[name] = prefiltered.outside
        return found

    def _with_nominated(self, task: Task, node: NodeState, names: tuple[str, ...], prefiltered: PreFiltered) -> Status:
        """First with the pods nominated to the node that matter at least as much, then without them."""
        filters = chosen(names)
        others = [self.tasks[key] for key, name in self.nominated.items() if name == node.name and key != task.key]
        others = [other for other in others if other.pod_priority >= task.pod_priority]
        if others:
            trial, clone = node.clone(), prefiltered.clone(filters)
            for other in others:
                trial.add(other)
                add_task(clone, filters, task, other, trial)
            status = first_failure(task, trial, self.cluster, clone, filters)
            if not status.is_success:
                return status
        return first_failure(task, node, self.cluster, prefiltered, filters)

    def _apply(self, attempt: Attempt) -> None:
        """What the attempt did: a bind, or a nomination with victims that are now going."""
        key = attempt["pod"]
        if attempt["result"] == "bound":
            self.cluster.add(self.tasks[key], attempt["node"])
            self.nominated.pop(key, None)
            return
        if attempt["nominating"] == "clear":
            self.nominated.pop(key, None)
        elif attempt["nominating"] == "set":
            self.nominated[key] = attempt["nominated"]
        for other in attempt.get("clearedNominations") or ():
            self.nominated.pop(other, None)
        for victim in attempt.get("victims") or ():
            self._delete(victim)

    def _delete(self, key: str) -> None:
        """The victim stays on its node and moves to the end of its list, with a deletion time."""
        node = self.cluster.node_by_task[key]
        old = self.cluster.remove(self.tasks[key])
        metadata = old.pod.metadata.model_copy(update={"deletion_timestamp": 1})
        self.tasks[key] = Task(key, old.pod.model_copy(update={"metadata": metadata}), old.group)
        self.cluster.add(self.tasks[key], node)

    def _forget(self, key: str) -> None:
        """A pending pod that is being deleted keeps its nomination, but as a pod without spec and priority."""
        old = self.tasks[key]
        metadata = old.pod.metadata.model_copy(update={"labels": {}})
        self.tasks[key] = Task(key, Pod(metadata=metadata, spec=PodSpec(), status=old.pod.status), None)


def differences(row: dict[str, Any]) -> Iterator[str]:
    """Where the filters say something else than the scheduler did."""
    for outcome in row["outcomes"]:
        for attempt, found in Replay(row, outcome).attempts():
            failed = attempt.get("failed") or {}
            for node, status in found.items():
                if node not in failed:
                    if not status.is_success:
                        yield f"{row['id']} {attempt['pod']} {node}: {status}, recorded feasible"
                    continue
                stated = failed[node]
                recorded = (stated["code"], stated.get("plugin", ""), sorted(stated["reasons"]))
                if (status.code.value, status.plugin, sorted(status.reasons)) != recorded:
                    yield f"{row['id']} {attempt['pod']} {node}: {status}, recorded {recorded}"
