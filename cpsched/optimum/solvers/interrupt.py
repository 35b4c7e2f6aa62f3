"""Ctrl-C as a wish to come to an end, not as an exception in the middle of something."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_interrupt(tell: Callable[[], None]) -> Iterator[None]:
    """Meanwhile the first Ctrl-C calls `tell`; a second one is as ever. Only the main thread receives signals.

    A SIGINT that this process was started to ignore, as a shell starts background jobs, stays ignored.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is signal.SIG_IGN:
        yield
        return

    def first(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, usual)
        tell()

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
