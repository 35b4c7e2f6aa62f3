"""Ctrl-C as a wish to come to an end, not as an exception in the middle of something."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_interrupt(tell: Callable[[], None]) -> Iterator[None]:
    """Meanwhile the first Ctrl-C calls `tell`; a second one is as ever. Only the main thread is told of signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.getsignal(signal.SIGINT)

    def first(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, usual)
        tell()

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
