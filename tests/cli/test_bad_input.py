"""What a newcomer may feed in by mistake: one clear line each, exit 2, no traceback."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4"}}}


def pod(**requests: object) -> dict[str, Any]:
    containers = [{"name": "main", "resources": {"requests": requests}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}}


def items(*objects: object) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()


PLACE = "Pod p: spec.containers[0].resources.requests"
EMPTY = "the file is empty; give Kubernetes objects or an Instance as JSON or YAML"
NO_OBJECT = "a text where an object was expected; give Kubernetes objects"
MILLION = json.dumps(
    {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "jobs": [{"name": f"j{number}", "tasks": [{"replicas": 100_000}]} for number in range(10)],
    }
).encode()

CASES = {
    "empty.json": (b"", EMPTY),
    "spaces.yaml": (b" \n\n", EMPTY),
    "comment.yaml": (b"# nothing\n", "holds no document; give Kubernetes objects or an Instance"),
    "truncated.json": (items(NODE)[:60], "line 1 column 61: not valid JSON: the colon after a key is missing"),
    "list.yaml": (b"- a\n- b\n", f"[0]: {NO_OBJECT}"),
    "word.yaml": (b"hello", NO_OBJECT),
    "spaced.json": (items(pod(memory="1 Gi")), f'{PLACE}.memory: "1 Gi" is not a quantity; write "1Gi"'),
    "negative.json": (items(pod(cpu="-1")), f"{PLACE}.cpu: -1 is negative; a quantity here is zero or more"),
    "job.yaml": (b"{apiVersion: cpsched/v1, kind: Instance, jobs: [{name: g}]}", "PodGroup default/g: a job without"),
    "million.json": (MILLION, "replicas make 1000000 nodes and pods; one instance has at most 200000 of them"),
    "junk.bin": (bytes(range(128, 256)) * 10, "not UTF-8 text (byte 0); give JSON or YAML text"),
    "junk.json.gz": (b"\x1f\x8b" + bytes(50), "broken gzip data"),
    "kindless.json": (b'{"metadata": {}}', "an object without a kind; give Kubernetes objects"),
    "other.yaml": (b"kind: ConfigMap\napiVersion: v1\n", "nothing here is of a kind that scheduling looks at"),
    "tabs.yaml": (b"a:\n\t- b\n", "line 2 column 1: not valid YAML: found character that cannot start any token"),
    "field.yaml": (b"{apiVersion: cpsched/v1, kind: Instance, node: []}", "node: no such field; cpsched schema"),
    "digits.json": (b'{"a": ' + b"7" * 5000 + b"}", "line 1 column 7: a number of 5000 digits"),
    "digits.yaml": (b"a: " + b"7" * 5000, "line 1 column 4: not valid YAML: a number of 5000 digits"),
    "version.yaml": (b"apiVersion: v9\nkind: Instance\n", "apiVersion 'v9' of an Instance; write cpsched/v1"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_is_wrong_is_one_clear_line(cli: Command, tmp_path: Path, name: str) -> None:
    data, output = CASES[name]
    path = tmp_path / name
    path.write_bytes(data)
    code, out, err = cli("solve", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"cpsched: error: {path}: {output}")


def test_an_unknown_queue_of_a_compact_job_is_one_clear_line(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "queue.json"
    jobs = [{"name": "g", "queue": "gold", "tasks": [{}]}]
    path.write_text(json.dumps({"apiVersion": "cpsched/v1", "kind": "Instance", "jobs": jobs}))
    output = f"{path}: PodGroup default/g: its queue gold is not in the input; queues given: none"
    assert cli("solve", path) == (2, "", f"cpsched: error: {output}\n")
    assert cli("solve", path, "--lenient")[::2] == (0, f"cpsched: warning: {output}\n")


def test_a_file_that_is_missing_or_a_folder_without_manifests(cli: Command, tmp_path: Path) -> None:
    missing = f"{tmp_path}/gone.json: no such file; name an existing file, a folder, or - for stdin"
    assert cli("solve", tmp_path / "gone.json") == (2, "", f"cpsched: error: {missing}\n")
    empty = f"{tmp_path}: no .json or .yaml file in this folder; name a file or a folder of manifests"
    assert cli("solve", tmp_path) == (2, "", f"cpsched: error: {empty}\n")
    (tmp_path / "notes.txt").write_text("hello")
    assert cli("solve", tmp_path) == (2, "", f"cpsched: error: {empty}\n")


def test_a_file_no_task_may_read(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    code, out, err = cli("solve", tmp_path / "loop.json")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"cpsched: error: .+loop.json: cannot be read: .+\n", err)


def test_fifty_megabytes_with_the_mistake_at_the_end(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    ballast = json.dumps({**NODE, "metadata": {"name": "n%d", "managedFields": [{"fieldsV1": {"f:spec": "x" * 4000}}]}})
    objects = ",".join(ballast.replace("%d", str(number)) for number in range(12_000))
    path.write_text(f'{{"kind": "List", "items": [{objects}, {json.dumps(pod(memory="1 Gi"))}]}}')
    assert path.stat().st_size > 48_000_000
    code, out, err = cli("solve", path, "--strict")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith('Pod p: spec.containers[0].resources.requests.memory: "1 Gi" is not a quantity; write "1Gi"\n')


NUMBERS = f"[{', '.join(map(str, range(200)))}]"
ENDLESS = {
    "time": f"{NUMBERS}.all(a, {NUMBERS}.all(b, {NUMBERS}.all(c, {NUMBERS}.all(d, a + b + c + d >= 0))))",
    "memory": f'"{"x" * 1000}"' + '.replace("x", "xxxxxxxxxx")' * 6 + ' == "y"',
}


@pytest.mark.parametrize(
    "engine", [("optimal", "volcano"), ("volcano", "volcano"), ("optimal", "kube"), ("kube", "kube")]
)
@pytest.mark.parametrize("expression", ENDLESS.values(), ids=ENDLESS.keys())
def test_a_selector_without_end_is_one_clear_line(
    cli: Command, tmp_path: Path, expression: str, engine: tuple[str, str]
) -> None:
    """Not hours, not gigabytes: the bound is one of steps, so that the line is the same everywhere."""
    path = tmp_path / "cluster.json"
    device = {"driver": "d.io", "nodeName": "n", "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}}
    asked = {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": expression}}]}
    claiming = pod(cpu="1")
    claiming["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": "c"}]
    objects = [
        NODE | {"status": {"allocatable": {"cpu": "4", "pods": "10"}}},
        resource("DeviceClass", "gpu", {}),
        resource("ResourceSlice", "s", {**device, "devices": [{"name": "g0"}]}),
        resource("ResourceClaim", "c", {"devices": {"requests": [{"name": "r", "exactly": asked}]}}),
        claiming,
    ]
    path.write_bytes(items(*objects))
    code, out, err = cli("solve", path, "--engine", engine[0], "--model", engine[1])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("cpsched: error: claim default/c: the device selector `")
    assert err.endswith("` is too expensive; at most 100000 steps are taken for a device; write a simpler one\n")


def resource(kind: str, name: str, spec: object) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(
    "command", [["solve"], ["compare"], ["check"], ["report"], ["import"], ["explain", "--job", "j"]]
)
def test_a_name_that_is_too_long_is_one_line(cli: Command, command: list[str]) -> None:
    code, out, err = cli(*command, "x" * 300)
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("command", ["solve", "explain", "compare", "report"])
def test_a_name_of_a_million_characters_fills_no_screen(cli: Command, tmp_path: Path, command: str) -> None:
    waits = pod(cpu=1)
    waits["metadata"] = {"name": "n" * 1_000_000}
    path = tmp_path / "long.json"
    path.write_bytes(items(NODE, waits))
    ended = cli(command, path, *(["--engines", "kube"] if command in ("compare", "report") else ["--engine", "kube"]))
    assert ended.code == 0
    assert max(map(len, ended.out.splitlines())) <= 200
    assert len(ended.out) + len(ended.err) < 100_000
