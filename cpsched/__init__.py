"""Was that scheduling decision any good? Load a cluster, decide, check; nothing heavy is imported before it is used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.certificate import Certificate
    from cpsched.importers.load import Source
    from cpsched.importers.policy import Configuration
    from cpsched.instance import Instance
    from cpsched.options import Prover
    from cpsched.solution import Finding, Solution

__version__ = "0.1.0"

__all__ = ["Finding", "InputError", "Instance", "Solution", "__version__", "certify", "check", "load", "solve"]


def load(
    source: Source,
    *,
    sharding: Mapping[str, Any] | None = None,
    lenient: bool = False,
    format: str | None = None,
    queues: Source | None = None,
) -> Instance:
    """Read a cluster; InputError says in one line what is wrong.

    Args:
        source: a path, "-" for stdin, a mapping (a List, an object, the compact form or another program's snapshot), or
            a list of objects.
        sharding: overrides the instance's own: {"mode": "none|soft|hard", "nodes": [...]}.
        lenient: broken references between objects become warnings of the instance.
        format: what the source is, if it shall not be told by looking: volcano-dump, kai, simulator, openb, dlrm.
        queues: further objects that the source lacks, such as the queues of a cache dump.
    """
    from cpsched.importers.load import load as load_instance

    return load_instance(source, sharding=sharding, lenient=lenient, format=format, queues=queues)


def solve(  # noqa: PLR0913 - the names of the command line's flags
    instance: Instance,
    model: Configuration = "volcano",
    conf: Configuration | None = None,
    engine: str = "optimal",
    *,
    time_limit: float = 60,
    workers: int = 2,
    seed: int = 1,
    kube_version: str | None = None,
    only: str | None = None,
    pod_groups: bool = False,
    deterministic: bool = False,
    prover: Prover = "both",
    log: Callable[[str], None] | None = None,
    export: str | None = None,
    lenient: bool = False,
) -> Solution:
    """An engine's decision, checked and scored.

    Args:
        instance: what load gave.
        model: the policy: a shipped model's name, a path, or a mapping.
        conf: the scheduler's configuration, a path or a mapping; else the instance's own, else the model's.
        engine: who decides: optimal, volcano or kube.
        time_limit: seconds after which the best so far is the answer; with deterministic, of solver's work.
        workers: threads of the solver.
        seed: 1 takes the documented choice where upstream leaves it to chance, another number draws.
        kube_version: release of kube-scheduler, 1.36 or head.
        only: key of the one task to try.
        pod_groups: kube-scheduler's gate GenericWorkload: its PodGroups are scheduled and preempt as one.
        deterministic: the same decision on any machine: one worker, no race, no clock.
        prover: which solver searches and proves: cp-sat, highs or both.
        log: a function that is told every line of the solver's log.
        export: file for the CP-SAT model of the first level.
        lenient: what is unknown in the configuration is left aside with a warning.
    """
    from cpsched import engines
    from cpsched.importers.policy import load_policy
    from cpsched.options import Options

    options = Options(
        time_limit=time_limit,
        workers=workers,
        seed=seed,
        only=only,
        pod_groups=pod_groups,
        deterministic=deterministic,
        prover=prover,
        log=log,
        export=export,
    )
    policy = load_policy(model, conf, instance=instance, lenient=lenient, kube_version=kube_version)
    return engines.run(engine, instance, policy, options)


def check(
    instance: Instance, solution: Solution, model: Configuration = "volcano", conf: Configuration | None = None
) -> tuple[Finding, ...]:
    """Every rule the decision breaks, and every level it misstates; no solver is imported."""
    from cpsched.importers.policy import load_policy
    from cpsched.judge import decision_of, findings

    policy = load_policy(model, conf, instance=instance)
    return findings(decision_of(instance, policy, solution), solution)


def certify(
    instance: Instance, solution: Solution, model: Configuration = "volcano", conf: Configuration | None = None
) -> Certificate:
    """The decision with a bound on every level and the evidence for it; no solver is imported."""
    from cpsched.certificate import certify as certified
    from cpsched.importers.policy import load_policy

    return certified(instance, load_policy(model, conf, instance=instance), solution)


def __getattr__(name: str) -> Any:
    if name == "Instance":
        from cpsched.instance import Instance

        return Instance
    if name in ("Finding", "Solution"):
        from cpsched import solution

        return getattr(solution, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Package(ModuleType):
    """Keeps `cpsched.check` the function: importing the package of that name would put the package in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
