"""Who may leave the phase Pending: the limits that overcommit and queue quota set, and sla's way around them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from cpsched.amounts import shown
from cpsched.objects.quota import ResourceQuota
from cpsched.policy import PluginConf
from cpsched.policy.durations import nanoseconds
from cpsched.quantity import nano
from cpsched.resources import Vector
from cpsched.shares import Exact
from cpsched.snapshot.jobs import SessionJob
from cpsched.snapshot.queues import cluster_total, held, without_gated

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot

Parts = tuple[tuple[str, Mapping[str, Exact]], ...]


@dataclass(frozen=True)
class Limit:
    """What one plugin leaves for jobs that enter; `queue` None counts every job, else those of the queue's branch."""

    plugin: str
    left: Mapping[str, Exact]
    queue: str | None = None
    parts: Parts = field(default=(), compare=False, repr=False)
    """What `left` is the sum of, with its signs."""

    @property
    def owner(self) -> str:
        """Who sets the limit, in words."""
        return self.plugin if self.queue is None else f"queue {self.queue} ({self.plugin})"

    def asked(self, job: SessionJob) -> Mapping[str, int]:
        """What the limit looks at of the job's stated minimum."""
        return asked(job)

    def promise(self, job: SessionJob) -> Mapping[str, float]:
        """What the job takes of it when it enters."""
        return promise(job)

    def shown(self, name: str, amount: Exact) -> str:
        """An amount for a user to read."""
        return shown(name, amount)

    def counts(self, snapshot: Snapshot, job: SessionJob) -> bool:
        """Whether the job's minimum is taken from this limit."""
        if self.queue is None or job.queue is None:
            return True
        share = snapshot.shares.get(job.queue)
        return self.queue == job.queue or (share is not None and self.queue in share.ancestors)


@dataclass(frozen=True)
class QuotaLimit(Limit):
    """What a ResourceQuota leaves, in billionths, under the names that it uses."""

    quota: str = ""
    namespace: str = ""

    @property
    def owner(self) -> str:
        """The quota."""
        return f"ResourceQuota {self.namespace}/{self.quota}"

    def asked(self, job: SessionJob) -> Mapping[str, int]:
        """What the job states under names that the quota limits, of nothing as well."""
        return {name: amount for name, amount in stated_minimum(job).items() if name in self.left}

    def promise(self, job: SessionJob) -> Mapping[str, float]:
        """All that it states."""
        return stated_minimum(job)

    def shown(self, name: str, amount: Exact) -> str:
        """An amount for a user to read."""
        if name.endswith(("memory", "storage")):
            return shown("memory", Fraction(amount) / 10**9)
        return shown("cpu", Fraction(amount) / 10**6)

    def counts(self, snapshot: Snapshot, job: SessionJob) -> bool:
        """Whether the job is of the quota's namespace."""
        return job.group is not None and job.group.group.metadata.namespace == self.namespace


def stated_minimum(job: SessionJob) -> dict[str, int]:
    """The minimum as its PodGroup writes it, in billionths: under any name, not only such as nodes have."""
    stated = None if job.group is None else job.group.group.spec.min_resources
    return {name: nano(amount) for name, amount in (stated or {}).items()}


def may_enter(snapshot: Snapshot, job: SessionJob) -> bool:
    """Whether a Pending job could enter if no other did."""
    how = snapshot.policy.pending_jobs_enter
    return how == "freely" or (how == "enqueue" and not refusal(snapshot, job, [job]))


def refusal(snapshot: Snapshot, job: SessionJob, entering: Collection[SessionJob]) -> tuple[str, ...]:
    """Why the job may not enter together with `entering`: plugin and resources; empty if it may.

    Whichever of the entering jobs asks for a resource last sees all the others' minima, so the sums decide, whatever
    the order.
    """
    for limit in decisive_limits(snapshot, job):
        others = [other for other in entering if other is not job and limit.counts(snapshot, other)]
        short = [
            name
            for name, amount in limit.asked(job).items()
            if amount + sum(limit.promise(other).get(name, 0) for other in others) > limit.left.get(name, 0)
        ]
        if short:
            return (limit.plugin, *short)
    return ()


def asked(job: SessionJob) -> dict[str, int]:
    """The resources of its stated minimum that the limits look at."""
    return {name: amount for name, amount in (job.min_resources or {}).items() if amount > 0 and name != "pods"}


def promise(job: SessionJob) -> dict[str, float]:
    """What a job that enters takes from the limits of others."""
    return without_gated(job, job.min_resources) if job.min_resources else {}


