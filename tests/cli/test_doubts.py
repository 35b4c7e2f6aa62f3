"""A doubt about the configuration: every command names it, and nothing is called proved without it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched.doubts import Doubt
from cpsched.solution import Solution
from tests.cli.conftest import Command

CONF = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - {name: gang}
  - {name: predicates}
  - {name: ours}
  - {name: extender, enableJobEnqueued: false, enabledOverused: false, enableJobReady: false}
"""
EXTENDER = "plugin extender (which nodes fit, node choice)"
WITHOUT = f"without plugin ours (not known here) and {EXTENDER}"
STATED = (
    "tiers[0].plugins[3]: plugin extender is not mirrored, so the answer is made without it; it decides: which nodes"
)
PROVED = f"optimal {WITHOUT}: every level proved for the rest of the configuration"


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "volcano.conf"
    path.write_text(CONF)
    return path


def stated(err: str, conf: Path, before: str = "") -> bool:
    """Whether stderr holds each doubt once, with its file."""
    lines = err.splitlines()
    assert len(lines) == 2
    return lines[1].startswith(f"cpsched: warning: {before}{conf}: {STATED}")


def test_solve_says_without_what_it_is_optimal(cli: Command, tiny: Path, conf: Path, tmp_path: Path) -> None:
    code, out, err = cli("solve", tiny, "--conf", conf, "-o", tmp_path / "s.json")
    assert code == 0
    assert stated(err, conf)
    assert out.splitlines()[1] == f"Engine optimal, model volcano: {PROVED}"
    assert "optimal, every level proved" not in out
    written = json.loads((tmp_path / "s.json").read_text())
    assert written["status"] == "optimal"
    assert [(one["kind"], one["name"]) for one in written["doubts"]] == [
        ("plugin", "ours"),
        ("plugin", "extender"),
    ]
    assert written["doubts"][1]["text"].startswith(STATED)
    code, out, _ = cli("solve", tiny, "--conf", conf, "--engine", "volcano")
    assert out.splitlines()[1].endswith(f": heuristic decision, no optimality proof; decided {WITHOUT}")
    assert "doubts" not in json.loads(cli("solve", tiny, "--json").out)


def test_an_engine_from_outside_cannot_take_the_doubt_back(
    cli: Command, tiny: Path, conf: Path, tmp_path: Path
) -> None:
    output = {**json.loads(cli("solve", tiny, "--json").out), "doubts": []}
    (tmp_path / "stated.json").write_text(json.dumps(output))
    _, out, _ = cli("solve", tiny, "--conf", conf, "--json", "--engine", f"exec:cat {tmp_path / 'stated.json'}")
    assert len(json.loads(out)["doubts"]) == 2


def test_compare_says_it_first_and_in_its_sentences(cli: Command, tiny: Path, conf: Path, tmp_path: Path) -> None:
    arguments = ("compare", tiny, "--conf", conf, "--cache", tmp_path / "cache")
    code, out, err = cli(*arguments)
    assert code == 0
    assert stated(err, conf, f"{tiny.name}: ")
    head = out.splitlines()
    assert any(line.startswith(f"Doubt: {STATED}") for line in head[:9])
    assert f"optimal: proved optimal on every level for the configuration {WITHOUT}." in head
    assert cli(*arguments).out == out, "a remembered optimum is doubted no less"
    document = json.loads(cli(*arguments, "--json").out)
    assert [one["name"] for one in document["doubts"]] == ["ours", "extender"]
    assert all(len(one["solution"]["doubts"]) == 2 for one in document["engines"])


def test_compare_of_many_counts_the_cases(cli: Command, tiny: Path, conf: Path) -> None:
    code, out, _ = cli("compare", tiny, tiny, "--conf", conf, "--cache", "none")
    assert code == 0
    assert "Left out of the configuration" in out
    row = next(line for line in out.splitlines() if line.startswith(EXTENDER))
    assert row.split()[-1] == "2"


def test_check_notes_it(cli: Command, tiny: Path, conf: Path, tmp_path: Path) -> None:
    files = ("--junit", tmp_path / "j.xml", "--markdown", tmp_path / "m.md", "-o", tmp_path / "c.json")
    code, out, err = cli("check", tiny, "--conf", conf, "--cache", "none", *files)
    assert code == 0
    assert f"{tiny.name}: {STATED}" in err
    assert "none: optimal, proved apart from what is in doubt" in out
    assert "none: optimal, proved " not in out.replace("proved apart from", "")
    (case,) = json.loads((tmp_path / "c.json").read_text())["cases"]
    assert any(note.startswith(STATED) for note in case["notes"])
    for name in ("j.xml", "m.md"):
        assert "extender is not mirrored" in (tmp_path / name).read_text()


def test_explain_and_report_say_it_at_the_top(cli: Command, tiny: Path, conf: Path, tmp_path: Path) -> None:
    job = next(iter(cpsched.load(tiny).jobs))
    code, out, err = cli("explain", tiny, "--conf", conf, "--job", job)
    assert code == 0
    assert stated(err, conf)
    assert any(line.startswith(f"Doubt: {STATED}") for line in out.splitlines()[:8])
    assert len(json.loads(cli("explain", tiny, "--conf", conf, "--job", job, "--json").out)["doubts"]) == 2
    code, out, err = cli("report", tiny, "--conf", conf, "--format", "markdown")
    assert code == 0
    assert stated(err, conf)
    assert out.count("Doubt: ") == 2
    assert f"optimal: proved optimal on every level for the configuration {WITHOUT}." in out


