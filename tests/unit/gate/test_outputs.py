"""JUnit, Markdown and GitHub lines hold odd names, and the baseline is a file to be diffed."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cpsched.errors import InputError
from cpsched.gate.baseline import Baseline, read_baseline, write_baseline
from cpsched.gate.github import workflow_commands
from cpsched.gate.junit import junit
from cpsched.gate.markdown import MOST_ROWS, markdown
from cpsched.gate.measure import Measured
from cpsched.gate.report import CheckedCases
from cpsched.solution import Finding

ODD = 'a|b `c` <d> "e" \x00\x1b[31m ::error:: %0A, é 😀 @you'


def report(*names: str, rule: str = "gang") -> CheckedCases:
    made = CheckedCases("corpus", "mirror")
    for name in names:
        finding = Finding(rule=rule, subject=name, message="line one\nline two")
        made.add(Measured(name, f"corpus/{name}", 7, findings=(finding,), levels={"tasks_bound": 1}, seconds=0.5))
    made.add(Measured("fine", "corpus/fine"))
    made.add(Measured("slow", "corpus/slow", outcome="no answer", error="too late"))
    return made


def test_junit_counts_and_names_the_rule() -> None:
    suite = ElementTree.fromstring(junit(report("bad")).encode())[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    bad, fine, slow = suite.findall("testcase")
    failure = bad.find("failure")
    assert failure is not None
    assert (bad.get("name"), failure.get("type")) == ("bad", "rule gang")
    assert "line one" in str(failure.get("message"))
    assert len(fine) == 0
    assert slow.find("error") is not None


def test_junit_holds_odd_names() -> None:
    (case, *_) = ElementTree.fromstring(junit(report(ODD)).encode())[0]
    assert case.get("name") == ODD.replace("\x00", r"\x00").replace("\x1b", r"\x1b")


def test_markdown_holds_odd_names_in_one_row() -> None:
    shown = markdown(report(ODD))
    (row,) = (line for line in shown.splitlines() if line.startswith(r"| a\|b"))
    assert row.replace(r"\|", "").count("|") == 4
    assert "<d>" not in row
    assert "@you" not in row
    assert shown.startswith("### ❌ cpsched check\n")


def test_markdown_stays_short_enough_for_a_comment() -> None:
    shown = markdown(report(*(f"case-{number}" for number in range(500))))
    assert f"... and {501 - MOST_ROWS} more." in shown
    assert len(shown) < 65_536


def test_github_lines_cannot_be_forged() -> None:
    lines = list(workflow_commands(report(ODD)))
    assert len(lines) == 2
    first = lines[0]
    assert first.count("::") == 3 + first.partition("::")[2].count("::") - 2
    head, _, message = first.removeprefix("::error ").partition("::")
    assert "%3A%3Aerror%3A%3A" in head
    assert "%250A%2C" in head
    assert ",line=7,title=cpsched%3A gang (a|b" in head
    assert message.endswith("line one line two")


def test_two_cases_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two cases are called x"):
        report("x", "x")


def test_the_baseline_is_sorted_and_has_a_line_per_case(tmp_path: Path) -> None:
    results = [Measured(name, "f", instance="i", model="m", levels={"tasks_bound": 1}) for name in ("b", "a", ODD)]
    path = tmp_path / "baseline.json"
    write_baseline(str(path), Baseline.of("mirror", results))
    lines = path.read_text().splitlines()
    assert json.loads(path.read_text())["kind"] == "Baseline"
    assert [line.strip()[1] for line in lines if '"instance"' in line] == ["a", "a", "b"]
    assert read_baseline(str(path)) == Baseline.of("mirror", results)
    assert list(read_baseline(str(path)).cases) == ["a", ODD, "b"]
    write_baseline(str(path), Baseline.of("mirror", reversed(results)))
    assert path.read_text().splitlines() == lines


def test_an_empty_baseline_is_still_a_baseline(tmp_path: Path) -> None:
    write_baseline(str(tmp_path / "b.json"), Baseline.of("mirror", []))
    assert read_baseline(str(tmp_path / "b.json")).cases == {}


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("[]", "not a baseline"),
        ('{"kind": "Solution"}', "not a baseline"),
        (
            '{"kind": "Baseline", "engine": "m", "apiVersion": "cpsched/v9"}',
            "apiVersion: \"cpsched/v9\" should be 'cpsched/v1'",
        ),
        ('{"kind": "Baseline", "engine": "m", "cases": {"a": {"instance": "i"}}}', "cases.a.model: is missing"),
        (
            '{"kind": "Baseline", "engine": "m", "cases": {"a": {"instance": "i", "model": "m", "levels": {"x": 1}}}}',
            "cases.a.levels: x is not a level",
        ),
        (
            '{"kind": "Baseline", "engine": "m", "cases": {"a": {"instance": "i", "model": "m", '
            '"levels": {"nodes_used": "many"}}}}',
            'cases.a.levels: "many" is no value of nodes_used',
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_one_line(tmp_path: Path, content: str, wrong: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_baseline(str(path))
    assert wrong in str(error.value)
