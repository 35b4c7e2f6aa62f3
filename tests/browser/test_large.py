"""A large cluster still gives a page that one can use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.report.decisions import decision_report
from cpsched.report.html import html
from cpsched.report.scene import Scene
from cpsched.solution import Solution
from tests.browser.conftest import Open

NODES, RUNNING, PENDING = 1500, 4000, 4000
MOST_BYTES = 5_000_000


def cluster() -> dict[str, Any]:
    """1,500 nodes in sizes of their own, 4,000 tasks that run and 4,000 that wait."""
    nodes = [
        {"name": f"n{n}", "allocatable": {"cpu": f"{32 + n}", "memory": "64Gi", "pods": "99"}} for n in range(NODES)
    ]
    requests = {"cpu": "500m", "memory": "1Gi"}
    places = [f"n{n % NODES}" for n in range(RUNNING)]
    started = {"running": places, "startTime": "2026-01-01T00:00:00Z"}
    jobs = [
        {"name": "old", "minMember": 0, "tasks": [{"replicas": RUNNING, "requests": requests, **started}]},
        {"name": "new", "minMember": 1, "tasks": [{"replicas": PENDING, "requests": requests}]},
    ]
    return {"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": nodes, "jobs": jobs}


def decision(step: int) -> Solution:
    """Spread over the nodes, every `step`th somewhere else."""
    binds = {f"new/task-{n}": f"n{(n * step) % NODES}" for n in range(PENDING)}
    evictions = [{"task": f"old/task-{n}", "node": f"n{n % NODES}"} for n in range(0, RUNNING, 40 * step)]
    return Solution.parse({"binds": binds, "evictions": evictions})


def test_1500_nodes_and_8000_tasks(page_of: Open, tmp_path: Path) -> None:
    instance = cpsched.load(cluster())
    policy = load_policy("throughput", instance=instance)
    scene = Scene.of(instance, policy, [decision(1), decision(7)], ["one", "other"])
    file = tmp_path / "large.html"
    file.write_text(html(decision_report(scene)))
    assert file.stat().st_size < MOST_BYTES
    page = page_of(file)
    said = page.locator("#cluster > p").first.inner_text()
    assert said.startswith("40 of 1500 nodes, in 40 pictures")
    assert "1460 nodes on which something changes are left out" in said
    assert page.locator("article.node").count() == 40
    assert page.locator(".fleet svg").count() == 3
    assert page.locator(".fleet svg").first.get_attribute("aria-label") == "before: 1500 of 1500 nodes in use"
    assert page.locator("#moves .quiet").last.inner_text() == "4,000 more rows are left out."
    assert page.locator("*").count() < 20_000
