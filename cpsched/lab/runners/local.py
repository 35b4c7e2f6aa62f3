"""The local runner: as many slots on this machine as there are workers."""

from __future__ import annotations

import os
import queue
from concurrent.futures import Future, ThreadPoolExecutor

from cpsched.lab.runners.slot import Slot
from cpsched.lab.runners.work import Limits, Outcome, Work


class LocalRunner:
    """Threads that wait for slots; what works is never this process."""

    def __init__(self, workers: int | None, threads: int):
        count = workers or max(1, usable_cores() // threads)
        self.capacity = count
        self._slots = [Slot() for _ in range(count)]
        self._free: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        for slot in self._slots:
            self._free.put(slot)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="cell")

    def submit(self, work: Work, limits: Limits) -> Future[Outcome]:
        """Begin as soon as a slot is free."""
        return self._pool.submit(self._run, work, limits)

    def close(self) -> None:
        """Stop what is running and forget what is waiting."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for slot in self._slots:
            slot.stop()
        self._pool.shutdown(wait=True)
        for slot in self._slots:
            slot.close()

    def _run(self, work: Work, limits: Limits) -> Outcome:
        slot = self._free.get()
        try:
            return slot.run(work, limits)
        finally:
            self._free.put(slot)


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
