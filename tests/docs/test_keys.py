"""One key, everywhere: rules and levels have the same name in models, checker, program and documentation."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from cpsched import options, solution
from cpsched.explanation.obstacles import SPARED_BY
from cpsched.explanation.requirements import LIFTED, NEVER_LIFTED, PROTECTIONS
from cpsched.greedy.volcano.plugins import PLUGINS, RULES_OF_PLUGIN
from cpsched.objectives import OF_DECISION, OF_VICTIMS
from cpsched.optimum.model.constraints import CONSTRAINTS, ELSEWHERE
from cpsched.optimum.model.level_traits import LEVEL_TRAITS
from cpsched.optimum.model.objective import STAGES
from cpsched.optimum.provers import PROVERS, SELECTIONS
from cpsched.policy import LEVEL_KEYS, RULE_KEYS, SENSES
from cpsched.policy.levels import SPLIT
from cpsched.rules import RULES

ROOT = Path(__file__).parents[2]
OPTIONS = {"eviction.scope"}
"""Keys of a model's rules that configure another rule."""


def headings(part: str) -> list[str]:
    """The third-level headings under a second-level heading of docs/model.md."""
    text = (ROOT / "docs" / "model.md").read_text()
    section = text.split(f"\n## {part}\n")[1].split("\n## ")[0]
    return re.findall(r"^### (.+)$", section, flags=re.MULTILINE)


def test_rules_have_one_name_everywhere() -> None:
    """Checker, model fields, program and documentation list the same rules, in the same order where order shows."""
    rules = list(RULES)
    assert headings("Rules") == rules
    assert [key for key in RULE_KEYS if key not in OPTIONS] == rules
    assert CONSTRAINTS.keys().isdisjoint(ELSEWHERE)
    assert {*CONSTRAINTS, *ELSEWHERE} == set(rules)


def test_levels_have_one_name_everywhere() -> None:
    """Objectives, program, senses and documentation know the same levels."""
    assert set(headings("Levels")) == set(LEVEL_KEYS)
    names = {name for key in LEVEL_KEYS for name in SPLIT.get(key, (key,))}
    assert names == set(SENSES) == {"jobs_admitted", *OF_DECISION, *OF_VICTIMS}
    assert set(STAGES) == set(LEVEL_TRAITS) == names


def test_plugins_that_vote_on_victims_have_rules() -> None:
    """A plugin that spares victims in the mirror names the rules that spare them in the optimum, if any."""
    voting = set()
    for path in sorted((ROOT / "cpsched" / "greedy" / "volcano" / "plugins").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Hooks":
                votes = {"preemptable", "reclaimable", "evictable"} & {word.arg for word in node.keywords}
                voting |= {name for name in PLUGINS if votes and name.replace("-", "_") == path.stem}
    assert voting == set(RULES_OF_PLUGIN)
    assert {rule for rules in RULES_OF_PLUGIN.values() for rule in rules} <= set(RULES)


def test_explain_lifts_every_rule() -> None:
    """Every rule is one that explain can lift, or one that it knows no task can; protections are given victims."""
    assert {*LIFTED, *NEVER_LIFTED} == set(RULES)
    assert set(LIFTED).isdisjoint(NEVER_LIFTED)
    protections = {rule for rule in RULES if rule.startswith("protect.")}
    assert set(PROTECTIONS) == protections
    assert set(SPARED_BY) | {"protect.guarantee"} == protections | {"eviction"}


def test_provers_have_one_name_everywhere() -> None:
    """Solutions, options and the registry of the program know the same provers."""
    assert tuple(PROVERS) == solution.PROVERS
    assert set(SELECTIONS) == set(get_args(options.Prover))


@pytest.mark.parametrize("path", sorted((ROOT / "models").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_models_state_every_rule(path: Path) -> None:
    """A reader of a model sees every rule, whether it is on or off."""
    assert list(yaml.safe_load(path.read_text())["rules"]) == list(RULE_KEYS)
