"""Charts as SVG text, drawn without a browser; colours are the page's own, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from cpsched.errors import InputError

if TYPE_CHECKING:
    import altair

Rows = Sequence[dict[str, Any]]

COLOURS = ("var(--blue)", "var(--orange)", "var(--green)", "var(--grey)")
SHAPES = ("circle", "triangle-up", "square", "cross")
OUTCOMES = {
    "equal": "var(--blue)",
    "better": "var(--green)",
    "worse": "var(--orange)",
    "breaks rules": "var(--brick)",
    "no decision": "var(--grey)",
}
"""How a decision stands to the optimum, in the order in which the bars stack."""
_WIDE, _SMALL, _HIGH = 700, 280, 170


def outcome_chart(rows: Rows) -> str:
    """Per engine and model, how many decisions are as good as the optimum, behind it, and so on."""
    alt = _altair()
    order = list(OUTCOMES)
    chart = (
        alt.Chart(alt.Data(values=list(rows)))
        .transform_calculate(place=f"indexof({order}, datum.outcome)")
        .mark_bar(stroke="var(--paper)")
        .encode(
            x=alt.X("decisions:Q", title="decisions", axis=alt.Axis(tickMinStep=1, tickCount=8)),
            y=alt.Y("who:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)),
            color=alt.Color("outcome:N", title=None, scale=alt.Scale(domain=order, range=list(OUTCOMES.values()))),
            order=alt.Order("place:Q"),
        )
        .properties(width=_WIDE, height={"step": 30})
    )
    return _svg(chart)


def gap_charts(rows: Rows, titles: Sequence[str]) -> tuple[str, ...]:
    """How far decisions are behind, one small distribution per title; the bins come in order."""
    alt = _altair()
    charts = []
    for title in titles:
        values = [row for row in rows if row["title"] == title]
        bars = alt.Chart(alt.Data(values=values)).mark_bar(stroke="var(--paper)", size=24)
        encoded = bars.encode(
            x=alt.X("behind:N", title="behind by", sort=None, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("decisions:Q", title="decisions", axis=alt.Axis(tickMinStep=1, tickCount=5, format="~s")),
            color=_who(values, alt.Color),
        )
        charts.append(_svg(encoded.properties(width=_SMALL, height=_HIGH, title=title)))
    return tuple(charts)


def pair_charts(rows: Rows, levels: Sequence[str], units: Mapping[str, str]) -> tuple[str, ...]:
    """The heuristic's value against the optimum's, one small scatter per level; the line is where they are equal."""
    alt = _altair()
    charts = []
    plain = {
        "scale": alt.Scale(zero=False, nice=True, padding=8),
        "axis": alt.Axis(format="~s", tickMinStep=1, tickCount=6),
    }
    for level in levels:
        values = [row for row in rows if row["level"] == level]
        ends = [row[side] for row in values for side in ("optimum", "value")]
        line = [{"optimum": end, "value": end} for end in (min(ends), max(ends))]
        unit = units.get(level, "")
        x = alt.X("optimum:Q", title=f"optimum{unit}", **plain)
        y = alt.Y("value:Q", title=f"heuristic{unit}", **plain)
        diagonal = alt.Chart(alt.Data(values=line)).mark_line(color="var(--grey)", strokeDash=[4, 4]).encode(x=x, y=y)
        points = alt.Chart(alt.Data(values=values)).mark_point(filled=True, opacity=0.75)
        encoded = points.encode(
            x=x,
            y=y,
            size=alt.Size("decisions:Q", legend=None, scale=alt.Scale(type="sqrt", range=[25, 500])),
            color=_who(values, alt.Color),
            shape=_who(values, alt.Shape, SHAPES),
        )
        charts.append(_svg((diagonal + encoded).properties(width=_SMALL, height=_SMALL, title=level)))
    return tuple(charts)


def _who(values: Rows, channel: Any, marks: Sequence[str] = COLOURS) -> Any:
    """A mark per engine, with a legend only where there are several."""
    alt = _altair()
    several = len({row["who"] for row in values}) > 1
    return channel("who:N", title=None, scale=alt.Scale(range=list(marks)), legend=alt.Legend() if several else None)


def time_chart(rows: Rows) -> str:
    """Seconds until the optimum ended against the number of tasks, both on logarithmic scales."""
    alt = _altair()
    kinds = ["every level proved", "levels open"]
    chart = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_point(filled=True, opacity=0.75, size=50)
        .encode(
            x=alt.X("tasks:Q", title="tasks", scale=alt.Scale(type="log", nice=True)),
            y=alt.Y("seconds:Q", title="seconds", scale=alt.Scale(type="log", nice=True)),
            color=alt.Color("proof:N", title=None, scale=alt.Scale(domain=kinds, range=list(COLOURS[:2]))),
            shape=alt.Shape("proof:N", title=None, scale=alt.Scale(domain=kinds, range=list(SHAPES[:2]))),
        )
        .properties(width=_WIDE, height=340)
    )
    return _svg(chart)


def _altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401 - altair needs it to draw
    except ImportError:
        raise InputError("charts need altair and vl-convert-python", right="pip install 'cpsched[report]'") from None
    return altair


def _svg(chart: altair.TopLevelMixin) -> str:
    ink = {"labelColor": "var(--quiet)", "titleColor": "var(--ink)", "labelFontSize": 12, "titleFontSize": 12}
    lines = {"domainColor": "var(--line)", "gridColor": "var(--line)", "tickColor": "var(--line)"}
    styled: Any = chart
    styled = (
        styled.configure(background="transparent", font="system-ui, 'DejaVu Sans', sans-serif")
        .configure_axis(**ink, **lines, titleFontWeight="normal")
        .configure_legend(**ink, orient="top", symbolFillColor="var(--grey)", symbolStrokeColor="transparent")
        .configure_title(color="var(--ink)", fontSize=13, anchor="start")
        .configure_view(stroke="var(--line)")
    )
    drawn = StringIO()
    styled.save(drawn, format="svg")
    return drawn.getvalue()
