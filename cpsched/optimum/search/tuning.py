"""How long each part of the search over levels is tried."""

from __future__ import annotations

from cpsched.optimum.relax.relaxed_model import Detail

FIND_EFFORT = 1.0
"""Deterministic time that CP-SAT has to itself to find a decision that is as good as foreseen."""
ATTEMPTS = 8
"""How often that is tried again after the judge refused what came of it and the rows were made exact there."""

SHARES = {Detail.POOLS: 0.5, Detail.NODES: 0.5, Detail.CLASSES: 0.9}
"""Which part of the time that is left a look in some detail may take."""

START_UP = 1e-5
"""How many seconds a solver needs per variable before it looks at anything; with less left it is not asked."""

CLIMB = 12
"""How many values above a bound are asked for one by one."""

SHORTEST = 1.0
"""Seconds of the time limit that are worth a second search."""
