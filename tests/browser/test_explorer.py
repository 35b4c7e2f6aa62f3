"""The page's explorer, as a person works with it: find, filter, choose, compare, share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.explored import cluster, page_for

HOSTILE = "</script><img src=x onerror=alert(1)>\u202egnp"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_for(tmp_path_factory.mktemp("explorer"), cluster())


def part(page: Page, name: str) -> Locator:
    return page.locator(f'#explorer [data-part="{name}"]')


def find(page: Page, text: str) -> None:
    part(page, "q").fill(text)
    part(page, "q").press("Enter")


def cell(page: Page, node: str) -> Locator:
    return page.locator(f'.map .cell[aria-label^="{node}:"]')


def classes(shown: Locator) -> list[str]:
    return (shown.get_attribute("class") or "").split()


def test_every_node_is_a_cell_that_says_what_happens_on_it(page_of: Open, file: Path) -> None:
    page = page_of(file)
    assert page.locator(".map .cell").count() == 6
    expect(cell(page, "gpu-node")).to_have_attribute("aria-label", "gpu-node: 100 % full, 3 pods, 1 placed, 1 evicted")
    page.get_by_label("volcano", exact=True).check()
    expect(cell(page, "gpu-node")).to_have_attribute("aria-label", "gpu-node: 75 % full, 1 pod, 1 placed, 3 evicted")
    page.get_by_label("before", exact=True).check()
    expect(cell(page, "gpu-node")).to_have_attribute("aria-label", "gpu-node: 100 % full, 3 pods")
    assert cell(page, "cpu-0").inner_text() == "cpu-0"


def test_choosing_lights_up_the_gang_and_its_victims(page_of: Open, file: Path) -> None:
    page = page_of(file)
    find(page, "urgent")
    assert set(classes(cell(page, "gpu-node"))) == {"cell", "both", "gang", "prey"}
    part(page, "detail").get_by_role("button", name="finetune/task-0").first.click()
    facts_shown = part(page, "detail").inner_text()
    assert "Pod finetune/task-0" in facts_shown
    assert "is evicted by preempt for default/urgent" in facts_shown


def test_pointing_at_a_pod_lights_up_what_belongs_to_it_everywhere(page_of: Open, file: Path) -> None:
    page = page_of(file)
    page.get_by_label("volcano", exact=True).check()
    page.locator('input[name="list"][value="pods"]').check()
    rows = part(page, "list").locator("tbody tr")
    rows.filter(has_text="finetune/task-0").hover()
    role_by_row = {row.locator("th").inner_text(): set(classes(row)) for row in rows.all()}
    assert role_by_row["finetune/task-0"] == {"itself"}
    assert role_by_row["urgent/task-0"] == {"cause"}
    assert role_by_row["web/task-0 and 2 alike"] == set()
    assert {"itself", "cause"} <= set(classes(cell(page, "gpu-node")))
    assert page.locator("#cluster .block.itself").count() > 0
    assert part(page, "why").inner_text() == (
        "finetune/task-0: volcano: is evicted by preempt for default/urgent; "
        "optimal: is evicted by preempt for default/urgent."
    )
    page.mouse.move(2, 2)
    assert page.locator("#explorer :is(.itself, .cause)").count() == 0
    assert part(page, "why").inner_text() == ""
    part(page, "list").get_by_role("button", name="urgent/task-0").focus()  # with the keyboard too
    assert {row.locator("th").inner_text() for row in rows.all() if "prey" in classes(row)} == {
        "finetune/task-0",
        "notebook/task-0 and 1 alike",
    }


def test_two_states_stand_side_by_side(page_of: Open, file: Path) -> None:
    page = page_of(file)
    part(page, "vs").select_option(label="volcano")
    counted = part(page, "counted").inner_text()
    assert "volcano (left) and optimal (right) differ in 2 pods; first difference at victim_priority_sum: " in counted
    assert "3 victims, priority sum 120 against 1 victim, priority sum 100" in counted
    shown = cell(page, "gpu-node")
    assert shown.inner_text().split() == ["≠", "gpu-node"]
    assert shown.evaluate("one => [one.style.getPropertyValue('--other'), one.style.getPropertyValue('--fill')]") == [
        "75%",
        "100%",
    ]
    assert part(page, "list").locator("thead th").all_inner_texts()[-2:] == ["volcano", "optimal"]
    assert part(page, "list").locator("tbody tr").count() == 1
    part(page, "vs").select_option(label="before")
    assert "before (left) and optimal (right) differ in 5 pods" in part(page, "counted").inner_text()
    page.go_back()
    expect(part(page, "counted")).to_contain_text("volcano (left)")
    part(page, "vs").select_option(label="nothing")
    assert cell(page, "gpu-node").inner_text().split() == ["±", "gpu-node"]


def test_filters_narrow_the_map_and_the_list(page_of: Open, file: Path) -> None:
    page = page_of(file)
    page.locator('input[name="list"][value="pods"]').check()

    def shown() -> list[str]:
        return [one.partition(" and ")[0] for one in part(page, "list").locator("tbody th").all_inner_texts()]

    part(page, "show").select_option(label="only what is evicted")
    assert shown() == ["finetune/task-0", "notebook/task-0"]
    assert page.locator(".map .cell:not(.out)").count() == 1
    part(page, "priority").select_option("10")
    assert shown() == ["notebook/task-0"]
    part(page, "reset").click()
    page.locator('input[name="list"][value="pods"]').check()
    part(page, "show").select_option(label="only what is placed")
    assert shown() == ["urgent/task-0", "web/task-0"]
    part(page, "queue").select_option("default")
    part(page, "q").fill("web")
    assert shown() == ["web/task-0"]
    assert page.locator(".map .cell:not(.out)").count() == 3
    part(page, "q").fill("cpu-1")
    assert shown() == ["web/task-1"]
    assert page.locator(".map .cell:not(.out)").count() == 1
    part(page, "q").fill("nothing like it")
    assert part(page, "list").inner_text().startswith("Nothing passes the filters.")


def test_the_map_is_coloured_and_grouped(page_of: Open, file: Path) -> None:
    page = page_of(file)
    keys = {}
    for colour in ("queue", "job", "priority", "fill"):
        part(page, "colour").select_option(colour)
        keys[colour] = part(page, "legend").locator("li").all_inner_texts()
    assert [keys["queue"][0].split(), keys["fill"]] == [["a", "default"], ["as full as its fullest resource"]]
    assert {one.split()[-1] for one in keys["job"]} == {"default/web", "default/urgent"}
    assert {one.split()[-1] for one in keys["priority"]} == {"50", "1000"}
    titles = {}
    for way in ("node class", "zone", "HyperNode"):
        part(page, "group").select_option(way)
        titles[way] = page.locator(".map h4").all_inner_texts()
    assert titles["node class"] == ["4 cpu, 8Gi memory 5 nodes", "8 cpu, 32Gi memory, 8 gpu 1 node"]
    assert titles["zone"] == ["east 3 nodes", "west 3 nodes"]
    assert titles["HyperNode"] == ["no HyperNode 1 node", "spine / leaf-0 3 nodes", "spine / leaf-1 2 nodes"]


def test_the_ladder_has_bars_from_worse_to_better(page_of: Open, file: Path) -> None:
    page = page_of(file)
    row = part(page, "ladder").locator("tbody tr.chosen")
    assert row.locator("th").inner_text().startswith("victim_priority_sum decides")
    assert row.locator("td").nth(1).inner_text() == "3 victims, priority sum 120"
    marks = row.locator(".mark").evaluate_all("all => all.map(one => one.style.getPropertyValue('--at'))")
    assert marks == ["0%", "100%"]


def test_a_node_is_stated_on_demand(page_of: Open, file: Path) -> None:
    page = page_of(file)
    cell(page, "gpu-node").click()
    detail = part(page, "detail")
    assert detail.locator(".panel").count() == 3
    gpu = [detail.locator(".panel").nth(n).locator(".row").nth(2) for n in range(3)]
    assert [row.locator(".taken").inner_text() for row in gpu] == ["8/8", "6/8", "8/8"]
    assert [row.locator(".victim").count() for row in gpu] == [0, 3, 1]
    gpu[1].locator(".block.victim").first.click()
    assert "Pod " in detail.locator("h3").inner_text()


def test_the_keyboard_walks_the_map(page_of: Open, file: Path) -> None:
    page = page_of(file)
    part(page, "group").select_option("zone")
    page.locator(".map .cell").first.focus()
    labels = []
    for key in ("ArrowRight", "End", "Home", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        labels.append(str(page.evaluate("document.activeElement.getAttribute('aria-label')")).partition(":")[0])
    assert labels == ["cpu-1", "cpu-4", "gpu-node", "cpu-0", "gpu-node"]
    assert page.locator('.map .cell[tabindex="0"]').count() == 1
    page.keyboard.press("Enter")
    assert "Node gpu-node" in part(page, "detail").inner_text()
    assert page.evaluate("document.activeElement.dataset.part") == "detail"


def test_the_address_holds_the_state(page_of: Open, file: Path) -> None:
    page = page_of(file)
    part(page, "colour").select_option("priority")
    page.get_by_label("volcano", exact=True).check()
    find(page, "gpu-node")
    address = page.url
    assert "colour=priority" in address
    part(page, "detail").get_by_role("button", name="Close").click()
    assert "Node gpu-node" not in part(page, "detail").inner_text()
    page.go_back()
    expect(part(page, "detail")).to_contain_text("Node gpu-node")
    other = page.context.new_page()
    other.goto(address)
    assert "Node gpu-node" in part(other, "detail").inner_text()
    assert other.locator('input[name="at"]:checked').get_attribute("value") == "1"
    assert part(other, "colour").input_value() == "priority"
    assert other.locator(".map .cell.hue0").count() > 0


@pytest.mark.parametrize("address", ["chosen=node:nothing", "at=99&list=x&group=x&sort=zz&colour=x", "q=%00%3Cimg%3E"])
def test_an_address_that_makes_no_sense_does_no_harm(page_of: Open, file: Path, address: str) -> None:
    page = page_of(file)
    page.evaluate("address => { location.hash = address; }", address)
    page.reload()
    assert page.locator(".map .cell").count() == 6


def test_lists_sort(page_of: Open, file: Path) -> None:
    page = page_of(file)
    names = part(page, "list").locator("tbody th")
    assert names.all_inner_texts() == [
        "default/urgent",
        "default/finetune",
        "default/web",
        "default/large",
        "default/notebook",
    ]
    part(page, "list").get_by_role("button", name="job", exact=True).click()
    assert names.all_inner_texts()[0] == "default/finetune"
    part(page, "list").get_by_role("button", name="job ▲").click()
    assert names.all_inner_texts()[0] == "default/web"
    assert part(page, "list").locator("th[aria-sort=descending]").count() == 1


def drop(page: Page, name: str, text: str) -> None:
    """As a file manager does it."""
    script = """([name, text]) => {
        const held = new DataTransfer();
        held.items.add(new File([text], name));
        dispatchEvent(new DragEvent("drop", { dataTransfer: held }));
    }"""
    page.evaluate(script, [name, text])


def test_a_decision_dropped_onto_the_page_is_shown_unchecked(page_of: Open, file: Path, tmp_path: Path) -> None:
    page = page_of(file)
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps({"kind": "Solution", "binds": {"large/task-0": "cpu-4", "nosuch/x": "cpu-1"}}))
    part(page, "file").set_input_files(mine)
    expect(part(page, "message")).to_contain_text(
        "mine.json is shown beside the others; nothing of it is checked here. 1 entry is"
    )
    label = "cpu-4: differs; optimal 0 % full, 0 pods; mine.json 1600 % full, 1 pod, 1 placed"
    expect(cell(page, "cpu-4")).to_have_attribute("aria-label", label)
    stated = {"name": "victim_priority_sum", "sense": "min", "value": 2 * 2**31 + 20}
    levels = [stated, {"name": "victim_count", "sense": "min", "value": 2}]
    text = json.dumps({"kind": "Solution", "levels": levels, "evictions": [{"task": "notebook/task-0"}]})
    drop(page, "theirs.json", text)
    expect(part(page, "counted")).to_contain_text("mine.json (left) and theirs.json (right) differ in 2 pods")
    decisive = part(page, "ladder").locator("tbody tr.chosen").first.inner_text()
    assert "2 victims, priority sum 20" in decisive
    assert "stated by the file" in decisive
    mine.write_text("[1")
    part(page, "file").set_input_files(mine)
    expect(part(page, "message")).to_contain_text("this is not JSON")


def test_hostile_names_are_only_names(page_of: Open, tmp_path: Path) -> None:
    page = page_of(page_for(tmp_path, cluster(HOSTILE)))
    shown = page.locator(".map .cell").first
    assert (shown.get_attribute("aria-label") or "").startswith("</script><img src=x onerror=alert(1)>\\u202egnp: ")
    shown.click()
    assert part(page, "detail").locator("img").count() == 0
    assert "<img src=x" in part(page, "detail").locator("h3").inner_text()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (420, "dark")])
def test_axe_finds_nothing_serious(page_of: Open, file: Path, width: int, scheme: str) -> None:
    page = page_of(file, width=width, scheme=scheme)
    find(page, "urgent")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_without_a_script_everything_stands_in_the_tables(browser: Any, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("#explorer").is_hidden()
    assert page.get_by_role("heading", name="Placed and evicted pods").is_visible()
    assert page.locator("article.node").first.is_visible()
    context.close()
