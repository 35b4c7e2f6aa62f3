"""--trace and --all-outcomes of cpsched solve."""

from __future__ import annotations

import json

from tests.cli.conftest import ROOT, Command

DEMO = ROOT / "instances/tiny/preempt-one-is-enough.json"


def test_trace_tells_who_goes_for_whom(cli: Command) -> None:
    """The story names action, queue, job, victims and the place that is kept."""
    done = cli("solve", DEMO, "--engine", "volcano", "--trace")
    assert done.code == 0
    story = done.out.split("Jobs")[0]
    assert "preempt: queue default: job default/urgent" in story
    assert "finetune/task-0 on gpu-node goes for urgent/task-0" in story


def test_trace_leaves_json_alone(cli: Command) -> None:
    """With --json the story goes to stderr."""
    done = cli("solve", DEMO, "--engine", "volcano", "--trace", "--json")
    assert json.loads(done.out)["kind"] == "Solution"
    assert "reserves room on gpu-node" in done.err


def test_all_outcomes_lists_what_chance_can_do(cli: Command) -> None:
    """Two equal nodes: either may get the pod."""
    done = cli("solve", ROOT / "tests/cli/data/two-equal-nodes.json", "--engine", "volcano", "--all-outcomes", "--json")
    assert done.code == 0
    assert sorted(one["binds"]["a/task-0"] for one in json.loads(done.out)) == ["n1", "n2"]


def test_other_engines_have_no_story(cli: Command) -> None:
    """One line, exit 2."""
    for option in ("--trace", "--all-outcomes"):
        done = cli("solve", DEMO, option)
        assert done.code == 2
        assert done.err == f"cpsched: error: engine optimal has no {option}; add --engine volcano\n"


def test_only_kube_has_pod_groups(cli: Command) -> None:
    """One line, exit 2."""
    done = cli("solve", DEMO, "--pod-groups")
    assert done.code == 2
    assert done.err == "cpsched: error: pod-groups: engine optimal has no such gate; engine kube has\n"
