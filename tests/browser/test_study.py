"""The page about a study: charts in the page's own colours, links to the worst instances."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.recipe import Recipe
from cpsched.lab.study.results import read
from cpsched.lab.study.run import Means, run
from cpsched.lab.study.summary import StudySummary
from cpsched.report.html import html
from cpsched.report.study import study_report
from cpsched.report.worst import embedding
from tests.browser.conftest import Open
from tests.unit.report.conftest import cell, level

TINY = Path(__file__).parents[2] / "instances" / "tiny" / "preempt-one-is-enough.json"
HOSTILE = "<img src=x onerror=alert(1)>"


def written(folder: Path, model: str = "volcano") -> Path:
    rows = [cell(f"i{n}", levels=[level("victim_count", 1 + n % 3, 1)], model=model) for n in range(12)]
    rows += [cell(f"i{n}", "optimal", tasks_pending=10 * n, wall_seconds=0.01 * 2**n, model=model) for n in range(12)]
    rows += [cell(HOSTILE, levels=[level("jobs_admitted", 0, 2, "max")], model=model)]
    file = folder / "study.html"
    file.write_text(html(study_report("run", rows, lambda *_: [], drawn=True)))
    return file


def really_run(folder: Path) -> Path:
    """A study of one instance, run and reported for real."""
    (folder / f"{HOSTILE}.json").write_bytes(TINY.read_bytes())
    recipe = Recipe.parse({"kind": "Study", "instances": [str(folder / "*.json")], "time_limit": 20})
    run(RunFolder(folder / "run"), recipe, Means(workers=1))
    results = read(folder / "run")
    file = folder / "study.html"
    file.write_text(html(study_report("run", results.rows(), embedding(results), drawn=True)))
    return file


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("study"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_follow_the_scheme(page_of: Open, study: Path, scheme: str) -> None:
    page = page_of(study, scheme=scheme)
    assert page.locator("section:not(#points) .chart svg").count() == 6  # outcomes, two levels behind, two pairs, times
    fill = page.locator("#engines .chart path[fill='var(--blue)']").first.evaluate("one => getComputedStyle(one).fill")
    assert fill == ("rgb(0, 114, 178)" if scheme == "light" else "rgb(86, 180, 233)")
    text = page.locator("#times .chart text").first.evaluate("one => getComputedStyle(one).fill")
    assert text == ("rgb(87, 96, 106)" if scheme == "light" else "rgb(154, 164, 175)")


def test_ids_are_unique(page_of: Open, study: Path) -> None:
    ids = page_of(study).locator("[id]").evaluate_all("all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))


def test_every_search_is_a_point(page_of: Open, study: Path) -> None:
    points = page_of(study).locator("#times .mark-symbol.role-mark path")
    assert points.count() == 12


def test_the_worst_lead_to_their_comparison(page_of: Open, tmp_path: Path) -> None:
    page = page_of(really_run(tmp_path))
    [first] = page.locator("#worst tbody a").all()
    assert first.inner_text() == f"{HOSTILE}.json"
    first.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#worst-1")
    section = page.locator("#worst-1")
    assert section.locator("h3").first.inner_text().startswith(HOSTILE)
    panels = section.locator(".panel")
    assert [panels.nth(n).locator(".row").last.locator("li.victim").count() for n in range(3)] == [0, 3, 1]


def test_points_chosen_in_one_chart_are_marked_in_the_other_and_listed(page_of: Open, study: Path) -> None:
    page = page_of(study)
    linked = page.locator("#linked")
    charts, rows = linked.locator("svg[role=img]"), linked.locator("tbody tr")
    assert rows.count() == 13
    linked.locator("select[name=level]").select_option("jobs_admitted")
    assert rows.locator("th").all_inner_texts() == [HOSTILE]
    assert [charts.nth(n).locator(".point:not(.dim)").count() for n in range(2)] == [1, 1]
    linked.get_by_role("button", name="Show all").click()
    charts.first.scroll_into_view_if_needed()
    box = charts.nth(1).locator(".point").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    chosen = rows.count()
    assert 0 < chosen < 13
    assert [charts.nth(n).locator(".point:not(.dim)").count() for n in range(2)] == [chosen, chosen]
    assert linked.locator('[data-part="counted"]').inner_text().startswith(f"{chosen} decision")


def test_the_numbers_are_those_of_the_terminal(page_of: Open, study: Path) -> None:
    row = page_of(study).locator("#engines table").last.locator("tbody tr").filter(has_text="volcano").first
    names = ("model", "engine", "cells", "failed", "findings", "proved", "same", "behind", "ahead")
    rows = [cell(f"i{n}", levels=[level("victim_count", 1 + n % 3, 1)]) for n in range(12)]
    rows += [cell(HOSTILE, levels=[level("jobs_admitted", 0, 2, "max")])]
    [printed] = StudySummary.of(one for one, _ in rows).rows()
    assert row.locator("th, td").all_inner_texts() == [str(printed[name]) for name in names]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page_of: Open, study: Path, scheme: str) -> None:
    found = Axe().run(page_of(study, scheme=scheme)).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_no_wider_than_the_screen(page_of: Open, study: Path, width: int) -> None:
    assert page_of(study, width=width).evaluate("document.documentElement.scrollWidth") <= width


def test_names_in_charts_are_only_names(page_of: Open, tmp_path: Path) -> None:
    page = page_of(written(tmp_path, HOSTILE))
    assert page.locator('img, main script:not([type="application/json"])').count() == 0
    assert HOSTILE in page.locator("#engines .chart").inner_text()


def test_it_prints(page_of: Open, study: Path) -> None:
    assert page_of(study, scheme="dark").pdf(format="A4").startswith(b"%PDF")
