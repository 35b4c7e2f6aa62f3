"""Work: what a child process is asked to do, and what comes back whatever becomes of it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cpsched.options import Options

if TYPE_CHECKING:
    from cpsched.instance import Instance

Status = Literal["ok", "timeout", "memory", "crash", "error", "input"]
"""ok; or over a limit; or ended by a signal or without an answer; or by an exception; or for want of good input."""

Answer = tuple[dict[str, Any], bytes]
"""Facts for the record, and a compressed file to keep."""


@dataclass(frozen=True)
class Limits:
    """What a child may take before it is killed."""

    seconds: float
    memory_bytes: int
    threads: int = 1


@dataclass(frozen=True)
class Describe:
    """Read one file as an instance."""

    path: str
    lenient: bool = False

    def perform(self) -> Answer:
        """Hash, sizes, recipe and the model that it asks for; the instance in its normal form."""
        from cpsched.importers.load import load
        from cpsched.instance import HOLDS_ROOM, Status

        instance = load(self.path, lenient=self.lenient)
        statuses = Counter(task.status for task in instance.tasks.values())
        facts = {
            "sha256": instance.sha256,
            "nodes": len(instance.nodes),
            "jobs": len(instance.jobs),
            "queues": len(instance.queues),
            "tasks_pending": statuses[Status.PENDING],
            "tasks_running": sum(statuses[one] for one in HOLDS_ROOM),
            "recipe": _recipe(self.path),
            **_own_model(instance),
        }
        return facts, zipped(instance.to_dict())


@dataclass(frozen=True)
class Decide:
    """Let an engine decide on an instance that was described before."""

    instance: bytes | str
    """Its normal form, compressed: the content, or the path of the file that holds it."""
    model: Mapping[str, Any]
    conf: Mapping[str, Any] | None
    engine: str
    options: Options
    kube_version: str | None = None
    lenient: bool = False
    allow_extenders: bool = False
    model_file: str = ""

    def perform(self) -> Answer:
        """Status, levels, findings and counts; the Solution."""
        from cpsched import engines
        from cpsched.checker import stamped
        from cpsched.files import read_documents
        from cpsched.importers.load import load
        from cpsched.importers.policy import load_policy
        from cpsched.parsing import parse_documents

        if isinstance(self.instance, str):
            [document] = read_documents(self.instance)
        else:
            [document] = parse_documents(self.instance, "instance")
        instance = load(document.data, lenient=self.lenient)
        policy = load_policy(
            self.model,
            self.conf,
            instance=instance,
            lenient=self.lenient,
            kube_version=self.kube_version,
            allow_extenders=self.allow_extenders,
            model_file=self.model_file,
        )
        solution = stamped(instance, engines.run(self.engine, instance, policy, self.options))
        content = solution.to_dict()
        counted = ("binds", "allocated", "pipelined", "evictions", "unplaced")
        facts = {
            "solution": content["status"],
            "findings": dict(sorted(Counter(finding.rule for finding in solution.findings).items())),
            "levels": content["levels"],
            "counts": {name: len(content[name]) for name in counted},
        }
        doubts = [doubt.text for doubt in solution.doubts]
        return facts | ({"doubts": doubts} if doubts else {}), zipped(content)


Work = Describe | Decide


@dataclass(frozen=True)
class Outcome:
    """What became of a piece of work."""

    status: Status
    error: str | None = None
    """One line, for a failure."""
    detail: str | None = None
    """The end of the traceback or of what was printed, for a failure."""
    facts: dict[str, Any] = field(default_factory=dict)
    file: bytes = b""
    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    peak_rss_bytes: int | None = None
    started: str | None = None
    host: str | None = None
    python: str | None = None


def zipped(content: Any) -> bytes:
    """Compressed JSON, the same bytes for the same content."""
    return gzip.compress(json.dumps(content, separators=(",", ":")).encode(), compresslevel=6, mtime=0)


def _own_model(instance: Instance) -> dict[str, str]:
    """The model that the instance asks for, and why; and that of the other scheduler, if its pods wait too."""
    from cpsched.errors import InputError
    from cpsched.importers.chosen import DEFAULT
    from cpsched.importers.policy import load_policies

    try:
        policy, *others = load_policies(instance=instance)
    except InputError as error:
        # Its cells say so too, unless the study brings a configuration.
        return {"model": DEFAULT, "model_by": "the configuration", "model_reason": str(error)}
    own = {"model": policy.model.scheduler, "model_by": policy.origin.chosen_by, "model_reason": policy.origin.chosen}
    for one in others:
        own |= {"model_too": one.model.scheduler, "model_too_reason": one.origin.chosen}
    return own


def _recipe(path: str) -> Any:
    """How a generated instance says it was made; loading leaves that aside."""
    from cpsched.aside import Aside
    from cpsched.files import read_documents

    documents = read_documents(path, Aside())
    first = documents[0].data if documents else None
    return first.get("recipe") if isinstance(first, dict) and first.get("kind") == "Instance" else None
