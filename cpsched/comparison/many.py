"""Every case of a corpus, one after the other or in several processes, results in the order of the cases."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Generic, TypeVar

from cpsched.interrupts import Interrupts, held_back, let_in

From = TypeVar("From")
To = TypeVar("To")
AHEAD = 4
"""Cases per process that are handed out ahead of the result that is waited for: a corpus need not fit in memory."""
SAFE_PATH = "PYTHONSAFEPATH"

_interrupts = Interrupts()
"""Of a child, which has no say in how the program ends: Ctrl-C ends its case, and it prints nothing."""


def each(
    work: Callable[[From], To], items: Iterable[From], jobs: int, lost: Callable[[From], To] | None = None
) -> Iterator[To]:
    """`work` of every item, in order; with several jobs it must be a function that another process can import.

    `lost` is the result for an item whose process ends without one; None raises BrokenProcessPool.
    """
    # Children read no environment under -E, so nothing would keep them from importing what the current folder holds.
    if jobs <= 1 or (sys.flags.ignore_environment and not sys.flags.safe_path):
        yield from map(work, items)
        return
    pool = _Pool(work, jobs, lost)
    try:
        for item in items:
            pool.submit(item)
            if len(pool.waiting) >= jobs * AHEAD:
                yield pool.result()
        while pool.waiting:
            yield pool.result()
    finally:
        pool.shutdown()


class _Pool(Generic[From, To]):
    """Processes that are replaced if one of them dies; the cases it takes with it are tried again, one at a time."""

    def __init__(self, work: Callable[[From], To], jobs: int, lost: Callable[[From], To] | None):
        self.waiting: deque[tuple[From, Future[To]]] = deque()
        self._work, self._jobs, self._lost = work, jobs, lost
        self._pool = _processes(jobs)

    def submit(self, item: From) -> None:
        try:
            future = _submitted(self._pool, self._work, item)
        except BrokenProcessPool:
            self._pool = _processes(self._jobs)
            future = _submitted(self._pool, self._work, item)
        self.waiting.append((item, future))

    def result(self) -> To:
        item, future = self.waiting.popleft()
        try:
            return future.result()
        except BrokenProcessPool:
            return self._alone(item)

    def _alone(self, item: From) -> To:
        with _processes(1) as pool:
            try:
                return _submitted(pool, self._work, item).result()
            except BrokenProcessPool:
                if self._lost is None:
                    raise
                return self._lost(item)

    def shutdown(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def _processes(jobs: int) -> ProcessPoolExecutor:
    # A forked copy of a process that has run the solver's threads may hang; a fresh one does not.
    context, users = multiprocessing.get_context("spawn"), os.environ.get(SAFE_PATH)
    with _no_current_folder():
        return ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(users,))


def _submitted(pool: ProcessPoolExecutor, work: Callable[[From], To], item: From) -> Future[To]:
    # A child that is interrupted while it starts would print a traceback.
    with _no_current_folder(), held_back():
        return pool.submit(_case, work, item)


def _begin(safe_path: str | None) -> None:
    """In the child: the user's environment, and from here on Ctrl-C is handled."""
    _restore(safe_path)
    _interrupts.idle = True
    _interrupts.__enter__()
    let_in()


def _case(work: Callable[[From], To], item: From) -> To:
    """In the child: one case, none after a Ctrl-C."""
    _interrupts.idle = False
    try:
        if _interrupts.came:
            raise KeyboardInterrupt
        return work(item)
    except KeyboardInterrupt:
        _interrupts.came = True
        raise
    finally:
        _interrupts.idle = True


@contextmanager
def _no_current_folder() -> Iterator[None]:
    """Python children started in here import nothing from the current folder, not even before they are given the path.

    multiprocessing starts them by `python -c`, which looks there first; it has no setting for -P.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        _restore(before)


def _restore(value: str | None) -> None:
    """What a child starts itself, such as an engine of the user's, has the user's environment."""
    if value is None:
        os.environ.pop(SAFE_PATH, None)
    else:
        os.environ[SAFE_PATH] = value
