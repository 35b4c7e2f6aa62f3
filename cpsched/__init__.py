"""Was that scheduling decision any good? Load a cluster, decide, compare, check.

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence

from cpsched.errors import InputError
from cpsched.version import __version__

# What comes before Ctrl-C is in hand is kept short: `typing` is only needed by type checkers, which know this name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cpsched.certificate import Certificate
    from cpsched.comparison.compare import Comparison
    from cpsched.explanation.result import Explanation
    from cpsched.importers.load import Source
    from cpsched.importers.policy import Configuration
    from cpsched.instance import Instance
    from cpsched.lab.study.results import Results
    from cpsched.options import Prover
    from cpsched.policy import Policy
    from cpsched.solution import Finding, Solution

__all__ = [
    "Comparison",
    "Explanation",
    "Finding",
    "InputError",
    "Instance",
    "Solution",
    "__version__",
    "certify",
    "check",
    "compare",
    "explain",
    "load",
    "read_study",
    "solve",
    "verify",
]


def load(  # noqa: PLR0913 - the names of the command line's flags
    source: Source,
    *,
    sharding: Mapping[str, Any] | None = None,
    node_usage: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    lenient: bool = False,
    strict: bool = False,
    format: str | None = None,
    queues: Source | None = None,
    submit: Sequence[Source] = (),
    cordon: Sequence[str] = (),
    drain: Sequence[str] = (),
    add_nodes: Mapping[str, int] | None = None,
    without: Sequence[str] = (),
    held: bool = False,
) -> Instance:
    """Read a cluster, and change it if asked to; InputError says in one line what is wrong.

    Args:
        source: a path, "-" for stdin, several paths of one cluster, a mapping (a List, an object, the compact form or
            another program's snapshot), or a list of objects.
        sharding: overrides the instance's own: {"mode": "none|soft|hard", "nodes": [...]}.
        node_usage: what was measured, for Volcano's plugin usage: node → {"cpu": percent, "memory": percent, "age":
            seconds}; overrides the instance's own.
        lenient: in a case too, broken references between objects become warnings of the instance.
        strict: files and objects that cannot be read are errors; else they are set aside, and the warnings count them.
        format: format of the source; detected if not given: volcano-dump, kai, simulator, openb, dlrm.
        queues: further objects that the source lacks, such as the queues of a cache dump.
        submit: sources whose objects are created: Jobs and the like with the pods that their controllers make.
        cordon: nodes that take no new pods.
        drain: nodes that are cordoned, with the pods of controllers on them pending again.
        add_nodes: node → how many more there are like it.
        without: pods, namespace/name, that are gone.
        held: with the tasks of jobs that wait for enqueue and have no pods yet, so that they can be explained.
    """
    from cpsched.importers.load import load as load_instance
    from cpsched.what_if.changes import Changes

    added = tuple((count, like) for like, count in (add_nodes or {}).items())
    changes = Changes(tuple(submit), tuple(cordon), tuple(drain), added, tuple(without))
    reading: dict[str, Any] = {"sharding": sharding, "node_usage": node_usage, "lenient": lenient, "strict": strict}
    return load_instance(source, format=format, queues=queues, changes=changes, held=held, **reading)


def solve(  # noqa: PLR0913 - the names of the command line's flags
    instance: Instance,
    model: Configuration | None = None,
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
    allow_extenders: bool | None = None,
) -> Solution:
    """An engine's decision, checked and scored.

    Args:
        instance: what load gave.
        model: the policy: a shipped model's name, a path, or a mapping; None: volcano or kube, as the input asks for.
        conf: the scheduler's configuration, a path or a mapping; else the instance's own, else the model's.
        engine: who decides: optimal, volcano, kube, or exec:CMD, any program that prints a Solution.
        time_limit: seconds after which the best so far is the answer; with deterministic, of solver's work.
        workers: threads of the solver.
        seed: 1 takes the documented choice where upstream leaves it to chance, another number draws.
        kube_version: release of kube-scheduler, 1.36 or head.
        only: key of the one task to try.
        pod_groups: kube-scheduler's gate GenericWorkload: its PodGroups are scheduled and preempt as one.
        deterministic: the same decision on any machine: one worker, one solver, no clock.
        prover: which solver searches and proves: cp-sat, highs or both.
        log: a function that gets every line of the solver's log.
        export: file for the CP-SAT model of the first level.
        lenient: no effect: what is unknown or not mirrored in the configuration is left out with a warning anyway.
        allow_extenders: whether HTTP extenders are asked; None: only those that `conf` names. One that is left out is a
            warning.
    """
    from cpsched import engines
    from cpsched.checker import stamped
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
    policy = load_policy(
        model,
        conf,
        instance=instance,
        lenient=lenient,
        kube_version=kube_version,
        allow_extenders=allow_extenders,
    )
    _tell(instance, policy)
    return stamped(instance, engines.run(engine, instance, policy, options))


def compare(  # noqa: PLR0913 - the names of the command line's flags
    instance: Instance,
    engines: Sequence[str] = ("mirror", "optimal"),
    model: Configuration | None = None,
    conf: Configuration | None = None,
    *,
    decisions: Mapping[str, Solution] | None = None,
    time_limit: float = 60,
    workers: int = 2,
    deterministic: bool = False,
    seed: int = 1,
    kube_version: str | None = None,
    pod_groups: bool = False,
    lenient: bool = False,
    allow_extenders: bool | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Several engines on one cluster: level by level, what differs, and why; it prints well, also in a notebook.

    Args:
        instance: what load gave.
        engines: names as for solve; mirror is the scheduler that the model is made for.
        model: the policy: a shipped model's name, a path, or a mapping; None: volcano or kube, as the input asks for.
        conf: the scheduler's configuration, a path or a mapping; else the instance's own, else the model's.
        decisions: further contenders that have already decided, by name.
        time_limit: seconds per engine.
        workers: threads of the solver.
        deterministic: the same answer on any machine; time limits count CP-SAT's deterministic time.
        seed: 1 takes the documented choice where upstream leaves it to chance, another number draws.
        kube_version: release of kube-scheduler, 1.36 or head.
        pod_groups: kube-scheduler's gate GenericWorkload.
        lenient: no effect: what is unknown or not mirrored in the configuration is left out with a warning anyway.
        allow_extenders: whether HTTP extenders are asked; None: only those that `conf` names. One that is left out is a
            warning.
        cache: a cache folder for optimal decisions.
    """
    from cpsched.comparison import contender
    from cpsched.comparison.compare import compared
    from cpsched.comparison.optima import NO_CACHE, optima_in
    from cpsched.comparison.session import Session
    from cpsched.engines import MIRROR
    from cpsched.importers.policy import load_policy
    from cpsched.options import Options

    options = Options(time_limit=time_limit, workers=workers, seed=seed, deterministic=deterministic)
    policy = load_policy(
        model,
        conf,
        instance=instance,
        lenient=lenient,
        kube_version=kube_version,
        allow_extenders=allow_extenders,
    )
    _tell(instance, policy)
    session = Session(instance.file or "input", instance, policy, pod_groups=pod_groups)
    optima = optima_in(NO_CACHE if cache is None else os.fspath(cache))
    given = decisions or {}
    names = contender.checked([session.mirror if name == MIRROR else name for name in engines], given)
    found = [contender.contend(session, name, options, optima) for name in names]
    found += [contender.given(session, name, solution) for name, solution in given.items()]
    return compared(session, found, options)


