"""Dumps of a live cluster before one session of the real Volcano, read without a flag, and what it decided."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.greedy.volcano import Options, Replay, replay
from cpsched.importers.policy import load_policy
from cpsched.instance import Instance
from cpsched.policy import Policy
from tests.conformance.live_dumps import DATA, cluster, rows

ROWS = rows("volcano")
CONF = DATA / "volcano-scheduler.conf"
OTHER_RELEASE = {"x01-v1141", "y06-v1141"}
"""Decided by the released Volcano 1.14.1, which is not the mirrored commit."""
TOPOLOGY = {"v09-topology", "v24-topology-two-racks", "v25-topology-plugin"}
"""A PodGroup has hard networkTopology, which the mirror refuses."""
MIRRORED = sorted(set(ROWS) - OTHER_RELEASE - TOPOLOGY)
OTHER_NODE = {"v07-capability-part"}
"""The session discards what it had allocated, and its texts name a node that was drawn for it."""


def opened(step: str) -> tuple[Instance, Policy]:
    instance = cluster("volcano", step)
    return instance, load_policy(conf=CONF, instance=instance)


def replayed(step: str) -> Replay:
    seed = ROWS[step]["mirror_seed"]
    return replay(*opened(step), Options(seed=None if seed == 1 else seed))


def test_every_row_is_tried() -> None:
    assert (len(ROWS), len(MIRRORED)) == (28, 23)
    assert all("mirror_seed" in ROWS[step] for step in MIRRORED)


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
    for name, said in ROWS[step]["events"].items():
        # Upstream goes on with the reason of one task, drawn from a Go map.
        real = said.partition(". Origin reason is ")[0]
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
    assert compared >= len(ROWS[step]["events"]) / 2


def nameless(text: str, step: str) -> str:
    return re.sub(r"assigned to [\w-]+,", "assigned to a node,", text) if step in OTHER_NODE else text


@pytest.mark.parametrize("step", sorted(TOPOLOGY))
def test_topology_is_refused_by_name(step: str) -> None:
    with pytest.raises(InputError, match=r"PodGroup \S+ states networkTopology"):
        replay(*opened(step))


def test_one_state_is_decided_otherwise_by_the_released_volcano() -> None:
    """y05 and y06 are one cluster, decided by the mirrored commit and by 1.14.1."""
    mirrored, released = ROWS["y05-head"], ROWS["y06-v1141"]
    assert mirrored["objects"] == released["objects"]
    assert differences(mirrored, released) == ["binds", "victims"]


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [key for key in ("binds", "victims", "nominated", "phases") if one[key] != other[key]]
