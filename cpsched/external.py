"""Engines that are any program: the Instance on its stdin, its Solution on stdout, both bounded."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from typing import IO, Any

from cpsched.errors import InputError
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.parsing import parse_documents
from cpsched.policy import Policy
from cpsched.solution import Solution, SolutionStatus

PREFIX = "exec:"
"""Begins the name of such an engine: `exec:CMD`."""
MOST_OUTPUT = 64 * 2**20
"""Bytes of stdout; no decision is larger."""
_MOST_COMPLAINT = 64 * 2**10
_CHUNK = 2**16
_PATIENCE = 10.0
"""Seconds to read what is left in the pipes of a program that has ended."""


def decide(name: str, instance: Instance, policy: Policy, options: Options) -> Solution:
    """What the program prints; nothing in time is a solution without decision, anything else is one clear line."""
    run = _Run(name, _command(name), _environment(policy, options))
    answer = run.ask(_question(instance, policy), options.time_limit)
    if answer is None:
        return Solution(engine=name, status=SolutionStatus.UNKNOWN)
    return _read(name, answer, instance)


def _command(name: str) -> list[str]:
    try:
        command = shlex.split(name.removeprefix(PREFIX))
    except ValueError as error:
        raise InputError(f"not a command: {error}", place=name, right="quote it as for a shell") from None
    if not command:
        raise InputError(f"engine {PREFIX} names no program", right=f"write {PREFIX}CMD")
    return command


def _environment(policy: Policy, options: Options) -> dict[str, str]:
    told = {
        "CPSCHED_MODEL": policy.name,
        "CPSCHED_SEED": str(options.seed),
        "CPSCHED_TIME_LIMIT": f"{options.time_limit:g}",
    }
    return {**os.environ, **told}


def _question(instance: Instance, policy: Policy) -> bytes:
    """The Instance, with the configuration that is in force."""
    conf = {} if policy.conf is None else {"conf": policy.conf}
    return json.dumps({**instance.to_dict(), **conf}, default=str).encode()


def _read(name: str, answer: bytes, instance: Instance) -> Solution:
    """The one Solution on stdout; its own name for itself goes into versions, the judge's words stay the judge's."""
    documents = parse_documents(answer, name) if answer.strip() else []
    if len(documents) != 1:
        raise InputError(f"printed {len(documents)} documents", file=name, right="one Solution is needed on stdout")
    solution = Solution.parse(documents[0].data, file=name)
    if solution.instance_sha256 not in ("", instance.sha256):
        wrong = "answers for another instance (instance_sha256 differs)"
        raise InputError(wrong, file=name, right="leave the field out, or copy the instance's own hash")
    return solution.model_copy(update={"engine": name, "findings": ()})


class _Run:
    """One run of the program in a process group of its own, so that it can be ended with all it started."""

    def __init__(self, name: str, command: list[str], environment: Mapping[str, str]):
        self.name = name
        self.output, self.complaint = bytearray(), bytearray()
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
            )
        except OSError as error:
            wrong = f"cannot be started: {error.strerror or error}"
            raise InputError(wrong, file=name, right="name a program that can be run, with its path") from None

    def ask(self, question: bytes, time_limit: float) -> bytes | None:
        """What it prints, or None if it took too long."""
        process = self.process
        threads = [
            Thread(target=_feed, args=(process.stdin, question), daemon=True),
            Thread(target=self._collect, daemon=True),
            Thread(target=_drain, args=(process.stderr, self.complaint), daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            code = process.wait(time_limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self._end()
            for thread in threads:
                thread.join(_PATIENCE)
            for stream in (process.stdout, process.stderr):
                assert stream is not None
                stream.close()
        if len(self.output) > MOST_OUTPUT:
            wrong = f"printed more than {MOST_OUTPUT // 2**20} MiB"
            raise InputError(wrong, file=self.name, right="print one Solution")
        if code != 0:
            raise InputError(self._ended(code), file=self.name, right="a decision needs exit code 0")
        return bytes(self.output)

    def _collect(self) -> None:
        assert self.process.stdout is not None
        while chunk := self.process.stdout.read1(_CHUNK):  # type: ignore[attr-defined]
            self.output += chunk
            if len(self.output) > MOST_OUTPUT:
                self._end()
                return

    def _end(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _ended(self, code: int) -> str:
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        lines = self.complaint.decode(errors="replace").strip().splitlines()
        return f"{how}: {lines[-1]}" if lines else f"{how} and said nothing"


def _feed(stream: IO[bytes] | None, question: bytes) -> None:
    """A program may decide without reading to the end."""
    assert stream is not None
    with suppress(BrokenPipeError):
        stream.write(question)
    with suppress(BrokenPipeError):
        stream.close()


def _drain(stream: Any, kept: bytearray) -> None:
    """Keep the last words; read the rest away, lest the program wait for a reader."""
    while chunk := stream.read1(_CHUNK):
        kept += chunk
        del kept[:-_MOST_COMPLAINT]
