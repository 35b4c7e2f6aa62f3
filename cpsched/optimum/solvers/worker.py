"""Worker: a MIP solver in a child process that can be stopped at any moment.

The child is a plain interpreter fed through pipes: it never imports the caller's main module, as multiprocessing would.
It imports the solver once and forks for every question, so that a question that is cancelled is cheap to drop.
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
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from cpsched.optimum.solvers.linear_model import LinearModel
from cpsched.optimum.solvers.mip import FAILED, MipAnswer

_LENGTH = 8
_CODE = "import sys; sys.path.append(sys.argv[1]); from cpsched.optimum.solvers.worker import serve; serve(sys.argv[2])"
"""What the child runs: its arguments are the folder of this package, which need not be installed, and the solver."""


class SolverProcess:
    """One child process, kept for all levels."""

    def __init__(self, module: str) -> None:
        """The module is the solver's: it has `solve(rows, seconds)` and `PACKAGE`."""
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._lost: str | None = None
        self._answers: queue.Queue[tuple[int, MipAnswer]] = queue.Queue()
        self._listener = threading.Thread()
        self._number = 0

    def start(self) -> None:
        """Start the child unless it is running."""
        if self._process is not None and self._process.poll() is None:
            return
        self.stop()
        self._lost = None
        # -P: without it the current folder comes first on the module path, and its files may come from anywhere.
        command = [sys.executable, "-P", "-c", _CODE, str(Path(__file__).parents[3]), self._module]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        try:
            self._process = subprocess.Popen(command, **pipes, start_new_session=True)
        except OSError as error:
            self._lost = f"could not be started ({error.strerror or error})"
            return
        assert self._process.stdout is not None
        stream = self._process.stdout.fileno()
        self._listener = threading.Thread(target=_listen, args=(stream, self._answers), daemon=True)
        self._listener.start()

    def submit(self, rows: LinearModel, seconds: float) -> None:
        """Start solving a model; the one before is cancelled."""
        self.start()
        self._number += 1
        self._send((self._number, rows, seconds))

    def lost(self) -> str | None:
        """How the child came to its end, if it is gone and can answer no more; what was left of it is ended."""
        process = self._process
        if process is not None and (process.poll() is not None or not self._listener.is_alive()):
            self.stop()
            code = process.returncode
            self._lost = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return self._lost

    def poll(self, seconds: float = 0.0) -> MipAnswer | None:
        """The answer to the last question if it has come, or comes within so many seconds."""
        while True:
            try:
                number, answer = self._answers.get(timeout=seconds) if seconds else self._answers.get_nowait()
            except queue.Empty:
                return None
            if number == self._number:
                return answer

    def cancel(self) -> None:
        """Stop the work on the last question; its answer is not wanted any more."""
        self._number += 1
        self._send(None)

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

    def _send(self, message: Any) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        # A child that is gone does not listen; `lost` reports it.
        with suppress(OSError):
            _write(self._process.stdin.fileno(), pickle.dumps(message))


def _listen(stream: int, answers: queue.Queue[tuple[int, MipAnswer]]) -> None:
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


def serve(module: str) -> None:
    """The child: let a fork answer each question from stdin, and pass the answer on whole or not at all."""
    solver: Any = import_module(module)
    import_module(solver.PACKAGE)
    questions, answered = sys.stdin.fileno(), os.dup(sys.stdout.fileno())
    os.dup2(2, sys.stdout.fileno())
    number, worker, answers = 0, 0, -1
    try:
        while True:
            ready, _, _ = select.select([questions] if answers < 0 else [questions, answers], [], [])
            message = None
            if questions in ready:
                message = pickle.loads(_read(questions))
            elif answers in ready:
                _pass_on(number, answers, answered)
            if worker:
                _end(worker, answers)
                worker, answers = 0, -1
            if message is not None:
                number, *_ = message
                worker, answers = _forked(solver.solve, *message)
    except EOFError:
        if worker:
            _end(worker, answers)


def _pass_on(number: int, answers: int, answered: int) -> None:
    try:
        content = _read(answers)
    except EOFError:
        # A worker that died has no answer, and its caller must not wait for one.
        content = pickle.dumps((number, FAILED))
    _write(answered, content)


def _end(worker: int, answers: int) -> None:
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    os.close(answers)


def _forked(
    solve: Callable[[LinearModel, float], MipAnswer], number: int, rows: LinearModel, seconds: float
) -> tuple[int, int]:
    """A fork that solves the rows, and where its answer will come."""
    receiver, sender = os.pipe()
    worker = os.fork()
    if worker:
        os.close(sender)
        return worker, receiver
    try:
        found = solve(rows, seconds)
    except Exception:
        # The other solver decides.
        found = FAILED
    _write(sender, pickle.dumps((number, found)))
    os._exit(0)  # noqa: TID251  (a fork must not run what its parent left to do at its end)
