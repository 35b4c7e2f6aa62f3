"""`--trace` and `--all-outcomes`: how the Volcano mirror decides, and what else chance could have made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cpsched.cli.delivery import write_output
from cpsched.cli.output import as_json, emit, emit_lines, say_lines
from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.instance import Instance
    from cpsched.options import Options
    from cpsched.policy import Policy
    from cpsched.solution import Solution


def tell_story(engine: str, instance: Instance, policy: Policy, options: Options, *, json: bool) -> None:
    """The decision's story: before the tables, or on stderr where stdout carries JSON."""
    from cpsched.greedy.volcano.engine import Options as MirrorOptions
    from cpsched.greedy.volcano.engine import replay

    _only_volcano(engine, "--trace")
    story = replay(instance, policy, MirrorOptions(seed=options.chance, trace=True)).trace
    (say_lines if json else emit_lines)(["Story", *story, ""])


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
    """Show every decision that upstream's random choices can lead to."""
    from cpsched.greedy.volcano.engine import Options as MirrorOptions
    from cpsched.greedy.volcano.engine import replay
    from cpsched.judge import judged

    _only_volcano(engine, "--all-outcomes")
    found = replay(instance, policy, MirrorOptions(all_outcomes=True)).outcomes
    outcomes = tuple(judged(instance, policy, one) for one in found)
    text = as_json([one.to_dict() for one in outcomes])
    write_output(output, text)
    if json:
        emit(text)
    else:
        emit_lines(_lines(outcomes))
    return outcomes


def _only_volcano(engine: str, option: str) -> None:
    if engine != "volcano":
        raise InputError(f"engine {engine} has no {option}", right="add --engine volcano")


def _lines(outcomes: Sequence[Solution]) -> list[str]:
    total, breaking = len(outcomes), sum(bool(one.findings) for one in outcomes)
    broken = f"{breaking or 'none'} break{'s' * (breaking < 2)} a rule"
    lines = [f"{total} different decision{'s' * (total != 1)} by chance alone; {broken}"]
    for number, one in enumerate(outcomes, start=1):
        broken = ", ".join(sorted({finding.rule for finding in one.findings})) or "no rule"
        lines += ["", f"{number}. breaks {broken}"]
        for title, places in (("starts", one.binds), ("allocated", one.allocated), ("waits", one.pipelined)):
            lines += [f"  {title:9} {task} on {node}" for task, node in sorted(places.items())]
        lines += [f"  evicted   {item.task} on {item.node} for {item.for_job}" for item in one.evictions]
    return lines
