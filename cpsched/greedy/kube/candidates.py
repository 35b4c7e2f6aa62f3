"""Nodes that preemption can use, and the best of them; mirrors `preemption/preemption.go`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cpsched.filters.status import Code, Status
from cpsched.greedy.kube.dry_run import DryRun, select_victims
from cpsched.greedy.kube.statuses import NodeStatuses
from cpsched.greedy.kube.victims import Victims
from cpsched.greedy.outcomes import Choices
from cpsched.policy.kube_args import DefaultPreemptionArgs


@dataclass
class DryRuns:
    """Candidates in the order in which they were found, and why the other nodes are none."""

    victims: dict[str, Victims] = field(default_factory=dict)
    statuses: NodeStatuses = field(default_factory=NodeStatuses)
    errors: list[str] = field(default_factory=list)


def candidates_wanted(nodes: int, args: DefaultPreemptionArgs) -> int:
    """How many candidates are enough."""
    share = nodes * args.min_candidate_nodes_percentage // 100
    return min(max(share, args.min_candidate_nodes_absolute), nodes)


def find_candidates(dry: DryRun, nodes: Sequence[str], offset: int, wanted: int) -> DryRuns:
    """Dry runs from the offset on, until there are enough and one of them breaks no budget."""
    found = DryRuns()
    kept: dict[bool, dict[str, Victims]] = {False: {}, True: {}}
    for step in range(len(nodes)):
        name = nodes[(offset + step) % len(nodes)]
        answer = (dry.select or select_victims)(dry, dry.world.snapshot.cluster.nodes[name])
        if isinstance(answer, Victims) and answer.tasks:
            same = kept[answer.violations > 0]
            # A list that is full takes no more, though the search may have to go on.
            if len(same) < wanted:
                same[name] = answer
            if kept[False] and len(kept[False]) + len(kept[True]) >= wanted:
                break
            continue
        status = answer if isinstance(answer, Status) else _no_victim(name)
        if status.code is Code.ERROR:
            found.errors.append(", ".join(status.reasons))
        found.statuses.explicit[name] = status
    found.victims = {**kept[False], **kept[True]}
    return found


def pick_one(
    victims: Mapping[str, Victims], levels: Iterable[Callable[[str], int]] = (), choices: Choices | None = None
) -> str:
    """The best candidate, level by level; the last tie is upstream's chance, and without choices the first name wins.

    `levels` replace the scheduler's own, as a plugin's OrderedScoreFuncs do.
    """
    own = tuple(levels)
    values = {name: tuple(level(name) for level in own) if own else one.levels for name, one in victims.items()}
    best = max(values.values())
    equal = sorted(name for name, value in values.items() if value == best)
    return equal[0 if choices is None else choices.pick(len(equal))]


def _no_victim(node: str) -> Status:
    return Status(Code.ERROR, (f'expected at least one victim pod on node "{node}"',))
