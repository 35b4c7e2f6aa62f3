"""Engines that are any program: the Instance on its stdin, its Solution on stdout, both bounded."""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Mapping
from typing import Any

from cpsched.errors import InputError
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.parsing import parse_documents
from cpsched.policy import Policy
from cpsched.programs import ask, start
from cpsched.solution import Solution, SolutionStatus

PREFIX = "exec:"
"""Begins the name of such an engine: `exec:CMD`."""
MOST_OUTPUT = 64 * 2**20
"""Bytes of stdout; no decision is larger."""


def decide(name: str, instance: Instance, policy: Policy, options: Options) -> Solution:
    """What the program prints; nothing in time is a solution without decision, anything else is one clear line."""
    answer = _asked(name, _question(instance, policy), _environment(policy, options), options.time_limit)
    if answer is None:
        return Solution(engine=name, status=SolutionStatus.UNKNOWN)
    return _read(name, answer, instance)


def _asked(name: str, question: bytes, environment: Mapping[str, str], seconds: float) -> bytes | None:
    """What the program prints until it ends; None if it takes too long."""
    try:
        process = start(_command(name), environment)
    except OSError as error:
        wrong = f"cannot be started: {error.strerror or error}"
        raise InputError(wrong, file=name, right="name a program that can be run, with its path") from None
    answered = ask(process, question, seconds=seconds, most_output=MOST_OUTPUT)
    if len(answered.output) > MOST_OUTPUT:
        wrong = f"printed more than {MOST_OUTPUT // 2**20} MiB"
        raise InputError(wrong, file=name, right="print one Solution")
    if answered.code is None:
        return None
    if answered.code != 0:
        wrong = _refusal(answered.code, answered.complaint)
        raise InputError(wrong, file=name, right="a decision needs exit code 0")
    return answered.output


def _command(name: str) -> list[str]:
    try:
        command = shlex.split(name.removeprefix(PREFIX))
    except ValueError as error:
        raise InputError(f"not a command: {error}", place=name, right="quote it as for a shell") from None
    if not command:
        raise InputError(f"engine {PREFIX} names no program", right=f"write {PREFIX}CMD")
    return command


def _environment(policy: Policy, options: Options) -> dict[str, str]:
    given = {
        "CPSCHED_MODEL": policy.name,
        "CPSCHED_SEED": str(options.seed),
        "CPSCHED_TIME_LIMIT": f"{options.time_limit:g}",
    }
    return {**os.environ, **given}


def _question(instance: Instance, policy: Policy) -> bytes:
    """The Instance, with the configuration that is in force."""
    conf = {} if policy.conf is None else {"conf": policy.conf}
    return json.dumps({**instance.to_dict(), **conf}, default=str).encode()


def _read(name: str, answer: bytes, instance: Instance) -> Solution:
    """The one Solution on stdout, as a decision from outside counts; its name is that of its command."""
    documents = parse_documents(answer, name) if answer.strip() else []
    if len(documents) != 1:
        raise InputError(f"printed {len(documents)} documents", file=name, right="one Solution is needed on stdout")
    solution = Solution.parse(documents[0].data, file=name)
    if solution.instance_sha256 not in ("", instance.sha256):
        wrong = "answers for another instance (instance_sha256 differs)"
        raise InputError(wrong, file=name, right="leave the field out, or copy the instance's own hash")
    return _keyed(solution, instance, name).from_outside().model_copy(update={"engine": name})


def _keyed(solution: Solution, instance: Instance, engine: str) -> Solution:
    """The same with the keys of tasks where the program says namespace/name, as the pods that it was given are called.

    In a compact instance the two differ. A name that is a task's key is left as it is.
    """
    key_of = {task.pod.key: key for key, task in instance.tasks.items() if task.pod.key != key}
    key_of = {name: key for name, key in key_of.items() if name not in instance.tasks}
    if not key_of:
        return solution
    by_task = ("binds", "allocated", "pipelined", "nominations", "unplaced")
    update: dict[str, Any] = {}
    for part in by_task:
        update[part] = {key_of.get(name, name): value for name, value in getattr(solution, part).items()}
        if len(update[part]) < len(getattr(solution, part)):
            wrong = "names a task twice, as a pod and by its key"
            raise InputError(wrong, file=engine, place=part, right="use one of the two names")
    evictions = [one.model_copy(update={"task": key_of.get(one.task, one.task)}) for one in solution.evictions]
    return solution.model_copy(update={**update, "evictions": tuple(evictions)})


def _refusal(code: int, complaint: bytes) -> str:
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    lines = complaint.decode(errors="replace").strip().splitlines()
    return f"{how}: {lines[-1]}" if lines else f"{how} and printed nothing"
