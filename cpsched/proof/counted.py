"""What is counted: tasks, jobs, victims and nodes that no row tells apart are one, represented by how many there are.

Nothing rests on their being interchangeable. Every variable is a count over the members, and every row is the sum of
what holds of each member, so the rows hold of whatever is counted. How finely it is counted decides how much they say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import floor, gcd

from cpsched.instance import HOLDS_ROOM, Status, Task
from cpsched.proof.forms import Form
from cpsched.rules.protections import covers
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.enqueue import stated_minimum
from cpsched.snapshot.rights import Action, is_above_share_now

ACTIONS: tuple[Action, ...] = ("preempt", "reclaim")


@dataclass(frozen=True)
class PendingKind:
    """Pending tasks that are counted together."""

    name: str
    tasks: tuple[Task, ...]
    nodes: frozenset[str]
    """Where no static filter refuses them."""
    may_bind: bool
    may_reserve: bool

    @property
    def task(self) -> Task:
        """Any one of them."""
        return self.tasks[0]


@dataclass(frozen=True)
class Jobs:
    """Jobs that are counted together; those with tasks at work stand alone."""

    name: str
    keys: tuple[str, ...]
    job: SessionJob
    kinds: dict[int, int]
    """Per kind how many tasks one of them has."""


@dataclass(frozen=True)
class Place:
    """A node, or nodes that are counted together."""

    name: str
    nodes: tuple[str, ...]
    kinds: tuple[int, ...]
    """Kinds that may be there."""
    idle: dict[str, int]
    """Of one node, in units; so is the next."""
    future: dict[str, int]


@dataclass(frozen=True)
class Victims:
    """Tasks at one place that are counted together as victims; `job` where a row asks whose they are."""

    name: str
    place: int
    tasks: tuple[Task, ...]
    job: SessionJob
    rights: dict[Action, tuple[int, ...]]
    """Per action the kinds that may evict them, were they placed beside them."""
    most: int
    """How many of them can go, on all nodes of the place."""
    most_on_node: int

    @property
    def task(self) -> Task:
        """Any one of them."""
        return self.tasks[0]


class CountedSession:
    """A session, counted."""

    def __init__(self, snapshot: Snapshot, form: Form):
        self.snapshot, self.form = snapshot, form
        self.everywhere = snapshot.policy.rules.eviction_scope == "cluster"
        self.unit = _units(snapshot)
        self.waiting = sorted(
            (job for job in snapshot.jobs.values() if job.pending and snapshot.takes_part(job)), key=lambda job: job.key
        )
        self.kinds, self.kind_of = self._kinds()
        self.jobs = self._jobs()
        self.jobs_of = {key: number for number, jobs in enumerate(self.jobs) for key in jobs.keys}
        groups = list(self._victims_by_node())
        self.places, by_place = self._places(dict(groups))
        self.place_of = {node: number for number, place in enumerate(self.places) for node in place.nodes}
        self.victims = tuple(
            self._victim_group(number, key, tasks, len(place.nodes))
            for number, place in enumerate(self.places)
            for key, tasks in by_place[number].items()
        )
        self.victim_of = {task.key: number for number, group in enumerate(self.victims) for task in group.tasks}

    def amount(self, task: Task, resource: str) -> int:
        """A request in units."""
        return task.requests.get(resource, 0) // self.unit.get(resource, 1)

    def victims_at(self, place: int) -> list[int]:
        """Groups of victims of a place."""
        return self._at.get(place, [])

    @cached_property
    def _at(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, group in enumerate(self.victims):
            found.setdefault(group.place, []).append(number)
        return found

    @cached_property
    def victims_of(self) -> dict[str, list[int]]:
        """Groups of victims of each job whose number of lost tasks is stated."""
        found: dict[str, list[int]] = {}
        for number, group in enumerate(self.victims):
            if self.asks_whose(group.job):
                found.setdefault(group.job.key, []).append(number)
        return found

    def _kinds(self) -> tuple[tuple[PendingKind, ...], dict[str, int]]:
        members: dict[Hashable, list[Task]] = {}
        kind_of: dict[str, int] = {}
        for job in self.waiting:
            own = self._job_features(job)
            for task in job.pending:
                members.setdefault((*own, *self._task_features(job, task)), []).append(task)
        kinds = []
        for number, tasks in enumerate(members.values()):
            tasks.sort(key=lambda task: task.key)
            kind_of |= {task.key: number for task in tasks}
            kinds.append(PendingKind(_name([task.key for task in tasks]), tuple(tasks), *self._allowed(tasks[0])))
        return tuple(kinds), kind_of

    def _job_features(self, job: SessionJob) -> tuple[Hashable, ...]:
        return job.queue, job.priority, self.snapshot.is_starving(job), job.key if job.holding else None

    def _task_features(self, job: SessionJob, task: Task) -> tuple[Hashable, ...]:
        nodes, bind, reserve = self._allowed(task)
        return (
            tuple(sorted(task.requests.items())),
            nodes,
            bind,
            reserve,
            task.role if job.min_by_role else None,
            task.priority if job.holding else None,
            task.best_effort,
            self.snapshot.never_preempts(task),
            self._neighbour_features(task),
        )

    @cached_property
    def tells_neighbours(self) -> bool:
        """Whether what filters read that look at other tasks is counted apart."""
        return self.form.each_node and self.snapshot.predicates.any_dynamic

    def _neighbour_features(self, task: Task) -> Hashable:
        """What filters read of others; who states something about others is counted alone."""
        if not self.tells_neighbours:
            return None
        if _has_wishes(task):
            return task.key
        return task.namespace, tuple(sorted(task.labels.items())), task.pod.metadata.deletion_timestamp is None

    def _allowed(self, task: Task) -> tuple[frozenset[str], bool, bool]:
        """assignment, filters, queue, deserved, actions: where the task may go, and by which kind of placement."""
        snapshot = self.snapshot
        policy, queue = snapshot.policy, snapshot.queue_of(task)
        closed = queue is not None and policy.limits_queues and not queue.is_open
        if not task.best_effort and (snapshot.shares_refused or closed):
            return frozenset(), False, False
        nodes = self._open_nodes(frozenset({*snapshot.predicates.refused(task), *snapshot.barred(task)}))
        if policy.is_kube:
            return nodes, True, True
        evicting = policy.has_action("preempt") or policy.has_action("reclaim")
        if task.best_effort:
            return nodes, policy.has_action("backfill"), evicting
        gang = policy.has_action("gangpreempt") or policy.has_action("gangreclaim")
        allocating = policy.has_action("allocate")
        return nodes, allocating, allocating or evicting or gang

    def _open_nodes(self, refused: frozenset[str]) -> frozenset[str]:
        if refused not in self._open:
            self._open[refused] = frozenset(self.snapshot.instance.nodes) - refused
        return self._open[refused]

    @cached_property
    def _open(self) -> dict[frozenset[str], frozenset[str]]:
        return {}

    def _jobs(self) -> tuple[Jobs, ...]:
        members: dict[Hashable, list[SessionJob]] = {}
        counts: dict[str, dict[int, int]] = {}
        for job in self.waiting:
            counts[job.key] = dict(sorted(Counter(self.kind_of[task.key] for task in job.pending).items()))
            members.setdefault(self._job_key(job, counts[job.key]), []).append(job)
        return tuple(
            Jobs(_name([job.key for job in jobs]), tuple(job.key for job in jobs), jobs[0], counts[jobs[0].key])
            for jobs in members.values()
        )

    def _job_key(self, job: SessionJob, counts: dict[int, int]) -> Hashable:
        if job.holding or job.roles_count or (job.is_pending and stated_minimum(job)):
            return job.key
        return tuple(counts.items()), job.min_available, at_work(job, None), job.is_below_minimum, job.priority

    def _victims_by_node(self) -> Iterator[tuple[str, dict[Hashable, list[Task]]]]:
        """Tasks that may be victims, those together that no row tells apart."""
        snapshot = self.snapshot
        for node in snapshot.instance.nodes:
            found: dict[Hashable, list[Task]] = {}
            for task in snapshot.instance.tasks_by_node[node]:
                job = snapshot.job_of(task) if task.status in HOLDS_ROOM else None
                if job is not None:
                    found.setdefault(self._victim_key(job, task), []).append(task)
            yield node, {key: tasks for key, tasks in found.items() if self._rights(node, tasks[0], key)}

    def _victim_key(self, job: SessionJob, task: Task) -> Hashable:
        budgets = tuple(n for n, budget in enumerate(self.snapshot.instance.budgets) if covers(budget, task))
        owner = job.key if self.asks_whose(job) else None
        role = task.role if owner and job.min_by_role else None
        kind = self.snapshot.rights.victim_kind(task)
        requests = tuple(sorted(task.requests.items()))
        spared = task.pod.is_critical, self.snapshot.cools_down(task)
        near = self._neighbour_features(task)
        return owner, kind, requests, task.pod_priority, budgets, role, spared, self._begun(task), near

    def _begun(self, task: Task) -> tuple[bool, ...] | None:
        cut = self.form.cut
        if cut is None or task.pod_priority != cut.priority:
            return None
        begun = started(self.snapshot, task)
        return tuple(test for start in cut.starts for test in (begun < start, begun <= start))

    def asks_whose(self, job: SessionJob) -> bool:
        """Whether gang, protect.gang or gangs_broken may read how many tasks the job loses."""
        if job.pending:
            return True
        if job.ready - job.holding >= job.min_available:
            return False
        policy = self.snapshot.policy
        guarded = any(policy.evicts(action) and policy.gang_protects(action) != "off" for action in ACTIONS)
        return guarded or any(level.key == "gangs_broken" for level in policy.levels)

    def _rights(self, node: str, victim: Task, key: Hashable) -> dict[Action, tuple[int, ...]]:
        """Per action the kinds that may evict the victim: eviction and what spares it, as the snapshot shows it.

        A victim of reclaim finds its queue above its share when it goes; holdings only shrink until then.
        """
        near = self._near("" if self.everywhere else node)
        if (key, near) not in self._known:
            found: dict[Action, list[int]] = {}
            for number in near:
                for action in self.snapshot.rights.actions(self.kinds[number].task, victim):
                    found.setdefault(action, []).append(number)
            self._known[key, near] = {
                action: tuple(numbers)
                for action, numbers in sorted(found.items())
                if self._may_go(victim, action) and self._most_of_job(victim, (action,)) != 0
            }
        return self._known[key, near]

    def _may_go(self, victim: Task, action: Action) -> bool:
        if victim.pod.is_critical and self.snapshot.policy.conformance_protects(action):
            return False
        if self.snapshot.policy.cooldown_protects(action) and self.snapshot.cools_down(victim):
            return False
        return action != "reclaim" or is_above_share_now(self.snapshot, victim)

    @cached_property
    def _known(self) -> dict[tuple[Hashable, tuple[int, ...]], dict[Action, tuple[int, ...]]]:
        return {}

    def _near(self, node: str) -> tuple[int, ...]:
        if node not in self._kinds_at:
            kinds = enumerate(self.kinds)
            self._kinds_at[node] = tuple(n for n, kind in kinds if (node in kind.nodes if node else kind.nodes))
        return self._kinds_at[node]

    @cached_property
    def _kinds_at(self) -> dict[str, tuple[int, ...]]:
        return {}

    def _most_of_job(self, victim: Task, actions: tuple[Action, ...]) -> int | None:
        """protect.gang: how many tasks the victim's job can lose if it keeps its minimum; None for no limit.

        What is left and what starts is the minimum, and no more can start than is pending.
        """
        if not all(self.snapshot.policy.gang_protects(action) == "keep" for action in actions):
            return None
        job = self.snapshot.job_by_task[victim.key]
        return max(0, job.ready + len(job.pending) - job.min_available)

    def _places(
        self, by_node: dict[str, dict[Hashable, list[Task]]]
    ) -> tuple[tuple[Place, ...], dict[int, dict[Hashable, list[Task]]]]:
        idle, future = self._in_units(self.snapshot.idle), self._in_units(self.snapshot.future_idle)
        members: dict[Hashable, list[str]] = {}
        hosting = self.snapshot.instance.tasks_by_node
        for node in self.snapshot.instance.nodes:
            gone = frozenset((key, len(tasks)) for key, tasks in by_node[node].items())
            rooms = frozenset(idle[node].items()), frozenset(future[node].items())
            there = len(hosting[node]) if self.everywhere else bool(hosting[node])
            alike = node if self.form.each_node else (self._near(node), rooms, gone, there)
            members.setdefault(alike, []).append(node)
        places, victims = [], {}
        for number, nodes in enumerate(members.values()):
            places.append(Place(_name(nodes), tuple(nodes), self._near(nodes[0]), idle[nodes[0]], future[nodes[0]]))
            found: dict[Hashable, list[Task]] = {}
            for node in nodes:
                for key, tasks in by_node[node].items():
                    found.setdefault(key, []).extend(tasks)
            victims[number] = found
        return tuple(places), victims

    def _victim_group(self, place: int, key: Hashable, tasks: list[Task], nodes: int) -> Victims:
        job = self.snapshot.job_by_task[tasks[0].key]
        rights = self._rights(tasks[0].node, tasks[0], key)
        most = self._most_of_job(tasks[0], tuple(rights)) if self.asks_whose(job) else None
        tasks.sort(key=lambda task: task.key)
        limit = len(tasks) if most is None else min(most, len(tasks))
        name = _name([task.key for task in tasks])
        return Victims(name, place, tuple(tasks), job, rights, limit, min(limit, len(tasks) // nodes))

    def _in_units(self, rooms: dict[str, dict[str, float]]) -> dict[str, dict[str, int]]:
        return {
            node: {name: floor(amount / self.unit.get(name, 1)) for name, amount in room.items()}
            for node, room in rooms.items()
        }


def at_work(job: SessionJob, role: str | None) -> int:
    """gang: tasks that count before anything is placed; pending ones that ask for nothing do."""
    fits = [task for task in job.tasks if role is None or task.role == role]
    ready = (*HOLDS_ROOM, Status.SUCCEEDED)
    return sum(task.status in ready or (task.status is Status.PENDING and task.best_effort) for task in fits)


def started(snapshot: Snapshot, task: Task) -> int:
    """When the task started; one without a start counts as started now."""
    start = task.pod_status.start_time
    return snapshot.now if start is None else start


def _has_wishes(task: Task) -> bool:
    """Whether filters that look at other tasks may refuse it, by anything that it states of itself."""
    spec = task.spec
    ports = any(port.host_port for container in spec.containers for port in container.ports)
    near, apart = spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity
    return bool(ports or near.required or apart.required or spec.topology_spread_constraints)


def _name(keys: list[str]) -> str:
    """The first by name, and how many more there are."""
    return min(keys) + (f"+{len(keys) - 1}" if len(keys) > 1 else "")


def _units(snapshot: Snapshot) -> dict[str, int]:
    """Per resource what all requests have in common: a sum of requests fits where it fits in whole units."""
    unit: dict[str, int] = {}
    vectors = {id(task.requests): task.requests for task in snapshot.instance.tasks.values()}
    for vector in vectors.values():
        for name, amount in vector.items():
            if amount:
                unit[name] = gcd(unit.get(name, 0), amount)
    return unit
