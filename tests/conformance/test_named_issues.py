"""Issues named in public threads, as instances: what the scheduler does, what is best, and the gate over them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cpsched.comparison.compare import compare
from cpsched.comparison.optima import Optima
from cpsched.comparison.session import CaseOptions, Session, open_session
from cpsched.gate.baseline import read_baseline
from cpsched.gate.measure import CaseQuestion, measure
from cpsched.gate.report import CheckedCases
from cpsched.importers.corpus import cases
from cpsched.importers.load import load
from cpsched.options import Options
from cpsched.ranking import Standing, gap
from tests.conformance.test_judge_rows import fixed

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "instances" / "issues"
DATA = Path(__file__).parent / "data" / "issues.json.gz"
Json = dict[str, Any]
EXPECTED: dict[str, Json] = {
    file: expected
    for file, expected in json.loads((FOLDER / "expected.json").read_text(encoding="utf-8")).items()
    if "defect" not in expected
}
ROWS: dict[str, Json] = {row["id"]: row for row in json.loads(gzip.decompress(DATA.read_bytes()))}
CASES = {case.id: case for case in cases(str(FOLDER))}
named = pytest.mark.parametrize("file", EXPECTED)


def session(file: str) -> Session:
    return open_session(CASES[file], CaseOptions())


def test_every_named_issue_has_one_file() -> None:
    assert EXPECTED.keys() == {f"{name}.json" for name in ROWS}
    assert len(EXPECTED) == 47


@named
def test_the_instance_is_the_recorded_one(file: str) -> None:
    row = ROWS[file.removesuffix(".json")]
    own = session(file)
    assert own.instance.to_dict()["objects"] == load(row["objects"]).to_dict()["objects"]
    assert own.instance.conf == row["conf"]
    assert own.policy.name == row["policy"] == EXPECTED[file]["model"]
    source = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    assert source["name"] == row["id"]
    assert 40 < len(source["description"]) < 400


@named
def test_mirror_and_optimum_are_as_expected(file: str) -> None:
    """The mirror takes a recorded decision; its findings, the first level behind and the optimum are those stated."""
    expected, own, row = EXPECTED[file], session(file), ROWS[file.removesuffix(".json")]
    found = compare(own, ("mirror", "optimal"), Options(workers=1), Optima(None))
    mirror, best = found["mirror"].contender, found["optimal"].contender
    assert _parts(mirror.solution) in [_parts(one.solution) for one in own.outcomes]
    assert list(mirror.rules) == expected["findings"]
    assert mirror.standing is not None
    assert best.standing is not None
    behind = gap(_levels(mirror.standing), _levels(best.standing))
    assert (behind.level if behind else None) == expected["behind"]
    assert found["optimal"].verdict == "optimal"
    assert best.standing.shown == expected["optimum"]["levels"]
    assert best.standing.shown == fixed(row, row["expect_optimum"]["levels"])
    assert sorted(best.solution.evicted) in expected["optimum"]["victims"]


def _parts(solution: Any) -> tuple[Any, ...]:
    reserves = {**solution.allocated, **solution.pipelined}
    return tuple(sorted(solution.binds.items())), tuple(sorted(reserves.items())), tuple(sorted(solution.evicted))


def _levels(standing: Standing) -> Standing:
    return Standing(standing.plan, standing.values)


@pytest.mark.parametrize("engine", ["mirror", "recorded"])
def test_the_gate_accepts_what_its_baseline_holds(engine: str) -> None:
    report = CheckedCases(str(FOLDER), engine, read_baseline(str(FOLDER / "baseline.json")))
    for case in CASES.values():
        for found in measure(case, CaseQuestion(engine, optimum=False)):
            report.add(found)
    assert [(one.case.id, one.faults) for one in report.bad] == []
    assert not any(one.better or "changed" in " ".join(one.notes) for one in report.verdicts)
    assert (len(report.verdicts), report.removed) == (66, [])


def test_without_the_baseline_seventeen_decisions_break_a_rule() -> None:
    report = CheckedCases(str(FOLDER), "mirror")
    for case in CASES.values():
        for found in measure(case, CaseQuestion("mirror", optimum=False)):
            report.add(found)
    assert report.states["failed"] == 17
    text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    assert "seventeen of these decisions break a rule" in text


@named
def test_the_read_me_lists_it(file: str) -> None:
    expected = EXPECTED[file]
    text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    (row,) = (line for line in text.splitlines() if line.startswith(f"| `{file}` |"))
    broken, behind = _cells(row)
    assert broken == ", ".join(f"`{rule}`" for rule in expected["findings"])
    assert behind == (f"`{expected['behind']}`" if expected["behind"] else "")
    assert all(f"({thread})" in row for thread in expected["threads"])


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split("|")[-3:-1]]
