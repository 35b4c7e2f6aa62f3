"""Every case of a corpus, one after the other or in several processes, results in the order of the cases."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

From = TypeVar("From")
To = TypeVar("To")
AHEAD = 4
"""Cases per process that are handed out ahead of the result that is waited for: a corpus need not fit in memory."""


def each(work: Callable[[From], To], items: Iterable[From], jobs: int) -> Iterator[To]:
    """`work` of every item, in order; with several jobs it must be a function that another process can import."""
    if jobs <= 1:
        yield from map(work, items)
        return
    # A forked copy of a process that has run the solver's threads may hang; a fresh one does not.
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        waiting: deque[Future[To]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= jobs * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
