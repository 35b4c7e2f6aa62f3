"""The actions Volcano's configuration may name, each a function over a session."""

from __future__ import annotations

from collections.abc import Callable

from cpsched.greedy.volcano.actions.allocate import allocate
from cpsched.greedy.volcano.actions.backfill import backfill
from cpsched.greedy.volcano.actions.enqueue import enqueue
from cpsched.greedy.volcano.actions.gangpreempt import gangpreempt
from cpsched.greedy.volcano.actions.gangreclaim import gangreclaim
from cpsched.greedy.volcano.actions.preempt import preempt
from cpsched.greedy.volcano.actions.reclaim import reclaim
from cpsched.greedy.volcano.actions.shuffle import shuffle
from cpsched.greedy.volcano.session import Session

ACTIONS: dict[str, Callable[[Session], None]] = {
    "enqueue": enqueue,
    "allocate": allocate,
    "backfill": backfill,
    "preempt": preempt,
    "reclaim": reclaim,
    "gangpreempt": gangpreempt,
    "gangreclaim": gangreclaim,
    "shuffle": shuffle,
}
