"""`--trace` and `--all-outcomes`: how the Volcano mirror decides, and what else chance could have made of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cpsched.cli.output import as_json, emit
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
    text = "\n".join(("Story", *story, ""))
    if json:
        print(text, file=sys.stderr)
    else:
        emit(text)


def list_outcomes(engine: str, instance: Instance, policy: Policy, *, json: bool) -> str:
    """Every decision that upstream's random choices can lead to; returns the JSON."""
    from cpsched.greedy.volcano.engine import Options as MirrorOptions
    from cpsched.greedy.volcano.engine import replay
    from cpsched.judge import judged

    _only_volcano(engine, "--all-outcomes")
    found = replay(instance, policy, MirrorOptions(all_outcomes=True)).outcomes
    outcomes = [judged(instance, policy, one) for one in found]
    text = as_json([one.to_dict() for one in outcomes])
    if json:
        emit(text)
    else:
        emit("\n".join(_lines(outcomes)))
    return text


def _only_volcano(engine: str, option: str) -> None:
    if engine != "volcano":
        raise InputError(f"engine {engine} has no {option}", right="add --engine volcano")


def _lines(outcomes: list[Solution]) -> list[str]:
    lines = [f"{len(outcomes)} different decision{'s' if len(outcomes) != 1 else ''} by chance alone"]
    for number, one in enumerate(outcomes, start=1):
        broken = ", ".join(sorted({finding.rule for finding in one.findings})) or "no rule"
        lines.append(f"\n{number}. breaks {broken}")
        for title, places in (("starts", one.binds), ("allocated", one.allocated), ("waits", one.pipelined)):
            lines += [f"  {title:9} {task} on {node}" for task, node in sorted(places.items())]
        lines += [f"  evicted   {item.task} on {item.node} for {item.for_job}" for item in one.evictions]
    return lines
