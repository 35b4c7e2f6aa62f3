"""enqueue: jobs that enter from Pending pass the vote together."""

from __future__ import annotations

from math import floor, inf

from cpsched.proof.draft import Draft
from cpsched.proof.names import served
from cpsched.proof.rows import summed
from cpsched.snapshot.enqueue import decisive_limits


def enqueue(draft: Draft) -> None:
    """Whichever of the jobs that enter asks for a resource last sees the minima of all the others."""
    counted, snapshot = draft.counted, draft.snapshot
    if snapshot.policy.pending_jobs_enter != "enqueue":
        return
    entering = [number for number, jobs in enumerate(counted.jobs) if jobs.job.is_pending]
    for number in entering:
        jobs = counted.jobs[number]
        if len(jobs.keys) > 1:
            continue  # jobs without a stated minimum are not asked
        for position, limit in enumerate(decisive_limits(snapshot, jobs.job)):
            others = [n for n in entering if n != number and limit.counts(snapshot, counted.jobs[n].job)]
            for resource, least in sorted(limit.asked(jobs.job).items()):
                left = limit.left.get(resource, 0)
                if left == inf:
                    continue
                promised = ((n, limit.promise(counted.jobs[n].job).get(resource, 0)) for n in others)
                wanted = summed((floor(amount), served(draft, n)) for n, amount in promised)
                label = f"enqueue[{jobs.name},{limit.plugin},{position},{resource}]"
                draft.at_most_if(label, served(draft, number), wanted, floor(left - least))
