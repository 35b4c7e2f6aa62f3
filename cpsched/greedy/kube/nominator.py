"""Which pending pods are promised which node; mirrors `backend/queue/nominator.go`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cpsched.instance import Task
from cpsched.objects.base import Metadata
from cpsched.objects.pod import Pod


class Nominator:
    """Nominated tasks per node in the order in which they were nominated; `watch` hears of every change."""

    def __init__(self, watch: Callable[[Task, str, int], None] | None = None) -> None:
        self._watch = watch
        self._by_node: dict[str, dict[str, Task]] = {}
        self._node_by_task: dict[str, str] = {}
        self._ghosts: set[str] = set()

    @property
    def nodes(self) -> Iterable[str]:
        """Nodes that are promised to a pod."""
        return self._by_node

    def on(self, node: str) -> Iterable[Task]:
        """Who is nominated to the node."""
        return self._by_node.get(node, {}).values()

    def competitors(self, task: Task, node: str) -> list[Task]:
        """Others of the same or higher priority nominated to the node; the task has to yield to them."""
        return [o for o in self.on(node) if o.pod_priority >= task.pod_priority and o.key != task.key]

    def inferior(self, priority: int, node: str) -> list[Task]:
        """Those of lower priority nominated to the node; nothing can be taken from one the queue has dropped."""
        return [o for o in self.on(node) if o.pod_priority < priority and o.key not in self._ghosts]

    def put(self, task: Task, node: str) -> None:
        """Nominate a task, whatever it was nominated to before."""
        self.drop(task.key)
        self._by_node.setdefault(node, {})[task.key] = task
        self._node_by_task[task.key] = node
        self._tell(task, node, 1)

    def drop(self, key: str) -> None:
        """The task is nominated no longer."""
        node = self._node_by_task.pop(key, None)
        self._ghosts.discard(key)
        if node is not None:
            task = self._by_node[node].pop(key)
            if not self._by_node[node]:
                del self._by_node[node]
            self._tell(task, node, -1)

    def forget_spec(self, task: Task) -> None:
        """The queue has dropped the pod, but its nomination stays: from now on as a pod without spec or priority."""
        node = self._node_by_task.get(task.key)
        if node is not None:
            self._tell(self._by_node[node][task.key], node, -1)
            self._by_node[node][task.key] = ghost(task)
            self._ghosts.add(task.key)
            self._tell(self._by_node[node][task.key], node, 1)

    def node_of(self, key: str) -> str:
        """Where the task is nominated to, or nothing."""
        return self._node_by_task.get(key, "")

    def _tell(self, task: Task, node: str, change: int) -> None:
        if self._watch is not None:
            self._watch(task, node, change)


def ghost(task: Task) -> Task:
    """What is left of a pod that only the nominator remembers."""
    metadata = Metadata.model_construct(name=task.name, namespace=task.namespace, uid=task.uid)
    return Task(task.key, Pod(metadata=metadata), None)
