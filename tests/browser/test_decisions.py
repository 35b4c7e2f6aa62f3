"""The page about decisions, as a person meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.report.decisions import decision_report
from cpsched.report.html import html
from cpsched.report.scene import Scene
from tests.browser.conftest import Open

TINY = Path(__file__).parents[2] / "instances" / "tiny"
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\"' onfocus='alert(3)' x='",
    "{{ 7 * 7 }}",
)


def written(folder: Path, source: Any, engines: tuple[str, ...] = ("volcano", "optimal")) -> Path:
    instance = cpsched.load(source)
    solutions = [cpsched.solve(instance, engine=engine, workers=1) for engine in engines]
    file = folder / "report.html"
    scene = Scene.of(instance, load_policy("volcano", instance=instance), solutions, engines)
    file.write_text(html(decision_report(scene)))
    return file


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("tiny"), TINY / "preempt-one-is-enough.json")


def style(page: Page, selector: str, name: str) -> str:
    text = page.locator(selector).first.evaluate("(one, name) => getComputedStyle(one).getPropertyValue(name)", name)
    assert isinstance(text, str)
    return text


def focused(page: Page) -> str:
    text = page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")
    assert isinstance(text, str)
    return text


def test_the_picture_shows_who_goes_and_who_comes(page_of: Open, tiny: Path) -> None:
    page = page_of(tiny)
    panels = page.locator(".panel")
    assert [panels.nth(n).get_attribute("aria-label") for n in range(3)] == [
        "gpu-node, before",
        "gpu-node, volcano",
        "gpu-node, optimal",
    ]
    gpu = [panels.nth(n).locator(".row").last for n in range(3)]
    assert [row.locator("li.victim").count() for row in gpu] == [0, 3, 1]
    assert [row.locator("li.waits").count() for row in gpu] == [0, 1, 1]
    assert [row.locator("li.stays").count() for row in gpu] == [3, 0, 2]
    assert [row.locator(".taken").inner_text() for row in gpu] == ["8/8", "6/8", "8/8"]
    first = page.locator(".verdict p").first.inner_text()
    assert "volcano" in first
    assert "victim_priority_sum" in first


def test_blocks_are_as_wide_as_what_they_ask_for(page_of: Open, tiny: Path) -> None:
    bar = page_of(tiny).locator(".panel").first.locator(".bar").last
    width = bar.evaluate("bar => bar.getBoundingClientRect().width")
    blocks = bar.locator("li").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    assert sorted(round(8 * block / width, 1) for block in blocks) == pytest.approx([1, 1, 6], abs=0.1)


def test_fates_differ_in_more_than_colour(page_of: Open, tiny: Path) -> None:
    page = page_of(tiny)
    assert page.locator("li.victim b").first.inner_text() == "V"
    assert page.locator("li.waits b").first.inner_text() == "W"
    assert "gradient" in style(page, "li.victim", "background-image")
    assert style(page, "li.victim", "border-top-style") == "dashed"
    assert style(page, "li.waits", "border-top-style") == "solid"


def test_the_keyboard_reaches_everything(page_of: Open, tiny: Path) -> None:
    page = page_of(tiny)
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the report"
    assert page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "q"  # the explorer comes first
    page.locator('#cluster .block[tabindex="0"]').first.focus()
    assert focused(page).startswith("finetune/task-0: runs")
    assert page.locator("#tip").inner_text().startswith("finetune/task-0: runs\n8 cpu, 6 gpu\npriority 100")
    same = page.locator(".block.same").count()
    assert same == 6  # in both bars of all three panels
    page.keyboard.press("ArrowRight")
    assert focused(page).startswith("notebook/task-0")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("finetune/task-0: runs")
    page.keyboard.press("End")
    assert focused(page).startswith("notebook/task-1: runs")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("finetune/task-0: is evicted")
    assert "preempt for default/urgent" in page.locator("#tip").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert focused(page).startswith("finetune/task-0: is evicted")  # the picture is one stop, and remembers where
    page.keyboard.press("Tab")
    assert focused(page) == "The same as a table"
    page.keyboard.press("Enter")
    assert page.get_by_text("Nodes: how much is taken").is_visible()


def test_the_pointer_shows_the_same(page_of: Open, tiny: Path) -> None:
    page = page_of(tiny)
    page.locator("li.victim").last.hover()
    assert page.locator("#tip").inner_text().startswith("finetune/task-0: is evicted")
    page.mouse.move(2, 2)
    assert page.locator("#tip").is_hidden()


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_legible(page_of: Open, tiny: Path, scheme: str) -> None:
    page = page_of(tiny, scheme=scheme)
    paper = style(page, "body", "background-color")
    assert (luminance(paper) > 0.5) == (scheme == "light")
    for selector in ("body", ".about", ".verdict p", "nav a", "td.quiet", "td.worse", "figcaption, .hint"):
        assert contrast(style(page, selector, "color"), paper) >= 4.5, selector
    for selector in ("li.stays", "li.waits"):
        block = style(page, selector, "background-color")
        assert contrast(style(page, selector, "color"), block) >= 4.5, selector
    assert contrast(style(page, "li.victim", "color"), style(page, "li.victim b", "background-color")) >= 4.5


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_no_wider_than_the_screen(page_of: Open, tiny: Path, width: int) -> None:
    page = page_of(tiny, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tops = page.locator(".panel").evaluate_all("all => all.map(one => Math.round(one.getBoundingClientRect().top))")
    assert len(set(tops)) == (1 if width == 1280 else 3)  # side by side, or below each other


@pytest.mark.parametrize("width", [1280, 390])
def test_amounts_of_many_digits_stay_in_their_column(page_of: Open, tmp_path: Path, width: int) -> None:
    """Sizes as kubelets report them and requests that no suffix states exactly."""
    sizes = {"cpu": "15890m", "memory": "32867428Ki", "ephemeral-storage": "95551679124", "pods": 110}
    asked = {"cpu": "3301m", "memory": "29670848001", "ephemeral-storage": "93551679125"}
    source = {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "nodes": [{"name": name, "allocatable": sizes} for name in ("n1", "n2")],
        "jobs": [
            {"name": "old", "tasks": [{"requests": asked, "running": "n1"}]},
            {"name": "new", "tasks": [{"requests": asked}]},
        ],
    }
    page = page_of(written(tmp_path, source, ("volcano",)), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    labels = page.locator(".taken")
    assert "29670848001/32867428Ki" in labels.all_text_contents()
    assert "59341696002 (about 55.27Gi)" in labels.all_text_contents()
    too_wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert labels.evaluate_all(too_wide) == []


def test_it_prints(page_of: Open, tiny: Path) -> None:
    page = page_of(tiny, scheme="dark")
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    assert luminance(style(page, "body", "background-color")) > 0.9
    assert page.locator("nav").is_hidden()
    assert (
        len(
            {panel["y"] for panel in page.locator(".panel").evaluate_all("all => all.map(one => ({y: one.offsetTop}))")}
        )
        == 1
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_only_names(page_of: Open, tmp_path: Path, name: str) -> None:
    cluster = json.loads((TINY / "preempt-one-is-enough.json").read_text().replace("gpu-node", "NODE"))
    text = json.dumps(cluster).replace("finetune", json.dumps(name)[1:-1]).replace("NODE", json.dumps(name)[1:-1])
    page = page_of(written(tmp_path, json.loads(text), ("volcano",)))
    assert page.locator("article.node h3").first.inner_text().startswith(name)
    assert page.locator("img, main script:not(#explorer-data)").count() == 0
    tips = []
    for block in page.locator(".panel").nth(1).locator(".row").last.locator("li.victim").all():
        block.hover()
        tips.append(page.locator("#tip").inner_text())
    assert any(tip.startswith(f"{name}/task-0: is evicted") for tip in tips)


def test_nothing_else_may_run_or_load(page_of: Open, tiny: Path, tmp_path: Path) -> None:
    """Even what slipped through the escaping would be stopped by the page's own policy."""
    slipped = "<img src='data:image/png,x' onerror='window.ran=1'><script>window.ran=2</script></main>"
    file = tmp_path / "slipped.html"
    file.write_text(tiny.read_text().replace("</main>", slipped))
    page = page_of(tiny)
    page.goto("about:blank")
    other = page.context.new_page()
    other.goto(file.as_uri())
    assert other.evaluate("window.ran") is None
    policy = other.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content") or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in policy
