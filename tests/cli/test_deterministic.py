"""--deterministic: the same answer every time, of every command that searches; what is remembered is not asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cpsched.comparison.optima import Optima
from cpsched.explanation.goal import Clock, WorkClock, clock_of
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.optimum.queries.feasibility import Effort, UndecidedError
from cpsched.options import Options
from tests.cli.conftest import Command


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "--cache", "none", "--json"),
        ("check", "--cache", "none", "--engine", "optimal", "--json"),
        ("explain", "--json", "--job", "default/urgent"),
        ("report", "--format", "markdown"),
    ],
)
def test_the_same_bytes_twice(cli: Command, tiny: Path, command: tuple[str, ...]) -> None:
    name, *options = command
    answers = [cli(name, tiny, "--deterministic", *options) for _ in range(2)]
    assert answers[0].code == 0
    assert _steady(answers[0].out) == _steady(answers[1].out)


def _steady(text: str) -> Any:
    """Without seconds, which are measured."""
    if not text.startswith("{"):
        return [line for line in text.splitlines() if " s)" not in line and "made" not in line]

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(item) for key, item in value.items() if key != "seconds"}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(json.loads(text))


def test_what_is_remembered_is_not_asked(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = load(tiny)
    policy = load_policy("volcano", None, instance=instance)
    optima = Optima(tmp_path / "cache")
    monkeypatch.setattr(Optima, "_recalled", lambda *_: pytest.fail("asked"))
    assert optima.best(instance, policy, Options(deterministic=True)).proves
    assert not (tmp_path / "cache").exists()


def test_the_clock_of_an_explanation_counts_work() -> None:
    assert type(clock_of(Options(time_limit=5))) is Clock
    clock = clock_of(Options(time_limit=5, deterministic=True))
    assert isinstance(clock, WorkClock)
    assert clock.left == 5
    part = clock.part(0.2)
    assert isinstance(part, Effort)
    assert part.limit == 1
    assert clock.left == 5
    part.spend(2)
    assert clock.left == 3
    part.spend(0)
    assert clock.left < 3, "questions that take nothing come to an end too"
    clock.spend(3)
    with pytest.raises(UndecidedError):
        clock.part(0.2)


def test_a_question_without_work_left_stays_open(cli: Command, tiny: Path) -> None:
    code, out, _ = cli("explain", tiny, "--job", "default/urgent", "--deterministic", "--time-limit", "0.000001")
    assert code in (0, 3)
    assert "Traceback" not in out
