"""A cluster of two schedulers: a decision for each, one after the other, or the command for the one left out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cpsched.cli.output import busy, warn
from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.instance import Instance
    from cpsched.options import Options
    from cpsched.policy import Policy
    from cpsched.solution import Solution

    Decided = tuple[Policy, Solution]


def for_others(instance: Instance, policy: Policy, inputs: Sequence[str], command: str) -> Iterator[str]:
    """A sentence for each scheduler whose pods wait too and can be decided here under another model."""
    from cpsched.importers.chosen import others

    for one in others(instance, policy):
        if one.model is not None:
            yield f"{one}, not decided here: cpsched {command} {shlex.join(inputs)} --model {one.model}"


def refuse_of_two(**wanted: object) -> None:
    """Options that write a file about one decision; by parameter's name."""
    given = [f"--{name}" for name, value in wanted.items() if value is not None]
    if given:
        wrong = f"{' and '.join(given)} can hold one decision, and pods of Volcano and of kube-scheduler are pending"
        raise InputError(wrong, right="add --model volcano or --model kube")


def decided_for_each(
    engine: str, instance: Instance, policies: Sequence[Policy], options: Options
) -> Iterator[Decided]:
    """A decision per policy; after a Ctrl-C no further one is begun."""
    from cpsched import engines
    from cpsched.together import own_part

    for policy in policies:
        with busy(f"Deciding ({engine})"):
            solution = engines.run(engine, instance, policy, options)
        warn(solution.notes)
        yield policy, own_part(instance, policy, solution) if len(policies) > 1 else solution
        if solution.interrupted:
            warn(["interrupted: this is the best decision so far"])
            return


def notes_beside(
    instance: Instance, policies: Sequence[Policy], decided: Sequence[Decided], inputs: Sequence[str]
) -> list[str]:
    """What is printed below the tables: how two decisions go together, or whom nothing was decided about."""
    from cpsched.together import same_nodes

    if len(decided) > 1:
        return [f"Note: {same_nodes([solution for _, solution in decided])}."]
    return list(for_others(instance, policies[0], inputs, "solve"))


def with_notes(instance: Instance, policy: Policy, solution: Solution, more: Sequence[str] = ()) -> Solution:
    """The solution as JSON has it: that there was nothing to decide is a note."""
    from cpsched.contents import nothing_to_decide
    from cpsched.snapshot import Snapshot

    nothing = nothing_to_decide(Snapshot(instance, policy), solution)
    notes = (*solution.notes, *([f"nothing to decide: {nothing}"] if nothing else []), *more)
    return solution.model_copy(update={"notes": notes})
