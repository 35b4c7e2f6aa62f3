"""What a study file and the flags say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from cpsched.errors import InputError
from cpsched.lab.study.recipe import Recipe
from tests.docs.blocks import blocks


def recipe(**fields: Any) -> Recipe:
    return Recipe.parse({"kind": "Study", **fields})


@pytest.mark.parametrize(
    ("given", "seeds"),
    [("7", (7,)), ("1..3", (1, 2, 3)), ("1, 4..5,9", (1, 4, 5, 9)), (3, (3,)), ([2, 1], (2, 1)), ("0", (0,))],
)
def test_seeds(given: Any, seeds: tuple[int, ...]) -> None:
    assert recipe(seeds=given).seeds == seeds


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"seeds": "5..1"}, "seeds: '5..1' counts backwards; write 1..5"),
        ({"seeds": "one"}, "seeds: 'one' is not a seed; write 3, or 1..5, or 1,4,9"),
        ({"seeds": "1..9999999"}, "seeds: '1..9999999' is more than 1000000 seeds"),
        ({"seeds": "1,2,1"}, "seeds: 1 stands twice"),
        ({"seeds": "2147483648"}, "the seed is 2147483648; give a number from 0 to 2147483647"),
        ({"engines": ""}, "engines: no engines; name at least one"),
        ({"models": "kube,kube"}, "models: kube stands twice"),
        ({"memory": "2Gb"}, 'memory: "2Gb" is not a quantity; write "2G" or "2Gi"'),
        ({"memory": "1Mi"}, "memory: a cell needs 256Mi at the very least"),
        ({"time_limit": -1}, "the time limit is -1.0; give a number of seconds above zero"),
        ({"enginse": "kube"}, "enginse: no such field"),
    ],
)
def test_what_is_wrong_is_one_line(fields: dict[str, Any], output: str) -> None:
    with pytest.raises(InputError) as raised:
        recipe(**fields)
    assert str(raised.value) == output


def test_only_a_study_is_a_study() -> None:
    for data in ({"kind": "Instance"}, {}, [], None):
        with pytest.raises(InputError, match="write kind: Study"):
            Recipe.parse(data)


def test_a_study_file_names_files_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("kind: Study\ninstances: cases/*.json\nmodels: [volcano, own.yaml]\nconf: vc.conf\nmemory: 1Gi\n")
    read = Recipe.read(str(file))
    assert read.instances == (str(tmp_path / "cases" / "*.json"),)
    assert read.models == ("volcano", str(tmp_path / "own.yaml"))
    assert read.conf == str(tmp_path / "vc.conf")
    assert read.memory == 2**30


def test_flags_overrule_and_name_files_from_here() -> None:
    base = recipe(instances="/a/*.json", seeds="1..5", engines="kube", deterministic=True)
    changed = base.changed({"instances": ["b"], "seeds": "2", "engines": None, "exclude": [], "deterministic": False})
    assert changed.instances == (os.path.abspath("b"),)
    assert (changed.seeds, changed.engines, changed.deterministic) == ((2,), ("kube",), False)
    assert base.changed({}) == base


def test_what_cells_are_stated() -> None:
    shown = recipe(pod_groups=True, threads=3, time_limit=5, prover="cp-sat")
    assert shown.options("kube", 4).pod_groups
    assert not shown.options("optimal", 4).pod_groups
    options = shown.options("optimal", 4)
    assert (options.workers, options.time_limit, options.seed, options.prover) == (3, 5, 4, "cp-sat")


def test_the_documented_study_file_is_one() -> None:
    root = Path(__file__).parents[3]
    [example] = blocks(root / "docs" / "study.md", "yaml")
    read = Recipe.parse(yaml.safe_load(example))
    assert read.seeds == (1, 2, 3, 4, 5)
    stated = {"time_limit", "grace", "memory", "threads", "engines"}
    assert read.model_dump(include=stated) == Recipe().model_dump(include=stated)
