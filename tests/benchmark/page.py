"""How large the report's page is, how fast Chromium opens it, and how fast it answers, by size of the cluster."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from cpsched.report.html import page_script
from tests.browser.conftest import PROGRAMS
from tests.browser.large import page_of_size

SIZES = (3, 100, 1523, 5000)
PODS_PER_NODE = 3
"""Running, and as many pending."""
RUNS = 3
ACTS = {
    "search": "q.value = 'n2'; q.dispatchEvent(new Event('input', { bubbles: true }))",
    "colour": "colour.value = 'job'; colour.dispatchEvent(new Event('input', { bubbles: true }))",
    "choose": "cells[cells.length - 1].click()",
    "compare": "vs.value = '1'; vs.dispatchEvent(new Event('input', { bubbles: true }))",
}
"""What a user does, in this order; each is timed until the next picture is drawn."""

TIMED = """async () => {
  const part = (name) => document.querySelector(`#explorer [data-part="${name}"]`);
  const q = part("q"), colour = part("colour"), vs = part("vs"), cells = document.querySelectorAll(".map .cell");
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await drawn();
  const start = performance.now();
  %s;
  await drawn();
  return performance.now() - start;
}"""


def main() -> int:
    """Print a table; nothing is checked."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        print(f"no browser: none of {', '.join(PROGRAMS)} is installed", file=sys.stderr)
        return 1
    caption = f"script: {len(page_script().encode()) / 1000:.0f} kB, no library; target at 5,000 nodes: open in < 2 s"
    table = Table("nodes", "pods", "MB", "elements", "open s", *(f"{act} ms" for act in ACTS), caption=caption)
    for column in table.columns:
        column.justify = "right"
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        for nodes in SIZES:
            file = Path(folder) / f"{nodes}.html"
            page_of_size(file, nodes, PODS_PER_NODE * nodes, PODS_PER_NODE * nodes)
            runs = [_once(browser, file) for _ in range(RUNS)]
            opened, *acts = (median(column) for column in zip(*(times for _, times in runs), strict=True))
            cells = (
                f"{nodes:,}",
                f"{2 * PODS_PER_NODE * nodes:,}",
                f"{file.stat().st_size / 1e6:.1f}",
                f"{runs[0][0]:,}",
            )
            table.add_row(*cells, f"{opened:.2f}", *(f"{one:.0f}" for one in acts))
    Console(width=120).print(table)
    return 0


def _once(browser: Browser, file: Path) -> tuple[int, list[float]]:
    """Elements of the page; seconds until it is open with its map, and milliseconds of every act."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(file.as_uri(), wait_until="load")
    seconds = page.evaluate("() => performance.timing.loadEventEnd - performance.timing.navigationStart") / 1000
    elements = page.locator("*").count()
    times = [seconds, *(_timed(page, act) for act in ACTS.values())]
    context.close()
    return elements, times


def _timed(page: Page, act: str) -> float:
    return float(page.evaluate(TIMED % act))


if __name__ == "__main__":
    sys.exit(main())
