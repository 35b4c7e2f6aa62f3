"""kube-scheduler over a snapshot: every pending pod once, in queue order; mirrors `schedule_one.go` (ScheduleOne)."""

from __future__ import annotations

from cpsched.greedy.kube.choice import descending, rank, winner
from cpsched.greedy.kube.cycle import AttemptError, NodeSearch, search
from cpsched.greedy.kube.extenders import HttpExtender
from cpsched.greedy.kube.failure import fail, give_up, no_nodes
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.gang import Gang
from cpsched.greedy.kube.gang_cycle import attempt_gang, entries
from cpsched.greedy.kube.groups import Groups
from cpsched.greedy.kube.options import Options
from cpsched.greedy.kube.queue import admitted, in_order, not_admitted, profile_of, unplaced_tasks
from cpsched.greedy.kube.recording import record_verdicts
from cpsched.greedy.kube.report import Attempt, Run
from cpsched.greedy.kube.signature import signable
from cpsched.greedy.kube.snapshot import Snapshot
from cpsched.greedy.kube.world import World
from cpsched.greedy.outcomes import SAMPLES, Choices, First, Outcomes, Sampled, all_outcomes
from cpsched.instance import Instance, Task
from cpsched.policy.policy import Policy
from cpsched.solution import Eviction, Preemption, Solution, SolutionStatus


def decide(instance: Instance, policy: Policy, options: Options | None = None) -> Solution:
    """The scheduler's decision in the format of all engines."""
    options = options or Options()
    return _solution(instance, policy, replay(instance, policy, options), options.seed)


def outcomes(
    instance: Instance, policy: Policy, options: Options | None = None, *, most_runs: int = 2000, samples: int = SAMPLES
) -> Outcomes:
    """The decisions that chance in kube-scheduler can lead to."""

    def run(choices: Choices) -> Solution:
        return _solution(instance, policy, replay(instance, policy, options, choices), None)

    return all_outcomes(run, most_runs, samples)


def _solution(instance: Instance, policy: Policy, run: Run, seed: int | None) -> Solution:
    messages = {key: [reason] for key, reason in not_admitted(instance, policy.kube).items()}
    messages |= {attempt.pod: [attempt.message] for attempt in run.attempts if attempt.message}
    return Solution(
        engine="kube",
        model=policy.name,
        status=SolutionStatus.HEURISTIC,
        binds=run.binds,
        pipelined={a.pod: a.nominated for a in run.attempts if run.nominations.get(a.pod) == a.nominated != ""},
        evictions=tuple(
            Eviction(task=victim, node=node, action="preempt", for_job=_served(instance, run, preemptor, node))
            for victim, node, preemptor in run.evictions
        ),
        preemptions=tuple(
            Preemption(
                task=a.pod,
                node=a.chosen.node,
                victims=a.chosen.victims,
                pdb_violations=a.chosen.pdb_violations,
                true_pdb_violations=a.chosen.true_violations,
            )
            for a in run.attempts
            if a.chosen is not None and a.nominated
        ),
        nominations=run.nominations,
        unplaced={key: messages.get(key, []) for key in run.unplaced},
        seed=seed,
    )


def _served(instance: Instance, run: Run, preemptor: str, node: str) -> str:
    """The pod that gets the room; where a group preempts, its first member that waits on that node, if there is one."""
    if preemptor in instance.tasks:
        return preemptor
    for attempt in run.attempts:
        group = instance.tasks[attempt.pod].pod.spec.scheduling_group
        if attempt.nominated == node and f"{instance.tasks[attempt.pod].namespace}/{group.pod_group_name}" == preemptor:
            return attempt.pod
    return ""


