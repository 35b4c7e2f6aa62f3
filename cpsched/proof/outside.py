"""Programs written by others that check proofs: how they are called, and what counts as a yes."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from typing import NamedTuple

from cpsched.programs import ask, start

MOST_OUTPUT = 16 * 2**20
"""Bytes that a checker may print."""

ACCEPTED: dict[str, re.Pattern[str]] = {
    "veripb": re.compile(r"^s VERIFIED BOUNDS (?P<bound>-?[0-9]+|INF) <= obj", re.MULTILINE),
    "viprchk": re.compile(
        r"^Successfully verified optimal value range \[?(?P<bound>[-0-9/]+)?|^Infeasibility verified", re.MULTILINE
    ),
}
"""Per program what it says on stdout, and nowhere else, of a proof that holds."""
CHECKERS = tuple(ACCEPTED)


class OutsideAnswer(NamedTuple):
    """Whether the program accepts the proof; if not, why."""

    accepted: bool
    why: str = ""


def is_installed(checker: str) -> bool:
    """Whether the program is on the PATH."""
    return shutil.which(checker) is not None


def ran(command: Sequence[str], *, seconds: float) -> bool:
    """Whether a program ends by itself in the time; solvers say by their exit code what they found, so any will do."""
    try:
        process = start(command, dict(os.environ))
    except (OSError, ValueError):
        return False
    return ask(process, b"", seconds=seconds, most_output=MOST_OUTPUT).code is not None


def asked(checker: str, files: Sequence[str], *, seconds: float) -> OutsideAnswer:
    """The program's answer about the files: a yes is exit code 0 and its own words on stdout."""
    place = shutil.which(checker)
    if place is None:
        return OutsideAnswer(False, "is not installed")
    try:
        process = start([place, *files], dict(os.environ))
    except OSError as error:
        return OutsideAnswer(False, f"cannot be started: {error.strerror or error}")
    answer = ask(process, b"", seconds=seconds, most_output=MOST_OUTPUT)
    if answer.code is None:
        return OutsideAnswer(False, f"did not end within {seconds:g} s, or printed too much")
    printed = answer.output.decode(errors="replace")
    if answer.code == 0 and ACCEPTED[checker].search(printed):
        return OutsideAnswer(True)
    lines = [line for line in (answer.complaint.decode(errors="replace") or printed).splitlines() if line.strip()]
    last = lines[-1] if lines else "it printed nothing"
    return OutsideAnswer(False, f"refuses it (exit code {answer.code}): {last}")
