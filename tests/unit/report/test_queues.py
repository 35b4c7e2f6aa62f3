"""Queue shares: what is held against what is deserved."""

from __future__ import annotations

from pathlib import Path

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.report.decisions import decision_report
from cpsched.report.document import Picture, Table
from cpsched.report.queues import queue_section
from cpsched.report.scene import Scene

TINY = Path(__file__).parents[3] / "instances" / "tiny"


def seen(name: str, engine: str = "volcano", model: str = "volcano") -> Scene:
    instance = cpsched.load(TINY / name)
    policy = load_policy(model, instance=instance)
    return Scene.of(instance, policy, [cpsched.solve(instance, model=model, engine=engine, workers=1)], [engine])


def test_a_queue_above_its_share_is_marked_and_gives_back() -> None:
    """Queue b holds three and deserves one; c deserves two, holds none, and takes two back."""
    section = queue_section(seen("reclaim-above-deserved.yaml", "optimal"), ["cpu"])
    assert section is not None
    [pictures] = [block.data for block in section.blocks if isinstance(block, Picture)]
    held = {one.name: [(hold.held, hold.beyond) for hold in one.bars[0].holdings] for one in pictures}
    assert held == {
        "a": [("1", False), ("1", False)],
        "b": [("3", True), ("1", False)],
        "c": [("0", False), ("2", False)],
    }
    b = next(one for one in pictures if one.name == "b").bars[0]
    assert (b.deserved, b.deserved_at, b.wants) == ("1", 33.33, "3")
    assert [hold.width for hold in b.holdings] == [100, 33.33]
    [numbers] = [block for block in section.blocks if isinstance(block, Table)]
    rows = [[cell.text for cell in row] for row in numbers.rows]
    assert ["b", "cpu", "1", "4", "3", "3", "1"] in rows


def test_without_shares_there_is_no_such_section() -> None:
    assert queue_section(seen("kube-greedy-not-minimum.yaml", "kube", "kube"), ["cpu"]) is None


def test_shares_that_cannot_be_computed_are_stated_to_be_so() -> None:
    report = decision_report(seen("jobs-above-a-leaf.json"))
    [section] = [one for one in report.sections if one.key == "queues"]
    assert getattr(section.blocks[0], "text", "").startswith("Shares are not computed: ")
