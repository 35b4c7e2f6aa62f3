"""`cpsched serve`, asked over real HTTP as a browser and as a stranger's page would."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from cpsched.errors import InputError
from cpsched.serve.change_request import ChangeRequest
from cpsched.serve.server import is_loopback

ROOT = Path(__file__).parents[2]
WHAT_IF = ROOT / "instances" / "what-if"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    folder = tmp_path_factory.mktemp("serve")
    command = [
        sys.executable,
        "-m",
        "cpsched",
        "serve",
        str(WHAT_IF / "cluster.yaml"),
        "--port",
        "0",
        "--model",
        "volcano",
    ]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"Serving http://127\.0\.0\.1:(\d+)/ until Ctrl-C\.\n", line)
        assert found, line
        yield "127.0.0.1", int(found[1])
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (130, "cpsched: interrupted\n")
    assert list(folder.iterdir()) == []  # it has written nothing


def asked(server: tuple[str, int], method: str = "GET", path: str = "/", **form: str) -> tuple[int, str]:
    own = "{}:{}".format(*server)
    headers = {"Host": form.pop("host", own)}
    if method == "POST":
        headers |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": form.pop("origin", f"http://{own}")}
    connection = HTTPConnection(*server)
    connection.request(method, path, urlencode(form) if method == "POST" else None, headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    assert "form-action 'self'" in (answer.getheader("Content-Security-Policy") or "")
    connection.close()
    return answer.status, body


def verdict(page: str) -> str:
    return re.sub(r"<[^>]+>", "", page.partition('aria-label="Verdict"')[2].partition("</div>")[0])


def test_it_opens_with_the_cluster_as_given(server: tuple[str, int]) -> None:
    status, page = asked(server)
    assert status == 200
    assert '<textarea name="submit"' in page
    assert "form-action &#39;self&#39;" in page
    assert "has nothing to decide" in verdict(page)


def test_a_submitted_job_and_nodes_are_decided_and_held_against_the_cluster_as_given(server: tuple[str, int]) -> None:
    job = (WHAT_IF / "train.yaml").read_text()
    status, page = asked(server, "POST", submit=job, add="1", like="gpu-2")
    stated = verdict(page)
    assert status == 200
    assert "Job default/train, 4 pods" in stated
    assert "optimal: proved optimal on every level. It starts 4 pods." in stated
    assert "Without these changes: optimal has nothing to decide" in stated
    assert "default/train" in page
    changed = page.partition('id="changed"')[2].partition("</section>")[0]
    assert "default/train-worker-0 and 3 alike" in re.sub(r"<[^>]+>", "", changed)
    assert "not in the cluster" in changed


def test_what_is_wrong_is_stated_and_nothing_is_changed(server: tuple[str, int]) -> None:
    status, page = asked(server, "POST", cordon="nope <b>")
    assert status == 200
    assert "Not changed: " in verdict(page)
    assert "--cordon: no node nope" in verdict(page)


@pytest.mark.parametrize("text", ["/etc/passwd", "- a\n- b", "{"])
def test_a_text_is_never_a_path(server: tuple[str, int], text: str) -> None:
    _, page = asked(server, "POST", submit=text)
    assert "Not changed: submit" in verdict(page)


def test_a_strangers_page_is_refused(server: tuple[str, int]) -> None:
    assert asked(server, host="evil.example")[0] == 403
    assert asked(server, "POST", origin="http://evil.example")[0] == 403
    assert asked(server, "POST", origin="null")[0] == 403
    assert asked(server, path="/../etc/passwd")[0] == 404


def test_a_form_of_another_kind_is_refused(server: tuple[str, int]) -> None:
    status, text = asked(server, "POST", conf="/etc/passwd")
    assert (status, text) == (
        400,
        "This is not the page's form: unknown field conf; "
        "one of model, cordon, drain, evict, without, add, like, submit\n",
    )
    assert asked(server, "POST", submit="x" * 2**21)[0] == 413


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"model": "../models/volcano.yaml"}, "no model"),
        ({"add": "2"}, "nodes to add"),
        ({"add": "-1", "like": "n"}, "nodes to add"),
        ({"add": "100000", "like": "n"}, "nodes to add"),
    ],
)
def test_fields_are_checked(fields: dict[str, str], wrong: str) -> None:
    question = ChangeRequest(fields)
    with pytest.raises(InputError, match=wrong):
        dict(model=question.model, changes=question.changes)


def test_addresses_that_others_reach_need_a_word() -> None:
    assert [name for name in ("127.0.0.1", "::1", "localhost", "127.9.9.9") if not is_loopback(name)] == []
    assert [name for name in ("0.0.0.0", "::", "10.0.0.1", "host.example") if is_loopback(name)] == []
    ended = subprocess.run(
        [sys.executable, "-m", "cpsched", "serve", str(WHAT_IF / "cluster.yaml"), "--host", "0.0.0.0"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (
        2, "cpsched: error: --host: others could reach 0.0.0.0; 127.0.0.1, or add --open\n"
    )  # fmt: skip
