"""Which HyperNodes are tried, and in which rows; mirrors `hyperNodeGradientFn` of network-topology-aware."""

from __future__ import annotations

from collections.abc import Mapping

from cpsched.greedy.volcano.hooks import Gradient, Purpose
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.plugins.hyper_node_room import HyperNodeSums
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.topology.sub_jobs import SubJob


class HyperNodeRows:
    """Rows of HyperNodes by tier."""

    def __init__(self, session: Session, room: HyperNodeSums, most: int):
        self._session, self._tree, self._room, self._most = session, session.tree, room, most

    def for_job(self, job: JobState, root: str, purpose: Purpose) -> Gradient:
        """Where a job may go as a whole."""
        if job.demand is None or job.demand.limit is None:
            return [[root]]
        return self._rows(root, job.demand.limit, job.allocated_in, job.job.min_resources or {}, purpose)

    def for_sub_job(self, sub_job: SubJob, root: str, purpose: Purpose) -> Gradient:
        """Where a sub-job may go within what its job has."""
        if sub_job.limit is None:
            return [[root]]
        return self._rows(root, sub_job.limit, sub_job.allocated_in, sub_job.min_resources(), purpose)

    def _rows(self, root: str, limit: int, allocated_in: str, need: Mapping[str, float], purpose: Purpose) -> Gradient:
        start = self._start(root, limit, allocated_in)
        if start is None:
            return []
        by_tier: dict[int, list[str]] = {}
        waiting, seen = [start], {start}
        for name in waiting:
            tier = self._tree.tier(name)
            # Beside what runs already, free room is not looked at.
            if tier <= limit and (allocated_in or self._has_room(name, need, purpose)):
                by_tier.setdefault(tier, []).append(name)
            children = [child for child in self._tree.children(name) if child not in seen]
            seen.update(children)
            waiting += self._session.choices.order(children) if purpose == "evict" else children
        rows = [by_tier[tier] for tier in sorted(by_tier)]
        return self._widest_first(rows) if purpose == "evict" else rows

    def _start(self, root: str, limit: int, allocated_in: str) -> str | None:
        """The root or the widest domain around what runs, the narrower of both; None if neither holds the other."""
        if not allocated_in:
            return root
        allowed = ""
        for name in self._tree.ancestors(allocated_in):
            if name not in self._tree or self._tree.tier(name) > limit:
                break
            allowed = name
        if not allowed:
            return None
        common = self._tree.common(root, allowed)
        if common == allowed:
            return root
        return allowed if common == root else None

    def _has_room(self, name: str, need: Mapping[str, float], purpose: Purpose) -> bool:
        return self._room.could_have(name, need) if purpose == "evict" else self._room.has(name, need)

    def _widest_first(self, rows: Gradient) -> Gradient:
        """Upside down, and so many HyperNodes at most; of a row that is too long the last ones."""
        left, kept = self._most, []
        for row in reversed(rows):
            if left == 0:
                break
            kept.append(row[-left:])
            left -= min(left, len(row))
        return kept
