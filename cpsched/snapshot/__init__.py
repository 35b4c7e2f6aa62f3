"""The session as it opens: what the rules, the levels and the optimum all read off an instance under a policy."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property, partial

from cpsched.instance import RELEASING, Instance, Queue, Task
from cpsched.objects.topology import HyperNode
from cpsched.policy import Policy
from cpsched.policy.levels import ABOUT_NEARNESS, BETWEEN, LevelRef
from cpsched.policy.policy import GANG_ACTIONS, VICTIM_ACTIONS
from cpsched.shares import Exact, NotReady, QueueShare
from cpsched.snapshot.balance import overloaded_nodes
from cpsched.snapshot.cooldown import cools_down
from cpsched.snapshot.enqueue import may_enter
from cpsched.snapshot.gang_rights import StaticGangRights
from cpsched.snapshot.identical import Identical, StaticRights, load_of
from cpsched.snapshot.identity import identities_of
from cpsched.snapshot.jobs import SessionJob, is_starving, session_jobs, starving_voters
from cpsched.snapshot.near import Nearness
from cpsched.snapshot.node_rules import CardRule, GroupRule, NodeRule, NumaRule, node_rules, rule_of
from cpsched.snapshot.predicates import Predicates
from cpsched.snapshot.queues import queue_shares

Room = dict[str, float]
Shape = tuple[tuple[str, int], ...]


class Snapshot:
    """An instance under a policy; everything here is fixed before any decision is made."""

    apart: frozenset[str] = frozenset()
    """Jobs whose tasks are kept apart from all others, however alike; only an explanation names any."""
    unrestricted: frozenset[str] = frozenset()
    """Jobs that may evict any task; only an explanation names any."""

    identical = Identical()
    """How questions about identical tasks are asked: once, unless `shortcuts` was False."""

    def __init__(self, instance: Instance, policy: Policy, *, shortcuts: bool = True):
        self.instance, self.policy = instance, policy
        self.identical = Identical(shortcuts=shortcuts)
        self.jobs: dict[str, SessionJob] = session_jobs(instance, policy)

    @cached_property
    def job_by_task(self) -> dict[str, SessionJob]:
        """The job of every task that is in the session."""
        return {task.key: job for job in self.jobs.values() for task in job.tasks}

    @cached_property
    def identities(self) -> dict[str, int]:
        """A number per task of the session, the same for all that nothing but names tells apart."""
        return identities_of(self)

    def identity_of(self, key: str) -> Hashable:
        """The task's number, or its key if it is not in the session: then no other is identical."""
        return self.identities.get(key, key)

    def job_of(self, task: Task) -> SessionJob | None:
        """The task's job, None if it is not in the session."""
        return self.job_by_task.get(task.key)

    def job_key(self, task: Task) -> str:
        """Key of the job of a task that is in the session."""
        return self.job_by_task[task.key].key

    def never_preempts(self, task: Task) -> bool:
        """Whether the task may not evict: by its preemptionPolicy, or because its profile does not preempt."""
        return task.never_preempts or not self.policy.preempts_for(task.spec.scheduler_name)

    def has_siblings(self, job: SessionJob) -> bool:
        """Whether the job has more tasks than one; those that an explanation leaves out of it count too."""
        return len(job.tasks) > 1

    def queue_of(self, task: Task) -> Queue | None:
        """The queue of the task's job, None where there are no queues."""
        job = self.job_by_task.get(task.key)
        return None if job is None or job.queue is None else self.instance.queues[job.queue]

    def shape_of(self, task: Task) -> Shape:
        """The request, equal for tasks that ask for the same."""
        return self._shape(task.requests)

    @cached_property
    def _shape(self) -> Callable[[Mapping[str, int]], Shape]:
        return self.identical.once(lambda requests: tuple(sorted(requests.items())), id)

    @property
    def shares(self) -> Mapping[str, QueueShare[Exact]]:
        """Shares of the queues; empty where no share plugin is configured, or the plugin refuses to decide."""
        return {} if isinstance(self._shares, NotReady) else self._shares

    @property
    def shares_refused(self) -> str | None:
        """Why the share plugin lets no job place anything, None if it works."""
        return self._shares.reason if isinstance(self._shares, NotReady) else None

    @cached_property
    def _shares(self) -> Mapping[str, QueueShare[Exact]] | NotReady:
        return queue_shares(self.instance, self.policy, self.jobs)

    @cached_property
    def predicates(self) -> Predicates:
        """The filters that the policy enables."""
        return Predicates(self.instance, self.policy, self.identical)

    @cached_property
    def nearness(self) -> Nearness:
        """Which tasks are to run near each other."""
        return Nearness(self)

    @cached_property
    def node_rules(self) -> dict[str, NodeRule]:
        """Plugins' rules about which nodes hold which tasks, as far as they are in force."""
        return node_rules(self)

    @cached_property
    def groups(self) -> GroupRule | None:
        """The rule `nodegroup`, None if it is not in force."""
        return rule_of(self.node_rules, GroupRule)

    @cached_property
    def cards(self) -> CardRule | None:
        """The rule `cards`, None if it is not in force."""
        return rule_of(self.node_rules, CardRule)

    @cached_property
    def numa(self) -> NumaRule | None:
        """The rule `numa`, None if it is not in force."""
        return rule_of(self.node_rules, NumaRule)

    def barred(self, task: Task) -> dict[str, tuple[str, str]]:
        """Nodes on which a plugin's rule does not let the task be, whatever else happens: the rule's key and why."""
        found: dict[str, tuple[str, str]] = {}
        for key, rule in self.node_rules.items():
            for node, reason in rule.refused(task).items():
                found.setdefault(node, (key, reason))
        return found

    @cached_property
    def is_marked(self) -> bool:
        """Whether some plugin's rule reads of tasks what no other does."""
        return bool(self.node_rules) or self.spares_by_cooldown

    def mark(self, task: Task) -> Hashable:
        """What plugins' rules read of a task beyond its queue, labels and requests."""
        if not self.is_marked:
            return None
        return (self.cools_down(task), *[rule.mark(task) for rule in self.node_rules.values()])

    @cached_property
    def spares_by_cooldown(self) -> bool:
        """Whether pods that started a short while ago are spared by any action."""
        return any(self.policy.cooldown_protects(action) for action in VICTIM_ACTIONS)

    def cools_down(self, task: Task) -> bool:
        """Whether the task is such a pod."""
        return self.spares_by_cooldown and cools_down(task, self.now)

    @cached_property
    def idle(self) -> dict[str, Room]:
        """Room free today, per node; a node taken beyond its size has negative room."""
        room = self.identical.once(lambda name: self._less(name, releasing=False), partial(load_of, self.instance))
        return {name: dict(room(name)) for name in self.instance.nodes}

    @cached_property
    def future_idle(self) -> dict[str, Room]:
        """Room free once what is being released has gone."""
        leaving = {task.node for task in self.instance.tasks.values() if task.status is RELEASING}
        return {
            name: self._less(name, releasing=True) if name in leaving else dict(room)
            for name, room in self.idle.items()
        }

    @cached_property
    def overloaded(self) -> frozenset[str]:
        """Nodes off which the action shuffle may move pods."""
        return overloaded_nodes(self)

    @cached_property
    def starving(self) -> tuple[SessionJob, ...]:
        """Jobs below their minimum that could take part in this session."""
        return tuple(job for job in self.jobs.values() if job.is_below_minimum and self.takes_part(job))

    @cached_property
    def minds_nearness(self) -> bool:
        """Whether there is anything that how near tasks are to each other could matter to, or decide."""
        policy = self.policy
        asks = policy.plugin("network-topology-aware") is not None or any(map(policy.has_action, GANG_ACTIONS))
        return asks or bool(self.nearness.units) or bool(self.instance.of_kind(HyperNode))

    @cached_property
    def level_plan(self) -> tuple[LevelRef, ...]:
        """Every level of the policy in order; admission levels once per priority of starving jobs."""
        plan: list[LevelRef] = []
        priorities = sorted({job.priority for job in self.starving}, reverse=True)
        for level in self.policy.levels:
            if level.key in ABOUT_NEARNESS and not self.minds_nearness:
                continue
            if level.key != "jobs_admitted":
                plan += [LevelRef(name) for name in level.names]
                continue
            for priority in priorities:
                plan.append(LevelRef("jobs_admitted", priority))
                if level.victims_between and priority != priorities[-1]:
                    plan += [LevelRef(name, priority) for name in BETWEEN]
        return tuple(plan)

    @cached_property
    def needs_valid_jobs(self) -> bool:
        """Whether a job takes part only if it has enough tasks to ever become ready."""
        return self.policy.plugin("gang") is not None

    def takes_part(self, job: SessionJob) -> bool:
        """Valid, and in the cycle already or able to enter it on its own."""
        if self.needs_valid_jobs and not job.is_valid:
            return False
        return not job.is_pending or may_enter(self, job)

    def is_starving(self, job: SessionJob) -> bool:
        """Hungry enough to evict."""
        return is_starving(job, self._starving_voters)

    @property
    def starves_by_mark(self) -> bool:
        """Whether a gang's mark has a say in who starves."""
        return "tdm" in (self._starving_voters or ())

    @cached_property
    def _starving_voters(self) -> tuple[str, ...] | None:
        return starving_voters(self.policy)

    @cached_property
    def rights(self) -> StaticRights:
        """Who may evict whom, as far as the snapshot alone says."""
        return StaticRights(self)

    @cached_property
    def gang_rights(self) -> StaticGangRights:
        """The same by the gang actions."""
        return StaticGangRights(self)

    @property
    def now(self) -> int:
        """The instance's clock."""
        return self.instance.clock

    def _less(self, node: str, *, releasing: bool) -> Room:
        room: Room = dict(self.instance.nodes[node].allocatable)
        for task in self.instance.tasks_by_node[node]:
            if not (releasing and task.status is RELEASING):
                for name, amount in task.requests.items():
                    room[name] = room.get(name, 0) - amount
        return room


__all__ = ["SessionJob", "Shape", "Snapshot"]
