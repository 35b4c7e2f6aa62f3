"""tdm: nodes that are lent to preemptable work for some hours of the day; mirrors `plugins/tdm/tdm.go`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from cpsched.errors import InputError
from cpsched.filters.status import unresolvable
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.hooks import PERMIT, REJECT, Hooks
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf, revocable_zones

NAME = "tdm"


def tdm(session: Session, conf: PluginConf) -> Hooks:
    """Keep others off revocable nodes, and let protected work evict preemptable work elsewhere."""
    zones = revocable_zones(conf)

    def closed(zone: str) -> str | None:
        return _closed(zone, zones, session.now)

    def predicate(task: TaskState, node: NodeAccount) -> FitError | None:
        if not node.revocable_zone:
            return None
        reason = closed(node.revocable_zone)
        if reason is None and not task.revocable_zone:
            reason = "not allow to dispatch to revocable node"
        return None if reason is None else FitError((unresolvable(NAME, reason),))

    def score(task: TaskState, node: NodeAccount) -> float:
        usable = node.revocable_zone and task.revocable_zone and closed(node.revocable_zone) is None
        return 100.0 if usable else 0.0

    def victims(preemptor: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        if preemptor.preemptable or preemptor.revocable_zone:
            return [], REJECT
        by_job: dict[str, list[TaskState]] = {}
        for task in candidates:
            if task.preemptable and task.status is Status.RUNNING and not session.nodes[task.node].revocable_zone:
                by_job.setdefault(task.job, []).append(task)
        named: list[TaskState] = []
        for key, tasks in by_job.items():
            if key in session.jobs:
                named += tasks[: _allowance(session.jobs[key])]
        return named, PERMIT

    def leaving(candidates: Sequence[TaskState]) -> list[TaskState]:
        """Preemptable pods on nodes whose zone has closed; Volcano does not survive evicting one."""
        for task in candidates:
            zone = session.nodes[task.node].revocable_zone
            if task.preemptable and zone in zones and closed(zone) and _allowance(session.jobs[task.job]) > 0:
                wrong = f"Volcano's scheduler panics in this session: shuffle evicts {task.key}, which tdm names"
                raise InputError(wrong, place="actions", right="take shuffle out, or tdm's enabledVictim")
        return []

    return Hooks(
        predicate=predicate,
        victim_tasks=leaving,
        node_order=score,
        preemptable=victims,
        job_order=lambda left, right: int(left.job.preemptable) - int(right.job.preemptable),
        job_pipelined=lambda job: PERMIT if job.is_pipelined else REJECT,
        job_starving=lambda job: not job.job.preemptable and bool(job.by_status[Status.PENDING]),
        order_matters=True,
    )


def _closed(zone: str, zones: dict[str, str], now: int) -> str | None:
    """Why the zone's nodes are not to be had now; windows are read in UTC and may run over midnight."""
    if zone not in zones:
        return f"revocable zone {zone} not support"
    window = zones[zone].strip().split("-")
    if len(window) != 2:
        return f"revocable zone {zones[zone]} format error"
    try:
        start, end = (_minutes(text) for text in window)
    except ValueError as error:
        return str(error)
    moment = datetime.fromtimestamp(now // 10**9, tz=UTC)
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    # Upstream moves only the end to the next day, so the small hours of a window over midnight are outside it.
    last = end + 24 * 60 if start >= end else end
    if not start * 60 <= seconds <= last * 60:
        return f"current time beyond revocable zone {zone}:{zones[zone]}"
    return None


def _minutes(text: str) -> int:
    """Minutes after midnight; ValueError says what Go's time.Parse says of a text that is no such time."""

    def unread(rest: str, wanted: str) -> ValueError:
        return ValueError(f'parsing time {_quoted(text)} as "15:04": cannot parse {_quoted(rest)} as "{wanted}"')

    hour = re.match(r"\d{1,2}", text, re.ASCII)
    if hour is None:
        raise unread(text, "15")
    rest = text[hour.end() :]
    if int(hour[0]) > 23:
        raise ValueError(f"parsing time {_quoted(text)}: hour out of range")
    if not rest.startswith(":"):
        raise unread(rest, ":")
    minute, rest = rest[1:3], rest[3:]
    if not re.fullmatch(r"\d\d", minute, re.ASCII):
        raise unread(minute + rest, "04")
    if int(minute) > 59:
        raise ValueError(f"parsing time {_quoted(text)}: minute out of range")
    if rest:
        raise ValueError(f"parsing time {_quoted(text)}: extra text: {_quoted(rest)}")
    return int(hour[0]) * 60 + int(minute)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _allowance(job: JobState) -> int:
    """How many tasks of the job may go, by its disruption budget; one without a budget."""
    annotations = job.job.group.metadata.annotations
    running = len(job.by_status[Status.RUNNING])
    # minAvailable wins where both are stated.
    if "volcano.sh/jdb-min-available" in annotations:
        minimum = _part(annotations["volcano.sh/jdb-min-available"], len(job.tasks))
        return running - minimum if running >= minimum else 1
    if "volcano.sh/jdb-max-unavailable" in annotations:
        most = _part(annotations["volcano.sh/jdb-max-unavailable"], len(job.tasks))
        ended = len(job.by_status[Status.SUCCEEDED]) + len(job.by_status[Status.FAILED])
        return max(0, most - (len(job.tasks) - ended - running))
    return 1


def _part(text: str, whole: int) -> int:
    """A number, or a percentage rounded up; anything else is 0."""
    if re.fullmatch(r"[+-]?\d+", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"\d+%", text, re.ASCII):
        return -(-whole * int(text[:-1]) // 100)
    return 0
