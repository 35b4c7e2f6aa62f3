"""The user's own kubectl: read-only questions with a limit of time, and one clear line for each way they fail."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cpsched.errors import InputError
from cpsched.programs import Answered, ask, start

MOST_OUTPUT = 4 * 2**30
"""Bytes; no cluster has as much."""
_READS = frozenset({"api-resources", "config", "get", "version"})
_FORBIDDEN = re.compile(r"^Error from server \(Forbidden\): (\S+) is forbidden: (.*)$", re.MULTILINE)
_PREFIX = re.compile(r"^(?:error: |Error from server(?: \(\w+\))?: |Unable to connect to the server: )")
_UNREACHABLE = re.compile(r"was refused|no such host|i/o timeout|Unable to connect|no route to host|unreachable")
_UNKNOWN_USER = re.compile(r"\(Unauthorized\)|must be logged in|credential|getting credentials")


@dataclass(frozen=True)
class Kubectl:
    """Which cluster, as whom, and by when all questions have to be answered."""

    program: str = "kubectl"
    options: tuple[str, ...] = ()
    """--context, --kubeconfig, --as and --as-group."""
    seconds: float = 120.0
    deadline: float = float("inf")

    def begun(self) -> Kubectl:
        """The same, with the clock running."""
        return Kubectl(self.program, self.options, self.seconds, time.monotonic() + self.seconds)

    def read(self, *arguments: str) -> Reading:
        """What kubectl prints; InputError if it cannot be started or is not done in time."""
        assert arguments[0] in _READS
        command = [*self._command(), *self.options, *arguments]
        try:
            process = start(command, os.environ)
        except OSError as error:
            wrong = f"cannot be started: {error.strerror or error}"
            right = "install kubectl, or name it: --kubectl PATH"
            raise InputError(wrong, file=command[0], right=right) from None
        left = max(0.0, self.deadline - time.monotonic())
        answered = ask(process, b"", seconds=left, most_output=MOST_OUTPUT)
        if len(answered.output) > MOST_OUTPUT:
            raise InputError(f"printed more than {MOST_OUTPUT // 2**30} GiB", file=self.program)
        if answered.code is None:
            raise self._too_late(answered)
        return Reading(self.program, answered)

    def context(self) -> str:
        """The name of the context that is asked; empty if kubectl does not say."""
        stated = next((one.partition("=")[2] for one in self.options if one.startswith("--context=")), None)
        return self.read("config", "current-context").text.strip() if stated is None else stated

    def _command(self) -> list[str]:
        try:
            command = shlex.split(self.program)
        except ValueError as error:
            raise InputError(f"not a command: {error}", place="--kubectl", right="quote it as for a shell") from None
        if not command:
            raise InputError("names no program", place="--kubectl", right="write --kubectl PATH")
        return command

    def _too_late(self, answered: Answered) -> InputError:
        wrong = f"has not answered within {self.seconds:g} s"
        if lines := answered.complaint.decode(errors="replace").strip().splitlines():
            wrong += f" ({lines[-1]})"
        right = "see whether kubectl get nodes answers, or give more time: --timeout SECONDS"
        return InputError(wrong, file=self.program, right=right)


@dataclass(frozen=True)
class Reading:
    """What kubectl printed, and what it complained of."""

    program: str
    answered: Answered

    @property
    def text(self) -> str:
        """What it printed on stdout."""
        return self.answered.output.decode(errors="replace")

    @property
    def complaints(self) -> tuple[str, ...]:
        """The lines on stderr, without those of kubectl's own log."""
        lines = self.answered.complaint.decode(errors="replace").splitlines()
        return tuple(line.strip() for line in lines if line.strip() and not re.match(r"[EWI]\d{4} ", line))

    @property
    def failed(self) -> bool:
        """Whether it ended with an error; there may be an answer to a part of the question all the same."""
        return self.answered.code != 0

    def forbidden(self) -> dict[str, str]:
        """resource.group -> what the API server says, for what this user may not read."""
        return dict(_FORBIDDEN.findall("\n".join(self.complaints)))

    def value(self) -> Any:
        """The JSON that was printed; None for nothing."""
        if not self.answered.output.strip():
            return None
        try:
            return json.loads(self.answered.output)
        except (ValueError, RecursionError):
            raise InputError("printed something else than JSON", file=self.program) from None

    def error(self) -> InputError:
        """Why it failed, in one line."""
        lines = self.complaints
        if not lines:
            code = self.answered.code
            return InputError(f"ended with exit code {code} and printed nothing", file=self.program)
        line = next((line for line in lines if _PREFIX.match(line)), lines[-1])
        return InputError(_PREFIX.sub("", line), file=self.program, right=_advice("\n".join(lines)))


def _advice(text: str) -> str | None:
    if "does not exist" in text and "context" in text:
        return "kubectl config get-contexts lists the contexts"
    if _UNREACHABLE.search(text):
        return "no cluster answers there; see kubectl config current-context and kubectl cluster-info"
    if _UNKNOWN_USER.search(text):
        return "log in as you do for kubectl get nodes"
    return "docs/capture.md has the ClusterRole that is needed" if "(Forbidden)" in text else None


def options_of(
    *, context: str | None, kubeconfig: str | None, as_user: str | None, as_groups: Sequence[str]
) -> tuple[str, ...]:
    """kubectl's own options; written with =, so that no value is taken for another option."""
    given = [("--context", context), ("--kubeconfig", kubeconfig), ("--as", as_user)]
    given += [("--as-group", group) for group in as_groups]
    return tuple(f"{name}={value}" for name, value in given if value is not None)
