"""Diving on the configuration LP: cover the totals, fix the columns used most, solve again for the rest; the tail."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.config_lp import Listing, Master
from cpsched.optimum.packing.problem import Counts
from cpsched.optimum.packing.tail import pack_tail

TAIL = 5
"""Nodes left to CP-SAT; fewer leave too little freedom, more take too long."""


def dive(listing: Listing, totals: Sequence[int], start: Master, seed: int, allowance: Allowance) -> Counts | None:
    """A placement of all of the totals, or None if this dive does not end in one."""
    problem, draw = listing.problem, np.random.default_rng(seed)
    need = np.asarray(totals, dtype=np.int64).copy()
    open_nodes: list[list[int]] = [[] for _ in problem.classes]
    for node, kind in enumerate(problem.nodes):
        open_nodes[kind].append(node)
    placement = np.zeros((len(problem.nodes), len(problem.rows)), dtype=np.int64)
    master = Master(listing, start.weights, list(start.columns))
    while (count := sum(map(len, open_nodes))) > TAIL and need.any():
        shortage, _, used = master.solve(need.tolist(), [len(nodes) for nodes in open_nodes], allowance)
        if shortage == float("inf"):
            return None
        share = np.array(used)
        if not len(share) or share.max() <= 1e-6:
            break
        order = np.argsort(-(share + 0.1 * draw.random(len(share)) * (share > 1e-6)), kind="stable")
        step = max(1, min(count // 6, count - TAIL))
        for column in order:
            kind, number = master.columns[int(column)]
            copies = max(1, int(share[column] + 1e-6))
            while copies and step and share[column] > 1e-6 and open_nodes[kind]:
                pattern = np.minimum(listing.patterns[kind][number], need)
                if not pattern.any():
                    break
                node = open_nodes[kind].pop()
                placement[node] = pattern
                need -= pattern
                copies -= 1
                step -= 1
            if not step:
                break
        if sum(map(len, open_nodes)) == count:
            # No pattern in use holds anything that is still needed, and the next round would solve the same LP again.
            break
    rest = [node for nodes in open_nodes for node in nodes]
    if not need.any():
        return placement
    # The nodes that are fixed keep what fits beside: a maximal pattern may have been cut by the need at hand.
    found = pack_tail(problem, rest, need.tolist(), problem.capacities[rest], allowance)
    if found is None:
        return None
    placement[rest] = found
    return placement
