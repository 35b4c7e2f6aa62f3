"""Runners: who carries out the cells of a study, each cell in a process of its own."""

from __future__ import annotations

from collections.abc import Callable

from cpsched.errors import InputError
from cpsched.lab.runners.runner import Runner


def _local(workers: int | None, threads: int, address: str) -> Runner:
    from cpsched.lab.runners.local import LocalRunner

    return LocalRunner(workers, threads)


def _ray(workers: int | None, threads: int, address: str) -> Runner:
    from cpsched.lab.runners.ray import RayRunner

    return RayRunner(workers, threads, address)


RUNNERS: dict[str, Callable[[int | None, int, str], Runner]] = {"local": _local, "ray": _ray}


def make_runner(name: str, workers: int | None, threads: int, address: str = "auto") -> Runner:
    """The runner of that name; `workers` None is as many as there are cores for cells of so many threads."""
    if name not in RUNNERS:
        raise InputError(f"unknown runner {name}", right=f"known: {', '.join(RUNNERS)}")
    return RUNNERS[name](workers, threads, address)
