"""A cell in its own process: what it may take, and what becomes of it."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cpsched.lab.runners.child import run_in_child
from cpsched.lab.runners.processes import children, family
from cpsched.lab.runners.slot import Slot
from cpsched.lab.runners.work import Limits, Outcome
from tests.unit.lab.misbehaviour import Misbehave

ROOT = Path(__file__).parents[3]
PLENTY = Limits(seconds=3600, memory_bytes=8 << 30)


@pytest.fixture(scope="module")
def slot() -> Iterator[Slot]:
    """One for all tests here: whatever a cell does, the next one finds the slot as it was."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        slot = Slot()
        yield slot
        slot.close()


def outcome(slot: Slot, how: str, limits: Limits = PLENTY, stated: Any = None) -> Outcome:
    return slot.run(Misbehave(how, stated), limits)  # type: ignore[arg-type]


def gone(pid: int) -> bool:
    """Once the process has ended; the limit of the test ends the waiting."""
    while True:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)


def test_each_cell_is_a_process_of_its_own(slot: Slot) -> None:
    one, other = (outcome(slot, "behave") for _ in range(2))
    assert (one.status, one.file) == ("ok", b"file")
    assert one.facts["pid"] != other.facts["pid"]
    assert one.facts["parent"] == other.facts["parent"] != os.getpid()
    assert one.wall_seconds is not None
    assert one.peak_rss_bytes is not None
    assert one.peak_rss_bytes > 1 << 20
    assert gone(one.facts["pid"])


def test_the_solver_is_imported_before_the_fork_and_no_thread_lives_there(slot: Slot) -> None:
    seen = outcome(slot, "behave").facts
    assert {"ortools.sat.python.cp_model", "cpsched.optimum.solve", "cpsched.greedy.volcano.engine"} <= {
        *seen["modules"]
    }
    assert len(os.listdir(f"/proc/{seen['parent']}/task")) == 1


@pytest.mark.parametrize(
    ("how", "status", "error"),
    [
        ("segfault", "crash", "killed by SIGSEGV"),
        ("be_killed", "crash", "killed by SIGKILL, not by the study; perhaps the system had no more memory"),
        ("exit", "crash", "ended with exit code 7 and no answer"),
        ("stumble", "error", "ZeroDivisionError: a bug of two lines"),
        ("refuse", "input", "case.json: not good; make it better"),
    ],
)
def test_a_bad_end_is_stated_in_one_line(slot: Slot, how: str, status: str, error: str) -> None:
    ended = outcome(slot, how)
    assert (ended.status, ended.error, ended.facts, ended.file) == (status, error, {}, b"")
    if status == "crash":
        assert ended.detail == f"about to {how}"
    if status == "error":
        assert ended.detail is not None
        assert "Traceback" in ended.detail
    assert outcome(slot, "behave").status == "ok"


def test_over_the_time_limit_it_is_killed_with_its_children(slot: Slot, tmp_path: Path) -> None:
    note, seconds = tmp_path / "pid", 1
    while not note.exists():  # a busy machine may need longer to come so far
        ended = outcome(slot, "sleep_with_a_child", Limits(seconds, 8 << 30), str(note))
        assert (ended.status, ended.error) == ("timeout", f"no answer within {seconds} s")
        seconds *= 3
    assert gone(int(note.read_text()))


@dataclass(frozen=True)
class Answers:
    """Has its answer after so many seconds by a clock that does not depend on the machine."""

    after: float
    size: int = 0

    def perform(self) -> tuple[dict[str, Any], bytes]:
        now = time.monotonic()
        time.monotonic = lambda: now + self.after
        return {}, b"x" * self.size


# Python warns of a fork beside threads; the child does nothing that could wait for one of them.
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize("watcher", ["at once", "late"])
@pytest.mark.parametrize(("after", "size", "status"), [(0, 0, "ok"), (0, 1 << 22, "ok"), (5000, 0, "timeout")])
def test_whether_an_answer_is_in_time_does_not_depend_on_who_looks_when(
    monkeypatch: pytest.MonkeyPatch, watcher: str, after: float, size: int, status: str
) -> None:
    """The limit counts from the fork; the child's clock says when it had its answer, the watcher's may be far ahead."""
    real, fork = time.monotonic, os.fork

    def forked() -> int:
        pid = fork()
        if pid and watcher == "late":
            # Until the answer is there, or as much of it as goes into the pipe; then hours pass.
            while not select.select([reading], [], [], 1)[0]:
                pass
            monkeypatch.setattr(time, "monotonic", lambda: real() + 10_000)
        return pid

    def piped() -> tuple[int, int]:
        nonlocal reading
        reading, writing = pipe()
        return reading, writing

    reading, pipe = -1, os.pipe
    monkeypatch.setattr(os, "fork", forked)
    monkeypatch.setattr(os, "pipe", piped)
    asker, other = socket.socketpair()
    with asker, other:
        ended = run_in_child(Answers(after, size), Limits(1000, 8 << 30), asker.fileno())  # type: ignore[arg-type]
    assert (ended.status, len(ended.file)) == (status, size if status == "ok" else 0)
    assert ended.error == (None if status == "ok" else "no answer within 1000 s")


@pytest.mark.parametrize("how", ["grow", "grow_in_a_child"])
def test_over_the_memory_limit_it_is_killed(slot: Slot, how: str) -> None:
    limit = 300 << 20
    ended = outcome(slot, how, Limits(3600, limit))
    assert ended.status == "memory"
    assert ended.error is not None
    assert ended.error.endswith("; the limit is 300Mi")
    assert ended.peak_rss_bytes is not None
    assert limit < ended.peak_rss_bytes


def test_what_a_cell_leaves_behind_is_ended(slot: Slot) -> None:
    assert gone(outcome(slot, "leave_a_child").facts["child"])


def test_large_answers_and_chatter_come_through(slot: Slot) -> None:
    assert len(outcome(slot, "say_much").facts["text"]) == 1 << 22


def test_a_dead_zygote_costs_one_cell_at_most(slot: Slot) -> None:
    zygote = outcome(slot, "behave").facts["parent"]
    os.kill(zygote, signal.SIGKILL)
    assert gone(zygote)
    again = outcome(slot, "behave")
    assert again.status == "ok"
    assert again.facts["parent"] != zygote


def test_a_stopped_slot_ends_its_cell_and_runs_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Thread

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    slot, ended = Slot(), list[Outcome]()
    thread = Thread(target=lambda: ended.append(outcome(slot, "sleep")))
    before = set(children(os.getpid()))
    thread.start()
    while not (grown := [pid for new in set(children(os.getpid())) - before for pid in family(new)[1:]]):
        time.sleep(0.02)
    slot.stop()
    thread.join()
    slot.close()
    assert ended[0].status == "crash"
    assert all(gone(pid) for pid in grown)
    assert outcome(slot, "behave").error == "the process that starts cells died: the study was stopped"