def verify(
    instance: Instance,
    solution: Solution,
    model: Configuration | None = None,
    conf: Configuration | None = None,
    *,
    kube_version: str | None = None,
    lenient: bool = False,
) -> tuple[Finding, ...]:
    """Every rule the decision breaks, and every level it misstates; no solver is imported."""
    from cpsched.checker import decision_of, findings
    from cpsched.importers.policy import load_policy

    policy = load_policy(model, conf, instance=instance, lenient=lenient, kube_version=kube_version)
    return findings(decision_of(instance, policy, solution), solution)


class _Check:
    """The earlier name of verify, `cpsched.check(...)`, and of the rules, `cpsched.check.RULES`."""

    __call__ = staticmethod(verify)

    @property
    def RULES(self) -> Mapping[str, Any]:  # noqa: N802 - the registry's name
        from cpsched.rules import RULES

        return RULES


check = _Check()
"""Use verify, which is also the command's name, and `cpsched.rules`."""


def certify(
    instance: Instance,
    solution: Solution,
    model: Configuration | None = None,
    conf: Configuration | None = None,
    *,
    kube_version: str | None = None,
    lenient: bool = False,
) -> Certificate:
    """The decision with a bound on every level and the evidence for it; no solver is imported.

    Bounds of a solver are claims; they are taken over only from a solution that solve gave, of the same session.
    """
    from cpsched.certificate import certify as certified
    from cpsched.importers.policy import load_policy

    policy = load_policy(model, conf, instance=instance, lenient=lenient, kube_version=kube_version)
    return certified(instance, policy, solution)