def test_a_comparison_keeps_it_for_its_report(cli: Command, tiny: Path, conf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    cli("compare", tiny, "--conf", conf, "--cache", "none", "-o", folder / "c.json")
    document = json.loads((folder / "c.json").read_text())
    (folder / "c.json").write_text(json.dumps({**document, "id": "not-there.json"}))
    code, out, _ = cli("report", folder / "c.json", "--format", "markdown")
    assert code == 0
    assert out.count("Doubt: ") == 2


def test_a_study_says_it_whenever_it_is_looked_at(cli: Command, tiny: Path, conf: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    arguments = ("study", run, "--instances", tiny, "--conf", conf, "--engines", "volcano,optimal")
    for _ in range(2):
        code, out, _ = cli(*arguments)
        assert code == 0
        assert f"Doubt, in 2 cells: {STATED}" in out
    assert sum(json.loads(cli(*arguments, "--json").out)["doubts"].values()) == 4
    assert "extender is not mirrored" in (run / "cells.csv").read_text()
    code, out, _ = cli("report", run, "--format", "markdown")
    assert code == 0
    assert "Doubt, in 2 cells: " in out
    assert "The optimum is proved on every level in 1 of 1 searches, apart from what is in doubt." in out


def test_a_certificate_verifies_the_rest_of_the_configuration(
    cli: Command, tiny: Path, conf: Path, tmp_path: Path
) -> None:
    certificate = tmp_path / "c.json"
    cli("solve", tiny, "--conf", conf, "--certificate", certificate)
    _, out, err = cli("verify", certificate, tiny, "--conf", conf)
    assert stated(err, conf)
    assert out.splitlines()[-1].startswith(f"Optimal {WITHOUT}: every bound was computed again")
    assert len(json.loads(cli("verify", certificate, tiny, "--conf", conf, "--json").out)["doubts"]) == 2


def test_python_warns_and_keeps_it(tiny: Path, conf: Path) -> None:
    instance = cpsched.load(tiny)
    with pytest.warns(UserWarning, match="the answer is made without it") as warned:
        solution = cpsched.solve(instance, conf=conf)
    assert [str(one.message) for one in warned] == [one.text for one in solution.doubts]
    assert [one.name for one in solution.doubts] == ["ours", "extender"]
    assert Solution.parse(solution.to_dict()).doubts == solution.doubts
    with pytest.warns(UserWarning, match="the answer is made without it"):
        compared = cpsched.compare(instance, conf=conf)
    assert f"Doubt: {STATED}" in str(compared)
    assert f"Doubt: {STATED}" in compared._repr_html_()


def test_lenient_changes_nothing(cli: Command, tiny: Path, conf: Path) -> None:
    arguments = ("solve", tiny, "--conf", conf, "--engine", "volcano", "--json")
    assert cli(*arguments, "--lenient") == cli(*arguments)


def extended(url: str) -> dict[str, Any]:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**head, "extenders": [{"urlPrefix": url, "filterVerb": "f", "httpTimeout": "10ms", "ignorable": True}]}


def test_a_proof_knows_no_extender_that_the_mirror_asks(tiny: Path) -> None:
    instance = cpsched.load(tiny)
    conf = extended("http://127.0.0.1:1/x")
    doubts = {name: cpsched.solve(instance, "kube", conf, engine=name).doubts for name in ("kube", "optimal")}
    assert doubts["kube"] == ()
    text = "extenders: the search for the optimum does not ask the extender http://127.0.0.1:1/x"
    assert doubts["optimal"] == (
        Doubt(kind="extender", name="http://127.0.0.1:1/x", decides="which nodes fit", text=text),
    )


def test_a_remembered_optimum_takes_on_the_doubts_of_this_run(tiny: Path, tmp_path: Path) -> None:
    instance = replace(cpsched.load(tiny), conf=extended("http://127.0.0.1:1/x"))
    with pytest.warns(UserWarning, match="is not asked"):
        first = cpsched.compare(instance, ["optimal"], "kube", cache=tmp_path)
    again = cpsched.compare(instance, ["optimal"], "kube", cache=tmp_path, allow_extenders=True)
    texts = [one["optimal"].contender.solution.doubts[0].text for one in (first, again)]
    assert "is not asked" in texts[0]
    assert "the search for the optimum does not ask" in texts[1]
    assert len(list(tmp_path.rglob("*.json"))) == 1, "the second is the first, remembered"


def test_a_doubt_prints_no_control_character(cli: Command, tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    plugins = [{"name": "gang"}, {"name": "x\x1b[2J\n" + "y" * 900}]
    path.write_text(json.dumps({"actions": "allocate", "tiers": [{"plugins": plugins}]}))
    code, out, err = cli("solve", tiny, "--conf", path)
    assert code == 0
    assert "\x1b" not in out + err
    assert err.count("\n") == 1
    assert len(out.splitlines()[1]) < 250
