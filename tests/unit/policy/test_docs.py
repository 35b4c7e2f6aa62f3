from __future__ import annotations

from pathlib import Path

import pytest

from cpsched.policy import LEVEL_KEYS, RULE_KEYS, Model, PluginArgs, model_names, models_folder
from cpsched.policy.arguments import Argument
from cpsched.policy.kube_registry import FORMS, MERGED_PLUGINS
from cpsched.policy.kube_registry import PLUGINS as KUBE_PLUGINS
from cpsched.policy.kube_registry import UNMIRRORED_PLUGINS as UNMIRRORED_KUBE_PLUGINS
from cpsched.policy.volcano_registry import ACTIONS, DECIDES, FLAGS, PLUGINS, UNMIRRORED_PLUGINS

PAGE = (Path(__file__).parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
ARGUMENTS = [
    (owner, key, argument) for table in (ACTIONS, PLUGINS) for owner in table for key, argument in table[owner].items()
]


@pytest.mark.parametrize(("owner", "key", "argument"), ARGUMENTS, ids=[f"{owner} {key}" for owner, key, _ in ARGUMENTS])
def test_an_argument_stands_there_with_kind_default_and_least(owner: str, key: str, argument: Argument) -> None:
    (row,) = [row for row in ROWS if len(row) > 2 and f"`{owner}`" in row[0] and row[1] == f"`{key}`"]
    defaults = {None: "–", "": "empty"}
    assert row[2] == argument.kind
    assert row[3] == defaults.get(argument.default, f"`{argument.default}`")  # type: ignore[arg-type]
    assert (row[4] if len(row) > 4 else "") == ("" if argument.least is None else str(argument.least))


def test_every_name_stands_there() -> None:
    names = [*FLAGS, *ACTIONS, *PLUGINS, *UNMIRRORED_PLUGINS]
    names += [*KUBE_PLUGINS, *UNMIRRORED_KUBE_PLUGINS, *MERGED_PLUGINS, *FORMS]
    names += [*RULE_KEYS, *LEVEL_KEYS, *Model.model_fields]
    assert [name for name in names if f"`{name}`" not in PAGE] == []


def test_what_is_not_mirrored_stands_there_with_what_it_decides() -> None:
    decided = {name: ", ".join(DECIDES[flag] for flag in flags) for name, flags in UNMIRRORED_PLUGINS.items()}
    for name, decides in decided.items():
        assert [f"`{name}`", "named as a doubt", decides] in ROWS
    assert {row[0] for row in ROWS if row[1:2] == ["mirrored"]} == {f"`{name}`" for name in (*ACTIONS, *PLUGINS)}


def test_every_kube_argument_stands_there() -> None:
    for field in PluginArgs.model_fields.values():
        (row,) = [row for row in ROWS if row[0] == field.alias]
        shape = field.annotation
        assert shape is not None
        keys = [inner.alias for inner in shape.model_fields.values() if inner.alias not in ("apiVersion", "kind")]
        assert [key for key in keys if f"`{key}`" not in row[1]] == []


def test_every_model_is_explained() -> None:
    readme = (models_folder() / "README.md").read_text(encoding="utf-8")
    assert [name for name in model_names() if f"| `{name}` |" not in readme] == []
