"""A slot: room for one cell at a time, behind it a zygote that is started when needed and replaced when it dies."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading

from cpsched.lab.runners.work import Limits, Outcome, Work

ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "PYTHONHASHSEED": "0",
}
"""No library may start a thread before the fork; and every cell hashes alike, wherever it runs."""
_LAST_WORDS_SECONDS = 5.0


class Slot:
    """Carries out one piece of work after another, each in its own child process; `run` never raises."""

    def __init__(self) -> None:
        self._zygote: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._starting = threading.Lock()

    def run(self, work: Work, limits: Limits) -> Outcome:
        """The work's outcome; a zygote that dies takes this one piece with it."""
        try:
            zygote = self._ready()
            assert zygote.stdin is not None
            assert zygote.stdout is not None
            pickle.dump((work, limits), zygote.stdin)
            zygote.stdin.flush()
            outcome = pickle.load(zygote.stdout)
            assert isinstance(outcome, Outcome)
            return outcome
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            return Outcome("crash", error=f"the process that starts cells died ({self._last_words() or error})")

    def close(self) -> None:
        """End the zygote and whatever is running; safe from another thread than the one in `run`."""
        with self._starting:
            self._closed = True
            zygote = self._zygote
        if zygote is None:
            return
        zygote.terminate()
        try:
            zygote.wait(_LAST_WORDS_SECONDS)
        except subprocess.TimeoutExpired:
            zygote.kill()
            zygote.wait()

    def _ready(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._closed:
                raise EOFError("the slot is closed")
            if self._zygote is None or self._zygote.poll() is not None:
                self._zygote = _start()
            return self._zygote

    def _last_words(self) -> str:
        if self._zygote is None:
            return ""
        try:
            code = self._zygote.wait(_LAST_WORDS_SECONDS)
        except subprocess.TimeoutExpired:
            return ""
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cpsched.lab.runners.zygote"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **ENVIRONMENT},
        # Ctrl-C in a terminal goes to the study alone, which decides what is to end.
        start_new_session=True,
    )
