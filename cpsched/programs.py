"""Other programs: a question on stdin, what they print until they end as the answer, within limits of time and size."""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

_MOST_COMPLAINT = 64 * 2**10
_CHUNK = 2**16
_LOOK = 0.05
"""Seconds between two looks at whether the program has ended, while its pipes are open and silent."""


class Answered(NamedTuple):
    """What a program printed; `code` is None if it was ended because it took too long or printed too much."""

    code: int | None
    output: bytes
    complaint: bytes
    """The end of what it printed on stderr."""


def start(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """The program in a process group of its own, so that it can be ended with all it started; OSError if it cannot."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
    )


def ask(process: subprocess.Popen[bytes], question: bytes, *, seconds: float, most_output: int) -> Answered:
    """Serve a program that was started until it ends, and end its group.

    Its pipes are not read to their end: a child in another group may hold them open for as long as it likes.
    """
    try:
        return _Exchange(process, most_output).run(question, time.monotonic() + seconds)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class _Exchange:
    """The three pipes of a program, served by one loop, so that no pipe is waited for beyond the deadline."""

    def __init__(self, process: subprocess.Popen[bytes], most_output: int):
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process, self._stdin, self._most_output = process, process.stdin, most_output
        self._output, self._complaint = bytearray(), bytearray()
        self._open: dict[IO[bytes], bytearray] = {process.stdout: self._output, process.stderr: self._complaint}
        """What can still be read, and where it is kept."""

    def run(self, question: bytes, deadline: float) -> Answered:
        """Write the question and read what is printed until the program ends or must be ended."""
        self._serve(memoryview(question), deadline)
        self._stdin.close()
        code = None if self._is_too_much else self._code(deadline)
        if code is not None:
            for stream, kept in self._open.items():
                kept += os.read(stream.fileno(), _bytes_in(stream))
        return Answered(code, bytes(self._output), bytes(self._complaint[-_MOST_COMPLAINT:]))

    @property
    def _is_too_much(self) -> bool:
        return len(self._output) > self._most_output

    def _serve(self, unsent: memoryview, deadline: float) -> None:
        os.set_blocking(self._stdin.fileno(), False)
        with selectors.DefaultSelector() as pipes:
            pipes.register(self._stdin, selectors.EVENT_WRITE)
            for stream in self._open:
                pipes.register(stream, selectors.EVENT_READ, stream)
            while self._open and self._process.poll() is None and not self._is_too_much:
                left = deadline - time.monotonic()
                if left <= 0:
                    return
                for key, _ in pipes.select(min(left, _LOOK)):
                    if key.data is None:
                        unsent = self._fed(unsent)
                        is_done = not unsent
                    else:
                        is_done = not self._read(key.data)
                    if is_done:
                        pipes.unregister(key.fileobj)

    def _fed(self, unsent: memoryview) -> memoryview:
        """What is left to write; nothing if the program does not want to read to the end."""
        try:
            unsent = unsent[os.write(self._stdin.fileno(), unsent[:_CHUNK]) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError:
            unsent = unsent[:0]
        if not unsent:
            self._stdin.close()
        return unsent

    def _read(self, stream: IO[bytes]) -> bool:
        """Whether the stream goes on; of stderr only the end is kept."""
        chunk = os.read(stream.fileno(), _CHUNK)
        self._open[stream] += chunk
        del self._complaint[:-_MOST_COMPLAINT]
        if not chunk:
            del self._open[stream]
        return bool(chunk)

    def _code(self, deadline: float) -> int | None:
        """The exit code; None if it has not ended by the deadline."""
        try:
            return self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None


def _bytes_in(stream: IO[bytes]) -> int:
    """How much of what was printed lies in the pipe unread."""
    found: int = struct.unpack("i", fcntl.ioctl(stream.fileno(), termios.FIONREAD, bytes(4)))[0]
    return found
