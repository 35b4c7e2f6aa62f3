"""gang, protect.gang: minima of those who are served and of those who lose tasks."""

from __future__ import annotations

from cpsched.proof.counted import ACTIONS, Jobs, at_work
from cpsched.proof.draft import Draft
from cpsched.proof.names import begun_by, evicted_by, lost, ready, served, started, taken
from cpsched.proof.rows import Terms, summed


def gang(draft: Draft) -> None:
    """A job that received anything is ready, or pipelined with nothing but reserves.

    Ready: at work, bound now, and pending tasks that ask for nothing reach every minimum; pipelined: reserves too.
    """
    policy = draft.snapshot.policy
    if not policy.requires_gangs:
        return
    whole = policy.is_kube or policy.enabled("gang", "enableJobPipelined")
    for number, jobs in enumerate(draft.counted.jobs):
        if draft.starts:
            _starts(draft, number, jobs)
        if not whole:
            continue
        for role, least in _minima(jobs):
            missing, gone = least - at_work(jobs.job, role), _lost(draft, jobs, role)
            have = summed([(1, taken(draft, number, role=role, asking=True)), (-1, gone)])
            _enough(draft, f"gang[{jobs.name}{_suffix(role)}]", served(draft, number), have, missing, gone)


def _starts(draft: Draft, number: int, jobs: Jobs) -> None:
    for kind, count in jobs.kinds.items():
        row = summed([(count, ready(draft, number)), (-1, begun_by(draft, number, kind))])
        draft.at_least(f"gang[{jobs.name} starts {draft.counted.kinds[kind].name}]", row, 0)
    row = summed([(1, served(draft, number)), (-1, ready(draft, number))])
    draft.at_least(f"gang[{jobs.name} ready]", row, 0)
    for role, least in _minima(jobs):
        missing, gone = least - at_work(jobs.job, role), _lost(draft, jobs, role)
        have = summed([(1, started(draft, number, role=role, asking=True)), (-1, gone)])
        _enough(draft, f"gang[{jobs.name}{_suffix(role)} ready]", ready(draft, number), have, missing, gone)


def _enough(draft: Draft, label: str, flag: Terms, have: Terms, missing: int, gone: Terms) -> None:
    """Each of the jobs that the flag counts has what is missing; those that lose tasks are counted alone."""
    if gone:
        draft.at_least_if(label, flag, have, missing)
    else:
        draft.at_least(label, summed([(1, have), (-missing, flag)]), 0)


def _minima(jobs: Jobs) -> list[tuple[str | None, int]]:
    by_role = sorted(jobs.job.min_by_role.items()) if jobs.job.roles_count else []
    return [(None, jobs.job.min_available), *by_role]


def _lost(draft: Draft, jobs: Jobs, role: str | None) -> Terms:
    return lost(draft, jobs.job.key, role) if jobs.job.holding else {}


def _suffix(role: str | None) -> str:
    return "" if role is None else f" {role}"


def protect_gang(draft: Draft) -> None:
    """keep: a job that loses victims keeps its minimum; whole: it keeps it or loses every task that holds room."""
    counted, policy = draft.counted, draft.snapshot.policy
    modes = {action: policy.gang_protects(action) for action in ACTIONS}
    for key, groups in counted.victims_of.items():
        job = draft.snapshot.jobs[key]
        used = {action for number in groups for action in counted.victims[number].rights}
        gone = lost(draft, key)
        begun = started(draft, counted.jobs_of[key]) if key in counted.jobs_of else {}
        left, least = summed([(1, begun), (-1, gone)]), job.min_available - job.ready
        if all(modes[action] == "keep" for action in used) and least <= 0:
            draft.at_least(f"protect.gang[{key}]", left, least)
            continue
        guarding = [action for action in sorted(used) if modes[action] != "off"]
        for action in guarding:
            _guarded(draft, key, action, groups, left, least, whole=modes[action] == "whole")


def _guarded(draft: Draft, key: str, action: str, groups: list[int], left: Terms, least: int, *, whole: bool) -> None:
    """If a victim goes by the action: the job keeps its minimum, or, with `whole`, loses all."""
    counted, job = draft.counted, draft.snapshot.jobs[key]
    mine = [(n, a) for n in groups for a in counted.victims[n].rights if a == action]
    gone = summed((1, evicted_by(draft, number, a)) for number, a in mine)
    hurt = draft.variable(f"loses[{key},{action}]", 0, 1, lambda c: int(any(c.evict[pair] for pair in mine)))
    draft.at_least(f"protect.gang[{key} loses by {action}]", summed([(draft.highest(gone), hurt), (-1, gone)]), 0)
    if not whole:
        draft.at_least_if(f"protect.gang[{key} by {action}]", hurt, left, least)
        return
    gone_all = lost(draft, key)
    all_ = draft.variable(
        f"loses[{key},all {action}]", 0, 1, lambda c: int(len(c.decision.victims_by_job.get(key, ())) == job.holding)
    )
    draft.at_least_if(f"protect.gang[{key} all by {action}]", all_, gone_all, job.holding)
    # Hurt and not all: at least the minimum is left.
    missing = least - draft.lowest(left)
    if missing > 0:
        row = summed([(1, left), (-missing, hurt), (missing, all_)])
        draft.at_least(f"protect.gang[{key} by {action}]", row, least - missing)
