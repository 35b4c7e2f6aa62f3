"""One piece of work in a child process of its own: forked, limited, watched, and killed with all it started."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import socket
import struct
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from math import ceil
from platform import python_version
from typing import Any

from cpsched import timestamps
from cpsched.amounts import shown
from cpsched.errors import InputError, one_line
from cpsched.lab.runners.processes import die_with_parent, kill_family, resident_bytes
from cpsched.lab.runners.work import Limits, Outcome, Status, Work

LOOK_EVERY_SECONDS = 0.1
"""How often the memory of a child is looked at; in between it may outgrow its limit."""
_AFTER_ITS_ANSWER_SECONDS = 10.0
_STAMP = struct.Struct("d")
"""Before its answer a child says when it had it, by the clock that all processes share: however late it is read,
whether it was in time does not change."""
_CPU_SLACK_SECONDS = 10
_LONGEST_DETAIL = 4000


class Stopped(Exception):  # noqa: N818 - not an error: the caller has gone
    """No caller waits for the answer any more."""


@dataclass
class _Watch:
    """What is seen of a child while it works."""

    answer: bytearray = field(default_factory=bytearray)
    peak_bytes: int = 0
    over: Status | None = None

    def in_time(self, end: float) -> bool:
        """Whether the child says that it had its answer by then."""
        return len(self.answer) >= _STAMP.size and _STAMP.unpack_from(self.answer)[0] <= end


def run_in_child(work: Work, limits: Limits, asker: int) -> Outcome:
    """Fork, watch, bury; Stopped if the file descriptor `asker` says that no caller waits any more."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as log:
        started, clock = timestamps.text(time.time_ns() // 10**6 * 10**6), time.monotonic()
        pid = os.fork()
        if pid == 0:
            _be_the_child(work, limits, writing, log.fileno())
        os.close(writing)
        try:
            watch = _watch(pid, reading, limits, asker, clock + limits.seconds)
            status, usage = _bury(pid)
        except BaseException:
            kill_family(pid)
            os.waitpid(pid, 0)
            raise
        finally:
            os.close(reading)
        fate = _fate(watch, status, limits, _end_of(log.fileno()))
    return Outcome(
        **fate,
        wall_seconds=round(time.monotonic() - clock, 4),
        cpu_seconds=round(usage.ru_utime + usage.ru_stime, 4),
        peak_rss_bytes=max(watch.peak_bytes, usage.ru_maxrss * 1024),
        started=started,
        host=socket.gethostname(),
        python=python_version(),
    )


def _be_the_child(work: Work, limits: Limits, writing: int, log: int) -> None:
    code = 1
    try:
        die_with_parent()
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        cpu = ceil(limits.seconds * max(limits.threads, 1)) + _CPU_SLACK_SECONDS
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + _CPU_SLACK_SECONDS))
        answer = _performed(work)
        with os.fdopen(writing, "wb") as stream:
            stream.write(_STAMP.pack(time.monotonic()))
            pickle.dump(answer, stream)
        code = 0
    finally:
        # The parent's exit handlers and buffers are not this process's to run or to flush.
        os._exit(code)  # noqa: TID251


def _performed(work: Work) -> dict[str, Any]:
    try:
        facts, file = work.perform()
    except InputError as error:
        return {"status": "input", "error": str(error)}
    except MemoryError:
        return {"status": "memory", "error": "the system gave no more memory"}
    except Exception as error:
        text = one_line(f"{type(error).__name__}: {error}")
        return {"status": "error", "error": text, "detail": traceback.format_exc()[-_LONGEST_DETAIL:]}
    return {"status": "ok", "facts": facts, "file": file}


def _watch(pid: int, reading: int, limits: Limits, asker: int, end: float) -> _Watch:
    """Read what the child answers, until it has ended or is over a limit; a late answer is none."""
    watch, last = _Watch(), end
    look = time.monotonic() + LOOK_EVERY_SECONDS
    while True:
        pause = max(0.0, min(last, look) - time.monotonic())
        ready, _, _ = select.select([reading, asker], [], [], pause)
        if asker in ready:
            raise Stopped
        if reading in ready:
            piece = os.read(reading, 1 << 20)
            if not piece:
                watch.over = "timeout" if watch.answer and not watch.in_time(end) else None
                return watch
            watch.answer += piece
            if watch.in_time(end):
                # What was ready in time may take a little longer to come through.
                last = time.monotonic() + _AFTER_ITS_ANSWER_SECONDS
        now = time.monotonic()
        if now >= look:
            held = resident_bytes(pid)
            watch.peak_bytes, look = max(watch.peak_bytes, held), now + LOOK_EVERY_SECONDS
            watch.over = "memory" if held > limits.memory_bytes else None
        if now >= last:
            watch.over = "timeout"
        if watch.over is not None:
            kill_family(pid)
            return watch


def _bury(pid: int) -> tuple[int, resource.struct_rusage]:
    """Wait for a child that has answered or was killed; one that does not end by itself is killed."""
    end = time.monotonic() + _AFTER_ITS_ANSWER_SECONDS
    while time.monotonic() < end:
        buried, status, usage = os.wait4(pid, os.WNOHANG)
        if buried:
            return status, usage
        time.sleep(0.001)
    kill_family(pid)
    _, status, usage = os.wait4(pid, 0)
    return status, usage


def _fate(watch: _Watch, status: int, limits: Limits, printed: str) -> dict[str, Any]:
    if watch.over == "timeout":
        return {"status": "timeout", "error": f"no answer within {limits.seconds:g} s", "detail": printed or None}
    if watch.over == "memory":
        held, most = (shown("memory", amount) for amount in (watch.peak_bytes, limits.memory_bytes))
        return {"status": "memory", "error": f"killed at {held}; the limit is {most}", "detail": printed or None}
    if watch.answer and status == 0:
        fate: dict[str, Any] = pickle.loads(memoryview(watch.answer)[_STAMP.size :])
        return fate
    if not os.WIFSIGNALED(status):
        text = f"ended with exit code {os.waitstatus_to_exitcode(status)} and no answer"
        return {"status": "crash", "error": text, "detail": printed or None}
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU:
        return {"status": "timeout", "error": "killed at its limit of processor time", "detail": printed or None}
    text = f"killed by {signal.Signals(number).name}"
    if number == signal.SIGKILL:
        text += ", not by the study; perhaps the system had no more memory"
    return {"status": "crash", "error": text, "detail": printed or None}


def _end_of(log: int) -> str:
    size = os.lseek(log, 0, os.SEEK_END)
    return os.pread(log, _LONGEST_DETAIL, max(0, size - _LONGEST_DETAIL)).decode(errors="replace").strip()
