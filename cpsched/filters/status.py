"""What a filter answers: a code, the reasons in upstream's words, and its name; mirrors `framework.Status`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Code(Enum):
    """Status codes, spelled as upstream prints them."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"
    PENDING = "Pending"


@dataclass(frozen=True, slots=True)
class Status:
    """One answer; UNSCHEDULABLE may be overcome by an eviction, UNRESOLVABLE may not."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def is_success(self) -> bool:
        """The node passes."""
        return self.code is Code.SUCCESS

    @property
    def is_skip(self) -> bool:
        """The filter has nothing to say about this task."""
        return self.code is Code.SKIP

    @property
    def is_rejected(self) -> bool:
        """Refused for a reason, as opposed to passed or broken."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNRESOLVABLE, Code.PENDING)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def unschedulable(plugin: str, *reasons: str) -> Status:
    """Refused, though room could be made."""
    return Status(Code.UNSCHEDULABLE, reasons, plugin)


def unresolvable(plugin: str, *reasons: str) -> Status:
    """Refused, whichever tasks are evicted."""
    return Status(Code.UNRESOLVABLE, reasons, plugin)


def error(plugin: str, reason: str) -> Status:
    """The filter could not decide; upstream gives the whole attempt up."""
    return Status(Code.ERROR, (reason,), plugin)


def not_found(kind: str, name: str) -> str:
    """How the API machinery says that an object does not exist."""
    return f'{kind} "{name}" not found'
