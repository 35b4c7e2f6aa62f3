"""Ctrl-C ends the program from its first line on, but never inside an import, which it would leave half done."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INTERRUPTED = 130
LINE = "cpsched: interrupted"

_MACHINERY = "<frozen importlib"


class Interrupts:
    """Meanwhile SIGINT raises KeyboardInterrupt where no import is under way, else when the outermost one is through.

    An extension module that is interrupted while it starts raises ImportError, prints a traceback, or goes on as if
    nothing had happened. A SIGINT that this process ignores, or that other code handles, stays so.
    """

    def __init__(self) -> None:
        self.came = False
        """Whether there was a Ctrl-C."""
        self.idle = False
        """While this is set, it is only noted that there was one."""
        self._installed = False
        self._waits = False

    def __enter__(self) -> Interrupts:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            with suppress(ValueError):  # not the main thread: it gets no signals
                signal.signal(signal.SIGINT, self._handle)
                self._installed = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def ignore(self) -> None:
        """From here on there is nothing left to interrupt."""
        if self._installed:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _handle(self, _signal: int, frame: FrameType | None) -> None:
        if self.idle:
            self.came = True
            return
        importing = _importing(frame)
        if importing is not None and self._waits:
            # A second one: whatever is imported takes too long for this user, and nothing was begun that could be lost.
            os.write(2, f"{LINE}\n".encode())
            os._exit(INTERRUPTED)  # noqa: TID251
        self.came = True
        if importing is None:
            raise KeyboardInterrupt
        self._waits = True
        self._raise_in(importing)

    def _raise_in(self, frame: FrameType) -> None:
        """Raise in this frame as soon as it goes on, which is when the call that it waits for is over."""
        before = sys.gettrace()

        def goes_on(*_: Any) -> None:
            sys.settrace(before)
            frame.f_trace = None
            self._waits = False
            raise KeyboardInterrupt

        frame.f_trace = goes_on
        # Frames are traced only while there is a tracer; this one asks for no other frame.
        sys.settrace(lambda *_: None)


@contextmanager
def held_back() -> Iterator[None]:
    """Meanwhile Ctrl-C waits; a process that is started in here begins like that, until it calls `let_in`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_in() -> None:
    """Hear of Ctrl-C from now on, and of one that waits."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _importing(frame: FrameType | None) -> FrameType | None:
    """The outermost frame that waits for an import, None if there is none."""
    found = None
    while frame is not None:
        caller = frame.f_back
        if frame.f_code.co_filename.startswith(_MACHINERY):
            found = caller
        frame = caller
    return found
