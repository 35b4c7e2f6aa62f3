"""cpsched check: a gate that holds, and a worsened scheduler that does not get through."""

from __future__ import annotations

import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cpsched.greedy.volcano import engine as volcano
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.session import Session
from tests.cli.conftest import ROOT, Command
from tests.judge import cluster, job, pending, running

ISSUES, TINY = ROOT / "instances" / "issues", ROOT / "instances" / "tiny"
NAMES = ("gang-all-or-nothing", "preempt-one-is-enough", "victim-count", "queue-closed")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four tiny cases, one in a folder below, and a kube one."""
    folder = tmp_path / "corpus"
    (folder / "below").mkdir(parents=True)
    for name in NAMES:
        shutil.copy(TINY / f"{name}.json", folder / ("below" if name == "queue-closed" else ""))
    shutil.copy(TINY / "kube-pdb-overcount.yaml", folder)
    shutil.copy(TINY / "expected.json", folder)
    return folder


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def states(ended: Any) -> dict[str, str]:
    return {case["id"]: case["state"] for case in json.loads(ended.out)["cases"]}


def test_without_a_baseline_only_rules_count(cli: Command, corpus: Path) -> None:
    ended = cli("check", corpus, "--json")
    assert (ended.code, ended.err) == (1, "")
    assert [name for name, state in states(ended).items() if state == "failed"] == ["gang-all-or-nothing.json"]
    data = json.loads(ended.out)
    assert data["rules"] == {"gang": 1}
    assert "below/queue-closed.json" in states(ended)
    behind = {case["id"]: case["optimum"]["level"] for case in data["cases"] if isinstance(case["optimum"], dict)}
    assert behind["preempt-one-is-enough.json"] == "victim_priority_sum"
    assert behind["kube-pdb-overcount.yaml"] == "victim_max_priority"
    assert {case["id"]: case["model"] for case in data["cases"]}["kube-pdb-overcount.yaml"] == "kube"


def test_what_was_accepted_passes(cli: Command, corpus: Path) -> None:
    baseline = corpus / "baseline.json"
    written = cli("check", corpus, "--baseline", baseline, "--update")
    assert (written.code, written.out) == (0, f"{baseline}: 5 cases, 5 changed.\n")
    first = baseline.read_bytes()
    passed = cli("check", corpus, "--baseline", baseline)
    assert (passed.code, passed.err) == (0, "")
    assert passed.out.endswith("5 cases, engine mirror: all passed.\n")
    assert cli("check", corpus, "--baseline", baseline, "--update").out == f"{baseline}: 5 cases, 0 changed.\n"
    assert baseline.read_bytes() == first


def test_a_scheduler_without_its_gang_rule_is_caught(
    cli: Command, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline = corpus / "baseline.json"
    cli("check", corpus, "--baseline", baseline, "--update", "--no-optimum")
    monkeypatch.setitem(volcano.PLUGINS, "gang", lambda session, conf: Hooks())
    shutil.copy(TINY / "roles-minimum.json", corpus)
    ended = cli("check", corpus, "--baseline", baseline, "--no-optimum", "--json")
    assert ended.code == 1
    assert states(ended)["gang-all-or-nothing.json"] == "failed"
    faults = {fault["key"] for case in json.loads(ended.out)["cases"] for fault in case["faults"]}
    assert "gang" in faults


def test_a_scheduler_that_evicts_the_wrong_way_round_is_caught(
    cli: Command, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No rule is broken, only a level is worse: the most important victims go first."""
    baseline = corpus / "baseline.json"
    victims = (
        job("low", running(2), priority=10, minMember=0),
        job("high", running(2), priority=50, minMember=0),
    )
    (corpus / "order.json").write_text(json.dumps(cluster(*victims, job("new", pending(2), priority=100))))
    cli("check", corpus, "--baseline", baseline, "--update", "--no-optimum")

    def reversed_order(self: Session, victims: Any, task: Any) -> list[Any]:
        return sorted(victims, key=lambda victim: victim.task.pod_priority)

    monkeypatch.setattr(Session, "victims_queue", reversed_order)
    ended = cli("check", corpus, "--baseline", baseline, "--no-optimum")
    assert ended.code == 1
    assert "victim_max_priority is 50, 10 in the baseline" in ended.out


