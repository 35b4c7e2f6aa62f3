"""The hand-made instances: the oracle finds the recorded optimum, and each shows the rule or level it is named for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import cpsched
from cpsched.objectives import comparable, level_plan, vector
from cpsched.rules import RULES
from cpsched.snapshot import Snapshot
from tests.judge import broken, decide, snapshot_of, values
from tests.oracle.brute_force import optimum

FOLDER = Path(__file__).parents[2] / "instances" / "tiny"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
FILES = sorted(path.name for path in FOLDER.iterdir() if path.name != "expected.json")

cases = pytest.mark.parametrize(("file", "expected"), EXPECTED.items(), ids=EXPECTED.keys())


def snapshot(file: str, expected: dict[str, Any]) -> Snapshot:
    """The instance under the model it is meant for."""
    return snapshot_of(FOLDER / file, model=expected["model"])


@cases
def test_oracle_finds_the_recorded_optimum(file: str, expected: dict[str, Any]) -> None:
    """Levels and all optimal victim sets are as written beside the instance."""
    found = optimum(snapshot(file, expected))
    assert values(found.decisions[0]) == expected["levels"]
    assert [list(victims) for victims in found.victim_sets] == expected["victims"]


@cases
def test_alternative_shows_what_the_instance_is_about(file: str, expected: dict[str, Any]) -> None:
    """A tempting decision breaks the rule although its levels are better, or is worse first at the level shown."""
    session = snapshot(file, expected)
    alternative, best = decide(session, expected["alternative"]), optimum(session)
    plan = level_plan(session)
    alternative_key, best_key = comparable(plan, vector(alternative)), comparable(plan, best.values)
    assert broken(alternative) == set(expected.get("breaks", ()))
    if expected["shows"] in RULES:
        assert expected["shows"] in broken(alternative)
        assert alternative_key < best_key
    else:
        differing = [best.labels[i] for i in range(len(plan)) if alternative_key[i] != best_key[i]]
        assert differing[0] == expected["shows"]
        assert best_key < alternative_key


def test_every_file_is_expected_and_every_rule_and_level_shown() -> None:
    """No file without its record; every rule that can be broken and every level of the shipped models is shown."""
    assert sorted(EXPECTED) == FILES
    shown = {expected["shows"].partition("[")[0] for expected in EXPECTED.values()}
    levels = {label.partition("[")[0] for expected in EXPECTED.values() for label in expected["levels"]}
    assert shown >= set(RULES)
    assert levels - shown == {"queue_deficit_total"}


@pytest.mark.parametrize("file", FILES)
def test_every_instance_says_what_it_is(file: str) -> None:
    """The name is the file's, and a description stands in the file: as a field, or as its first comment."""
    text, name = (FOLDER / file).read_text(encoding="utf-8"), file.rpartition(".")[0]
    if "kind: Instance" in text or file.endswith(".json"):
        content = yaml.safe_load(text)
        assert content["name"] == name
        assert 40 < len(content["description"]) < 400
    else:
        assert text.startswith(f"# {name}: ")


@pytest.mark.parametrize("file", FILES)
def test_read_me_lists_every_instance(file: str) -> None:
    """instances/README.md has a row for each file, naming what it shows."""
    rows = (FOLDER.parent / "README.md").read_text(encoding="utf-8").splitlines()
    assert any(f"`{file}`" in row and f"`{EXPECTED[file]['shows']}`" in row for row in rows)


@pytest.mark.parametrize(
    ("file", "engine"),
    [
        ("preempt-one-is-enough.json", "volcano"),
        ("kube-greedy-not-minimum.yaml", "kube"),
        ("kube-pdb-overcount.yaml", "kube"),
    ],
)
def test_heuristic_falls_for_the_alternative(file: str, engine: str) -> None:
    """Where the text says that a scheduler decides like the alternative, its mirror does."""
    solution = cpsched.solve(cpsched.load(FOLDER / file), model=EXPECTED[file]["model"], engine=engine)
    alternative = EXPECTED[file]["alternative"]
    assert solution.pipelined == alternative["reserves"]
    assert sorted(solution.evicted) == sorted(alternative["evicted"])
