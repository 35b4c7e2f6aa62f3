"""`cpsched generate`: one instance or a folder of them, families listed, recipes followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpsched import load
from cpsched.lab.families import FAMILIES
from cpsched.lab.generate import as_text, generate
from tests.cli.conftest import ROOT, Command

TRACES = ROOT / "tests" / "traces"


def test_one_instance_goes_to_stdout_or_into_a_file(cli: Command, tmp_path: Path) -> None:
    expected = as_text(generate("gpu-pool", {"nodes": 3, "placement": "best-fit"}, seed=7))
    arguments = ("generate", "gpu-pool", "--seed", 7, "--set", "nodes=3", "--set", "placement=best-fit")
    assert cli(*arguments) == (0, expected, "")
    file = tmp_path / "one.json"
    assert cli(*arguments, "-o", file) == (0, "", "")
    assert file.read_text() == expected
    assert cli("solve", file, "--engine", "volcano").code == 0


def test_a_recipe_makes_the_same_bytes(cli: Command, tmp_path: Path) -> None:
    for name, given in (("contended", ()), ("openb", ("--set", "nodes=5"))):
        file = tmp_path / f"{name}.json"
        trace = ("--trace", TRACES / name) if FAMILIES[name].trace else ()
        assert cli("generate", name, *given, *trace, "-o", file).code == 0
        assert cli("generate", "--recipe", file, *trace) == (0, file.read_text(), "")


def test_several_go_into_a_folder_one_for_each_combination_and_seed(cli: Command, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "grid"
    options = ("--set", "usage=90,105", "--set", "nodes=4", "--count", 2, "--seed", 5)
    assert cli("generate", "priority-matters", *options, "-o", folder) == (0, "", "")
    names = [f"priority-matters-usage={u}-nodes=4-seed={s}.json" for u in (105, 90) for s in (5, 6)]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    recipe = load(folder / names[0]).recipe
    assert recipe
    assert (recipe["parameters"]["usage"], recipe["seed"]) == (105, 5)
    assert cli("generate", "contended", "-o", folder).code == 0, "a folder that is there takes one, too"
    assert (folder / "contended-seed=1.json").exists()


def test_the_list_names_every_family_and_parameter(cli: Command) -> None:
    code, out, err = cli("generate", "--list")
    assert (code, err) == (0, "")
    listed = json.loads(cli("generate", "--list", "--json").out)
    assert list(listed) == list(FAMILIES)
    for name, family in FAMILIES.items():
        assert f"{name}: {family.about}" in " ".join(out.split())
        assert list(listed[name]["parameters"]) == list(family.parameters.model_fields)
        assert listed[name]["trace"] == (name in ("openb", "dlrm"))
    assert listed["pdb-heavy"]["model"] == "kube"
    assert listed["contended"]["parameters"]["nodes"] == {
        "default": 8,
        "description": "nodes of random size: 16 to 64 cores, 64 to 256 Gi, 0, 4 or 8 GPUs",
        "minimum": 1,
        "maximum": 5000,
        "type": "integer",
    }
    assert list(json.loads(cli("generate", "contended", "--list", "--json").out)) == ["contended"]


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ((), "no family; name one; cpsched generate --list shows them"),
        (("nonsense",), "unknown family nonsense; known: contended, "),
        (("contended", "--set", "nodes"), "--set nodes; write NAME=VALUE"),
        (("contended", "--set", "nodes=1", "--set", "nodes=2"), "--set nodes twice; write NAME=A,B for both"),
        (("contended", "--set", "nodes=0"), "family contended: nodes: "),
        (("contended", "--set", "nodes=1,x", "-o", "never/"), 'family contended: nodes: "x" should be a whole number'),
        (("contended", "--count", "2"), "2 instances for stdout; give a folder: -o DIR"),
        (("contended", "--count", "0"), "Invalid value for '--count'"),
        (("contended", "--recipe", "x.json"), "a recipe and a family or --set; the recipe says it all"),
        (("--recipe", str(ROOT / "instances/tiny/gated.json")), "recipe: no recipe; give an instance that"),
        (("openb",), "family openb samples a trace; say where it is: --trace DIR"),
        (("openb", "--trace", "/nowhere"), "/nowhere: no openb_node_list_all_node.csv or"),
        (("contended", "--count", "2", "-o", "/dev/null/x"), "/dev/null/x: no folder can be made"),
    ],
)
def test_wrong_usage_is_one_line(
    cli: Command, arguments: tuple[str, ...], output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("generate", *arguments)
    assert (code, out) == (2, "")
    assert output in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir()), "nothing is written"
