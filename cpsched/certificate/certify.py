"""certify(): for every level of a solution the best bound that can be checked, else what a prover reported."""

from __future__ import annotations

import cpsched.version
from cpsched.certificate.case import Case, Session
from cpsched.certificate.document import CLAIMED, Certificate, CertifiedLevel, Decided, Evidence
from cpsched.certificate.evidence import EVIDENCE
from cpsched.checker import decision_of
from cpsched.instance import Instance
from cpsched.objectives import level_plan, value_of
from cpsched.policy import Policy
from cpsched.policy.levels import SENSES, LevelRef, Value
from cpsched.provenance import differences, made_from, made_under
from cpsched.solution import PROVERS, Level, Solution


def certify(instance: Instance, policy: Policy, solution: Solution) -> Certificate:
    """The solution's decision with its values, computed again, and bounds: the tightest that is known of each level.

    A prover's claims count only if this package asked that prover, about this session.
    """
    decision = decision_of(instance, policy, solution)
    session = Session(decision.snapshot)
    if not solution.proves or any(differences(instance, policy, solution)):
        solution = solution.from_outside()
    claims = {level.label: level for level in solution.levels}
    given: dict[tuple[str, int | None], Value] = {}
    levels: list[CertifiedLevel] = []
    for level in level_plan(decision.snapshot):
        value = value_of(decision, *level)
        bound, evidence = _strongest(Case(session, dict(given)), level, claims.get(level.label))
        closed = bound == value and all(one.proved for one in levels)
        shown = CertifiedLevel(
            name=level.name,
            priority=level.priority,
            sense=SENSES[level.name],
            value=level.stated(value),
            bound=level.stated(bound),
            proved=closed,
            evidence=evidence,
        )
        levels.append(shown)
        given[level] = value
    return Certificate(
        **made_under(policy),
        **made_from(instance),
        versions={**solution.versions, "cpsched": cpsched.version.__version__},
        decision=Decided(**{field: getattr(solution, field) for field in Decided.model_fields}),
        levels=tuple(levels),
    ).sealed()


def bounds_of(case: Case, name: str, priority: int | None) -> list[tuple[str, Value]]:
    """Every kind of evidence that has something to say of the level, with its bound; the tightest first."""
    found = [(kind, shown.bound) for kind, show in EVIDENCE.items() if (shown := show(case, name, priority))]
    return sorted(found, key=lambda pair: tightness(name, pair[1]), reverse=True)


def tightness(name: str, bound: Value) -> tuple[int, int]:
    """Sorts a bound that excludes more behind one that excludes less."""
    return LevelRef(name).rank(bound)


def _strongest(case: Case, level: LevelRef, claim: Level | None) -> tuple[Value, Evidence]:
    kind, bound = bounds_of(case, *level)[0]
    prover = "" if claim is None else claim.prover.partition(",")[0]
    if claim is not None and prover in PROVERS:
        claimed = level.value(claim.bound)
        if claimed is not None and level.rank(claimed) > level.rank(bound):
            return claimed, Evidence(kind=CLAIMED, by=prover)
    return bound, Evidence(kind=kind)
