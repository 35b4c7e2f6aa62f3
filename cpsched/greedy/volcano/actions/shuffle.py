"""shuffle: running pods that plugins name are evicted for no task; mirrors `actions/shuffle/shuffle.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.solution import Eviction


def shuffle(session: Session) -> None:
    """Whom the first tier with an answer names, each at once; neither gangs nor marks protect any task."""
    running = [task for job in session.jobs.values() for task in job.by_status[Status.RUNNING].values()]
    for task in session.victim_tasks(running):
        session.jobs[task.job].set_status(task, Status.RELEASING)
        session.nodes[task.node].update(task)
        session.deallocated(task)
        session.evictions[task.key] = Eviction(task=task.key, node=task.node, action="shuffle")
        session.trace.tell(f"shuffle: {task.key} leaves {task.node}")
