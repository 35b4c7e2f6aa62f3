"""The Python interface: load, solve, verify, and what they raise."""

from __future__ import annotations

import gc
import gzip
import inspect
import json
import pkgutil
from pathlib import Path

import pytest

import cpsched
from cpsched.engines import ENGINES
from cpsched.rules import RULES

TINY = Path(__file__).parents[2] / "instances" / "tiny" / "preempt-one-is-enough.json"
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"allocatable": {"cpu": "1", "pods": "9"}},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "ns"},
    "spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]},
}


def test_load_decide_check() -> None:
    instance = cpsched.load([NODE, POD])
    for engine in ENGINES:
        solution = cpsched.solve(instance, engine=engine, workers=1)
        assert isinstance(solution, cpsched.Solution)
        assert (solution.engine, solution.model, solution.seed) == (engine, "kube", 1)
        assert solution.binds == {"ns/p": "n"}
        assert cpsched.verify(instance, solution) == ()
        assert solution.instance_sha256 == instance.sha256


def test_the_default_engine_is_the_optimum() -> None:
    assert cpsched.solve(cpsched.load([NODE, POD]), workers=1).status == "optimal"


def test_conf_and_model_may_be_mappings_and_files(tmp_path: Path) -> None:
    instance = cpsched.load([NODE, POD])
    nothing = {"actions": "backfill", "tiers": []}
    assert cpsched.solve(instance, conf=nothing, engine="volcano").binds == {}
    path = tmp_path / "model.yaml"
    path.write_text("name: mine\nscheduler: volcano\nlevels: [tasks_bound]\n")
    solution = cpsched.solve(instance, model=path, engine="volcano")
    assert (solution.model, [level.label for level in solution.levels]) == ("mine", ["tasks_bound"])
    bound = cpsched.solve(instance, engine="volcano")
    assert cpsched.verify(instance, bound) == ()
    assert cpsched.verify(instance, bound, conf=nothing)[0].rule == "actions"


def test_sharding_of_the_call_overrules() -> None:
    instance = cpsched.load([NODE, POD], sharding={"mode": "hard", "nodes": ["other"]})
    assert cpsched.solve(instance, engine="volcano").binds == {}


def test_no_function_has_the_name_of_a_package() -> None:
    """Importing a package binds its name in the root: a function of that name would be gone."""
    inside = {module.name for module in pkgutil.iter_modules(cpsched.__path__)}
    assert (
        inside & {*cpsched.__all__, *(name for name in vars(cpsched) if inspect.isfunction(vars(cpsched)[name]))}
        == set()
    )


def test_check_is_the_earlier_name_of_verify() -> None:
    instance = cpsched.load([NODE, POD])
    wrong = cpsched.Solution(binds={"ns/p": "nowhere"})
    assert cpsched.check(instance, wrong) == cpsched.verify(instance, wrong) != ()
    assert cpsched.check.RULES is RULES


def test_names_of_the_package() -> None:
    for name in cpsched.__all__:
        assert getattr(cpsched, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'sovle'"):
        cpsched.sovle  # type: ignore[attr-defined]  # noqa: B018


def test_errors_are_input_errors_with_the_text_of_the_command_line() -> None:
    instance = cpsched.load(TINY)
    with pytest.raises(cpsched.InputError, match=r"^unknown engine fastest; known: optimal, volcano, kube, exec:CMD$"):
        cpsched.solve(instance, engine="fastest")
    with pytest.raises(cpsched.InputError, match=r"^the time limit is -1; give a number of seconds above zero$"):
        cpsched.solve(instance, time_limit=-1)
    with pytest.raises(cpsched.InputError, match=r"^conf: this is not a scheduler configuration"):
        cpsched.solve(instance, conf={"a": 1}, engine="volcano")
    with pytest.raises(cpsched.InputError, match=r"^gone\.json: no such file"):
        cpsched.load("gone.json")


def test_loading_leaves_the_collector_as_it_was() -> None:
    assert gc.isenabled()
    cpsched.load([NODE])
    assert gc.isenabled()
    with pytest.raises(cpsched.InputError):
        cpsched.load([{}])
    assert gc.isenabled()
    gc.disable()
    try:
        cpsched.load([NODE])
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_pod_groups_schedule_as_one() -> None:
    """With the gate a gang that cannot start as a whole is placed on the emptied cluster; without it, pod by pod."""
    with gzip.open(Path(__file__).parents[1] / "conformance" / "data" / "issues.json.gz") as stream:
        (row,) = (row for row in json.load(stream) if row["id"] == "k8s-gang-emptied-cluster")
    instance = cpsched.load(row["objects"])
    together = cpsched.solve(instance, model="kube", engine="kube", pod_groups=True)
    one_by_one = cpsched.solve(instance, model="kube", engine="kube")
    assert sorted(together.evicted) == ["default/low", "default/mid"]
    assert sorted(one_by_one.evicted) == ["default/low"]
