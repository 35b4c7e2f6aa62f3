"""Families of processes, as Linux shows them under /proc; elsewhere a process seems to have no children and no size."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def die_with_parent() -> None:
    """Have this process killed when the one that forked it ends, however it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make this process the parent of whatever its descendants leave behind, so that nothing gets away."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children(pid: int) -> list[int]:
    """Processes whose parent this is."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="ascii").split())
    return found


def family(pid: int) -> list[int]:
    """The process and all its descendants, parents first."""
    members = [pid]
    for member in members:
        members += children(member)
    return members


def resident_bytes(pid: int) -> int:
    """Memory that the process and its descendants hold; pages they share count for each."""
    total = 0
    for member in family(pid):
        with suppress(OSError, IndexError, ValueError):
            total += int(Path(f"/proc/{member}/statm").read_text(encoding="ascii").split()[1]) * PAGE
    return total


def kill_family(pid: int) -> None:
    """Kill the process and all its descendants."""
    for member in family(pid):
        with suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)


def kill_descendants() -> None:
    """Kill and bury everything below this process, adopted orphans included."""
    for _ in range(1000):
        below = children(os.getpid())
        if not below:
            return
        for child in below:
            kill_family(child)
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _prctl(option: int, value: int) -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