def explain(  # noqa: PLR0913 - the names of the command line's flags
    instance: Instance,
    *,
    job: str | None = None,
    task: str | None = None,
    model: Configuration | None = None,
    conf: Configuration | None = None,
    engine: str = "optimal",
    time_limit: float = 60,
    workers: int = 2,
    deterministic: bool = False,
    kube_version: str | None = None,
    lenient: bool = False,
    allow_extenders: bool | None = None,
) -> Explanation:
    """Why a job or task is not placed, or which pods are evicted for it; prints well, also in a notebook.

    Args:
        instance: what load gave.
        job: key of the job (PodGroup, or a pod on its own) to explain; without its namespace where that is clear.
        task: key of the task (pod) to explain; give either.
        model: the policy: a shipped model's name, a path, or a mapping; None: volcano or kube, as the input asks for.
        conf: the scheduler's configuration, a path or a mapping; else the instance's own, else the model's.
        engine: whose decision is explained: optimal, volcano or kube.
        time_limit: seconds after which what was found so far is the answer.
        workers: threads of the solver.
        deterministic: the same answer on any machine; time limits count CP-SAT's deterministic time.
        kube_version: release of kube-scheduler, 1.36 or head.
        lenient: no effect: what is unknown or not mirrored in the configuration is left out with a warning anyway.
        allow_extenders: whether HTTP extenders are asked; None: only those that `conf` names. One that is left out is a
            warning.
    """
    from cpsched.explanation.inquiry import explain as inquire
    from cpsched.importers.policy import load_policy
    from cpsched.options import Options

    options = Options(time_limit=time_limit, workers=workers, deterministic=deterministic)
    policy = load_policy(
        model,
        conf,
        instance=instance,
        lenient=lenient,
        kube_version=kube_version,
        allow_extenders=allow_extenders,
        subject=job or task,
    )
    _tell(instance, policy)
    return inquire(instance, policy, options, engine=engine, job=job, task=task)


def read_study(folder: str | os.PathLike[str]) -> Results:
    """The results in a study's folder; `to_dataframe()` has a row per cell, `to_dataframe("levels")` one per level."""
    from cpsched.lab.study.results import read

    return read(folder)


def _tell(instance: Instance, policy: Policy) -> None:
    """What is in doubt, as a Python warning at the caller's line."""
    from cpsched.completeness.registry import doubts

    for doubt in doubts(instance, policy):
        warnings.warn(doubt.text, stacklevel=3)


def __getattr__(name: str) -> Any:
    if name == "Explanation":
        from cpsched.explanation.result import Explanation

        return Explanation
    if name == "Instance":
        from cpsched.instance import Instance

        return Instance
    if name == "Comparison":
        from cpsched.comparison.compare import Comparison

        return Comparison
    if name in ("Finding", "Solution"):
        from cpsched import solution

        return getattr(solution, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
