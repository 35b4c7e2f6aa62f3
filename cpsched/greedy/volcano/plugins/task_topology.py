"""task-topology: tasks of a job side by side, or apart; mirrors `plugins/task-topology/topology.go`."""

from __future__ import annotations

from collections import Counter

from cpsched.errors import InputError
from cpsched.greedy.volcano.amounts import Amounts, fits, give, take
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.plugins.task_buckets import Bucket, managers, role_of
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf


def task_topology(session: Session, conf: PluginConf) -> Hooks:
    """Order tasks by their buckets, and prefer nodes that hold the rest of the bucket or have room for it."""
    plugin = TaskTopology(session, conf.arguments.integer("task-topology.weight"))
    return Hooks(task_order=plugin.order, node_order=plugin.score, on_allocate=plugin.allocated)


class TaskTopology:
    """Buckets of every job that has any; nothing that is placed is ever put back into them."""

    def __init__(self, session: Session, weight: int):
        self._session, self._weight = session, weight
        self._managers = managers(session.jobs.values())

    def order(self, left: TaskState, right: TaskState) -> int:
        """Tasks in buckets first; of one job those of the bucket with more tasks left."""
        manager, other = self._managers.get(left.job), self._managers.get(right.job)
        if manager is None or other is None:
            return 0
        bucket, opposite = manager.bucket_of.get(left.key), other.bucket_of.get(right.key)
        if (bucket is None) != (opposite is None):
            return 1 if bucket is None else -1
        if bucket is None or opposite is None or left.job != right.job:
            return 0
        if bucket is not opposite:
            return len(opposite.tasks) - len(bucket.tasks) or bucket.index - opposite.index
        mine, theirs = manager.importance(left), manager.importance(right)
        return (mine < theirs) - (mine > theirs)

    def score(self, task: TaskState, node: NodeAccount) -> float:
        """Tasks of the bucket on the node, and those that still fit there, less those that must not meet it."""
        manager = self._managers.get(task.job)
        bucket = manager.bucket_of.get(task.key) if manager is not None else None
        free = dict(node.idle)
        give(free, node.releasing)
        if manager is None or bucket is None or any(free.get(n, 0) < amount for n, amount in task.request.items()):
            return 0.0
        points = bucket.nodes[node.name] - manager.conflict(role_of(task), node.name)
        points += len(bucket.tasks) - self._left_out(bucket, task, free)
        return points * self._weight * 100 / manager.max_size

    def allocated(self, task: TaskState) -> None:
        """A task is placed, or comes back; its bucket is charged once more each time."""
        manager = self._managers.get(task.job)
        if manager is None:
            return
        if role := role_of(task):
            manager.placed.setdefault(task.node, Counter())[role] += 1
        bucket = manager.bucket_of.get(task.key)
        if bucket is not None:
            bucket.nodes[task.node] += 1
            bucket.tasks.pop(task.key, None)
            if not fits(task.request, bucket.request):
                raise _crash(task)
            take(bucket.request, task.request)

    def _left_out(self, bucket: Bucket, task: TaskState, free: Amounts) -> int:
        """How many other tasks of the bucket go elsewhere until the rest fits; upstream takes them as its map does."""
        rest = dict(bucket.request)
        if fits(rest, free):
            return 0
        others = [one for key, one in bucket.tasks.items() if key != task.key]
        if any(one.request != others[0].request for one in others):
            others = self._session.choices.order(others)
        count = 0
        for one in others:
            take(rest, one.request)
            count += 1
            if fits(rest, free):
                break
        return count


def _crash(task: TaskState) -> InputError:
    return InputError(
        f"Volcano's scheduler panics in this session: task-topology takes {task.key} out of its bucket a second time",
        place="tiers",
        right="take task-topology out of the configuration, or preempt and reclaim",
    )
