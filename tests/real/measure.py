"""Every recorded decision of a corpus, checked and held against the optimum of its session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cpsched.comparison.contender import recorded
from cpsched.comparison.optima import Optima
from cpsched.comparison.session import CaseOptions, Session, open_session
from cpsched.importers.corpus import Case, cases
from cpsched.options import Options
from cpsched.ranking import Gap, Standing, gap
from cpsched.resources import add, total_of
from cpsched.rules import Decision as SeenDecision
from cpsched.rules.placement import exceeded
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution, SolutionStatus


@dataclass(frozen=True)
class Optimum:
    """What was found for one session."""

    proved: bool
    seconds: float
    standing: Standing


@dataclass(frozen=True)
class Decision:
    """One recorded decision; `optimum` is None where the session has none to compare with."""

    case: str
    number: int
    count: int
    rules: tuple[str, ...]
    optimum: Optimum | None
    gap: Gap | None
    place: int
    """Which level from the top the gap is on."""
    on_last: bool = False
    """Whether that is the last one, which only breaks ties."""
    victims: int = 0
    """Tasks that it evicts."""
    needed: int = 0
    """How many of them what is placed has no room without, taken node by node."""

    @property
    def profile(self) -> str:
        """The first word of the row's id."""
        return self.case.partition("#")[2].partition("-")[0]

    @property
    def is_optimal(self) -> bool:
        """No finding, and as good as a proved optimum."""
        return not self.rules and self.gap is None and self.optimum is not None and self.optimum.proved

    @property
    def is_behind(self) -> bool:
        """No finding, but something better is at hand."""
        return not self.rules and self.gap is not None


def promised(case: Case) -> bool:
    """Whether a row that tries one pod holds nominations of others, whose room the model does not know as taken."""
    if case.only is None or case.row is None:
        return False
    pods = (item for item in case.row["objects"] if item["kind"] == "Pod" and not item["spec"].get("nodeName"))
    others = (pod for pod in pods if f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" != case.only)
    return any(pod["status"].get("nominatedNodeName") for pod in others)


def session_of(case: Case, model: str) -> Session:
    return open_session(case, CaseOptions(model=model))


def decisions(corpus: str, model: str, optima: Optima, options: Options) -> Iterator[list[Decision]]:
    """Case by case, each with all its recorded decisions."""
    for case in cases(corpus):
        session = session_of(case, model)
        snapshot = Snapshot(session.instance, session.policy)
        best = None if promised(case) else _optimum(snapshot, optima.best(session.instance, session.policy, options))
        yield [
            _decision(snapshot, case, number, found, best)
            for number, found in enumerate(recorded(session, snapshot), start=1)
        ]


def _optimum(snapshot: Snapshot, best: Solution) -> Optimum:
    standing = Standing.of(snapshot, best)
    assert standing is not None
    assert not best.findings
    return Optimum(best.status is SolutionStatus.OPTIMAL, sum(level.seconds for level in best.levels), standing)


def _decision(
    snapshot: Snapshot, case: Case, number: int, found: tuple[Solution, Standing, int], best: Optimum | None
) -> Decision:
    solution, standing, count = found
    rules = tuple(sorted({finding.rule for finding in solution.findings}))
    behind = None if best is None or rules else gap(standing, best.standing)
    place = 0 if behind is None else standing.labels.index(behind.level)
    on_last = behind is not None and place == len(standing.labels) - 1
    victims, needed = len(solution.evicted), needed_victims(snapshot, solution)
    return Decision(case.id, number, count, rules, best, behind, place, on_last, victims, needed)


def needed_victims(snapshot: Snapshot, solution: Solution) -> int:
    """Victims that are left once each that is not needed is given back, the most important and the largest first."""
    decision = SeenDecision.of(snapshot, solution)
    needed = 0
    for node, gone in decision.victims_by_node.items():
        asked, room = decision.asked_by_node.get(node, {}), dict(snapshot.future_idle[node])
        room = add(room, total_of([victim.requests for victim in gone]))
        for victim in sorted(gone, key=lambda one: (-one.pod_priority, -sum(one.requests.values()), one.key)):
            less = {name: amount - victim.requests.get(name, 0) for name, amount in room.items()}
            if exceeded(asked, less):
                needed += 1
            else:
                room = less
    return needed
