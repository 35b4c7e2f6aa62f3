"""The Ray runner: cells on an existing Ray cluster; on its machines too, each is a child process with limits."""

from __future__ import annotations

import logging
import socket
import sysconfig
from concurrent.futures import Future
from contextlib import chdir
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cpsched.version
from cpsched.errors import InputError
from cpsched.files import read_bytes
from cpsched.lab.runners.slot import Slot
from cpsched.lab.runners.work import Decide, Limits, Outcome, Work

MOST_RETRIES = 2
"""How often a cell whose machine is lost is tried elsewhere."""
_INSTANCES_AT_HAND = 8
_KNOCK_SECONDS = 10.0

_slots: list[Slot] = []
"""The slot of a Ray worker process; it ends with the process."""


def perform(work: Work, instance: bytes | None, limits: Limits, versions: dict[str, str]) -> Outcome:
    """What runs on the cluster: one piece of work in a child process."""
    here = own_versions()
    if here != versions:
        versions_here = ", ".join(f"{name} {here[name]} instead of {versions[name]}" for name in here)
        return Outcome("crash", error=f"this machine of the cluster has {versions_here}")
    if isinstance(work, Decide) and instance is not None:
        work = replace(work, instance=instance)
    if not _slots:
        _slots.append(Slot())
    return _slots[0].run(work, limits)


def own_versions() -> dict[str, str]:
    """What must be the same everywhere for results to be the same."""
    return {"cpsched": cpsched.version.__version__, "ortools": version("ortools")}


class RayRunner:
    """Ray finds the place for each cell; instances travel once to each machine."""

    def __init__(self, workers: int | None, threads: int, address: str):
        self._ray = _connected(address)
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        self.capacity = workers or max(1, cores // threads)
        self._perform = self._ray.remote(num_cpus=threads, max_retries=MOST_RETRIES)(perform)
        self._versions = own_versions()
        self._instances: dict[str, Any] = {}
        self._under_way: dict[Future[Outcome], Any] = {}

    def submit(self, work: Work, limits: Limits) -> Future[Outcome]:
        """Hand it to the cluster."""
        instance = None
        if isinstance(work, Decide) and isinstance(work.instance, str):
            instance = self._instance(work.instance)
            work = replace(work, instance=b"")
        reference = self._perform.remote(work, instance, limits, self._versions)
        future: Future[Outcome] = reference.future()
        self._under_way[future] = reference
        future.add_done_callback(lambda done: self._under_way.pop(done, None))
        return future

    def close(self) -> None:
        """Stop what is running; the cluster itself stays."""
        for reference in list(self._under_way.values()):
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()

    def _instance(self, path: str) -> Any:
        if path not in self._instances:
            if len(self._instances) >= _INSTANCES_AT_HAND:
                del self._instances[next(iter(self._instances))]
            self._instances[path] = self._ray.put(read_bytes(Path(path)))
        return self._instances[path]


def _connected(address: str) -> Any:
    try:
        if address != "auto" and "://" not in address:
            _knock(address)
        import ray

        # Ray's workers look for modules first in the folder where it is started: not in that of a user's clusters.
        with chdir(sysconfig.get_path("stdlib")):
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except ImportError:
        right = "pip install 'cpsched[ray]', or use --runner local"
        raise InputError("Ray is not installed", place="runner", right=right) from None
    except (OSError, ValueError, RuntimeError) as error:
        wrong, right = (
            f"no Ray cluster at {address} ({error})",
            "start one with ray start --head, or name its HOST:PORT",
        )
        raise InputError(wrong, place="ray-address", right=right) from None
    return ray


def _knock(address: str) -> None:
    """Ray itself would try for minutes where no cluster answers."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("not of the form HOST:PORT")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()
