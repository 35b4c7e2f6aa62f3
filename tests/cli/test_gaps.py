"""A PodGroup without pods and a job of an unknown queue: a warning and the decision, in every command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.unit.greedy_volcano.cluster import Object, group, node, pod, queue

FINE: list[Object] = [node("n"), queue(), group("fine"), pod("p", "fine")]
INPUTS: dict[str, tuple[list[Object], str]] = {
    "empty": ([group("empty")], "PodGroup ns/empty: has no pods; Volcano keeps such a group as a job without tasks"),
    "lost": (
        [group("lost", queue="gone"), pod("x", "lost")],
        "PodGroup ns/lost: its queue gone is not in the input; Volcano skips such a job",
    ),
}
COMMANDS: dict[str, Sequence[str]] = {
    "solve": ("--json",),
    "solve volcano": ("--engine", "volcano", "--json"),
    "compare": ("--cache", "none"),
    "explain": ("--task", "ns/p"),
    "report": ("--format", "text"),
    "import": ("--report",),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", INPUTS)
def test_it_is_a_warning(cli: Command, tmp_path: Path, name: str, command: str) -> None:
    more, warning = INPUTS[name]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps([*FINE, *more]))
    code, out, err = cli(command.split(maxsplit=1)[0], path, *COMMANDS[command])
    assert (code, err.count("\n")) == (0, 1)
    assert err.endswith(f"{path}: {warning}\n")
    if command.startswith("solve"):
        assert json.loads(out)["binds"] == {"ns/p": "n"}


def test_hundreds_are_one_line(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps([*FINE, *(group(f"g{number}", queue="gone") for number in range(300))]))
    code, _, err = cli("solve", path)
    assert (code, err.count("\n")) == (0, 1)
    assert err.endswith(f"{path}: 300 jobs whose queue is not in the input (1: gone); Volcano skips such a job\n")
