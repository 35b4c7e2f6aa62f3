"""Tables for pandas and for notebooks."""

from __future__ import annotations

from pathlib import Path

import pytest

import cpsched
from cpsched.errors import InputError

TINY = Path(__file__).parents[2] / "instances" / "tiny" / "preempt-one-is-enough.json"


@pytest.fixture(scope="module")
def instance() -> cpsched.Instance:
    return cpsched.load(TINY)


@pytest.fixture(scope="module")
def solution(instance: cpsched.Instance) -> cpsched.Solution:
    return cpsched.solve(instance, engine="volcano")


def test_an_instance_is_tables(instance: cpsched.Instance) -> None:
    jobs = instance.to_dataframe()
    assert list(jobs["job"]) == ["default/finetune", "default/notebook", "default/urgent"]
    assert list(jobs["priority"]) == [100, 10, 1000]
    tasks = instance.to_dataframe("tasks").set_index("task")
    assert tasks.loc["urgent/task-0", "status"] == "Pending"
    assert tasks["nvidia.com/gpu"].sum() == 14_000
    assert list(instance.to_dataframe("nodes")["node"]) == ["gpu-node"]
    assert list(instance.to_dataframe("queues")["queue"]) == ["default"]


def test_a_solution_is_tables(instance: cpsched.Instance, solution: cpsched.Solution) -> None:
    levels = solution.to_dataframe().set_index("level")
    assert levels.loc["victim_count", "value"] == 3
    assert not levels["proved"].any()
    assert sorted(solution.to_dataframe("victims")["task"]) == ["finetune/task-0", "notebook/task-0", "notebook/task-1"]
    assert solution.to_dataframe("placements").to_dict("records") == [
        {"task": "urgent/task-0", "does": "waits for room", "node": "gpu-node"}
    ]
    assert solution.to_dataframe("findings").empty


def test_a_certificate_is_a_table(instance: cpsched.Instance) -> None:
    levels = cpsched.certify(instance, cpsched.solve(instance)).to_dataframe()
    assert levels["proved"].all()
    assert set(levels["evidence"]) >= {"all-placed", "victims-needed"}


def test_an_unknown_table_is_one_line(instance: cpsched.Instance) -> None:
    with pytest.raises(InputError, match="no table 'pods'; one of jobs, tasks, nodes, queues"):
        instance.to_dataframe("pods")


def test_notebooks_show_a_headline_and_tables_and_no_markup_of_the_input(solution: cpsched.Solution) -> None:
    hostile = solution.model_copy(update={"binds": {"<b>\u202etask": "n"}})
    shown = hostile._repr_html_()
    assert shown.startswith("<p><strong>volcano: heuristic, starts 1, holds room for 1, evicts 3</strong></p>")
    assert "&lt;b&gt;\\u202etask" in shown
    assert "<caption>victims</caption>" in shown
    assert "findings" not in shown


def test_long_tables_say_what_is_left_out(instance: cpsched.Instance) -> None:
    many = cpsched.Solution(binds={f"task-{n}": "n" for n in range(25)})
    assert "placements; the first 20 of 25" in many._repr_html_()


def test_representations_are_short(instance: cpsched.Instance, solution: cpsched.Solution) -> None:
    assert repr(instance) == f"<Instance {TINY}: 1 nodes, 3 jobs, 4 tasks>"
    assert repr(solution) == "<Solution volcano: heuristic, holds room for 1, evicts 3>"
