"""A cluster in which pods of Volcano and of kube-scheduler wait: each answer names the others and the command."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.conformance.live_dumps import dump

WAITING = 3


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A live dump of Volcano's cluster, in which pods of kube-scheduler have lost their nodes."""
    found = copy.deepcopy(dump("volcano", "v18-mixed"))
    plain = [item for item in found["items"] if item.get("spec", {}).get("schedulerName") == "default-scheduler"]
    for item in plain[:WAITING]:
        item["spec"].pop("nodeName")
        item["status"] = {"phase": "Pending"}
    plain[0]["spec"]["schedulingGates"] = [{"name": "example.com/quota"}]
    path = tmp_path_factory.mktemp("both") / "the dump.json"
    path.write_text(json.dumps(found))
    return path


def names(path: Path) -> list[str]:
    """The pods of kube-scheduler that wait."""
    items: list[dict[str, Any]] = json.loads(path.read_text())["items"]
    return [
        f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        for item in items
        if item["kind"] == "Pod"
        and item["spec"].get("schedulerName") == "default-scheduler"
        and "nodeName" not in item["spec"]
    ]


def sentence(path: Path, command: str) -> str:
    pods = ", ".join(sorted(names(path)))
    who = f"{WAITING} pods of scheduler default-scheduler are pending ({pods}), not decided here"
    return f"{who}: cpsched {command} '{path}' --model kube"


def test_solve_names_what_waits_for_the_other(cli: Command, mixed: Path) -> None:
    ended = cli("solve", mixed, "--engine", "volcano")
    assert ended.err.startswith("cpsched: Model volcano: 24 pods of Volcano, 3 pods of kube-scheduler pending.\n")
    assert ended.out.replace("\n", " ").rstrip().endswith(sentence(mixed, "solve"))
    data = json.loads(cli("solve", mixed, "--engine", "volcano", "--json").out)
    assert data["notes"][-1] == sentence(mixed, "solve")
    assert not set(names(mixed)) & {*data["binds"], *data["pipelined"], *data["unplaced"]}


def test_the_command_decides_about_them_and_names_volcanos(cli: Command, mixed: Path) -> None:
    data = json.loads(cli("solve", mixed, "--engine", "kube", "--model", "kube", "--json").out)
    gated, *free = names(mixed)
    assert set(data["binds"]) == set(free)
    assert data["unplaced"][gated] == ["scheduling gates: example.com/quota"]
    of_volcano = {key: reasons for key, reasons in data["unplaced"].items() if key not in names(mixed)}
    reason = "its scheduler is volcano, and no profile of the configuration has this name"
    assert (len(of_volcano), {*map(tuple, of_volcano.values())}) == (24, {(reason,)})
    assert data["notes"][-1].startswith("24 pods of scheduler volcano are pending")
    assert data["notes"][-1].endswith(f"cpsched solve '{mixed}' --model volcano")
    assert "not told" not in cli("solve", mixed, "--engine", "kube", "--model", "kube").out


def test_explain_without_a_name_lists_both(cli: Command, mixed: Path) -> None:
    ended = cli("explain", mixed)
    assert ended.code == 0
    assert ended.out.replace("\n", " ").rstrip().endswith(sentence(mixed, "explain"))
    groups = json.loads(cli("explain", mixed, "--json").out)["groups"]
    reason = "not part of this session: its scheduler is default-scheduler, see --model kube"
    assert {key for group in groups if group["reason"] == reason for key in group["tasks"]} == set(names(mixed))
    assert "not decided here: cpsched explain" in cli("explain", mixed, "--markdown").out
    one = cli("explain", mixed, names(mixed)[1])
    assert "not decided here" not in one.out


def test_a_configuration_of_the_input_does_not_fit_the_other(cli: Command, mixed: Path, tmp_path: Path) -> None:
    conf = {"actions": "allocate", "tiers": []}
    stated = {"apiVersion": "cpsched/v1", "kind": "Instance", "conf": conf}
    path = tmp_path / "both.json"
    path.write_text(json.dumps(stated | {"objects": json.loads(mixed.read_text())["items"]}))
    data = json.loads(cli("solve", path, "--engine", "volcano", "--json").out)
    command = f"cpsched solve {path} --model kube --conf FILE, with its configuration"
    assert data["notes"][-1].endswith(command)


def test_pods_that_nothing_here_can_decide_about_have_no_command(cli: Command, tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "8"}}}
    pods = [
        {
            **{"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Pending"}},
            "metadata": {"name": scheduler, "namespace": "a", "uid": scheduler},
            "spec": {"schedulerName": scheduler, "containers": [{"name": "c"}]},
        }
        for scheduler in ("volcano", "kai-scheduler")
    ]
    path = tmp_path / "kai.json"
    path.write_text(json.dumps({"kind": "List", "items": [node, *pods]}))
    assert "not decided here" not in cli("solve", path, "--engine", "volcano").out