def replay(instance: Instance, policy: Policy, options: Options | None = None, choices: Choices | None = None) -> Run:
    """What the scheduler does with each pod, as it would be recorded; `choices` come before the options' seed."""
    options = options or Options()
    conf = policy.kube
    if choices is None:
        choices = First() if options.seed is None else Sampled(options.seed)
    world, frameworks = open_world(instance, policy, options, choices)
    run = Run()
    queue = admitted(instance, conf)
    _take_nominations(world, queue)
    tried = [task for task in in_order(queue, world.choices) if options.only in (None, task.key)]
    for entry in entries(tried, world.groups, instance):
        first = entry.tasks[0] if isinstance(entry, Gang) else entry
        profile = profile_of(first, conf)
        assert profile is not None
        framework = frameworks[profile.scheduler_name]
        world.cycle += 1
        if isinstance(entry, Gang):
            run.attempts += attempt_gang(world, framework, entry, run)
        else:
            run.attempts.append(_attempt(world, framework, entry, run))
    waiting = [task.key for task in unplaced_tasks(instance) if task.key not in run.binds]
    run.unplaced = waiting
    run.nominations = {key: world.nominated[key] for key in waiting if key in world.nominated}
    return run


def open_world(
    instance: Instance, policy: Policy, options: Options, choices: Choices | None = None
) -> tuple[World, dict[str, Framework]]:
    """The scheduler before its first cycle, and its profiles by scheduler name."""
    choices = choices or First()
    conf = policy.kube
    world = World(
        instance,
        conf.version,
        options,
        Snapshot(instance, choices),
        tuple(HttpExtender(extender) for extender in conf.extenders),
        groups=Groups.of(instance) if options.pod_groups else None,
        choices=choices,
    )
    return world, {profile.scheduler_name: Framework.of(profile, conf.version) for profile in conf.profiles}


def _take_nominations(world: World, queue: list[Task]) -> None:
    """Nominations that the pods bring along; the nominator hears only of pods that enter the queue."""
    for task in unplaced_tasks(world.instance):
        if task.pod.status.nominated_node_name:
            world.nominated[task.key] = task.pod.status.nominated_node_name
    for task in queue:
        if task.key in world.nominated:
            world.nominator.put(task, world.nominated[task.key])


def _attempt(world: World, framework: Framework, task: Task, run: Run) -> Attempt:
    attempt = Attempt(task.key)
    if task.pod.metadata.deletion_timestamp is not None:
        attempt.result, attempt.requeue = "skipped", "nowhere"
        world.nominator.forget_spec(task)
        return attempt
    if not world.snapshot.nodes:
        no_nodes(world, task, attempt)
        return attempt
    try:
        found = search(world, framework, task)
        if found.feasible:
            _bind(world, framework, task, found, attempt)
            run.binds[task.key] = attempt.node
        else:
            evicted = fail(world, framework, task, found, attempt)
            run.evictions += [(victim.key, attempt.nominated, task.key) for victim in evicted]
    except AttemptError as error:
        give_up(world, task, str(error), attempt)
    return attempt


def _bind(world: World, framework: Framework, task: Task, found: NodeSearch, attempt: Attempt) -> None:
    """Take the best node and put the pod there."""
    batch = world.batch(framework)
    attempt.result = "bound"
    names = [world.snapshot.names[place] for place in found.feasible]
    if world.options.record:
        record_verdicts(world, framework, task, found, attempt)
    else:
        attempt.feasible = tuple(names)
    if len(names) == 1:
        lonely = found.via == "hint" and world.options.record and len(attempt.feasible) == 1
        attempt.node, attempt.via = names[0], "only" if lonely else found.via or "only"
        batch.store(world, framework, task, attempt.node, found.hint, [])
    else:
        ranking = rank(world, framework, task, found)
        total, choices = ranking.total, world.choices
        order = descending(total, choices) if signable(task, framework) else [winner(total, choices)]
        attempt.node, attempt.via = names[order[0]], "score"
        batch.store(world, framework, task, attempt.node, found.hint, [names[place] for place in order[1:]])
    _reserve(world, framework, task, found, attempt.node)
    world.nominator.drop(task.key)
    world.nominated.pop(task.key, None)
    world.snapshot.add(task, attempt.node)


def _reserve(world: World, framework: Framework, task: Task, found: NodeSearch, name: str) -> None:
    """Book volumes and devices."""
    node = world.snapshot.cluster.nodes[name]
    for one in framework.filters:
        if one.reserve is not None and one.name not in found.pre.skipped:
            one.reserve(found.pre.states.get(one.name), task, node, world.snapshot.cluster)
