"""Proofs by prices: what one place can earn at most, shown for one of them and again for all that are alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cpsched.optimum.params import PLACE_LEAVES
from cpsched.optimum.proofs.blocks import PlaceBlock, blocks_of
from cpsched.optimum.proofs.branching import Branching
from cpsched.optimum.proofs.line import Step
from cpsched.optimum.proofs.prices import PriceLp
from cpsched.optimum.proofs.root import NEARLY, Root, used_only
from cpsched.proof.rows import ProofRow, ProofStatement

PARTS = (1, 2, 3, 4, 6, 12, 60, 360, 10**4)
"""Prices are rounded to these parts of the largest."""


class Earned(NamedTuple):
    """What a unit of each variable of a block earns, and a limit of what one place does."""

    block: PlaceBlock
    weights: dict[int, int]
    limit: int

    @property
    def of_all(self) -> ProofRow:
        """The row over all places."""
        terms = self.block.summed({number: -weight for number, weight in self.weights.items()})
        return ProofRow(terms, -self.limit * len(self.block.variables))

    @property
    def of_one(self) -> ProofRow:
        """The row of the first place."""
        terms = {self.block.names[number]: -weight for number, weight in self.weights.items()}
        return ProofRow(terms, -self.limit)


def prove_by_prices(root: Root, point: Mapping[str, int]) -> list[Step] | None:
    """The steps, if what places earn at most at the prices of an LP shows the claim; `point` is the decision."""
    if not _added_prices(root, point):
        return None
    step = root.derive(root.statement.claim)
    return None if step is None else [*root.steps, step, ["end"]]


def _added_prices(root: Root, point: Mapping[str, int]) -> bool:
    """Derive what all places of each block earn at most; whether that is enough, as far as floats can tell."""
    statement, goes_on = root.statement, root.goes_on
    blocks, between = blocks_of(statement)
    lp = PriceLp(statement, blocks, between, point)
    worth = lp.prices(goes_on)
    if worth is None or lp.bound <= statement.claim.least - 1 + NEARLY:
        return False
    tried = []
    for parts in PARTS:
        if not goes_on():
            return False
        if (found := _limits(lp, worth, parts)) and (spare := _spare(statement, found)) is not None:
            tried.append(((spare + 1) / parts, [one._replace(limit=one.limit + spare) for one in found]))
    tried.sort(key=lambda pair: pair[0], reverse=True)
    return any(_derived_all(root, found) for _, found in tried[:2])


def _limits(lp: PriceLp, worth: list[list[float]], parts: int) -> list[Earned]:
    """The most that a place of each block earns at rounded prices; nothing where that is not found."""
    largest = max((abs(one) for weights in worth for one in weights), default=0.0)
    found = []
    for model, block, mine in zip(lp.models, lp.blocks, worth, strict=True):
        weights = [round(parts * one / largest) for one in mine] if largest > NEARLY else []
        if any(weights):
            best = model.best(weights)
            if best is None:
                return []
            found.append(Earned(block, {n: w for n, w in enumerate(weights) if w}, best[0]))
    return found


def _spare(statement: ProofStatement, found: list[Earned]) -> int | None:
    """By how much every limit may be weaker so that an LP with these rows still has the claim; None if it has not.

    The more, the shorter the proofs about one place.
    """
    trial, first = Root(statement), len(statement.rows)
    for one in found:
        row = one.of_all
        trial.lp.add(row.terms, row.least)
    answer = trial.solve(dict(statement.claim.terms))
    if answer is None or not answer.feasible:
        return None
    over = answer.value - (statement.claim.least - 1) - 1e-4
    paid = {number - first: y for number, y in answer.multipliers if number >= first}
    cost = sum(y * len(found[number].block.variables) for number, y in paid.items())
    return None if over <= 0 else int(over / cost) if cost > NEARLY else 0


def _derived_all(root: Root, found: list[Earned]) -> bool:
    shown = [_shown(root, one) for one in found]
    if any(steps is None for steps in shown):
        return False
    for one, steps in zip(found, shown, strict=True):
        _add(root, one, steps or [])
    return True


def _shown(root: Root, earned: Earned) -> list[Step] | None:
    """The steps that show it of the first place."""
    goal = earned.of_one
    one = Root(earned.block.statement(root.statement, goal), root.goes_on)
    last = one.derive(goal)
    steps = [last] if last is not None else Branching(one, goal, PLACE_LEAVES, by_worth=True).prove()
    if steps is None:
        return None
    steps = [*one.steps, *steps]
    return used_only(steps) if all(step[0] == "sum" for step in steps) else steps


def _add(root: Root, earned: Earned, steps: list[Step]) -> None:
    """The row over all places of the block, after the steps that show it for each."""
    block, taken, rows, offset = earned.block, list[Step](), list[int](), root.derived
    for place in range(len(block.variables)):
        taken += _renamed(steps, earned.of_one, offset, *block.renaming(place))
        offset += _added(steps)
        rows.append(offset)
    root.derived = offset
    root.add(earned.of_all, *taken, ["sum", 1, [[row, 1] for row in rows]])


def _added(steps: list[Step]) -> int:
    """How many rows the steps leave behind."""
    count, first = 0, list[int]()
    for step in steps:
        if step[0] == "split":
            first.append(count)
        if step[0] in ("else", "both"):
            count = first[-1] if step[0] == "else" else first.pop()
        count += 1
    return count


def _renamed(
    steps: list[Step], goal: ProofRow, offset: int, variables: Mapping[str, str], labels: Mapping[str, str]
) -> list[Step]:
    """The steps about another place, after so many other rows; a split states what it shows."""

    def renamed(reference: str | int) -> str | int:
        if isinstance(reference, int):
            return reference + offset
        return labels[reference] if reference in labels else reference[0] + variables[reference[1:]]

    found: list[Step] = []
    depth = 0
    for step in steps:
        if step[0] == "sum":
            found.append(["sum", step[1], [[renamed(reference), times] for reference, times in step[2]]])
            continue
        if step[0] == "split":
            shown = step[3:] or ([[list(term) for term in goal.terms.items()], goal.least] if depth == 0 else [])
            terms = [[[variables[name], c] for name, c in part] if isinstance(part, list) else part for part in shown]
            found.append(["split", [[variables[name], c] for name, c in step[1]], step[2], *terms])
        else:
            found.append(step)
        depth += (step[0] == "split") - (step[0] == "both")
    return found
