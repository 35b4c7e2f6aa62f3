"""Extenders asked over real HTTP on the loopback interface."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.unit.greedy_kube.build import attempt, budget, conf, node, pod, run

Answer = Callable[[str, Any], tuple[int, Any]]
FULL = [node("n1"), node("n2"), pod("v1", "1", on="n1"), pod("v2", "1", on="n2", priority=5)]
PREEMPTOR = pod("p", "1", priority=1000)


class Server:
    """An extender that keeps what it was asked and answers by a function of verb and request."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.answer: Answer = lambda verb, request: (200, {})
        server = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 60

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                request = json.loads(self.rfile.read(length))
                verb = self.path.removeprefix("/scheduler/")
                assert self.headers["Content-Type"] == "application/json"
                server.asked.append((verb, request))
                code, body = server.answer(verb, request)
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                try:
                    self.send_response(code)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/scheduler/"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def conf(self, **fields: Any) -> dict[str, Any]:
        return conf(extenders=[{"urlPrefix": self.url, "httpTimeout": "60s", **fields}])


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.close()


def meta(request: Any, *names: str) -> dict[str, Any]:
    given = request["NodeNameToMetaVictims"] or {
        name: {"Pods": [{"UID": p["metadata"]["uid"]} for p in one["Pods"]], "NumPDBViolations": 0}
        for name, one in request["NodeNameToVictims"].items()
    }
    return {"NodeNameToMetaVictims": {name: given[name] for name in names}}


def test_filter_by_names(server: Server) -> None:
    server.answer = lambda verb, request: (
        200,
        {"NodeNames": ["b"], "FailedNodes": {"a": "not today"}, "FailedAndUnresolvableNodes": {"c": "never"}},
    )
    found = attempt(
        node("a"), node("b"), node("c"), pod("p"), given=server.conf(filterVerb="filter", nodeCacheCapable=True)
    )
    assert (found.node, found.via) == ("b", "only")
    ((verb, request),) = server.asked
    assert verb == "filter"
    assert request["NodeNames"] == ["a", "b", "c"]
    assert request["Nodes"] is None
    assert request["Pod"]["metadata"]["name"] == "p"


def test_what_an_extender_refuses_may_be_fixed_unless_it_says_never(server: Server) -> None:
    failed = {"nodenames": [], "failednodes": {"a": "no", "b": "no"}, "failedandunresolvablenodes": {"b": "never"}}
    server.answer = lambda verb, request: (200, failed)
    given = server.conf(filterVerb="filter", nodeCacheCapable=True)
    found = attempt(node("a"), node("b"), pod("p"), given=given)
    assert {name: status.code.value for name, status in found.failed.items()} == {
        "a": "Unschedulable",
        "b": "UnschedulableAndUnresolvable",
    }
    assert found.message.startswith("0/2 nodes are available: 1 never, 1 no.")
    assert "Extender" in found.rejectors


def test_nodes_that_come_back_whole_are_scored_bare(server: Server) -> None:
    server.answer = lambda verb, request: (200, {"Nodes": request["Nodes"]})
    objects = [node("a"), node("b"), pod("r", "800m", on="a"), pod("p", "100m")]
    found = run(*objects, given=server.conf(filterVerb="filter")).attempts[0]
    assert found.node == "a", "the pods on it are not seen, so that both are alike and the first one wins"
    ((_, request),) = server.asked
    assert request["NodeNames"] is None
    assert [item["metadata"]["name"] for item in request["Nodes"]["items"]] == ["a", "b"]
    server.answer = lambda verb, request: (200, {"NodeNames": request["NodeNames"]})
    given = server.conf(filterVerb="filter", nodeCacheCapable=True)
    assert run(*objects, given=given).attempts[0].node == "b"


@pytest.mark.parametrize(
    ("code", "body", "text"),
    [
        (500, {}, "failed filter with extender at URL"),
        (200, b"not json", "is not JSON"),
        (200, {"Error": "out of order"}, "out of order"),
        (200, {"NodeNames": ["stranger"]}, "claims a filtered node"),
        (200, [1], "an object was expected"),
    ],
)
def test_a_broken_extender_ends_the_attempt_unless_it_is_ignorable(
    server: Server, code: int, body: Any, text: str
) -> None:
    server.answer = lambda verb, request: (code, body)
    objects = [node("a"), pod("p", nominated="gone")]
    fields = {"filterVerb": "filter", "nodeCacheCapable": True}
    found = attempt(*objects, given=server.conf(**fields))
    assert (found.result, found.reason, found.requeue) == ("error", "SchedulerError", "backoff")
    assert found.nominating == "clear"
    assert text in found.message
    assert attempt(*objects, given=server.conf(**fields, ignorable=True)).node == "a"


def test_an_extender_that_does_not_answer_in_time(server: Server) -> None:
    given_up = threading.Event()

    def late(verb: str, request: Any) -> tuple[int, Any]:
        given_up.wait()
        return 200, {}

    server.answer = late
    given = conf(extenders=[{"urlPrefix": server.url, "httpTimeout": "50ms", "filterVerb": "filter"}])
    found = attempt(node("a"), pod("p"), given=given)
    given_up.set()
    assert found.result == "error"
    assert "timed out" in found.message


def test_no_task_there() -> None:
    given = conf(extenders=[{"urlPrefix": "http://127.0.0.1:1/x", "httpTimeout": "1s", "filterVerb": "filter"}])
    assert attempt(node("a"), pod("p"), given=given).result == "error"