def decisive_limits(snapshot: Snapshot, job: SessionJob) -> list[Limit]:
    """The limits of the first tier in which a plugin votes; sla permits once the job has waited long enough.

    A tier in which a plugin permits and none refuses ends the vote, and none of those with limits abstains.
    """
    if job.min_resources is None:
        return []
    for tier in snapshot.policy.volcano.tiers:
        voters = [plugin for plugin in tier if plugin.on("enableJobEnqueued")]
        limits = [
            limit for plugin in voters if plugin.name in LIMITS for limit in LIMITS[plugin.name](snapshot, plugin, job)
        ]
        if limits or any(_permits(snapshot, plugin, job) for plugin in voters):
            return limits
    return []


def _overcommit(snapshot: Snapshot, plugin: PluginConf, job: SessionJob) -> list[Limit]:
    stated = plugin.arguments.number("overcommit-factor")
    factor: Exact = Fraction(str(stated)) if isfinite(stated) else stated
    size = {name: amount * factor for name, amount in cluster_total(snapshot.instance).items()}
    tasks = [task.requests for tasks in snapshot.instance.tasks_by_node.values() for task in tasks]
    used, promised = _negative(tasks), _negative(map(_overcommitted, snapshot.jobs.values()))
    parts = ((f"as {stated:g} times the cluster", size), ("in use", used), ("promised to jobs that entered", promised))
    return [_limit("overcommit", None, parts)]


def _limit(plugin: str, queue: str | None, parts: Parts) -> Limit:
    left: dict[str, Exact] = {}
    for _, vector in parts:
        for name, amount in vector.items():
            left[name] = left.get(name, 0) + amount
    return Limit(plugin, left, queue, parts)


def _negative(vectors: Iterable[Vector]) -> dict[str, Exact]:
    """The sum of what is taken."""
    total: dict[str, Exact] = {}
    for vector in vectors:
        for name, amount in vector.items():
            total[name] = total.get(name, 0) - amount
    return total


def _overcommitted(job: SessionJob) -> dict[str, float]:
    if job.min_resources is None:
        return {}
    if job.phase == "Inqueue":
        return promise(job)
    if job.phase == "Running" and job.holding >= job.min_available:
        own = held(job)
        return {name: max(0, amount - own.get(name, 0)) for name, amount in job.min_resources.items()}
    return {}


def _quota(snapshot: Snapshot, plugin: PluginConf, job: SessionJob) -> list[Limit]:
    if plugin.name != snapshot.policy.share_plugin or job.queue is None:
        return []
    share = snapshot.shares.get(job.queue)
    if share is None or not snapshot.instance.queues[job.queue].is_open:
        return [Limit(plugin.name, dict.fromkeys(asked(job), -1), job.queue)]
    limits = []
    for name in (job.queue, *share.ancestors):
        one = snapshot.shares[name]
        limited = one.real_capability.keys()
        parts = (
            ("that it may hold", one.real_capability),
            ("held", {r: -amount for r, amount in one.allocated.items() if r in limited}),
            ("promised to jobs that entered", {r: -amount for r, amount in one.inqueue.items() if r in limited}),
            ("held beyond minima", {r: amount for r, amount in one.elastic.items() if r in limited}),
        )
        limits.append(_limit(plugin.name, name, parts))
    return limits


def _resource_quota(snapshot: Snapshot, plugin: PluginConf, job: SessionJob) -> list[Limit]:
    """Every quota of the job's namespace, by what its controller says of it."""
    namespace = "" if job.group is None else job.group.group.metadata.namespace
    quotas = [one for one in snapshot.instance.of_kind(ResourceQuota) if one.metadata.namespace == namespace]
    return [_quota_limit(quota) for quota in quotas]


def _quota_limit(quota: ResourceQuota) -> QuotaLimit:
    hard = {name: nano(amount) for name, amount in quota.status.hard.items()}
    used = {name: -nano(amount) for name, amount in quota.status.used.items() if name in hard}
    left = {name: amount + used.get(name, 0) for name, amount in hard.items()}
    parts: Parts = (("allowed", hard), ("in use", used))
    return QuotaLimit("resourcequota", left, None, parts, quota.metadata.name, quota.metadata.namespace)


LIMITS: dict[str, Callable[[Snapshot, PluginConf, SessionJob], list[Limit]]] = {
    "overcommit": _overcommit,
    "proportion": _quota,
    "capacity": _quota,
    "resourcequota": _resource_quota,
}


def _permits(snapshot: Snapshot, plugin: PluginConf, job: SessionJob) -> bool:
    """Whether the plugin lets the job in without a limit: sla after a while, resourcequota where there is no quota."""
    return plugin.name == "resourcequota" or (plugin.name == "sla" and _has_waited(snapshot, plugin, job))


def _has_waited(snapshot: Snapshot, plugin: PluginConf, job: SessionJob) -> bool:
    wait = plugin.arguments.nanoseconds("sla-waiting-time")
    if job.sla_waiting_time is not None:
        try:
            wait = nanoseconds(job.sla_waiting_time)
        except ValueError:
            wait = None
    return wait is not None and snapshot.now - job.created >= wait
