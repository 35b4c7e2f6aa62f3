"""queue: limits of queues in what is asked for; the parts that other rules read of shares."""

from __future__ import annotations

from functools import partial
from math import floor, inf

from cpsched.proof.counted import CountedSession
from cpsched.proof.counts import Counts
from cpsched.proof.draft import Draft
from cpsched.proof.names import change, served, taken_by
from cpsched.proof.rows import summed
from cpsched.shares import Exact


def queue(draft: Draft) -> None:
    """For a queue that received something, in what its placed tasks ask for: held − evicted + placed ≤ limit.

    Where none of them asks for a resource, the holding does not rise; so with room left one row says both.
    """
    snapshot = draft.snapshot
    if not snapshot.policy.limits_queues:
        return
    for name, share in snapshot.shares.items():
        asking = _asking(draft, name)
        limit = share.deserved if snapshot.policy.share_plugin == "proportion" else share.real_capability
        for resource, kinds in sorted(asking.items()):
            room = room_of(draft.counted, name, resource, limit.get(resource, 0))
            if room is None:
                continue
            label, gain = f"queue[{name},{resource}]", change(draft, name, resource)
            if room >= 0:
                draft.at_most(label, gain, room)
                continue
            asked = draft.variable(f"asked[{name},{resource}]", 0, 1, partial(Counts.takes_any, pairs=kinds))
            draft.at_most(label, summed([(1, gain), (-room, asked)]), 0)
            for jobs, kind in kinds:
                there = taken_by(draft, jobs, kind)
                row = summed([(draft.highest(there), asked), (-1, there)])
                draft.at_least(f"{label} by {draft.counted.jobs[jobs].name},{kind}", row, 0)
                every = set(draft.counted.jobs[jobs].kinds) <= {k for j, k in kinds if j == jobs}
                if every:
                    row = summed([(len(draft.counted.jobs[jobs].keys), asked), (-1, served(draft, jobs))])
                    draft.at_least(f"{label} by {draft.counted.jobs[jobs].name}", row, 0)


def _asking(draft: Draft, name: str) -> dict[str, list[tuple[int, int]]]:
    """Per resource who of the queue, or below it, asks for it; pods and BestEffort tasks are exempt."""
    counted, found = draft.counted, dict[str, list[tuple[int, int]]]()
    for number, jobs in enumerate(counted.jobs):
        if name not in line_of(draft, jobs.job.queue):
            continue
        for kind in jobs.kinds:
            task = counted.kinds[kind].task
            for resource, amount in task.requests.items():
                if amount > 0 and resource != "pods" and not task.best_effort:
                    found.setdefault(resource, []).append((number, kind))
    return found


def line_of(draft: Draft, queue: str | None) -> tuple[str, ...]:
    """The queue and its ancestors, as far as they have shares."""
    shares = draft.snapshot.shares
    return () if queue is None or queue not in shares else (queue, *shares[queue].ancestors)


def room_of(counted: CountedSession, queue: str, resource: str, limit: Exact) -> int | None:
    """How many more units keep the queue within the limit; None for no limit."""
    held = counted.snapshot.shares[queue].allocated.get(resource, 0)
    return None if limit == inf else floor((limit - held) / counted.unit.get(resource, 1))
