"""`--trace` and `--all-outcomes`: how a mirror decides, and what else chance could have made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cpsched.cli.delivery import write_output
from cpsched.cli.output import as_json, busy, emit, emit_lines, say_lines, warn
from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.instance import Instance
    from cpsched.options import Options
    from cpsched.policy import Policy
    from cpsched.solution import Solution


def print_trace(engine: str, instance: Instance, policy: Policy, options: Options, *, json: bool) -> None:
    """The decision's trace: before the tables, or on stderr where stdout carries JSON."""
    from cpsched.greedy.volcano.engine import Options as MirrorOptions
    from cpsched.greedy.volcano.engine import replay

    _only_volcano(engine, "--trace")
    lines = replay(instance, policy, MirrorOptions(seed=options.chance, trace=True)).trace
    (say_lines if json else emit_lines)(["Trace", *lines, ""])


def refuse_with_all_outcomes(**wanted: object) -> None:
    """Options that say something about one decision mean nothing to a list of all of them; by parameter's name."""
    given = [f"--{name.replace('_', '-')}" for name, value in wanted.items() if value not in (None, False)]
    if given:
        raise InputError(
            f"--all-outcomes cannot be combined with {', '.join(given)}", right="leave out one or the other"
        )


def list_outcomes(
    engine: str, instance: Instance, policy: Policy, *, json: bool, output: str | None
) -> tuple[Solution, ...]:
    """Show the decisions that upstream's random choices can lead to."""
    from cpsched.checker import checked_from_outside
    from cpsched.greedy import kube, volcano

    mirrors = {"volcano": volcano.outcomes, "kube": kube.outcomes}
    if engine not in mirrors:
        raise InputError(f"engine {engine} has no --all-outcomes", right="add --engine volcano or --engine kube")
    with busy(f"Deciding ({engine})"):
        found = mirrors[engine](instance, policy)
    outcomes = tuple(checked_from_outside(instance, policy, one) for one in found.solutions)
    if not found.is_complete:
        tried = "there are too many combinations of random choices to try them all"
        warn([f"{tried}; these are decisions of seeds 1 to {found.samples + 1}, and there may be others"])
    text = as_json([one.to_dict() for one in outcomes])
    write_output(output, text)
    if json:
        emit(text)
    else:
        emit_lines(_lines(outcomes, found.is_complete))
    return outcomes


def _only_volcano(engine: str, option: str) -> None:
    if engine != "volcano":
        raise InputError(f"engine {engine} has no {option}", right="add --engine volcano")


def _lines(outcomes: Sequence[Solution], is_complete: bool) -> list[str]:
    total, breaking = len(outcomes), sum(bool(one.findings) for one in outcomes)
    broken = f"{breaking or 'none'} break{'s' * (breaking < 2)} a rule"
    least = "" if is_complete else "at least "
    lines = [f"{least}{total} different decision{'s' * (total != 1)} by chance alone; {broken}"]
    for number, one in enumerate(outcomes, start=1):
        broken = ", ".join(sorted({finding.rule for finding in one.findings})) or "no rule"
        seed = "" if one.seed is None else f" (--seed {one.seed})"
        lines += ["", f"{number}.{seed} breaks {broken}"]
        for title, places in (("starts", one.binds), ("allocated", one.allocated), ("waits", one.pipelined)):
            lines += [f"  {title:9} {task} on {node}" for task, node in sorted(places.items())]
        lines += [f"  evicted   {item.task} on {item.node} for {item.for_job}" for item in one.evictions]
    return lines
