"""Whom the program may call: extenders that the user names, never those that an input names."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import cpsched
from tests.cli.conftest import ROOT, Command

NOT_ASKED = "an input opens no connection: the extender http://127.0.0.1:"
ALLOWED = "name its configuration by --conf, or add --allow-extenders"


class Listener:
    """A port whose every connection is counted and closed."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(0)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/x"

    @property
    def calls(self) -> int:
        """How many have called since this was last asked; the system keeps who called while no task looked."""
        count = 0
        while True:
            try:
                self.socket.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


@pytest.fixture
def listener() -> Iterator[Listener]:
    one = Listener()
    yield one
    one.socket.close()


def conf(url: str, **fields: Any) -> dict[str, Any]:
    extender = {"urlPrefix": url, "filterVerb": "filter", "httpTimeout": "100ms", "ignorable": True, **fields}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**kind, "extenders": [extender]}


def cluster(own: dict[str, Any] | None) -> dict[str, Any]:
    """As defect 29: a snapshot that names an extender in its own configuration."""
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "conf": own,
        "nodes": [{"name": "n", "allocatable": {"cpu": 8, "pods": 110}}],
        "jobs": [{"name": "a", "tasks": [{"requests": {"cpu": 1}}]}],
    }


def written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


COMMANDS = {
    "solve": ("solve", "--model", "kube", "--engine", "kube"),
    "compare": ("compare", "--model", "kube", "--cache", "none"),
    "check": ("check", "--model", "kube", "--cache", "none", "--no-optimum"),
    "report": ("report", "--model", "kube", "--engines", "kube"),
    "explain": ("explain", "--model", "kube", "--engine", "kube", "--task", "a/task-0"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_extender_of_the_input_is_asked_only_where_that_is_allowed(
    cli: Command, tmp_path: Path, listener: Listener, command: str
) -> None:
    name, *options = COMMANDS[command]
    path = written(tmp_path / "in.json", cluster(conf(listener.url)))
    code, _, err = cli(name, path, *options)
    assert (code, listener.calls) == (0, 0)
    assert (err.count(NOT_ASKED), err.count(ALLOWED)) == (1, 1)
    code, _, err = cli(name, path, *options, "--allow-extenders")
    assert (code, listener.calls > 0, err) == (0, True, "")
    named = written(tmp_path / "conf.json", conf(listener.url))
    code, _, err = cli(name, path, *options, "--conf", named)
    assert (code, listener.calls > 0, err) == (0, True, "")


def test_a_study_asks_no_task_on_a_file_s_word(cli: Command, tmp_path: Path, listener: Listener) -> None:
    path = written(tmp_path / "in.json", cluster(conf(listener.url)))
    named = written(tmp_path / "conf.json", conf(listener.url))
    options = ("--instances", path, "--models", "kube", "--engines", "kube")
    code, _, err = cli("study", tmp_path / "a", *options)
    assert (code, listener.calls, err.count(NOT_ASKED)) == (0, 0, 1)
    recipe = {"kind": "Study", "instances": "in.json", "models": "kube", "engines": "kube", "conf": "conf.json"}
    code, _, err = cli("study", tmp_path / "b", "--file", written(tmp_path / "study.json", recipe))
    assert (code, listener.calls, err.count(NOT_ASKED)) == (0, 0, 1)
    code, _, err = cli("study", tmp_path / "a", *options, "--allow-extenders")
    assert (code, listener.calls > 0, err) == (0, True, "")
    code, _, err = cli("study", tmp_path / "b", "--conf", named)
    assert (code, listener.calls > 0, err) == (0, True, "")
    code, _, err = cli("study", tmp_path / "b", "--retry-failed")
    assert (code, listener.calls) == (0, 0)
    wanting = written(tmp_path / "wanting.json", {**recipe, "allow_extenders": True})
    code, out, err = cli("study", tmp_path / "c", "--file", wanting)
    assert (code, out) == (2, "")
    assert "allow_extenders: a file cannot allow extenders" in err


def test_a_row_and_a_model_name_no_task_either(cli: Command, tmp_path: Path, listener: Listener) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "r", "conf": conf(listener.url), "instance": cluster(None)}) + "\n")
    code, _, err = cli("compare", rows, "--cache", "none")
    assert (code, listener.calls, err.count(NOT_ASKED)) == (0, 0, 1)
    model = yaml.safe_load((ROOT / "models" / "kube.yaml").read_text()) | {"name": "own", "conf": conf(listener.url)}
    path = written(tmp_path / "in.json", cluster(None))
    code, _, err = cli("solve", path, "--engine", "kube", "--model", written(tmp_path / "model.json", model))
    assert (code, listener.calls, err.count(NOT_ASKED)) == (0, 0, 1)


def test_the_address_is_stated_on_one_plain_line_and_what_is_missing_too(cli: Command, tmp_path: Path) -> None:
    own = conf("http://x/\x1b[2J\nx" + "y" * 900, ignorable=False, tlsConfig={"certFile": "/etc/passwd"})
    code, _, err = cli("solve", written(tmp_path / "in.json", cluster(own)), "--model", "kube", "--engine", "kube")
    assert (code, err.count("\n"), "\x1b" in err) == (0, 1, False)
    assert "the scheduler would place no task without its answer" in err
    assert len(err) < 900


def test_from_python_as_from_the_command_line(listener: Listener) -> None:
    instance = cpsched.load(cluster(conf(listener.url)))
    with pytest.warns(UserWarning, match=NOT_ASKED):
        cpsched.solve(instance, "kube", engine="kube")
    assert listener.calls == 0
    cpsched.solve(instance, "kube", conf=conf(listener.url), engine="kube")
    assert listener.calls > 0
    cpsched.compare(instance, ["kube"], "kube", allow_extenders=True)
    assert listener.calls > 0


@pytest.mark.parametrize(
    ("field", "output"),
    [
        ("conf", "conf is no mapping"),
        ("solution", "a Solution is a mapping"),
        ("model", "is not a shipped model; known: "),
    ],
)
def test_a_row_opens_no_file(cli: Command, tmp_path: Path, field: str, output: str) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("root-password: hunter2\n")
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "r", "instance": cluster(None), field: str(secret)}) + "\n")
    code, out, err = cli("compare", rows, "--engines", "recorded,volcano", "--cache", "none")
    assert (code, output in err) == (2, True)
    assert "hunter2" not in out + err
    assert "root-password" not in out + err


def test_a_folder_is_not_left_by_a_link(cli: Command, tmp_path: Path) -> None:
    outside = written(tmp_path / "outside.json", cluster(None))
    folder = tmp_path / "folder"
    (folder / "data").mkdir(parents=True)
    (folder / "link.json").symlink_to(written(folder / "data" / "..inside", cluster(None)))
    assert cli("solve", folder).code == 0
    (folder / "out.json").symlink_to(outside)
    code, _, err = cli("solve", folder)
    assert code == 0
    assert "set aside: 1 link or special file, which is not read (out.json)\n" in err
    output = f"cpsched: error: {folder}/out.json: a link out of {folder}; name that file itself"
    for command in (("solve", "--strict"), ("check",), ("study", tmp_path / "run", "--instances")):
        code, out, err = cli(*command, folder)
        assert (code, out) == (2, "")
        assert err.startswith(output)
