"""From validated objects to an Instance: defaults filled in, every cross-reference checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from cpsched.aside import OBJECTS, Aside
from cpsched.errors import InputError
from cpsched.importers.defaults import ApiDefaults
from cpsched.importers.gaps import Gaps
from cpsched.importers.kubernetes import Found
from cpsched.instance import (
    ENDED,
    GROUP_ANNOTATION,
    ID_ANNOTATION,
    Instance,
    Job,
    Node,
    Queue,
    Status,
    Task,
)
from cpsched.objects import groups, node, pod
from cpsched.objects.base import Metadata, Object
from cpsched.objects.beside import NodeLoad, Sharding
from cpsched.objects.cluster import Namespace
from cpsched.quantity import LARGEST
from cpsched.resources import from_quantities

Shaped = TypeVar("Shaped", bound=Object)
DEFAULT_QUEUE = "default"
_VOLCANO = frozenset({"", "volcano"})
"""schedulerName of Volcano's pods; an input made by hand may leave it out."""
_PLAIN = _VOLCANO | {"default-scheduler"}
"""Where nothing of Volcano is in the input, its model asks what Volcano would do with kube-scheduler's pods."""
_NO_NODES = "inputs without nodes"
_ON_NO_NODE = "counted for jobs and queues, on no node"
_QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"


def assemble(  # noqa: PLR0913 - what an instance is made of
    found: Iterable[Found],
    *,
    now: int | None = None,
    sharding: Sharding | None = None,
    node_usage: Mapping[str, NodeLoad] | None = None,
    conf: Mapping[str, Any] | None = None,
    recipe: Mapping[str, Any] | None = None,
    gaps: Gaps,
    aside: Aside | None = None,
    file: str | None = None,
) -> Instance:
    """One Instance from all objects; `gaps` takes references that lead nowhere.

    With `aside` they are a cluster's: what no task can count is set aside. Without it they are a case's, and it is an
    error.
    """
    builder = _Builder(gaps, aside)
    items = [item for item in found if builder.is_countable(item)]
    of_kind: dict[type[Object], list[Found]] = {}
    for item in items:
        of_kind.setdefault(type(item.object), []).append(item)
    classes = {one.metadata.name: one for one in _objects(of_kind, groups.PriorityClass)}
    nodes = {one.key: Node(one) for one in _objects(of_kind, node.Node)}
    pod_groups = {item.object.key: item for item in of_kind.get(groups.PodGroup, ())}
    queues = {item.object.metadata.name: item for item in of_kind.get(groups.Queue, ())}
    of_volcano = any(one.spec.scheduler_name == "volcano" for one in _objects(of_kind, pod.Pod))
    plain_cluster = not (pod_groups or queues or of_volcano)
    defaults = ApiDefaults(classes)
    tasks: dict[str, Task] = {}
    objects: list[Object] = []
    for item in items:
        if isinstance(item.object, pod.Pod):
            task = _task(defaults.filled_in(item.object), pod_groups, plain_cluster)
            if builder.is_usable(task, item, tasks):
                builder.check_task(task, item, nodes, pod_groups)
                tasks[task.key] = task
                objects.append(task.pod)
        else:
            objects.append(item.object)
    jobs = builder.jobs(tasks, pod_groups, classes)
    queue_views = builder.queues(jobs, queues)
    builder.check_jobs(jobs, pod_groups, queue_views)
    builder.check_nodes(nodes, tasks, file)
    builder.check_sharding(sharding, nodes)
    return Instance(
        objects=tuple(objects),
        nodes=nodes,
        tasks=tasks,
        jobs={key: job for key, job in jobs.items() if job.queue in queue_views},
        queues=queue_views,
        priority_classes=classes,
        budgets=tuple(_objects(of_kind, groups.PodDisruptionBudget)),
        workload_groups={one.key: one for one in _objects(of_kind, groups.WorkloadPodGroup)},
        namespaces={one.metadata.name: one for one in _objects(of_kind, Namespace)},
        sharding=sharding,
        node_usage=node_usage,
        now=now,
        conf=conf,
        recipe=recipe,
        warnings=builder.gaps.warnings(file),
        file=file,
    )


def _objects(of_kind: Mapping[type[Object], Iterable[Found]], shape: type[Shaped]) -> Iterator[Shaped]:
    """The objects of a kind."""
    for item in of_kind.get(shape, ()):
        assert isinstance(item.object, shape)
        yield item.object


