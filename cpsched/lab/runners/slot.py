"""A slot: room for one cell at a time, behind it a zygote that is started when needed and replaced when it dies."""

from __future__ import annotations

import io
import os
import pickle
import socket
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass

from cpsched.children import python_command
from cpsched.lab.runners.work import Limits, Outcome, Work

ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "PYTHONHASHSEED": "0",
}
"""No library may start a thread before the fork; and every cell hashes alike, wherever it runs."""
_LAST_WORDS_SECONDS = 5.0


@dataclass(frozen=True)
class _Zygote:
    process: subprocess.Popen[bytes]
    line: socket.socket
    answers: io.BufferedReader
    questions: io.BufferedWriter

    @classmethod
    def start(cls) -> _Zygote:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                python_command("-m", "cpsched.lab.runners.zygote"),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={**os.environ, **ENVIRONMENT},
                # Ctrl-C in a terminal goes to the study alone, which decides what is to end.
                start_new_session=True,
            )
        return cls(process, ours, ours.makefile("rb"), ours.makefile("wb"))

    def ask(self, work: Work, limits: Limits) -> Outcome:
        pickle.dump((work, limits), self.questions)
        self.questions.flush()
        outcome = pickle.load(self.answers)
        assert isinstance(outcome, Outcome)
        return outcome

    def hang_up(self) -> None:
        """The zygote ends, and whatever it has started; a caller that waits for an answer gets none."""
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_RDWR)

    def bury(self) -> int:
        """Wait for its end; returns how it ended."""
        self.hang_up()
        try:
            code = self.process.wait(_LAST_WORDS_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        for end in (self.questions, self.answers, self.line):
            with suppress(OSError):
                end.close()
        return code


class Slot:
    """Carries out one piece of work after another, each in its own child process; `run` never raises."""

    def __init__(self) -> None:
        self._zygote: _Zygote | None = None
        self._closed = False
        self._changing = threading.Lock()

    def run(self, work: Work, limits: Limits) -> Outcome:
        """The work's outcome; a zygote that dies takes this one piece with it."""
        try:
            return self._ready().ask(work, limits)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            return Outcome("crash", error=f"the process that starts cells died: {self._last_words() or error}")

    def stop(self) -> None:
        """End whatever is running; safe from another thread than the one in `run`."""
        with self._changing:
            self._closed = True
            if self._zygote is not None:
                self._zygote.hang_up()

    def close(self) -> None:
        """Stop, and wait until nothing is left; only when no `run` is under way."""
        self.stop()
        self._last_words()

    def _ready(self) -> _Zygote:
        with self._changing:
            if self._closed:
                raise EOFError("the study was stopped")
            if self._zygote is not None and self._zygote.process.poll() is not None:
                self._zygote.bury()
                self._zygote = None
            if self._zygote is None:
                self._zygote = _Zygote.start()
            return self._zygote

    def _last_words(self) -> str:
        with self._changing:
            zygote, self._zygote = self._zygote, None
        if zygote is None:
            return ""
        code = zygote.bury()
        return f"signal {-code}" if code < 0 else f"exit code {code}"
