"""The three forms say the same, and none takes a name for anything but a name."""

from __future__ import annotations

from html import unescape

import pytest

from cpsched.policy.levels import SENSES
from cpsched.report.decisions import decision_report
from cpsched.report.document import Report, Table, table
from cpsched.report.html import html
from cpsched.report.markdown import markdown, safe
from cpsched.report.study import study_report
from cpsched.report.words import LEVELS
from tests.unit.report.conftest import cell, job, level, node, scene

HOSTILE = "<b>x|y</b>`*_"


def decisions(name: str = "old") -> Report:
    evicts = {"engine": name, "evictions": [{"task": f"{name}/task-0", "node": "n1", "action": "preempt"}]}
    stays = {"unplaced": {"new/task-0": ["Insufficient cpu"]}}
    return decision_report(scene([node("n1")], [job(name, "6", running="n1"), job("new", "6")], evicts, stays))


def study(model: str = "volcano") -> Report:
    rows = [cell(f"i{n}", levels=[level("victim_count", n, 1)], model=model) for n in range(1, 4)]
    rows += [cell(f"i{n}", "optimal", wall_seconds=0.1 * n, tasks_pending=n, model=model) for n in range(1, 4)]
    rows += [cell("broken", status="crash", error=HOSTILE, compared=None, model=model)]
    return study_report("run", rows, lambda *_: [], drawn=True)


def levels(report: Report) -> list[str]:
    [section] = [one for one in report.sections if one.key == "levels"]
    [found] = [block for block in section.blocks if isinstance(block, Table)]
    return [cell.text for row in found.rows for cell in row]


def cells(report: Report) -> set[str]:
    tables = [block for section in report.sections for block in section.blocks if isinstance(block, Table)]
    assert tables
    return {cell.text for one in tables for row in one.rows for cell in row} - {""}


@pytest.mark.parametrize("report", [decisions(), decisions(HOSTILE), study(), study(HOSTILE)], ids=range(4))
def test_every_number_is_in_every_form(report: Report) -> None:
    page, text = unescape(html(report)), markdown(report)
    for content in cells(report):
        assert content in page
        assert safe(content) in text


@pytest.mark.parametrize("report", [decisions(HOSTILE), study(HOSTILE)], ids=["decisions", "study"])
def test_markup_in_names_is_escaped(report: Report) -> None:
    assert "<b>x" not in html(report)
    assert "&lt;b&gt;x|y&lt;/b&gt;`*_" in html(report)
    assert "<b>" not in markdown(report)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a|b", r"a\|b"),
        ("<img>", "&lt;img&gt;"),
        ("*a* `b` ~c~", r"\*a\* \`b\` \~c\~"),
        ("[x](javascript:y)", r"[x]\(javascript:y)"),
        ("jobs_admitted[1000]", "jobs_admitted[1000]"),
        ("_a_", r"\_a\_"),
        ("two\nlines", "two lines"),
        ("back\\slash", r"back\\slash"),
    ],
)
def test_markdown_is_only_text(name: str, written: str) -> None:
    assert safe(name) == written


def test_long_tables_say_what_they_leave_out() -> None:
    made = table("t", ["#n"], [[str(n)] for n in range(1234)], most=10)
    assert (len(made.rows), made.left_out) == (10, 1224)


def test_every_level_has_words() -> None:
    assert LEVELS.keys() == SENSES.keys()


def test_charts_can_be_left_out() -> None:
    plain = study_report("run", [cell("i", levels=[level("victim_count", 2, 1)])], lambda *_: [], drawn=False)
    assert all(isinstance(block, Table) or hasattr(block, "text") for one in plain.sections for block in one.blocks)


def test_a_study_in_which_no_task_decided_is_a_report_all_the_same() -> None:
    page = html(study_report("run", [], lambda *_: [], drawn=True))
    assert "nothing to compare" in page


def test_the_first_level_that_differs_decides() -> None:
    worse = {"binds": {"new/task-0": "n1"}}
    report = decision_report(scene([node("n1")], [job("new", "6")], {}, worse))
    assert report.verdict[0].text.startswith(
        "a: worse than b at jobs_admitted[10]: it admits 0 starving jobs of priority 10 instead of 1; whether"
    )
    assert [text for text in levels(report) if "decides" in text] == ["worse by 1, decides"]


def test_findings_decide_before_any_level() -> None:
    """The gang gets its place although the node is full: more are admitted, and still it is worse."""
    breaks = {"binds": {"new/task-0": "n1"}}
    report = decision_report(scene([node("n1")], [job("old", "6", running="n1"), job("new", "6")], breaks, {}))
    assert report.verdict[0].text == (
        "a: breaks capacity, queue (3 violations) and ranks below every decision that breaks no rule. It starts 1 pod."
    )
    assert report.verdict[0].tone == "worse"
    assert not [text for text in levels(report) if "decides" in text]