def test_only_pods_that_name_a_managed_resource_are_shown(server: Server) -> None:
    managed = [{"name": "x.com/gpu", "ignoredByScheduler": True}]
    given = server.conf(filterVerb="filter", nodeCacheCapable=True, managedResources=managed)
    server.answer = lambda verb, request: (200, {"NodeNames": []})
    assert attempt(node("a"), pod("plain"), given=given).result == "bound"
    assert server.asked == []
    assert attempt(node("a"), pod("p", requests={"x.com/gpu": "1"}), given=given).result == "unschedulable"
    assert len(server.asked) == 1


def test_scores_are_weighted_and_added(server: Server) -> None:
    server.answer = lambda verb, request: (200, [{"Host": "a", "Score": 1}, {"Host": "b", "Score": 10}])
    given = server.conf(prioritizeVerb="prioritize", weight=2)
    found = attempt(node("a", "64"), node("b"), pod("p"), given=given)
    assert found.node == "b"
    assert [found.scores[name][server.url] for name in "ab"] == [20, 200]


def test_a_failing_score_has_no_say(server: Server) -> None:
    server.answer = lambda verb, request: (500, {})
    given = server.conf(prioritizeVerb="prioritize", weight=2)
    assert attempt(node("a", "64"), node("b"), pod("p"), given=given).node == "a"


@pytest.mark.parametrize("capable", [True, False])
def test_victims_are_shown_in_full_or_by_uid(server: Server, capable: bool) -> None:
    server.answer = lambda verb, request: (200, meta(request, "n2"))
    found = attempt(*FULL, PREEMPTOR, given=server.conf(preemptVerb="preempt", nodeCacheCapable=capable))
    assert (found.nominated, found.victims) == ("n2", ("default/v2",))
    ((verb, request),) = server.asked
    assert verb == "preempt"
    assert set(request) == {"Pod", "NodeNameToVictims", "NodeNameToMetaVictims"}
    shown, hidden = (
        ("NodeNameToMetaVictims", "NodeNameToVictims") if capable else ("NodeNameToVictims", "NodeNameToMetaVictims")
    )
    assert request[hidden] is None
    first = request[shown]["n1"]["Pods"][0]
    assert first == {"UID": "uid-v1"} if capable else first["metadata"]["name"] == "v1"


def test_an_extender_may_change_victims_and_is_trusted_about_budgets(server: Server) -> None:
    extra = pod("spared", "", on="n1")
    changed = {
        "n1": {"pods": [{"uid": "uid-spared"}, {"uid": "uid-v1"}], "numPDBViolations": 0},
        "n2": {"pods": [{"uid": "uid-v2"}], "numPDBViolations": 7},
    }
    server.answer = lambda verb, request: (200, {"nodeNameToMetaVictims": changed})
    given = server.conf(preemptVerb="preempt", nodeCacheCapable=True)
    found = attempt(*FULL, extra, PREEMPTOR, budget("none", 0, {"a": "1"}), given=given)
    assert (found.nominated, found.victims) == ("n1", ("default/spared", "default/v1"))


@pytest.mark.parametrize(
    "answer",
    [
        {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "uid-v2"}]}}},
        {"NodeNameToMetaVictims": {"n9": {"Pods": [{"UID": "uid-v1"}]}}},
        {"NodeNameToMetaVictims": {"n1": {"Pods": []}}},
        {"NodeNameToMetaVictims": {"n1": {"Pods": None}}},
    ],
    ids=["not on the node", "no such node", "no victim", "null"],
)
def test_an_answer_without_sense(server: Server, answer: Any) -> None:
    server.answer = lambda verb, request: (200, answer)
    found = attempt(*FULL, pod("p", "1", priority=1000, nominated="gone"), given=server.conf(preemptVerb="preempt"))
    assert (found.nominated, found.nominating, found.result) == ("", "keep", "unschedulable")
    given = server.conf(preemptVerb="preempt", ignorable=True)
    lenient = attempt(*FULL, PREEMPTOR, given=given)
    empty = answer["NodeNameToMetaVictims"].get("n1", {}).get("Pods", True) in ([], None)
    assert lenient.nominated == ("" if empty else "n1"), "an empty entry drops the node, a wrong one the extender"


def test_no_candidate_left_and_no_further_extender_asked(server: Server) -> None:
    server.answer = lambda verb, request: (200, {"NodeNameToMetaVictims": {}})
    two = [{"urlPrefix": server.url, "preemptVerb": "preempt", "ignorable": last} for last in (False, True)]
    found = attempt(*FULL, PREEMPTOR, given=conf(extenders=two))
    assert found.post_filter_message.endswith("preemption: no candidate node for preemption")
    assert found.nominating == "keep"
    assert len(server.asked) == 1


def test_extenders_that_fail_softly_are_asked_last(server: Server) -> None:
    server.answer = lambda verb, request: (200, {"NodeNames": request["NodeNames"]})
    fields = {"urlPrefix": server.url, "nodeCacheCapable": True}
    two = [{**fields, "filterVerb": "soft", "ignorable": True}, {**fields, "filterVerb": "hard"}]
    attempt(node("a"), pod("p"), given=conf(extenders=two))
    assert [verb for verb, _ in server.asked] == ["hard", "soft"]


def test_a_node_without_victims_is_dropped_by_a_soft_extender(server: Server) -> None:
    answer = {"n1": {"Pods": []}, "n2": {"Pods": [{"UID": "uid-v2"}]}}
    server.answer = lambda verb, request: (200, {"NodeNameToMetaVictims": answer})
    assert attempt(*FULL, PREEMPTOR, given=server.conf(preemptVerb="preempt", ignorable=True)).nominated == "n2"
    assert attempt(*FULL, PREEMPTOR, given=server.conf(preemptVerb="preempt")).nominated == ""
