"""A study's decisions as points that the page links: chosen in one chart, they are marked in the other and listed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cpsched.objectives import level_text
from cpsched.report.charts import OUTCOMES
from cpsched.report.document import Picture, Section, Text
from cpsched.report.study_numbers import Row, outcome
from cpsched.visible import visible

MOST_POINTS = 4000
"""Decisions that are worse than the optimum come first; of more the rest is left out, and the page says so."""


@dataclass(frozen=True)
class Points:
    """The points of a study; only a page asks for their text."""

    cells: Sequence[Row]
    sections: Mapping[str, str]
    """Key of a cell → the section that shows it."""

    @property
    def text(self) -> str:
        """As JSON; every text is made visible, and no character can end the script element."""
        levels = list(dict.fromkeys(one["first_difference"] or "" for one in self.cells))
        data = {
            "outcomes": list(OUTCOMES),
            "levels": [visible(one) for one in levels],
            "points": [self._point(one, levels) for one in self.cells[:MOST_POINTS]],
        }
        return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace("\x7f", "\\u007f")

    def _point(self, cell: Row, levels: list[str]) -> list[Any]:
        label = cell["first_difference"] or ""
        values = [
            shown_value(label, cell[f"first_difference_{side}"]) if label else "" for side in ("value", "optimal")
        ]
        names = (visible(cell[name]) for name in ("instance", "engine", "model"))
        tasks = (cell["tasks_pending"] or 0) + (cell["tasks_running"] or 0)
        place = list(OUTCOMES).index(outcome(cell))
        numbers = (cell["seed"], cell["nodes"] or 0, tasks, place, levels.index(label))
        return [*names, *numbers, *map(visible, values), cell["wall_seconds"], self.sections.get(cell["key"], "")]


def shown_value(label: str, text: str | None) -> str:
    """A level's value as a study's table holds it, for a reader."""
    return level_text(label, int(text) if text and text.isdigit() else text or None)


def points_section(cells: Sequence[Row], sections: Mapping[str, str]) -> Section:
    """Linked charts of all decisions but the optimum's."""
    left_out = max(0, len(cells) - MOST_POINTS)
    rest = f" {left_out:,} decisions that equal the optimum are not drawn." if left_out else ""
    intro = (
        f"Every point is one decision. Draw a frame in a chart, or use the lists, and the instances stand below.{rest}"
    )
    return Section("points", "Decisions one by one", (Text(intro), Picture("points", Points(cells, sections))))
