"""--trace and --all-outcomes of cpsched solve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpsched.greedy.outcomes import Outcomes
from cpsched.solution import Finding, Solution
from tests.cli.conftest import ROOT, Command

DEMO = ROOT / "instances/tiny/preempt-one-is-enough.json"


def test_trace_tells_who_goes_for_whom(cli: Command) -> None:
    """The trace names action, queue, job, victims and the place that is kept."""
    done = cli("solve", DEMO, "--engine", "volcano", "--trace")
    assert done.code == 0
    trace = done.out.split("Jobs")[0]
    assert "preempt: queue default: job default/urgent" in trace
    assert "finetune/task-0 on gpu-node goes for urgent/task-0" in trace


def test_trace_leaves_json_alone(cli: Command) -> None:
    """With --json the trace goes to stderr."""
    done = cli("solve", DEMO, "--engine", "volcano", "--trace", "--json")
    assert json.loads(done.out)["kind"] == "Solution"
    assert "reserves room on gpu-node" in done.err


def test_all_outcomes_lists_what_chance_can_do(cli: Command) -> None:
    """Two equal nodes: either may get the pod."""
    done = cli("solve", ROOT / "tests/cli/data/two-equal-nodes.json", "--engine", "volcano", "--all-outcomes", "--json")
    assert done.code == 0
    assert sorted(one["binds"]["a/task-0"] for one in json.loads(done.out)) == ["n1", "n2"]


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
def test_every_outcome_that_breaks_a_rule_is_exit_code_one(cli: Command, json: tuple[str, ...], tmp_path: Path) -> None:
    broken = ROOT / "instances/issues/volcano-gang-broken-by-tiers.json"
    stated = ("--engine", "volcano", "--all-outcomes", "-o", tmp_path / "all.json", *json)
    done = cli("solve", broken, *stated)
    assert (done.code, done.err) == (1, "")
    text = (tmp_path / "all.json").read_text()
    assert done.out == text if json else done.out.startswith("1 different decision by chance alone; 1 breaks a rule")
    assert "protect.gang" in text
    assert cli("solve", DEMO, *stated).code == 0


def test_one_outcome_that_breaks_none_is_fine(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcomes(*_: object) -> Outcomes:
        finding = Finding(rule="gang", message="broken")
        return Outcomes((Solution(), Solution(findings=(finding,))), True, 2)

    monkeypatch.setattr("cpsched.checker.checked_from_outside", lambda instance, policy, solution: solution)
    monkeypatch.setattr("cpsched.greedy.volcano.outcomes", outcomes)
    done = cli("solve", DEMO, "--engine", "volcano", "--all-outcomes")
    assert done.code == 0
    assert done.out.startswith("2 different decisions by chance alone; 1 breaks a rule\n")


@pytest.mark.parametrize(
    "option",
    [
        ("--certificate", "{}/c.json"),
        ("--certificate", ""),
        ("--log", "{}/l"),
        ("--log", "-"),
        ("--export", "{}/e"),
        ("--trace",),
        ("--only", "default/x"),
        ("--pod-groups",),
        ("--seed", "7"),
    ],
    ids=" ".join,
)
def test_all_outcomes_refuses_what_it_cannot_honour(cli: Command, option: tuple[str, ...], tmp_path: Path) -> None:
    stated = [part.format(tmp_path) for part in option]
    done = cli("solve", DEMO, "--engine", "volcano", "--all-outcomes", "-o", tmp_path / "o", *stated)
    assert (done.code, done.out) == (2, "")
    line = f"cpsched: error: --all-outcomes cannot be combined with {option[0]}; leave out one or the other\n"
    assert done.err == line
    assert list(tmp_path.iterdir()) == []


def test_other_engines_have_no_trace(cli: Command) -> None:
    """One line, exit 2."""
    for option, engines in (("--trace", "volcano"), ("--all-outcomes", "volcano or --engine kube")):
        done = cli("solve", DEMO, option)
        assert done.code == 2
        assert done.err == f"cpsched: error: engine optimal has no {option}; add --engine {engines}\n"


def test_all_outcomes_of_kube_scheduler(cli: Command) -> None:
    stated = ("--model", "kube", "--engine", "kube", "--all-outcomes", "--json")
    done = cli("solve", ROOT / "tests/cli/data/two-equal-nodes.json", *stated)
    assert (done.code, done.err) == (0, "")
    assert sorted(one["binds"]["a/task-0"] for one in json.loads(done.out)) == ["n1", "n2"]


def test_a_sample_of_too_many_outcomes_is_called_one(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcomes(*_: object) -> Outcomes:
        return Outcomes((Solution(), Solution(seed=7)), False, 2030, 30)

    monkeypatch.setattr("cpsched.checker.checked_from_outside", lambda instance, policy, solution: solution)
    monkeypatch.setattr("cpsched.greedy.volcano.outcomes", outcomes)
    done = cli("solve", DEMO, "--engine", "volcano", "--all-outcomes")
    tried = "there are too many combinations of random choices to try them all"
    assert done.err == f"cpsched: warning: {tried}; these are decisions of seeds 1 to 31, and there may be others\n"
    assert done.out.startswith("at least 2 different decisions by chance alone; none breaks a rule\n")
    assert "2. (--seed 7) breaks no rule" in done.out


def test_only_kube_has_pod_groups(cli: Command) -> None:
    """One line, exit 2."""
    done = cli("solve", DEMO, "--pod-groups")
    assert done.code == 2
    assert done.err == "cpsched: error: pod-groups: engine optimal has no such gate; engine kube has\n"
