"""What the scheduler did not need to know, worked out for the report on the cluster as it was."""

from __future__ import annotations

from cpsched.greedy.kube.candidates import find_candidates
from cpsched.greedy.kube.choice import Ranking, rank
from cpsched.greedy.kube.cycle import NodeSearch
from cpsched.greedy.kube.dry_run import DryRun
from cpsched.greedy.kube.filtering import filter_all
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.preemption import ineligible, potential_nodes
from cpsched.greedy.kube.report import Attempt, PreemptionCandidate
from cpsched.greedy.kube.statuses import NodeStatuses
from cpsched.greedy.kube.victims import Victims
from cpsched.greedy.kube.world import World
from cpsched.instance import Task


def record_verdicts(world: World, framework: Framework, task: Task, found: NodeSearch, attempt: Attempt) -> None:
    """Every node's verdict and score, also where the scheduler stopped at a promised node."""
    verdicts = filter_all(world, framework, task, found.pre)
    allowed = found.pre.nodes
    everywhere = NodeSearch(found.pre, bare=found.bare)
    failed = {}
    for node, code in zip(world.snapshot.nodes, verdicts.codes.tolist(), strict=True):
        if allowed is not None and node.name not in allowed:
            failed[node.name] = found.pre.outside
        elif code:
            failed[node.name] = verdicts.table[code]
        else:
            everywhere.feasible.append(node.index)
    attempt.failed = failed
    attempt.feasible = tuple(world.snapshot.nodes[place].name for place in everywhere.feasible)
    if len(everywhere.feasible) > 1:
        record_scores(world, everywhere, rank(world, framework, task, everywhere), attempt)


def record_scores(world: World, found: NodeSearch, ranking: Ranking, attempt: Attempt) -> None:
    """Scores per node and plugin, and the best nodes."""
    names = [world.snapshot.nodes[place].name for place in found.feasible]
    attempt.scores = {
        name: {**{part: int(scores[at]) for part, scores in ranking.parts.items()}, "total": int(ranking.total[at])}
        for at, name in enumerate(names)
    }
    attempt.best = tuple(names[at] for at in ranking.best())


def record_preemption(dry: DryRun, statuses: NodeStatuses, attempt: Attempt) -> None:
    """Whether the pod may preempt, and all candidates either way."""
    attempt.ineligible_reason = ineligible(dry.world, dry.task, statuses)
    attempt.eligible = not attempt.ineligible_reason
    nodes = potential_nodes(dry, statuses)
    found = find_candidates(dry, nodes, 0, len(nodes) + 1)
    attempt.candidates = tuple(candidate(dry.world, name, found.victims[name]) for name in sorted(found.victims))
    attempt.dry_run_failed = found.statuses.explicit


def candidate(world: World, node: str, victims: Victims) -> PreemptionCandidate:
    """A candidate with both counts of broken budgets; pods that are going anyway break none."""
    keys = tuple(task.key for task in victims.tasks)
    staying = [task for task in victims.tasks if task.pod.metadata.deletion_timestamp is None]
    return PreemptionCandidate(node, keys, victims.violations, world.budgets.true_violations(staying))
