"""What a study asks of a runner, and the loop that keeps one busy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Protocol, TypeVar

from cpsched.lab.runners.work import Limits, Outcome, Work

T = TypeVar("T")


class Runner(Protocol):
    """Carries out pieces of work, several at a time."""

    capacity: int

    def submit(self, work: Work, limits: Limits) -> Future[Outcome]:
        """Begin, or wait for room."""

    def close(self) -> None:
        """Stop whatever is running."""


def stream(runner: Runner, tasks: Iterable[tuple[T, Work, Limits]]) -> Iterator[tuple[T, Outcome]]:
    """Each task's name with its outcome, in the order in which they end; few are under way, so all may be many."""
    todo, under_way = iter(tasks), dict[Future[Outcome], T]()
    while True:
        # Some wait in front of each worker, so that none is idle while results are written.
        while len(under_way) < 2 * runner.capacity and (task := next(todo, None)) is not None:
            name, work, limits = task
            under_way[runner.submit(work, limits)] = name
        if not under_way:
            return
        done, _ = wait(under_way, return_when=FIRST_COMPLETED)
        for future in done:
            yield under_way.pop(future), _outcome(future)


def _outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except CancelledError:
        return Outcome("crash", error="was cancelled")
    except Exception as error:
        return Outcome("crash", error=f"the runner lost it ({type(error).__name__})", detail=str(error)[-4000:])
