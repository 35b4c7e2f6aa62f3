"""The engines: one registry of who can decide, each imported only when it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib.metadata import version
from typing import NamedTuple

from cpsched import external
from cpsched.checker import CheckedSolution, examined
from cpsched.collector import few_collections
from cpsched.errors import InputError
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.rules import Decision
from cpsched.solution import Solution


class Decided(NamedTuple):
    """What an engine decided; `decision` if it has checked it already."""

    solution: Solution
    decision: Decision | None = None


Decide = Callable[[Instance, Policy, Options], Decided]


@dataclass(frozen=True)
class Engine:
    """Where an engine lives, how it is asked, and what it takes."""

    module: str
    decide: Decide
    tries_one: bool = False
    has_solver: bool = False


def _optimal(instance: Instance, policy: Policy, options: Options) -> Decided:
    from cpsched.optimum.params import SolveParams
    from cpsched.optimum.solve import search

    params = SolveParams(
        time_limit=options.time_limit,
        workers=options.workers,
        seed=options.seed,
        deterministic=options.deterministic,
        prover=options.prover,
        log=options.log,
    )
    if options.export is not None:
        from cpsched.optimum.queries.export import write_model

        write_model(instance, policy, options.export)
    heuristic = _kube if policy.is_kube else _volcano
    solution, best = search(instance, policy, params, hint=lambda: heuristic(instance, policy, Options()).solution)
    return Decided(solution.model_copy(update={"versions": {"ortools": version("ortools")}}).with_own_proofs(), best)


def _volcano(instance: Instance, policy: Policy, options: Options) -> Decided:
    from cpsched.greedy.volcano import engine

    return Decided(engine.decide(instance, policy, engine.Options(seed=options.chance)))


def _kube(instance: Instance, policy: Policy, options: Options) -> Decided:
    from cpsched.greedy import kube

    given = kube.Options(only=options.only, seed=options.chance, pod_groups=options.pod_groups)
    return Decided(kube.decide(instance, policy, given))


def _external(name: str, instance: Instance, policy: Policy, options: Options) -> Decided:
    return Decided(external.decide(name, instance, policy, options))


ENGINES: dict[str, Engine] = {
    "optimal": Engine("cpsched.optimum.solve", _optimal, has_solver=True),
    "volcano": Engine("cpsched.greedy.volcano.engine", _volcano),
    "kube": Engine("cpsched.greedy.kube.engine", _kube, tries_one=True),
}
"""By name."""
DEFAULT = "optimal"
"""The engine that decides if none is named."""
MIRROR = "mirror"
"""Stands for the mirror of the scheduler that the model is made for: volcano or kube."""


def named_in(lists: Iterable[str]) -> list[str]:
    """The engines of lists such as `volcano,optimal`; exec:CMD takes the rest of its list, commas and all."""
    names: list[str] = []
    for text in lists:
        plain, prefix, command = text.partition(external.PREFIX)
        names += [name.strip() for name in plain.split(",") if name.strip()]
        names += [prefix + command] if prefix else []
    return names


def find(name: str) -> Engine:
    """The engine of that name; InputError for one that is unknown."""
    if name.startswith(external.PREFIX):
        return Engine("cpsched.external", partial(_external, name))
    if name not in ENGINES:
        near = get_close_matches(name, ENGINES, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"unknown engine {name}", right=f"{meant}known: {', '.join(ENGINES)}, {external.PREFIX}CMD")
    return ENGINES[name]


def run(name: str, instance: Instance, policy: Policy, options: Options) -> Solution:
    """The engine's solution, checked; to be stamped with the instance's hash before it leaves the program."""
    with few_collections():
        return decide(name, instance, policy, options).solution


def decide(name: str, instance: Instance, policy: Policy, options: Options) -> CheckedSolution:
    """The same together with the decision inside it, for callers that go on with it."""
    engine = find(name)
    if options.pod_groups:
        _refuse_pod_groups(name)
    if options.only is not None:
        _refuse_only(name, engine, instance, options.only)
    if not engine.has_solver:
        _refuse_solver_files(name, options)
    with few_collections():
        solution, decision = engine.decide(instance, policy, options)
        return examined(instance, policy, solution.model_copy(update={"seed": options.seed}), decision)


def _refuse_only(name: str, engine: Engine, instance: Instance, only: str) -> None:
    if not engine.tries_one:
        raise InputError(f"engine {name} does not try one pod alone", place="only", right="engine kube does")
    if only not in instance.tasks:
        near = get_close_matches(only, instance.tasks, n=1)
        right = f"did you mean {near[0]}?" if near else "a task is named namespace/pod"
        raise InputError(f"no task {only}", file=instance.file, place="only", right=right)


def _refuse_pod_groups(name: str) -> None:
    if name != "kube":
        raise InputError(f"engine {name} has no such gate", place="pod-groups", right="engine kube has")


def _refuse_solver_files(name: str, options: Options) -> None:
    for place, wanted in (("log", options.log), ("export", options.export)):
        if wanted is not None:
            raise InputError(f"engine {name} has no solver", place=place, right="engine optimal has")