class _Builder:
    """Makes the parts of the instance, and notes the references that lead nowhere."""

    def __init__(self, gaps: Gaps, aside: Aside | None):
        self.gaps, self.aside = gaps, aside
        self.pod_by_job: dict[str, Found] = {}

    def is_countable(self, item: Found) -> bool:
        """Whether every amount of a node, a queue or a group can be counted."""
        for name, amount in _amounts(item.object):
            if amount > LARGEST:
                return self._unusable(item.error(f"its amount of {name} overflows 64 bits"))
        return True

    def is_usable(self, task: Task, item: Found, seen: Mapping[str, Task]) -> bool:
        """Whether the pod can be distinguished from others and its request be counted."""
        if task.key in seen:
            return self._unusable(item.error(f"the task id {task.key} is used twice", "ids are unique"))
        for name, amount in task.requests.items():
            if amount > LARGEST:
                return self._unusable(item.error(f"its request for {name} overflows 64 bits"))
        return True

    def _unusable(self, error: InputError) -> bool:
        """An error in a case; of a cluster the object is set aside."""
        if self.aside is None:
            raise error
        self.aside.add_error(OBJECTS, error)
        return False

    def check_nodes(self, nodes: Mapping[str, Node], tasks: Mapping[str, Task], file: str | None) -> None:
        """Say it once where there are pods and no node at all."""
        if nodes or not tasks or self.aside is None:
            return
        named = {task.node for task in tasks.values() if task.node and task.status not in ENDED}
        right = "add what `kubectl get nodes -o json` prints"
        if named:
            right += f", or let --assume-nodes make the {len(named)} that spec.nodeName names"
        wrong = "holds pods but no nodes, so nothing can be placed"
        self.gaps.warn(_NO_NODES, InputError(wrong, file=file, right=right))

    def check_task(self, task: Task, item: Found, nodes: Mapping[str, Node], pod_groups: Mapping[str, Found]) -> None:
        if task.group is not None:
            self.pod_by_job.setdefault(task.group, item)
        if task.status not in ENDED:
            if task.node and task.node not in nodes and (nodes or self.aside is None):
                wrong = f"sits on node {task.node}, which is not in the input"
                right = (
                    "add the node or leave the pod out"
                    if self.aside is None
                    else "counted for jobs and queues, on no node"
                )
                self.gaps.fault("pods on nodes that are not in the input", item.error(wrong, right), task.node)
            if not task.node and task.status is Status.RUNNING:
                right = "say where it runs" if self.aside is None else _ON_NO_NODE
                error = item.error("is Running but has no spec.nodeName", right)
                self.gaps.fault("running pods without a node", error)
        group = task.pod.metadata.annotations.get(GROUP_ANNOTATION)
        if group and task.group is None and f"{task.namespace}/{group}" not in pod_groups:
            wrong = f"its PodGroup {task.namespace}/{group} is not in the input"
            warning = item.error(wrong, "such a pod stays out of every job")
            self.gaps.warn("pods whose PodGroup is not in the input", warning, f"{task.namespace}/{group}")

    def jobs(
        self, tasks: Mapping[str, Task], pod_groups: Mapping[str, Found], classes: Mapping[str, groups.PriorityClass]
    ) -> dict[str, Job]:
        default_priority = next((c.value for c in classes.values() if c.global_default), 0)
        members: dict[str, list[str]] = {key: [] for key in pod_groups}
        made: dict[str, groups.PodGroup] = {}
        for task in tasks.values():
            if task.group is None:
                continue
            if task.group not in members:
                members[task.group] = []
                made[task.group] = _group_of_one(task)
            members[task.group].append(task.key)
        jobs = {}
        for key, keys in members.items():
            item = pod_groups.get(key)
            group = made[key] if item is None else item.object
            assert isinstance(group, groups.PodGroup)
            name = group.spec.priority_class_name
            if name and name not in classes and item is not None:
                wrong = f"PriorityClass {name} is not in the input"
                warning = item.error(wrong, f"priority {default_priority} is used")
                self.gaps.warn("PodGroups whose PriorityClass is not in the input", warning, name)
            priority = classes[name].value if name in classes else default_priority
            jobs[key] = Job(key, group, tuple(keys), priority, group.spec.queue or DEFAULT_QUEUE)
        return jobs

    def queues(self, jobs: Mapping[str, Job], found: Mapping[str, Found]) -> dict[str, Queue]:
        queues = {name: _queue(item) for name, item in found.items()}
        if DEFAULT_QUEUE not in queues and any(job.queue == DEFAULT_QUEUE for job in jobs.values()):
            queues[DEFAULT_QUEUE] = Queue(groups.Queue(metadata=Metadata.model_validate({"name": DEFAULT_QUEUE})))
        for name, item in found.items():
            parent = queues[name].parent
            if parent and parent != "root" and parent not in queues:
                error = item.error(f"its parent queue {parent} is not in the input", "add the parent")
                self.gaps.fault("queues whose parent is not in the input", error)
            if cycle := _cycle(name, queues):
                error = item.error(f"its parents form a cycle: {' -> '.join(cycle)}", "queues form a tree")
                self.gaps.fault("queues whose parents form a cycle", error)
        return queues

    def check_jobs(self, jobs: Mapping[str, Job], pod_groups: Mapping[str, Found], queues: Mapping[str, Queue]) -> None:
        for key, job in jobs.items():
            item = pod_groups.get(key) or self.pod_by_job[key]
            if job.queue not in queues:
                self._without_queue(item, job.queue, queues)
            elif not job.tasks and job.phase != "Completed":
                self._without_pods(item)

    def _without_pods(self, item: Found) -> None:
        """In a cluster its pods are still to come; a compact job says its tasks itself."""
        kind = "PodGroups without pods"
        if item.by_hand:
            right = "give it tasks, or write the PodGroup under objects"
            self.gaps.fault(kind, item.error("a job without tasks", right))
        else:
            self.gaps.warn(kind, item.error("has no pods", "Volcano keeps such a group as a job without tasks"))

    def _without_queue(self, item: Found, queue: str, queues: Iterable[str]) -> None:
        """In a cluster Volcano goes on without such a job; a compact job has its queue misspelt."""
        kind, wrong = "jobs whose queue is not in the input", f"its queue {queue} is not in the input"
        if item.by_hand:
            self.gaps.fault(kind, item.error(wrong, f"queues given: {', '.join(sorted(queues)[:5]) or 'none'}"))
        else:
            self.gaps.warn(kind, item.error(wrong, "Volcano skips such a job"), queue)

    def check_sharding(self, sharding: Sharding | None, nodes: Mapping[str, Node]) -> None:
        for name in sorted(sharding.nodes if sharding else ()):
            if name not in nodes:
                warning = InputError(f"node {name} is not in the input", place="sharding")
                self.gaps.warn("nodes of the shard that are not in the input", warning)


