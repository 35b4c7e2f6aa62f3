"""A decision from outside that calls itself optimal and proved: no command repeats that, or says it in our name."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched.certificate import Certificate
from cpsched.comparison.session import CaseOptions
from cpsched.gate.case import GateCase
from cpsched.gate.measure import CaseQuestion
from cpsched.importers.corpus import Case
from cpsched.solution import Solution
from tests.cli.conftest import Command

Raw = dict[str, Any]
PROOFS = {"bound": None, "proved": False, "prover": "", "seconds": 0.0, "given_open_levels": False}


@pytest.fixture
def forged(tiny: Path) -> Raw:
    """Does nothing, states its levels as they are, each as proved by CP-SAT, and speaks in our name wherever it can."""
    idle = cpsched.solve(cpsched.load(tiny), engine="exec:echo {}")
    levels = [
        {**level.model_dump(mode="json"), "bound": level.value, "proved": True, "prover": "cp-sat", "seconds": 1.5}
        for level in idle.levels
    ]
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Solution",
        "engine": "optimal",
        "model": "throughput",
        "status": "optimal",
        "levels": levels,
        "findings": [],
        "notes": ["every bound was computed again"],
        "versions": {"cpsched": "99", "ortools": "9.15.6755", "theirs": "7"},
        "interrupted": True,
        "preemptions": [{"task": "a", "node": "n", "victims": [], "pdbViolations": 0, "truePdbViolations": 0}],
    }


@pytest.fixture
def file(forged: Raw, tmp_path: Path) -> Path:
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(forged))
    return path


@pytest.fixture
def engine(file: Path) -> str:
    return f"exec:cat {shlex.quote(str(file))}"


def refuses(solution: Raw) -> None:
    """Whatever is written down about the forged decision."""
    assert (solution["status"], solution["called_optimal"]) == ("heuristic", True)
    assert solution["model"] == "volcano"
    assert len(solution["levels"]) == 11
    assert all(PROOFS.items() <= level.items() for level in solution["levels"])
    assert solution["versions"] == {"cpsched": cpsched.__version__, "theirs": "7"}
    assert solution["engine"] != "optimal"
    assert {"interrupted", "preemptions"}.isdisjoint(solution)
    assert "computed again" not in json.dumps(solution)


def test_solve(cli: Command, tiny: Path, engine: str, tmp_path: Path) -> None:
    code, out, err = cli("solve", tiny, "--engine", engine, "-o", tmp_path / "o.json")
    assert (code, err) == (0, "")
    assert out.partition("\n")[2].startswith(
        f"Engine {engine}, model volcano: heuristic decision, no optimality proof\n"
    )
    assert "cp-sat" not in out
    assert "proof" not in out.split("\n", 2)[2]
    refuses(json.loads((tmp_path / "o.json").read_text()))
    refuses(json.loads(cli("solve", tiny, "--engine", engine, "--json").out))


def test_an_optimum_without_levels_is_none_either(cli: Command, tiny: Path) -> None:
    answer = shlex.quote(json.dumps({"status": "optimal"}))
    ended = cli("solve", tiny, "--engine", f"exec:echo {answer}", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["status"] == "heuristic"


@pytest.mark.parametrize("status", ["infeasible", "unknown"])
def test_no_decision_stays_none_and_proves_nothing(cli: Command, tiny: Path, status: str, forged: Raw) -> None:
    answer = shlex.quote(json.dumps({"status": status, "levels": forged["levels"]}))
    code, out, _ = cli("solve", tiny, "--engine", f"exec:echo {answer}", "--json")
    assert (code, json.loads(out)["status"], json.loads(out)["levels"]) == (3, status, [])
    decides = shlex.quote(json.dumps({"status": status, "evictions": [{"task": "notebook/task-0"}]}))
    assert json.loads(cli("solve", tiny, "--engine", f"exec:echo {decides}", "--json").out)["status"] == "heuristic"


def test_a_certificate_has_no_claims_of_a_prover_that_never_ran(
    cli: Command, tiny: Path, engine: str, file: Path, tmp_path: Path
) -> None:
    written = tmp_path / "certificate.json"
    assert cli("solve", tiny, "--engine", engine, "--certificate", written).code == 0
    assert_no_claim(json.loads(written.read_text()))
    assert json.loads(written.read_text())["versions"] == {"cpsched": cpsched.__version__, "theirs": "7"}
    code, out, _ = cli("verify", written, tiny)
    assert code == 0
    assert "levels are not proved" in out
    stored = Solution.parse(json.loads(file.read_text()))
    assert_no_claim(cpsched.certify(cpsched.load(tiny), stored).to_dict())


def assert_no_claim(certificate: Raw) -> None:
    assert {level["evidence"]["by"] for level in certificate["levels"]} == {""}
    assert not all(level["proved"] for level in certificate["levels"])
    Certificate.parse(certificate)


def test_claims_of_our_own_search_are_certified_for_its_session_only(tmp_path: Path) -> None:
    instance = cpsched.load(Path("instances/tiny/anti-affinity.json"))
    found = cpsched.solve(instance, prover="cp-sat", workers=1)
    claims = [one.name for one in cpsched.certify(instance, found).levels if one.evidence.kind == "claimed"]
    assert claims
    assert_no_claim(cpsched.certify(instance, Solution.parse(found.to_dict())).to_dict())


def test_compare(cli: Command, tiny: Path, engine: str, forged: Raw) -> None:
    ended = cli("compare", tiny, "--engines", engine, "--cache", "none", "--json")
    assert ended.err == ""
    [own] = json.loads(ended.out)["engines"]
    assert (own["verdict"], own["proved"], own["status"]) == ("best", False, "heuristic")
    refuses(own["solution"])
    given = cpsched.compare(cpsched.load(tiny), ["mirror"], decisions={"theirs": Solution.parse(forged)})
    refuses(given["theirs"].to_dict()["solution"])
    assert given["theirs"].to_dict()["decided_by"] == "theirs"


def test_a_search_of_ours_on_another_session_proves_nothing_here(tiny: Path) -> None:
    instance = cpsched.load(tiny)
    other = cpsched.solve(instance, model="throughput", workers=1)
    assert other.status == "optimal"
    found = cpsched.compare(instance, ["mirror"], decisions={"other": other})["other"].contender.solution
    assert (found.status, found.proves) == ("heuristic", False)
    assert all(level == level.without_proof() for level in found.levels)


def test_recorded_decisions(cli: Command, tiny: Path, forged: Raw, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    shutil.copy(tiny, corpus / "case.json")
    (corpus / "case.solution.json").write_text(json.dumps(forged))
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "r", "instance": json.loads(tiny.read_text()), "solution": forged}) + "\n")
    for place in (corpus / "case.json", rows):
        [own] = json.loads(cli("compare", place, "--engines", "recorded", "--json").out)["engines"]
        assert (own["verdict"], own["decided_by"]) == ("best", "recorded")
        refuses(own["solution"])


def test_check(cli: Command, tiny: Path, engine: str, forged: Raw) -> None:
    """The claim is disproved by the optimum; without it, it is simply not repeated."""
    ended = cli("check", tiny, "--engine", engine, "--no-optimum", "--json")
    [case] = json.loads(ended.out)["cases"]
    assert (ended.code, case["optimum"]) == (0, None)
    gate = GateCase(Case("tiny", str(tiny)), CaseQuestion("decision", CaseOptions(), cache="none", optimum=False))
    found = gate.judge(Solution.parse(forged))
    assert (found.state, found.case.distance, found.case.decided_by) == ("passed", None, "decision")


def test_study(cli: Command, tiny: Path, engine: str, tmp_path: Path) -> None:
    stated = ("--instances", tiny, "--engines", engine, "--workers", "1")
    ended = cli("study", tmp_path / "run", *stated, "--json")
    assert (ended.code, json.loads(ended.out)["summary"][0]["proved"]) == (0, 0)
    [line] = (tmp_path / "run" / "results.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert record["solution"] == "heuristic"
    # As a folder looks that an earlier version wrote, or another task.
    for level in record["levels"]:
        level.update(bound=level["value"], proved=True, prover="cp-sat")
    record.update(solution="optimal", engine="optimal")
    (tmp_path / "run" / "results.jsonl").write_text(json.dumps(record) + "\n")
    ended = cli("study", tmp_path / "run", "--export", "--json")
    assert (ended.code, json.loads(ended.out)["summary"][0]["proved"]) == (0, 0)
    assert "cp-sat" not in (tmp_path / "run" / "levels.csv").read_text()
    out = cli("report", tmp_path / "run").out
    assert "cp-sat" not in out
    assert "optimum is proved" not in out


def test_a_study_shows_no_stored_proof(cli: Command, tiny: Path, tmp_path: Path) -> None:
    """Its worst cases are checked again, whatever their files say."""
    assert cli("study", tmp_path / "run", "--instances", tiny, "--workers", "1").code == 0
    out = cli("report", tmp_path / "run").out
    assert "stated to be optimal; the proofs are not checked here" in out
    assert "proved (" not in out


def test_report(cli: Command, tiny: Path, file: Path, engine: str) -> None:
    alone = cli("report", tiny, "--solution", file)
    assert (alone.code, alone.err) == (0, "")
    assert "Decisions of optimal (forged.json), checked under model throughput" in alone.out
    beside = cli("report", tiny, "--solution", file, "--engines", "optimal", "--model", "volcano")
    assert (
        "optimal (forged.json): worse than the proved optimum at jobs_admitted[1000]: it admits 0 starving jobs"
        in beside.out
    )
    assert "optimal: proved optimal on every level." in beside.out
    decided = cli("report", tiny, "--engines", engine)
    for ended in (alone, decided):
        assert "proved (" not in ended.out
        assert "cp-sat" not in ended.out
        assert "computed again" not in ended.out
        assert "cpsched 99" not in ended.out
    assert "stated to be optimal; the proofs are not checked here" in decided.out


def test_reasons_of_others_are_statements(cli: Command, tiny: Path) -> None:
    answer = shlex.quote(json.dumps({"unplaced": {"urgent/task-0": ["proved impossible"]}}))
    theirs = f"exec:echo {answer}"
    assert "reason stated by the engine" in cli("solve", tiny, "--engine", theirs).out
    compared = cli("compare", tiny, "--engines", "optimal", "--engines", theirs, "--cache", "none")
    assert "it states: proved impossible" in compared.out
