"""Requirements: what stands between a job and its place, each under the key of the rule it belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from cpsched.amounts import shown
from cpsched.explanation.domains import shortest_of_domains
from cpsched.explanation.entering import entering_lines
from cpsched.explanation.groups import SMALL, NodeGroup, Shortage
from cpsched.explanation.obstacles import summary
from cpsched.filters import FILTERS
from cpsched.instance import HOLDS_ROOM
from cpsched.policy.policy import GANG_ACTIONS, AnyAction, Policy
from cpsched.snapshot import SessionJob, Snapshot

STATE = "state"
"""Subject of the requirement that a queue be Open, behind the queue's name."""

ACTIONS = ("enqueue", "allocate", "preempt", "reclaim", "backfill")


@dataclass(frozen=True)
class Requirement:
    """One thing that can be lifted by itself; docs/explain.md says for every key what lifting it means."""

    key: str
    subject: str = ""
    """capacity: a resource. filters: a filter. queue: name/resource or name/state. gang: the job."""
    nodes: tuple[str, ...] = ()
    """The nodes for which it is lifted; none named means all."""
    text: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        """The key and whom it is about, as a heading."""
        about = f"{self.key}: {self.subject}" if self.subject else self.key
        return f"{about} on {named(self.nodes)}" if self.nodes else about


def named(nodes: Sequence[str], most: int = 3) -> str:
    """A few nodes by name, many by number."""
    if len(nodes) <= most:
        return ", ".join(nodes)
    return f"{len(nodes)} nodes ({', '.join(nodes[:most])}, ...)"


def requirements_of(snapshot: Snapshot, job: SessionJob, groups: Sequence[NodeGroup]) -> list[Requirement]:
    """Everything that may keep the job out, what is most telling first."""
    return [
        *_capacity(snapshot, job, groups),
        *_filters(snapshot, job, groups),
        *_node_rules(snapshot, groups),
        *_near(snapshot, job),
        *_gang(snapshot, job),
        *_queue(snapshot, job),
        *_entering(snapshot, job),
        *_evicting(snapshot, job),
    ]


def _capacity(snapshot: Snapshot, job: SessionJob, groups: Sequence[NodeGroup]) -> Iterator[Requirement]:
    asked = sorted({name for task in job.pending for name, amount in task.requests.items() if amount > 0})
    ordered = sorted(asked, key=lambda name: (name == "pods", name))
    never = [name for name in ordered if groups and all(_is_too_small(group, name) for group in groups)]
    for name in never:
        largest = max((one for group in groups for one in group.shortages if one.resource == name), key=_size)
        yield Requirement("capacity", name, _all_nodes(groups), largest.text)
    for name in ordered:
        for group in groups if name not in never else ():
            free = sum(max(0, snapshot.idle[node].get(name, 0)) for node in group.nodes)
            text = group.shortage(name) or f"enough {name} for one task, {shown(name, free)} free in all"
            yield Requirement("capacity", name, group.nodes, text)


def _filters(snapshot: Snapshot, job: SessionJob, groups: Sequence[NodeGroup]) -> Iterator[Requirement]:
    everywhere = {name: words for name, words in _words(groups).items() if words.total() == len(groups)}
    for name, words in everywhere.items():
        if FILTERS[name].is_static:
            yield Requirement("filters", name, _all_nodes(groups), "; ".join(words))
    for group in groups:
        for name, reasons in group.refusals:
            if name not in everywhere:
                yield Requirement("filters", name, group.nodes, ", ".join(reasons))
    if snapshot.predicates.any_dynamic:
        names = dict.fromkeys(name for task in job.pending for name in snapshot.predicates.names(task))
        for name in names:
            if not FILTERS[name].is_static:
                text = "; ".join(everywhere.get(name, ())) or "what other pods and volumes leave it"
                yield Requirement("filters", name, (), text)


def _node_rules(snapshot: Snapshot, groups: Sequence[NodeGroup]) -> Iterator[Requirement]:
    """Each plugin's rule about nodes that is in force, with whom it refuses at once."""
    for key in snapshot.node_rules:
        reasons: dict[str, int] = {}
        for group in groups:
            for reason in (reason for rule, reason in group.barred if rule == key):
                reasons[reason] = reasons.get(reason, 0) + len(group.nodes)
        listed = "; ".join(f"{reason} ({count} nodes)" for reason, count in reasons.items())
        yield Requirement(key, "", (), listed or TOGETHER[key])


TOGETHER: dict[str, str] = {
    "nodegroup": "its queue's limit in the node group",
    "cards": "what other pods leave of every single card",
    "numa": "the free CPUs of every single NUMA node",
    "usage": "the measured load of the nodes",
}
"""What a rule about nodes can still refuse where it refuses no node by itself."""


def _words(groups: Sequence[NodeGroup]) -> dict[str, Counter[str]]:
    """Per filter what it says of the groups that it refuses, and of how many."""
    found: dict[str, Counter[str]] = {}
    for group in groups:
        for name, reasons in (*group.refusals, *group.objections):
            found.setdefault(name, Counter())[", ".join(reasons)] += 1
    return found


def _all_nodes(groups: Sequence[NodeGroup]) -> tuple[str, ...]:
    return tuple(node for group in groups for node in group.nodes)


def _is_too_small(group: NodeGroup, resource: str) -> bool:
    return any(one.resource == resource and one.state == SMALL for one in group.shortages)


def _size(one: Shortage) -> float:
    return one.size