def test_better_new_and_removed_cases_are_stated_and_pass(
    cli: Command, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline = corpus / "baseline.json"
    cli("check", corpus, "--baseline", baseline, "--update")
    (corpus / "victim-count.json").unlink()
    shutil.copy(TINY / "taint.json", corpus)
    ended = cli("check", corpus, "--baseline", baseline, "--engine", "optimal")
    assert ended.code == 0
    assert "victim-count.json           removed: in the baseline, not in the corpus" in ended.out
    assert "taint.json                  new: not in the baseline" in ended.out
    assert "preempt-one-is-enough.json  better than the baseline: accept it with --update" in ended.out
    assert ended.out.endswith("3 better than the baseline, 1 removed.\n")


def test_a_changed_case_is_held_against_its_own_optimum(cli: Command, corpus: Path) -> None:
    baseline = corpus / "baseline.json"
    cli("check", corpus, "--baseline", baseline, "--update", "--engine", "optimal")
    path = corpus / "victim-count.json"
    data = json.loads(path.read_text())
    data["nodes"][0]["labels"] = {"new": "label"}
    path.write_text(json.dumps(data))
    ended = cli("check", corpus, "--baseline", baseline, "--json")
    (case,) = (one for one in json.loads(ended.out)["cases"] if one["id"] == "victim-count.json")
    assert [fault["kind"] for fault in case["faults"]] == ["further"]
    assert "in the baseline it reached its optimum" in case["faults"][0]["message"]


def test_files_for_machines_and_people(cli: Command, corpus: Path, tmp_path: Path) -> None:
    junit, markdown, report = tmp_path / "junit.xml", tmp_path / "report.md", tmp_path / "report.json"
    ended = cli("check", corpus, "--no-optimum", "--junit", junit, "--markdown", markdown, "-o", report, "--github")
    assert ended.code == 1
    assert ended.out.startswith(
        f"::error file={corpus}/gang-all-or-nothing.json,line=1,title=cpsched%3A gang (gang-all"
    )
    assert ended.out.splitlines()[-1] == "5 cases, engine mirror: 4 passed, 1 failed"
    suite = ElementTree.parse(junit).getroot()[0]
    assert len(suite.findall("testcase")) == 5
    assert markdown.read_text().startswith("### ❌ cpsched check")
    assert json.loads(report.read_text())["kind"] == "GateReport"


def test_every_form_says_which_models_the_cases_asked_for(cli: Command, corpus: Path, tmp_path: Path) -> None:
    (corpus / "expected.json").unlink()
    junit, markdown, report = tmp_path / "junit.xml", tmp_path / "report.md", tmp_path / "report.json"
    ended = cli("check", corpus, "--no-optimum", "--junit", junit, "--markdown", markdown, "-o", report)
    suite = ElementTree.parse(junit).getroot()[0]
    models = "4 cases: model volcano (the default); 1 case: model kube (by the pending pods)"
    choice = "Model kube: 1 pod of kube-scheduler pending, none of Volcano."
    assert f"{models}." in ended.out
    assert cli("check", corpus, "--no-optimum", "--github").out.splitlines()[-2] == models
    read = [line for line in ended.out.splitlines() if line.endswith(" pending")]
    assert (len(read), read[0]) == (5, "below/queue-closed.json: 1 node, 0 pods running, 2 pending")
    assert json.loads(report.read_text())["cases"][0]["read"] == {"nodes": 1, "running": 0, "pending": 2}
    assert markdown.read_text().splitlines()[14].replace("\\", "") == f"{models}."
    assert json.loads(report.read_text())["models"] == models
    assert {case["id"]: case["choice"] for case in json.loads(report.read_text())["cases"] if "choice" in case} == {
        "kube-pdb-overcount.yaml": choice
    }
    assert [one.attrib for one in suite.findall("properties/property")] == [{"name": "models", "value": models}]
    stated = {one.get("name"): one.findtext("system-out") for one in suite.findall("testcase")}
    assert {name: text for name, text in stated.items() if text} == {"kube-pdb-overcount.yaml": choice}


def test_a_model_that_the_user_or_the_case_names_is_not_explained(cli: Command, corpus: Path) -> None:
    assert "model volcano" not in cli("check", corpus, "--no-optimum").out
    ended = cli("check", corpus / "victim-count.json", "--no-optimum", "--model", "volcano", "--json")
    data = json.loads(ended.out)
    assert "models" not in data
    assert [case.get("choice") for case in data["cases"]] == [None]


def engine(code: str) -> str:
    return f"exec:{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def test_a_wrong_external_decision_is_refused_with_the_rules_key(cli: Command, corpus: Path) -> None:
    answer = json.dumps({"binds": {"gang/task-0": "nowhere"}})
    ended = cli("check", corpus, "--engine", engine(f"print('''{answer}''')"), "--no-optimum")
    assert ended.code == 1
    assert "assignment" in ended.out


def test_a_false_claim_to_be_optimal_is_refused(cli: Command, corpus: Path) -> None:
    """The program evicts no task and admits no task, states its levels correctly, and calls them proved."""
    path = corpus / "preempt-one-is-enough.json"
    idle = json.loads(cli("compare", path, "--engines", engine("print('{}')"), "--json").out)
    solution = idle["engines"][0]["solution"]
    levels = [{**level, "proved": True, "bound": level["value"]} for level in solution["levels"]]
    claim = json.dumps({"status": "optimal", "levels": levels})
    ended = cli("check", path, "--engine", engine(f"print('''{claim}''')"), "--json")
    assert ended.code == 1
    fault, idle = json.loads(ended.out)["cases"][0]["faults"]
    assert (fault["kind"], fault["key"]) == ("rule", "levels")
    assert idle["kind"] == "idle"
    assert "jobs_admitted[1000] is called optimal at 0, but 1 is possible" in fault["message"]


def test_an_engine_that_decides_nothing_does_not_pass_where_something_was_possible(cli: Command, corpus: Path) -> None:
    ended = cli("check", corpus, "--engine", engine("print('{}')"), "--json")
    faults = {case["id"]: case["faults"] for case in json.loads(ended.out)["cases"]}
    assert ended.code == 1
    (fault,) = faults["preempt-one-is-enough.json"]
    assert (fault["kind"], fault["key"]) == ("idle", "jobs_admitted[1000]")
    assert fault["message"] == "decides nothing; behind the optimum at jobs_admitted[1000]: 0 against 1"
    assert fault["names"].startswith(
        "job default/urgent is not placed (urgent/task-0 in the best decision); 1 victim fewer"
    )
    unknown = cli("check", corpus, "--engine", engine("print('{}')"), "--no-optimum")
    assert (unknown.code, unknown.out.endswith("all passed.\n")) == (0, True)


def test_an_idle_engine_passes_where_nothing_is_possible(cli: Command) -> None:
    ended = cli("check", TINY / "never-preempts.json", "--engine", engine("print('{}')"))
    assert (ended.code, ended.err) == (0, "")


def test_a_case_that_got_worse_names_jobs_tasks_victims_and_a_command(
    cli: Command, corpus: Path, tmp_path: Path
) -> None:
    baseline, junit, markdown = corpus / "baseline.json", tmp_path / "j.xml", tmp_path / "m.md"
    cli("check", corpus, "--baseline", baseline, "--update", "--engine", "optimal")
    ended = cli("check", corpus, "--baseline", baseline, "--junit", junit, "--markdown", markdown, "--github")
    assert ended.code == 1
    victims = "2 victims more (victims in the baseline: finetune/task-0; now: finetune/task-0, notebook/task-0, "
    victims += "notebook/task-1)"
    command = f"cpsched check {corpus} --engine mirror --baseline {baseline} --case preempt-one-is-enough.json"
    (line,) = (line for line in ended.out.splitlines() if "(preempt-one-is-enough.json)" in line)
    assert f"{victims}; reproduce with {command}" in line
    for text in (junit.read_text(), markdown.read_text().replace("\\", "")):
        assert victims in text
        assert command in text
    again = cli(*shlex.split(command)[1:])
    assert again.code == 1
    assert again.out.endswith("1 case, engine mirror: 0 passed, 1 failed.\n")


def test_one_case_is_accepted_without_the_others(cli: Command, corpus: Path) -> None:
    baseline = corpus / "baseline.json"
    cli("check", corpus, "--baseline", baseline, "--update", "--engine", "optimal", "--no-optimum")
    before = json.loads(baseline.read_text())["cases"]
    some = ("--case", "preempt-one-is-enough.json", "--no-optimum")
    stated = cli("check", corpus, "--baseline", baseline, "--update", *some).out
    assert stated == f"{baseline}: 5 cases, 1 changed.\n"
    after = json.loads(baseline.read_text())["cases"]
    assert {name for name in before if before[name] != after[name]} == {"preempt-one-is-enough.json"}
    assert len(after["preempt-one-is-enough.json"]["decision"]["victims"]) == 3


@pytest.mark.parametrize(
    ("demand", "stated"),
    [
        (["--max-gap", "victim_count=1"], "victim_count is 3, 1 is possible; at most 1 from it is allowed"),
        (["--max-gap", "victim_count=2"], ""),
        (["--max-gap", "jobs_admitted=0"], ""),
        (["--max-gap", "queue_deficit_max=5%"], "at most 5 % from it is allowed"),
        (["--max-gap", "queue_deficit_max=100%"], ""),
        (["--require", "optimal"], "is not optimal: victim_priority_sum is 3 victims, priority sum 120, 1 victim, "),
    ],
)
def test_what_is_demanded_besides(cli: Command, corpus: Path, demand: list[str], stated: str) -> None:
    ended = cli("check", corpus / "preempt-one-is-enough.json", *demand, "--json")
    (case,) = json.loads(ended.out)["cases"]
    assert [fault["kind"] for fault in case["faults"]] == ["gap"] * bool(stated)
    assert ended.code == bool(stated)
    assert all(stated in fault["message"] for fault in case["faults"])


def test_the_optimum_meets_every_demand(cli: Command, corpus: Path) -> None:
    demands = ("--require", "optimal", "--max-gap", "victim_count=0")
    assert cli("check", corpus, "--engine", "optimal", *demands).code == 0


def test_an_engine_that_crashes_fails_its_case_and_writes_no_baseline(cli: Command, corpus: Path) -> None:
    baseline = corpus / "baseline.json"
    ended = cli("check", corpus, "--engine", "exec:false", "--baseline", baseline, "--update")
    assert ended.code == 1
    assert "ended with exit code 1" in ended.out
    assert ended.out.endswith("is left as it was: 5 cases were not decided.\n")
    assert not baseline.exists()


def test_a_case_that_cannot_be_read_is_bad_input_and_the_rest_is_checked(cli: Command, corpus: Path) -> None:
    (corpus / "bad.json").write_text("{")
    ended = cli("check", corpus, "--json", "--no-optimum")
    assert ended.code == 2
    assert (states(ended)["bad.json"], len(states(ended))) == ("bad case", 6)
    assert ended.err.startswith(f"cpsched: error: {corpus / 'bad.json'}: line 1 column 2: not valid JSON")
    assert ended.err.count("\n") == 1


def test_a_corpus_that_is_not_there_is_one_line(cli: Command, corpus: Path) -> None:
    ended = cli("check", corpus / "missing")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"cpsched: error: {corpus / 'missing'}: no such file; name an instance, a folder of them, or rows of sessions\n"
    )


