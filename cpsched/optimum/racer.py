"""The racer: HiGHS in a child process that can be stopped at any moment.

The child is a plain interpreter fed through pipes: it never imports the caller's main module, as multiprocessing would.
It imports the solver once and forks for every question, so that a question nobody waits for any more is cheap to drop.
"""

from __future__ import annotations

import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

from cpsched.optimum.highs import Answer, solve
from cpsched.optimum.rows import Rows

_LENGTH = 8


class Racer:
    """One child process, kept for all levels."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[tuple[int, Answer]] = queue.Queue()
        self._listener = threading.Thread()
        self._number = 0

    def start(self) -> None:
        """Let the child get ready, unless it is there already."""
        if self._process is not None and self._process.poll() is None:
            return
        self.stop()
        command = [sys.executable, "-c", "from cpsched.optimum.racer import serve; serve()"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        assert self._process.stdout is not None
        stream = self._process.stdout.fileno()
        self._listener = threading.Thread(target=_listen, args=(stream, self._answers), daemon=True)
        self._listener.start()

    def ask(self, rows: Rows, seconds: float) -> None:
        """Start solving, and drop what was asked before; a child that is gone simply never answers."""
        self.start()
        self._number += 1
        self._tell((self._number, rows, seconds))

    def answer(self, patience: float = 0.0) -> Answer | None:
        """The answer to the last question if it has come, or comes within so many seconds."""
        while True:
            try:
                number, answer = self._answers.get(timeout=patience) if patience else self._answers.get_nowait()
            except queue.Empty:
                return None
            if number == self._number:
                return answer

    def drop(self) -> None:
        """Nobody waits for the answer any more."""
        self._number += 1
        if self._process is not None:
            self._tell(None)

    def stop(self) -> None:
        """End the child and its fork, whatever they are at."""
        self._number += 1
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._listener.join()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()

    def _tell(self, message: Any) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            _write(self._process.stdin.fileno(), pickle.dumps(message))
        except OSError:
            self.stop()


def _listen(stream: int, answers: queue.Queue[tuple[int, Answer]]) -> None:
    while True:
        try:
            answers.put(pickle.loads(_read(stream)))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            return


def _write(stream: int, content: bytes) -> None:
    left = memoryview(len(content).to_bytes(_LENGTH) + content)
    while left:
        left = left[os.write(stream, left) :]


def _read(stream: int) -> bytes:
    """One message, and not a byte of the next."""
    return _exactly(stream, int.from_bytes(_exactly(stream, _LENGTH)))


def _exactly(stream: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(stream, count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def serve() -> None:
    """The child: let a fork answer each question from stdin, and pass the answer on whole or not at all."""
    import highspy

    del highspy
    asked, told = sys.stdin.fileno(), os.dup(sys.stdout.fileno())
    os.dup2(2, sys.stdout.fileno())
    worker = 0
    answers = -1
    try:
        while True:
            ready, _, _ = select.select([asked] if answers < 0 else [asked, answers], [], [])
            message = None
            if asked in ready:
                message = pickle.loads(_read(asked))
            elif answers in ready:
                _pass_on(answers, told)
            if worker:
                _end(worker, answers)
                worker, answers = 0, -1
            if message is not None:
                worker, answers = _forked(*message)
    except EOFError:
        if worker:
            _end(worker, answers)


def _pass_on(answers: int, told: int) -> None:
    try:
        _write(told, _read(answers))
    except EOFError:
        # A worker that died has no answer: the other engine decides.
        return


def _end(worker: int, answers: int) -> None:
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    os.close(answers)


def _forked(number: int, rows: Rows, seconds: float) -> tuple[int, int]:
    """A fork that solves the rows, and where its answer will come."""
    receiver, sender = os.pipe()
    worker = os.fork()
    if worker:
        os.close(sender)
        return worker, receiver
    try:
        found = solve(rows, seconds)
    except Exception:
        # A racer that stumbles is no racer.
        found = Answer(None, None, optimal=False)
    _write(sender, pickle.dumps((number, found)))
    os._exit(0)  # noqa: TID251  (a fork must not run what its parent left to do at its end)
