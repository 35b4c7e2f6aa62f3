"""A large cluster still gives a page that one can use."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from cpsched.report.html import EXPLORER, page_script
from tests.browser.conftest import Open
from tests.browser.large import page_of_size

MOST_BYTES = 5_000_000
MOST_SCRIPT = 150_000


def test_1500_nodes_and_8000_tasks(page_of: Open, tmp_path: Path) -> None:
    file = tmp_path / "large.html"
    page_of_size(file, 1500, 4000, 4000)
    assert file.stat().st_size < MOST_BYTES
    page = page_of(file)
    output = page.locator("#cluster > p").first.inner_text()
    assert output.startswith("40 of 1500 nodes, in 40 pictures")
    assert "1460 nodes on which something changes are left out" in output
    assert page.locator("article.node").count() == 40
    assert page.locator(".fleet svg").count() == 3
    assert page.locator(".fleet svg").first.get_attribute("aria-label") == "before: 1500 of 1500 nodes in use"
    assert page.locator("#moves .quiet").last.inner_text() == "1,483 more rows are left out."
    assert page.locator("*").count() < 20_000


def test_the_map_of_5000_nodes_is_searched(page_of: Open, tmp_path: Path) -> None:
    file = tmp_path / "huge.html"
    page_of_size(file, 5000, 5000, 5000)
    page = page_of(file)
    expect(page.locator(".map .cell")).to_have_count(5000)
    page.locator('#explorer [data-part="q"]').fill("n4321")
    expect(page.locator(".map .cell:not(.out)")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator('#explorer [data-part="detail"] h3')).to_have_text("Node n4321")


def test_the_script_is_small() -> None:
    assert len(EXPLORER) > 5
    assert len(page_script().encode()) < MOST_SCRIPT
