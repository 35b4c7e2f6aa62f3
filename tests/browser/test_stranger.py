"""A stranger's five questions about a report as the command makes it, each answered in at most three steps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.explored import cluster

MOST_STEPS = 3


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stranger")
    source = cluster()
    source["jobs"][-1]["tasks"] = [{"requests": {"cpu": "9"}}]
    (folder / "cluster.json").write_text(json.dumps(source))
    command = [sys.executable, "-m", "cpsched", "report", "cluster.json", "--deterministic", "-o", "report.html"]
    subprocess.run(command, cwd=folder, check=True, timeout=600)
    return folder / "report.html"


class Stranger:
    """A reader who sees the page for the first time; every act is a step."""

    def __init__(self, page: Page):
        self.page, self.steps = page, 0

    def part(self, name: str) -> Locator:
        return self.page.locator(f'#explorer [data-part="{name}"]')

    def types(self, text: str) -> None:
        self._acts()
        self.part("q").fill(text)

    def presses(self, key: str) -> None:
        self._acts()
        self.page.keyboard.press(key)

    def selects(self, name: str, option: str) -> None:
        self._acts()
        self.part(name).select_option(label=option)

    def _acts(self) -> None:
        self.steps += 1
        assert self.steps <= MOST_STEPS


@pytest.fixture
def stranger(page_of: Open, report: Path) -> Stranger:
    return Stranger(page_of(report))


def test_who_is_evicted_for_a_job_and_why(stranger: Stranger) -> None:
    stranger.types("urgent")
    stranger.presses("Enter")
    shown = stranger.part("detail").inner_text()
    assert "Job default/urgent" in shown
    assert "for it 3 pods are evicted (highest priority 100)" in shown
    assert "it was not needed: without this eviction no further rule is broken" in shown
    assert "for it 1 pod is evicted (highest priority 100): finetune/task-0" in shown


def test_which_node_takes_a_job(stranger: Stranger) -> None:
    stranger.types("web")
    stranger.presses("Enter")
    expect(stranger.part("detail")).to_contain_text("3 start now on cpu-")
    assert stranger.page.locator(".map .cell.gang").count() >= 2


def test_what_differs_between_the_two(stranger: Stranger) -> None:
    stranger.selects("vs", "volcano")
    counted = stranger.part("counted").inner_text()
    assert "first difference at victim_priority_sum: 3 victims, priority sum 120 against 1 victim" in counted
    rows = stranger.part("list").locator("tbody tr")
    expect(rows.filter(has_text="notebook/task-0 and 1 alike")).to_have_count(1)


def test_is_it_proved(stranger: Stranger) -> None:
    """The opening screen says so; the levels beside the map say it of each."""
    lines = stranger.page.locator(".verdict p").all_inner_texts()
    assert lines[0].startswith("volcano: worse than the proved optimum at victim_priority_sum: it has 3 victims with")
    assert lines[1].startswith("optimal: proved optimal on every level.")
    assert stranger.part("ladder").locator("tbody tr").first.inner_text().count("proved (") == 1
    assert stranger.steps == 0


def test_what_should_change_for_a_job_that_stays_pending(stranger: Stranger) -> None:
    stranger.types("large")
    stranger.presses("Enter")
    shown = stranger.part("detail").inner_text()
    assert "Job default/large cannot be placed by any feasible decision" in shown
    assert "Smallest changes that would allow it" in shown
    assert re.search(r"\+\d+ cpu on node cpu-\d.*yes", shown), shown
    assert "Why not on these nodes" in shown
