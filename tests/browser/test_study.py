"""The page about a study: charts in the page's own colours, links to the worst instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.recipe import Recipe
from cpsched.lab.study.results import read
from cpsched.lab.study.run import Means, run
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
    assert page.locator(".chart svg").count() == 6  # outcomes, two levels behind, two pairs, times
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


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_no_wider_than_the_screen(page_of: Open, study: Path, width: int) -> None:
    assert page_of(study, width=width).evaluate("document.documentElement.scrollWidth") <= width


def test_names_in_charts_are_only_names(page_of: Open, tmp_path: Path) -> None:
    page = page_of(written(tmp_path, HOSTILE))
    assert page.locator("img, main script").count() == 0
    assert HOSTILE in page.locator("#engines .chart").inner_text()


def test_it_prints(page_of: Open, study: Path) -> None:
    assert page_of(study, scheme="dark").pdf(format="A4").startswith(b"%PDF")