def test_no_answer_in_time(cli: Command, corpus: Path) -> None:
    ended = cli("check", corpus / "victim-count.json", "--engine", "exec:sleep 60", "--time-limit", "0.1")
    assert ended.code == 3
    assert ended.out.endswith("0 passed, 1 no answer.\n")


def test_several_processes_say_the_same(process: Command, corpus: Path) -> None:
    assert process("check", corpus, "--no-optimum", "-j", "2") == process("check", corpus, "--no-optimum")


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--update"], "--update without --baseline; name the file to write"),
        (["--baseline", "gone.json"], "gone.json: no such file; write it first with --update"),
        (["--engine", "nosuch"], "unknown engine nosuch"),
        (["--case", "gone.json", "--no-optimum"], "no case is called gone.json; an id is as check and compare show it"),
        (["--max-gap", "speed=1"], "max-gap: speed=1 is no LEVEL=N; levels are jobs_admitted"),
        (["--max-gap", "victim_count"], "max-gap: victim_count is no LEVEL=N"),
        (["--max-gap", "victim_count=-1"], "max-gap: -1 is no distance; a whole number"),
        (["--max-gap", "queue_deficit_max=x%"], "max-gap: x is no distance; a whole number or percent, such as 5%"),
        (["--require", "perfect"], "require: perfect cannot be required; write --require optimal"),
        (["--require", "optimal", "--no-optimum"], "--max-gap and --require need the optimum; leave out --no-optimum"),
    ],
)
def test_wrong_usage_is_one_line(cli: Command, corpus: Path, arguments: list[str], wrong: str) -> None:
    ended = cli("check", corpus, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert wrong in ended.err
    assert ended.err.count("\n") == 1


def test_a_bar_with_the_time_left_where_a_task_watches(corpus: Path) -> None:
    """On a terminal stderr counts the cases; stdout is as ever."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cpsched", "check", str(corpus), "--no-optimum"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, cwd=ROOT, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    out, _ = running.communicate()
    seen = b""
    with suppress(OSError):  # a terminal whose other side is closed
        while chunk := os.read(ours, 4096):
            seen += chunk
    os.close(ours)
    assert b"Checking" in seen
    assert b"5/5" in seen
    assert b"\x1b" not in out


def test_ctrl_c_leaves_no_half_written_file(corpus: Path) -> None:
    """The engine tells when it is at work; the interrupt comes in the middle of the first case."""
    started = corpus / "started"
    program = engine(f"import time; open({str(started)!r}, 'w').close(); time.sleep(7200)")
    command = [
        sys.executable,
        "-m",
        "cpsched",
        "check",
        str(corpus),
        "--engine",
        program,
        "--update",
        "--no-optimum",
        "--time-limit",
        "3600",
    ]
    files = ["--baseline", str(corpus / "baseline.json"), "--junit", str(corpus / "junit.xml")]
    before = sorted(os.listdir(corpus))
    running = subprocess.Popen([*command, *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    while not started.exists() and running.poll() is None:
        pass
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert (running.returncode, out, err) == (130, "", "cpsched: interrupted\n")
    assert sorted(os.listdir(corpus)) == sorted([*before, "started"])
