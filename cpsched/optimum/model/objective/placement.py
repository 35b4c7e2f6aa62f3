"""queue_deficit_max, queue_deficit_total, tasks_bound, tasks_placed, resources_placed: levels that count placements."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from cpsched.objectives import MILLIONTHS
from cpsched.optimum.model.objective.queue_deficit import deficits_of
from cpsched.optimum.model.objective.stage import LevelStage, LinearStage, LpBound
from cpsched.optimum.model.variables import ZERO, Expr, Variables, sum_of, weighted
from cpsched.snapshot.queues import cluster_total


class QueueDeficitMax(LevelStage, LinearStage):
    """The largest deficit of a queue."""

    name = "queue_deficit_max"
    in_millionths = counts_placements = True
    has_decision_variables_only = False

    def __init__(self, v: Variables, _: int | None):
        deficits = deficits_of(v)
        self._gains = [gain for deficit in deficits for gain in deficit.gains]
        super().__init__(v, _largest(v) if deficits else ZERO)

    def lower_bound(self, lp: LpBound, known: int, upper: int | None) -> int:
        """The LP of the deficit itself, and of each queue's gain: at least the deficit after the most it can gain.

        The deficit's rows round up, so an LP bound on the gain, which is an integer, says more.
        """
        bounds = [known, super().lower_bound(lp, known, upper)]
        for gain, deficit in self._gains:
            if (loss := lp(-1 * gain)) is not None:
                bounds.append(deficit.without(loss))
        return max(bounds)


def _largest(v: Variables) -> Expr:
    """The largest deficit; with one queue that queue's own variable."""
    deficits = deficits_of(v)
    if len(deficits) == 1:
        return deficits[0].variable
    worst = v.cp.new_int_var(0, MILLIONTHS, "worst deficit")
    for deficit in deficits:
        v.cp.add(worst >= deficit.variable)
    v.cp.add(sum_of([deficit.variable for deficit in deficits]) >= worst)
    return worst


class QueueDeficitTotal(LevelStage, LinearStage):
    """The sum of all deficits."""

    name = "queue_deficit_total"
    in_millionths = counts_placements = True
    has_decision_variables_only = False

    def __init__(self, v: Variables, _: int | None):
        super().__init__(v, sum_of([deficit.variable for deficit in deficits_of(v)]))


class TasksPlaced(LevelStage, LinearStage):
    """Tasks that start or are reserved; maximised."""

    name, sign = "tasks_placed", -1
    counts_placements = is_loose_in_exact = True
    reserved = True

    def __init__(self, v: Variables, _: int | None):
        total = [count for jobs in v.classes.jobs for _, count in v.taken(jobs, reserved=self.reserved)]
        super().__init__(v, -1 * sum_of(total))
        self.ideal = -sum(len(one.tasks) for one in v.classes.tasks)


class TasksBound(TasksPlaced):
    """Tasks that start; maximised."""

    name = "tasks_bound"
    reserved = False


class ResourcesPlaced(LevelStage, LinearStage):
    """What is placed, each task by the largest share of the cluster that it requests; maximised."""

    name, sign = "resources_placed", -1
    in_millionths = counts_placements = True
    has_decision_variables_only = False

    def __init__(self, v: Variables, _: int | None):
        total = cluster_total(v.snapshot.instance)
        parts, most = [], 0
        for one in v.classes.tasks:
            requests = one.representative.requests.items()
            shares = (Fraction(amount) / Fraction(total[name]) for name, amount in requests if total.get(name))
            worth = floor(MILLIONTHS * max(shares, default=Fraction(0)))
            parts.append((-worth, v.total(one)))
            most += worth * len(one.tasks)
        super().__init__(v, weighted(parts))
        self.ideal = -most
