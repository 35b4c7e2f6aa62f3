"""Why a job waits for enqueue, in numbers that add up: what it asks for, and what each limit leaves."""

from __future__ import annotations

from cpsched.amounts import listed, short
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.enqueue import Limit, asked, decisive_limits


def entering_lines(snapshot: Snapshot, job: SessionJob) -> list[str]:
    """A line with what it asks for, and one per limit and resource that is too small for it; none if it may enter."""
    wants, others = asked(job), [one for one in snapshot.jobs.values() if one.is_pending and one.key != job.key]
    alone, together = [], []
    for limit in decisive_limits(snapshot, job):
        rivals = [limit.promise(one) for one in others if limit.counts(snapshot, one)]
        for name, amount in sorted(limit.asked(job).items()):
            left, taken = limit.left.get(name, 0), sum(one.get(name, 0) for one in rivals)
            if amount > left:
                alone.append(_line(limit, name))
            elif amount > left - taken:
                also = f"; the other {len(rivals)} jobs that wait for enqueue ask {limit.shown(name, taken)}"
                together.append(_line(limit, name) + also)
    if not alone and not together:
        return []
    return [f"waits for enqueue: asks {listed(wants)}", *(alone or together)]


def _line(limit: Limit, name: str) -> str:
    """What the limit leaves of a resource, as a sum."""
    left = f"{limit.owner} leaves {limit.shown(name, limit.left.get(name, 0))} {short(name)}"
    terms = [(text, amounts[name]) for text, amounts in limit.parts if amounts.get(name)]
    written = [f"{'−' if n < 0 else '+'} {limit.shown(name, -n if n < 0 else n)} {text}" for text, n in terms]
    return f"{left}: {' '.join(written).removeprefix('+ ')}" if written else left
