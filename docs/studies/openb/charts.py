"""The pictures of the page as SVG, from the tables beside this file; no browser is involved."""

from __future__ import annotations

from io import StringIO
from statistics import mean
from typing import Any

import altair as alt
from figures import MIRRORS, is_proved, of, outcome
from tables import HERE, read_table

from cpsched.files import write_whole

OUTCOMES = {"as good": "#0072b2", "behind": "#e69f00", "breaks rules": "#a03020"}
POLICIES = ("#bbbbbb", "#999999", "#56b4e9", "#009e73", "#e69f00", "#0072b2")


def outcomes() -> alt.Chart:
    """How the mirrors' decisions stand to the optimum, by size and load."""
    cells = read_table("cells.csv")
    values = [
        {
            "where": f"{row['nodes']} nodes, fill {row['fill']}",
            "size": int(row["nodes"]) * 1000 + int(row["fill"]),
            "mirror": f"{engine} under model {model}",
            "outcome": outcome(row),
        }
        for model, engine in MIRRORS.items()
        for row in of(cells, model, engine)
    ]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_bar(stroke="white")
        .encode(
            x=alt.X("count():Q", title="decisions", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("where:N", title=None, sort=alt.EncodingSortField("size")),
            color=alt.Color(
                "outcome:N", title=None, scale=alt.Scale(domain=list(OUTCOMES), range=list(OUTCOMES.values()))
            ),
            column=alt.Column("mirror:N", title=None),
        )
        .properties(width=220, height={"step": 20})
    )


def times() -> alt.Chart:
    """What the optimum took; open where a level stayed unproved."""
    waiting = {(row["nodes"], row["fill"], row["seed"]): row for row in read_table("instances.csv")}
    values = [
        {
            "tasks": sum(
                int(waiting[row["nodes"], row["fill"], row["seed"]][name])
                for name in ("tasks_running", "tasks_pending")
            ),
            "seconds": float(row["cpu_seconds"]),
            "model": row["model"],
            "proof": "every level proved" if is_proved(row) else "a level stayed open",
        }
        for row in read_table("cells.csv")
        if row["engine"] == "optimal"
    ]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=False, size=60)
        .encode(
            x=alt.X(
                "tasks:Q",
                title="pods in the cluster",
                scale=alt.Scale(type="log", nice=False, padding=10),
                axis=alt.Axis(values=[50, 100, 200, 400]),
            ),
            y=alt.Y(
                "seconds:Q", title="CPU seconds", scale=alt.Scale(type="log"), axis=alt.Axis(values=[0.1, 1, 10, 100])
            ),
            color=alt.Color("model:N", title="model", scale=alt.Scale(range=["#0072b2", "#e69f00"])),
            shape=alt.Shape(
                "proof:N",
                title=None,
                scale=alt.Scale(domain=["every level proved", "a level stayed open"], range=["circle", "cross"]),
            ),
        )
        .properties(width=460, height=240)
    )


def allocation() -> alt.LayerChart:
    """Published allocations against arrived demand, and what is possible."""
    runs: dict[str, list[dict[str, str]]] = {}
    for row in read_table("published.csv"):
        runs.setdefault(row["sc_policy"].partition("-")[2], []).append(row)
    demands = [int(name) for name in next(iter(runs.values()))[0] if name.isdigit()]
    lines = [
        {"policy": policy, "demand": demand, "share": mean(float(row[str(demand)]) for row in rows)}
        for policy, rows in runs.items()
        for demand in demands
    ]
    ranges: list[dict[str, Any]] = [
        {"demand": 100 * int(row["asked"]) / int(row["gpu_milli"])}
        | {what: 100 * int(row[what]) / int(row["gpu_milli"]) for what in ("placed", "bound")}
        for row in read_table("allocation.csv")
    ]
    x = alt.X("demand:Q", title="demand that has arrived, % of all GPUs", scale=alt.Scale(domain=[89, 131]))
    y = alt.Y("share:Q", title="GPUs allocated, %", scale=alt.Scale(domain=[84, 100.4], nice=False))
    policies = (
        alt.Chart(alt.Data(values=lines))
        .mark_line(point=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color("policy:N", title="published", scale=alt.Scale(domain=list(runs), range=list(POLICIES))),
        )
    )
    bars = alt.Chart(alt.Data(values=ranges))
    found = bars.mark_point(shape="triangle-up", filled=True, color="black", size=40, opacity=1).encode(
        x=x, y="placed:Q"
    )
    proof = bars.mark_tick(orient="horizontal", color="#a03020", thickness=2, size=18).encode(x=x, y="bound:Q")
    return (policies + found + proof).properties(width=460, height=300)


CHARTS = {"outcomes": outcomes, "times": times, "allocation": allocation}


def write() -> None:
    """Every chart, beside the tables."""
    for name, chart in CHARTS.items():
        text = StringIO()
        chart().configure(background="white", font="sans-serif").save(text, format="svg")
        write_whole(HERE / f"{name}.svg", text.getvalue())