def _amounts(item: Object) -> Iterator[tuple[str, int]]:
    """Every amount that a node, a queue or a group states."""
    if isinstance(item, node.Node):
        yield from Node(item).allocatable.items()
    elif isinstance(item, groups.Queue):
        queue = Queue(item)
        for vector in (queue.capability, queue.deserved, queue.guarantee):
            yield from (vector or {}).items()
    elif isinstance(item, groups.PodGroup):
        yield from from_quantities(item.spec.min_resources or {}).items()


def _task(found: pod.Pod, pod_groups: Mapping[str, Found], plain_cluster: bool) -> Task:
    metadata, spec = found.metadata, found.spec
    key = metadata.annotations.get(ID_ANNOTATION) or metadata.key
    named = metadata.annotations.get(GROUP_ANNOTATION)
    is_ours = spec.scheduler_name in (_PLAIN if plain_cluster else _VOLCANO)
    group: str | None = None
    if named:
        # Volcano does not see another scheduler's pod before it has a node.
        joined = f"{metadata.namespace}/{named}"
        group = joined if joined in pod_groups and (is_ours or spec.node_name) else None
    elif is_ours:
        group = f"{metadata.namespace}/podgroup-{metadata.uid}"
    return Task(key, found, group)


def _group_of_one(task: Task) -> groups.PodGroup:
    """The PodGroup that Volcano's controller would make for a bare pod."""
    started = task.status not in (Status.PENDING, Status.BOUND)
    metadata = task.pod.metadata
    return groups.PodGroup(
        metadata=metadata.model_copy(update={"name": f"podgroup-{metadata.uid}", "deletion_timestamp": None}),
        spec=groups.PodGroupSpec.model_validate(
            {
                "minMember": 1,
                "queue": metadata.annotations.get(_QUEUE_ANNOTATION, ""),
                "priorityClassName": task.pod.spec.priority_class_name,
            }
        ),
        status=groups.PodGroupStatus.model_validate({"phase": "Running" if started else "Inqueue"}),
    )


def _queue(item: Found) -> Queue:
    assert isinstance(item.object, groups.Queue)
    return Queue(item.object)


def _cycle(name: str, queues: Mapping[str, Queue]) -> list[str]:
    path = [name]
    while (parent := queues[path[-1]].parent) and parent in queues:
        if parent in path:
            return [*path[path.index(parent) :], parent] if parent == name else []
        path.append(parent)
    return []