def _gang(snapshot: Snapshot, job: SessionJob) -> Iterator[Requirement]:
    least = job.ready + 1
    if snapshot.policy.plugin("gang") is None and not snapshot.policy.requires_gangs:
        return
    if job.min_available > least or job.roles_count or job.sub_groups is not None:
        minima = ", ".join(f"{minimum} {role}" for role, minimum in sorted(job.min_by_role.items()))
        roles = f", of them {minima}" if job.roles_count else ""
        roles += _of_sub_groups(job)
        text = f"minAvailable {job.min_available}{roles}; {job.ready} running, {len(job.pending)} could be placed"
        yield Requirement("gang", job.key, (), text)


def _of_sub_groups(job: SessionJob) -> str:
    """How many of its sub-groups must be complete, and how large the largest is."""
    if job.sub_groups is None:
        return ""
    size = max(group.min_available for group in job.sub_groups.groups)
    return f", at least {sum(job.sub_groups.minima.values())} sub-groups, each of up to {size}"


def _near(snapshot: Snapshot, job: SessionJob) -> Iterator[Requirement]:
    """That its tasks, or those of a sub-group, lie in one HyperNode, and which of these are too small."""
    nearness = snapshot.nearness
    if nearness.is_barred(job.key):
        yield Requirement("topology.job", "", (), "the tree of HyperNodes is not usable")
        return
    texts: dict[str, list[str]] = {}
    for unit in nearness.units.get(job.key, ()):
        if nearness.limit_of(unit) is not None:
            key = "topology.subgroup" if unit.is_sub_group else "topology.job"
            texts.setdefault(key, []).append(shortest_of_domains(snapshot, job, unit))
    for key, lines in texts.items():
        yield Requirement(key, "", (), "; ".join(dict.fromkeys(lines)))


def _queue(snapshot: Snapshot, job: SessionJob) -> Iterator[Requirement]:
    if job.queue is None:
        return
    if snapshot.shares_refused:
        yield Requirement("deserved", job.queue, (), snapshot.shares_refused)
    if not snapshot.policy.limits_queues:
        return
    if not snapshot.instance.queues[job.queue].is_open:
        state = snapshot.instance.queues[job.queue].queue.status.state
        yield Requirement("queue", f"{job.queue}/{STATE}", (), f"queue {job.queue} is {state}")
    if job.queue not in snapshot.shares:
        return
    kind = "deserved share" if snapshot.policy.share_plugin == "proportion" else "capability"
    asked = {name for task in job.pending for name, amount in task.requests.items() if amount > 0 and name != "pods"}
    for queue in (job.queue, *reversed(snapshot.shares[job.queue].ancestors)):
        share = snapshot.shares[queue]
        limit = share.deserved if kind == "deserved share" else share.real_capability
        for name in sorted(asked):
            held, most = shown(name, share.allocated.get(name, 0)), shown(name, limit.get(name, 0))
            yield Requirement("queue", f"{queue}/{name}", (), f"queue {queue} holds {held} of its {kind} of {most}")


def _entering(snapshot: Snapshot, job: SessionJob) -> Iterator[Requirement]:
    policy = snapshot.policy
    if job.is_pending and policy.pending_jobs_enter != "freely":
        lines = entering_lines(snapshot, job) if policy.pending_jobs_enter == "enqueue" else []
        why = "; ".join(lines) or "its PodGroup is Pending"
        yield Requirement("enqueue", job.key, (), why)
    missing = [name for name in ACTIONS if not policy.is_kube and not policy.has_action(name)]
    if missing:
        yield Requirement("actions", "", (), f"not configured: {', '.join(missing)}")


def _evicting(snapshot: Snapshot, job: SessionJob) -> Iterator[Requirement]:
    policy = snapshot.policy
    if not any(task.status in HOLDS_ROOM for task in snapshot.instance.tasks.values()):
        return
    yield Requirement("eviction", "", (), summary(snapshot, job.pending[0], snapshot.instance.nodes))
    actions: list[AnyAction] = ["preempt", "reclaim", *filter(policy.evicts, sorted(GANG_ACTIONS))]
    for key, (is_in_force, text) in PROTECTIONS.items():
        if any(is_in_force(policy, action) for action in actions):
            yield Requirement(key, "", (), text)
    if policy.rules.charge == "on":
        yield Requirement("charge", "", (), "room belongs to those who had a right to it")


PROTECTIONS: dict[str, tuple[Callable[[Policy, AnyAction], bool], str]] = {
    "protect.gang": (lambda policy, action: policy.gang_protects(action) != "off", "running gangs keep their minimum"),
    "protect.conformance": (
        lambda policy, action: policy.conformance_protects(action),
        "critical pods are never evicted",
    ),
    "protect.cooldown": (
        lambda policy, action: policy.cooldown_protects(action),
        "pods that started a short while ago are not evicted",
    ),
    "protect.pdb": (lambda policy, action: policy.pdb_protects(action) == "hard", "disruption budgets hold"),
    "protect.guarantee": (lambda policy, action: policy.guarantee_protects(action), "queues keep their guarantee"),
}
"""Rule that protects victims → whether it is in force for an action, and what it says."""

LIFTED = (
    "capacity",
    "filters",
    *TOGETHER,
    "topology.job",
    "topology.subgroup",
    "gang",
    "queue",
    "deserved",
    "enqueue",
    "actions",
    "eviction",
    "charge",
    *PROTECTIONS,
)
"""Rules that requirements are stated of. A new rule belongs here or into NEVER_LIFTED: else conflicts and counts of
permitted evictions leave it out, and what is stated of them is wrong."""

NEVER_LIFTED = ("assignment",)
"""Rules that no change of a cluster can lift."""
