"""A cluster in which pods of Volcano and of kube-scheduler wait: an answer for each, or the other one is named."""

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
    assert "not stated" not in cli("solve", mixed, "--engine", "kube", "--model", "kube").out


def test_solve_answers_for_both(cli: Command, mixed: Path, tmp_path: Path) -> None:
    output = tmp_path / "both.json"
    ended = cli("solve", mixed, "-o", output)
    whose = "3 pods of kube-scheduler pending too; each scheduler is decided as if the other did nothing."
    assert ended.code == 0
    assert ended.err.splitlines() == [
        "cpsched: Model volcano: 24 pods of Volcano, 3 pods of kube-scheduler pending.",
        f"cpsched: Model kube: {whose}",
    ]
    assert [line for line in ended.out.splitlines() if line.startswith("Engine")] == [
        "Engine optimal, model volcano: optimal, every level proved",
        "Engine optimal, model kube: optimal, every level proved",
    ]
    assert ended.out.rstrip().endswith("Note: each scheduler is decided as if the other did nothing.")
    data = json.loads(output.read_text())
    assert (data["kind"], len(data["notes"])) == ("Solutions", 1)
    of_volcano, of_kube = data["solutions"]
    assert (of_volcano["model"], of_kube["model"]) == ("volcano", "kube")
    assert set(of_kube["binds"]) == set(names(mixed)[1:])
    assert not set(names(mixed)) & {*of_volcano["binds"], *of_volcano["pipelined"], *of_volcano["unplaced"]}
    verified = cli("verify", output, mixed)
    assert (verified.code, verified.out.count("No rule is broken.")) == (0, 2)
    assert [one["model"] for one in json.loads(cli("verify", output, mixed, "--json").out)["verifications"]] == [
        "volcano",
        "kube",
    ]


def test_a_broken_decision_of_either_is_the_exit_code(cli: Command, mixed: Path) -> None:
    ended = cli("compare", mixed, "--cache", "none", "--engines", "mirror", "--json")
    document = json.loads(ended.out)
    assert (ended.code, document["kind"]) == (1, "Comparisons")
    assert [(case["id"], case["model"]) for case in document["cases"]] == [
        ("the dump.json", "volcano"),
        ("the dump.json (kube)", "kube"),
    ]
    assert [case["engines"][0]["verdict"] for case in document["cases"]] == ["findings", "best"]
    text = cli("compare", mixed, "--cache", "none", "--engines", "mirror").out
    assert "the dump.json, model volcano" in text
    assert "the dump.json (kube), model kube" in text
    alone = json.loads(cli("compare", mixed, "--cache", "none", "--engines", "kube", "--json").out)
    assert (alone["kind"], alone["model"]) == ("Comparison", "kube")


def test_what_holds_one_decision_is_refused(cli: Command, mixed: Path, tmp_path: Path) -> None:
    ended = cli("solve", mixed, "--certificate", tmp_path / "c.json")
    wrong = "--certificate can hold one decision, and pods of Volcano and of kube-scheduler are pending"
    assert (ended.code, ended.err.splitlines()[-1]) == (
        2,
        f"cpsched: error: {wrong}; add --model volcano or --model kube",
    )
    assert cli("solve", mixed, "--certificate", tmp_path / "c.json", "--model", "kube").code == 0


def test_check_and_report_answer_for_both(cli: Command, mixed: Path, tmp_path: Path) -> None:
    ended = cli("check", mixed, "--no-optimum", "--json")
    assert [(case["id"], case["state"]) for case in json.loads(ended.out)["cases"]] == [
        ("the dump.json", "failed"),
        ("the dump.json (kube)", "passed"),
    ]
    text = cli("report", mixed, "--engines", "volcano").out
    assert "checked under model kube" not in text
    both = tmp_path / "both.json"
    cli("solve", mixed, "-o", both)
    text = cli("report", mixed, "--engines", "optimal").out
    assert "Decisions of optimal, checked under model volcano; Decisions of optimal, checked under model kube" in text
    assert "Model kube: optimal: optimal, every level proved. It starts 2 pods." in text
    refused = cli("report", mixed, "--solution", both)
    assert (refused.code, "add --model volcano or --model kube" in refused.err) == (2, True)
    assert cli("report", mixed, "--solution", both, "--model", "kube").code == 0


def test_pods_that_go_to_the_same_node_are_stated(cli: Command, tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "1"}}}
    pods = [
        {
            **{"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Pending"}},
            "metadata": {"name": scheduler, "namespace": "a", "uid": scheduler},
            "spec": {
                "schedulerName": scheduler,
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
            },
        }
        for scheduler in ("volcano", "default-scheduler")
    ]
    node["status"]["allocatable"]["pods"] = "9"  # type: ignore[index]
    path = tmp_path / "one-place.json"
    path.write_text(json.dumps({"kind": "List", "items": [node, *pods]}))
    out = " ".join(cli("solve", path).out.split())
    assert out.endswith("both place pods on n1, where the one that comes second may find too little.")


def test_explain_without_a_name_lists_both(cli: Command, mixed: Path) -> None:
    ended = cli("explain", mixed)
    assert (ended.code, ended.out.count("What waits, by the first reason")) == (0, 2)
    data = json.loads(cli("explain", mixed, "--json").out)
    assert data["kind"] == "WaitingLists"
    of_volcano, of_kube = data["lists"]
    assert not set(names(mixed)) & {key for group in of_volcano["groups"] for key in group["tasks"]}
    assert [group["tasks"] for group in of_kube["groups"]] == [[names(mixed)[0]]]
    assert set(of_kube["starts"]["tasks"]) == set(names(mixed)[1:])
    alone = cli("explain", mixed, "--model", "volcano")
    assert alone.out.replace("\n", " ").rstrip().endswith(sentence(mixed, "explain"))
    assert "not decided here: cpsched explain" in cli("explain", mixed, "--model", "volcano", "--markdown").out
    assert cli("explain", mixed, "--markdown").out.count("**What waits, by the first reason**") == 2
    one = cli("explain", mixed, names(mixed)[1])
    assert "not decided here" not in one.out


def test_a_configuration_of_the_input_holds_for_its_scheduler(cli: Command, mixed: Path, tmp_path: Path) -> None:
    conf = {"actions": "allocate", "tiers": []}
    stated = {"apiVersion": "cpsched/v1", "kind": "Instance", "conf": conf}
    path = tmp_path / "both.json"
    path.write_text(json.dumps(stated | {"objects": json.loads(mixed.read_text())["items"]}))
    of_volcano, of_kube = json.loads(cli("solve", path, "--json").out)["solutions"]
    whole = json.loads(cli("solve", mixed, "--json").out)["solutions"]
    assert of_kube["policy_sha256"] == whole[1]["policy_sha256"]
    assert of_volcano["policy_sha256"] != whole[0]["policy_sha256"]
    alone = cli("solve", path, "--model", "kube")
    assert "the configuration in the input is Volcano's, and model kube does not use it" in alone.err


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
