"""Dumps of a live cluster before one session of the real Volcano, read without a flag, and what it decided."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
import yaml
from rich.table import Table

from cpsched import engines
from cpsched.checker import decision_of
from cpsched.cli.decision import decision_tables
from cpsched.comparison.compare import compared
from cpsched.comparison.contender import given
from cpsched.comparison.session import Session
from cpsched.comparison.shortfall import gangs_short
from cpsched.greedy.volcano import Options, Replay, replay
from cpsched.importers.policy import load_policy
from cpsched.instance import Instance
from cpsched.objectives import comparable, level_plan, vector
from cpsched.policy import Policy
from cpsched.snapshot import Snapshot
from cpsched.solution import SolutionStatus
from tests.conformance.live_dumps import DATA, cluster, rows

ROWS = rows("volcano")
CONF = DATA / "volcano-scheduler.conf"
OTHER_RELEASE = {"x01-v1141", "y06-v1141"}
"""Decided by the released Volcano 1.14.1, which is not the mirrored commit."""
MIRRORED = sorted(set(ROWS) - OTHER_RELEASE)
SEEDS = {"v09-topology": 1, "v24-topology-two-racks": 5, "v25-topology-plugin": 1}
"""Of the rows with hard networkTopology, which were recorded before the mirror had it; v25 has the plugin for it."""
OTHER_NODE = {"v07-capability-part"}
"""The session discards what it had allocated, and its texts name a node that was drawn for it."""


def opened(step: str) -> tuple[Instance, Policy]:
    instance = cluster("volcano", step)
    conf = yaml.safe_load(CONF.read_text())
    if "conf" in ROWS[step]:
        conf["tiers"][1]["plugins"].append({"name": "network-topology-aware"})
    return instance, load_policy(conf=conf, instance=instance)


def seed_of(step: str) -> int:
    return SEEDS[step] if step in SEEDS else int(ROWS[step]["mirror_seed"])


def replayed(step: str) -> Replay:
    seed = seed_of(step)
    return replay(*opened(step), Options(seed=None if seed == 1 else seed))


def test_every_row_is_tried() -> None:
    assert (len(ROWS), len(MIRRORED)) == (28, 26)
    assert all(("mirror_seed" in ROWS[step]) != (step in SEEDS) for step in MIRRORED)


@pytest.mark.parametrize("step", ROWS)
def test_the_model_is_volcanos(step: str) -> None:
    instance = cluster("volcano", step)
    pending = sum(not task.node and task.status.value == "Pending" for task in instance.tasks.values())
    assert load_policy(instance=instance).choice == f"Model volcano: {pending} pods of Volcano pending."
    assert opened(step)[1].choice == "Model volcano: the configuration is Volcano's."


@pytest.mark.parametrize("step", MIRRORED)
def test_the_session_ends_as_the_real_one(step: str) -> None:
    row, found = ROWS[step], replayed(step).solution
    assert found.binds == row["binds"]
    assert found.evicted == set(row["victims"])
    assert found.nominations == row["nominated"]
    assert found.phases == row["phases"]


@pytest.mark.parametrize("step", MIRRORED)
def test_events_say_what_the_real_ones_say(step: str) -> None:
    """Of PodGroups the number of pending tasks and the job's text; of pods their own text, else the job's."""
    instance, found = opened(step)[0], replayed(step)
    compared = 0
    for name, output in ROWS[step]["events"].items():
        # Upstream goes on with the reason of one task, drawn from a Go map.
        real = output.partition(". Origin reason is ")[0]
        if name in found.messages:
            pending = sum(key in found.solution.unplaced for key in instance.jobs[name].tasks)
            ours = re.sub(r"^\d+/", f"{pending}/", found.messages[name])
            assert real == ours
        elif name in found.task_messages:
            job = found.messages[instance.tasks[name].group or ""].partition("unschedulable: ")[2]
            text = found.task_messages[name].partition(" [nominated")[0].partition(": ")[2] or job
            assert nameless(real, step) == nameless(text, step)
        else:
            # Of jobs that have their minimum, and of their further pods.
            assert "pod group is ready" in real or real in found.solution.unplaced[name]
            continue
        compared += 1
    others = [text for text in ROWS[step]["events"].values() if "pod group is ready" not in text]
    assert compared >= len(others) / 2


def nameless(text: str, step: str) -> str:
    return re.sub(r"assigned to [\w-]+,", "assigned to a node,", text) if step in OTHER_NODE else text


def test_a_gang_with_too_little_is_counted_apart() -> None:
    """v06 ends with two of three tasks of lab/capped reserved, and its queue may never hold three."""
    instance, policy = opened("v06-capability")
    found = engines.run("volcano", instance, policy, engines.Options())
    assert gangs_short(Snapshot(instance, policy), found) == {"jobs_admitted[0]": 1}
    [gang] = found.findings
    assert (gang.rule, gang.subject) == ("gang", "lab/capped")
    text = "".join(str(part) for part in cells(decision_tables(Snapshot(instance, policy), found)))
    assert "1, 1 of them with less than their minimum" in text
    assert "gets less than its minimum" in text


def cells(parts: Iterable[Table | str | Sequence[str]]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Table):
            for column in part.columns:
                yield from map(str, column.cells)
        else:
            yield from part


@pytest.mark.parametrize("step", ["v04-partial", "v05-best-effort", "v07-capability-part", "v08-reclaim", "y05-head"])
def test_what_is_proved_is_not_contradicted(step: str) -> None:
    """The real decision breaks no rule here, and is never better than what is called the best."""
    instance, policy = opened(step)
    real = engines.run("volcano", instance, policy, engines.Options(seed=seed_of(step)))
    best = engines.run("optimal", instance, policy, engines.Options())
    assert (best.status, real.findings, best.findings) == (SolutionStatus.OPTIMAL, (), ())
    decisions = [decision_of(instance, policy, one) for one in (best, real)]
    plan = level_plan(decisions[0].snapshot)
    mine, other = (comparable(plan, vector(one)) for one in decisions)
    assert mine <= other


def test_one_state_is_decided_otherwise_by_the_released_volcano() -> None:
    """y05 and y06 are one cluster, decided by the mirrored commit and by 1.14.1."""
    mirrored, released = ROWS["y05-head"], ROWS["y06-v1141"]
    assert mirrored["objects"] == released["objects"]
    assert differences(mirrored, released) == ["binds", "victims"]


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [key for key in ("binds", "victims", "nominated", "phases") if one[key] != other[key]]


def test_a_comparison_says_so_too() -> None:
    session = Session("v06", *opened("v06-capability"))
    solution = engines.run("volcano", session.instance, session.policy, engines.Options())
    found = compared(session, [given(session, "volcano", solution)], engines.Options())
    assert "1, 1 of them with less than their minimum" in found.to_markdown()
    assert found.to_dict(solutions=False)["engines"][0]["with_too_little"] == {"jobs_admitted[0]": 1}
