"""Parameters of a search, and every tuning constant of the optimum in one table.

A constant here changes how long a search takes and what stays open, never what is proved. `python -m tests.benchmark
tuning` measures them, halved and doubled: on six contended sessions of 8 to 30 nodes none of fifteen changed what was
proved (123 of 123 levels), nor CPU time beyond its noise (2.4 to 2.7 s). They matter where a limit is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cpsched.optimum.provers import SELECTIONS, Prover
from cpsched.options import Prover as Choice


@dataclass
class SolveParams:
    """How hard to try; deterministic means one worker, no second solver, and a limit on work instead of wall time."""

    time_limit: float = 60.0
    workers: int = 2
    seed: int = 1
    deterministic: bool = False
    prover: Choice = "both"
    log: Callable[[str], None] | None = None
    presolve: bool = True
    """Whether rules and levels decide what gets a variable; without, the same result takes longer."""

    @property
    def provers(self) -> frozenset[Prover]:
        """The provers that may answer."""
        return SELECTIONS[self.prover]

    @property
    def uses_one_worker(self) -> bool:
        """Whether nothing runs in parallel, neither threads of CP-SAT nor a second solver."""
        return self.deterministic or self.workers < 2


# CP-SAT: deterministic time that one worker gets before anything runs in parallel. What ends within it ends the same
# way in every run. Less sends easy stages to the portfolio, more delays hard ones.

SINGLE_EFFORT = 0.6
"""For a minimisation; in proportion more beyond SMALL_MODEL variables."""
FIND_EFFORT = 1.0
"""For a feasibility problem in the session model."""
IMPROVE_EFFORT = 2.0
"""For a search around a decision that is to attain a known bound."""
COMPLETION_LIMIT = 10.0
"""Seconds, or deterministic time, to complete a hint to an assignment of all variables."""
SMALL_MODEL = 2000
"""Up to this many variables CP-SAT works alone first, with its own strategies; larger models lean on the LP, and the
second solver joins at once."""
SMALL_RELAXATION = 1000
"""The same limit for a relaxed model, whose LP is stronger, so that the second solver is worth its start earlier."""
POLL_SECONDS = 0.005
"""Between two looks at interruption and the second solver while CP-SAT works in a thread."""
START_SECONDS_PER_VARIABLE = 1e-5
"""What a solver needs per variable to read a model; with less time left it is not started, or a limit of 60 s ends
seconds late on a model of 100,000 variables."""

# Packing pass.

PACKING_SHARE = 0.75
"""Part of the time limit for packing; what it leaves open goes on with the relaxations."""
PACKING_ALONE_SHARE = 0.85
"""The same where nothing runs that could be evicted: the relaxations rarely close what packing leaves open."""

QUICK_SHARE = 0.1
"""Part of what is left for a first try of each number of nodes: three of 139 published instances stay open after 10 s,
and with all the time for the least number they kept a decision of up to three nodes more than the best known."""

# Starts: decisions without a model.

LARGE_SESSION = 2000
"""Counts of tasks per class and node, beyond which a decision is made before any model is built. Smaller sessions are
mostly closed by the first relaxation."""
INSERTION_SHARE = 0.1
"""Part of the time limit for insertions in further orders."""
INSERTIONS = 3
"""How many further orders at most."""
WARM_START_SECONDS_PER_TASK = 5e-4
"""What the heuristic needs at most; with less time left it is not asked for its decision."""
BUILD_SECONDS_PER_VARIABLE = 1e-4
"""What the session model needs per variable to be built and read; with less time left it is not built."""

# LP relaxation.

LP_EFFORT = 2.0
"""Deterministic time of the LP for one bound; a bound that takes longer is given up, and with it the LP."""

# Proofs.

PROOF_FORM_SIZE = 60_000
"""Kinds times places, up to which a statement is written out for a proof."""

PROOF_ROUNDS = 12
"""Rounds of cuts before a claim is left to the search."""
PROOF_CUTS = 60
"""Cuts of one round."""
PROOF_LEAVES = 2000
"""Leaves of the search for a proof of one level."""
PLACE_LEAVES = 10_000
"""Leaves of the search for what one place can earn at most."""
PRICE_ROUNDS = 400
"""Rounds of column generation."""
PRICE_EFFORT = 0.5
"""Deterministic time for the best pattern of one place."""

# Bounding pass: all levels on one relaxed model.

ROUNDS = 8
"""How often a question is asked again after the checker refused the answer and cut it off."""
EXACT_EFFORT_FACTOR = 3
"""How many times the effort an exact model gets for one question: it is the last granularity, nothing follows."""
BOUNDING_SHARE = 0.1
"""Part of the time left that may go by while LP bounds are collected before a solution is looked for."""
NODE_CLASS_SHARE, NODE_SHARE, EXACT_SHARE = 0.5, 0.5, 0.9
"""Part of the time left that a bounding pass on the granularity may take; what is left is for the exact levels."""
MOST_VARIABLES = 60_000
"""In an exact model with more variables charges are stated exactly only on nodes where a solution was refused."""

RAISING_SHARE = 0.1
"""Part of the time that is kept in large sessions for LP bounds of levels after an open one: at 1,523 nodes they take
about 5 s of 60."""

# Levels in the session model.

DESTRUCTIVE_STEPS = 12
"""How many values above a bound are tried one by one before the level is minimised."""
BOUNDED_LEVEL_SHARE = 1 / 2
"""Part of the time left for a level of which a bound is known: the decision is the hard part."""
HEURISTIC_SHARE = 1 / 4
"""Part of the time left for one fix-and-solve, one feasibility problem or one removal of violations."""
REPAIR_SHARE, PARTIAL_REPAIR_SHARE, LATE_REPAIR_SHARE = 1 / 3, 1 / 2, 1 / 6
"""Part of the time left for an elastic repair: of all levels; of a prefix, once nothing finer is left; of a prefix,
before an exact bounding pass that may take all the rest."""
LATE = 1 / 2
"""Part of the time limit after which a prefix is repaired before the exact bounding pass begins."""
CONTINUATION_SECONDS = 1.0
"""Seconds of the limit that are worth another search over the levels left open."""
REMOVAL_SECONDS = 0.5
"""Seconds to insert jobs, or to drop violations from a decision made elsewhere, even where no time is left: else there
may be no decision."""
