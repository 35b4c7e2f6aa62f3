"""The Volcano engine: one session from an instance and a policy to a Solution."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.collector import without_collector
from cpsched.greedy.outcomes import SAMPLES, Choices, First, Outcomes, Sampled, all_outcomes
from cpsched.greedy.volcano.actions import ACTIONS
from cpsched.greedy.volcano.closing import crashes, nominations, phases, task_messages, unplaced
from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder
from cpsched.greedy.volcano.plugins import PLUGINS
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.trace import SessionTrace
from cpsched.instance import Instance
from cpsched.policy import Policy
from cpsched.solution import Solution

ENGINE = "volcano"


@dataclass(frozen=True)
class Options:
    """How to replay: which of upstream's random choices to take, and what to trace.

    Without a seed the choices are the mirror's own; `fast=False` takes the plain path through every node. `brief`
    tells as much of the trace as the fast path comes by: whom it placed and cleared room for, not where it failed.
    """

    seed: int | None = None
    trace: bool = False
    brief: bool = False
    fast: bool = True


@dataclass(frozen=True)
class Replay:
    """A decision with what the scheduler says about it."""

    solution: Solution
    messages: dict[str, str]
    """job → text of its Unschedulable condition."""
    task_messages: dict[str, str]
    """waiting task of such a job → reason, text and nominated node."""
    trace: tuple[str, ...] = ()


def decide(instance: Instance, policy: Policy, options: Options | None = None) -> Solution:
    """What Volcano decides."""
    return replay(instance, policy, options).solution


def replay(instance: Instance, policy: Policy, options: Options | None = None) -> Replay:
    """One session, with messages and trace."""
    options = options or Options()
    return _run(instance, policy, First() if options.seed is None else Sampled(options.seed), options)


def outcomes(instance: Instance, policy: Policy, *, most_runs: int = 2000, samples: int = SAMPLES) -> Outcomes:
    """The decisions that Volcano's random choices can lead to."""
    return all_outcomes(
        lambda choices: _run(instance, policy, choices, Options()).solution, most_runs=most_runs, samples=samples
    )


def _run(instance: Instance, policy: Policy, choices: Choices, options: Options) -> Replay:
    trace = SessionTrace(wanted=options.trace, brief=options.brief)
    with without_collector():
        return _session(instance, policy, choices, options, trace)


def _session(instance: Instance, policy: Policy, choices: Choices, options: Options, trace: SessionTrace) -> Replay:
    session = Session(instance, policy, choices, trace)
    session.open(PLUGINS)
    if options.fast and _fast_shards(instance):
        session.bulk_finder = BulkFinder.over(session)
    for name in policy.volcano.actions:
        ACTIONS[name](session)
    session.close()
    return Replay(_solution(session, options), session.messages, task_messages(session), tuple(trace.lines))


def _fast_shards(instance: Instance) -> bool:
    return instance.sharding is None or instance.sharding.mode == "none"


def _solution(session: Session, options: Options) -> Solution:
    held = {status: _placed(session, status) for status in (Status.ALLOCATED, Status.PIPELINED)}
    failing = {key for key in session.bound if session.tasks[key].bind_fails}
    return Solution(
        engine=ENGINE,
        model=session.policy.name,
        binds={key: node for key, node in session.bound.items() if key not in failing},
        allocated=held[Status.ALLOCATED],
        pipelined=held[Status.PIPELINED],
        evictions=tuple(session.evictions.values()),
        nominations=nominations(session),
        phases=phases(session),
        unplaced=unplaced(session, failing),
        seed=options.seed,
        notes=crashes(session),
    )


def _placed(session: Session, status: Status) -> dict[str, str]:
    return {key: task.node for job in session.jobs.values() for key, task in job.by_status[status].items()}
