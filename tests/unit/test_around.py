"""Between documents: nothing in a container log is ever an object, and kubectl's messages are none either."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cpsched import json_values
from cpsched.around import without_logs
from cpsched.aside import LOGS, MESSAGES, PARTS, Aside
from cpsched.errors import InputError
from cpsched.importers.load import load
from cpsched.parsing import parse_documents
from tests.dumps import FOUND, cluster_info, list_of, log, node, pod, with_kind

DNS, WEB, WAITS = ("main of pod kube-system/dns", "main of pod default/web", "main of pod default/waits")
GHOST = list_of("Pod", pod("ghost"))
LOGS_OF_ALL_SORTS = {
    "plain": "I1118 10:00:00.000000       1 main.go:1] hello\n",
    "empty": "",
    "without its last line end": "bye",
    "JSON lines": '{"level": "info", "msg": "{"}\n[1, 2]\n{\n',
    "an object on a line": json.dumps(with_kind("Pod", pod("ghost"))) + "\n",
    "a printed list": GHOST,
    "a printed list, not ended": GHOST[:-3],
    "YAML": "---\napiVersion: v1\nkind: Node\nmetadata: {name: ghost}\n",
    "braces": "}{\n}\n{\n",
    "Windows": "one\r\ntwo\r\n",
    "almost a mark": "==== START logs\n ==== START logs for container x of pod y ====\n==== END of it ====\n",
    "control characters": "\x1b[31mred\x00\n",
    "no text": "x\udce9 \udcff\udcfe\n",
}


def read(text: str, tmp_path: Any) -> tuple[list[str], list[str]]:
    path = tmp_path / "dump.txt"
    path.write_text(text, newline="", errors="surrogateescape")
    instance = load(path)
    return list(instance.nodes), list(instance.tasks)


@pytest.mark.parametrize("text", LOGS_OF_ALL_SORTS.values(), ids=LOGS_OF_ALL_SORTS.keys())
def test_whatever_a_log_holds_the_objects_are_those_outside(text: str, tmp_path: Any) -> None:
    for logs in ({DNS: text}, {WEB: text, WAITS: text}, {DNS: "x\n", WEB: text}):
        assert read(cluster_info(logs), tmp_path) == FOUND
    assert read(cluster_info({DNS: text, WEB: text}).replace("\n", "\r\n"), tmp_path) == FOUND


def test_logs_are_counted_and_lines_keep_their_numbers() -> None:
    aside = Aside()
    text = cluster_info({DNS: "a\nb\n", WEB: "c"})
    bare = without_logs(text, "x", aside)
    assert len(bare.splitlines()) == len(text.splitlines())
    assert "START" not in bare
    assert aside.summary("x") == ["set aside: 2 container logs"]
    broken = text.replace('"kind": "EventList"', '"kind" "EventList"')
    with pytest.raises(InputError) as caught:
        parse_documents(broken.encode(), "x")
    line = broken.splitlines().index('    "kind" "EventList",') + 1
    assert f"line {line} " in str(caught.value)


def test_outside_of_logs_all_is_text(tmp_path: Any) -> None:
    with pytest.raises(InputError, match=r"not UTF-8 text \(byte "):
        read(cluster_info({DNS: "x\udce9\n"}).replace('"EventList"', '"x\udce9"'), tmp_path)


def test_a_dump_that_ends_within_a_log_is_read(tmp_path: Any) -> None:
    text = cluster_info({DNS: "x\n", WAITS: GHOST + "y\n"})
    assert read(text[: text.index("y\n")], tmp_path) == FOUND


END_OF_WEB = f"==== END logs for container {WEB} ====\n"
START_OF_WEB = f"==== START logs for container {WEB} ====\n"
FORGED = {
    "an end too early": END_OF_WEB + GHOST,
    "an end, and a start again": END_OF_WEB + GHOST + START_OF_WEB,
    "an end, and a start of another": END_OF_WEB + GHOST + log(WAITS, "")[:-50],
    "an end in the middle of a line": "x" + END_OF_WEB + GHOST,
    "another dump": cluster_info({DNS: "x\n"}),
    "a dump with itself": cluster_info({DNS: "x\n", WEB: "x\n"}),
    "an end and a start of others": END_OF_WEB.replace("web", "x") + GHOST + START_OF_WEB.replace("web", "y"),
    "only a start": START_OF_WEB,
    "an end of another": f"==== END logs for container {DNS} ====\n",
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED.keys())
def test_a_log_with_marks_of_its_own_is_one_clear_line(text: str, tmp_path: Any) -> None:
    with pytest.raises(InputError) as caught:
        read(cluster_info({DNS: "x\n", WEB: text, WAITS: "z\n"}), tmp_path)
    output = (
        "a container log holds marks of a dump, so it is uncertain where logs end; dump with --output-directory=FOLDER"
    )
    assert output in str(caught.value)
    assert "line " in str(caught.value)


def test_two_pods_together_forge_nothing(tmp_path: Any) -> None:
    first = END_OF_WEB + GHOST + "==== START logs for container c of pod default/none ====\n" + START_OF_WEB
    start, end = log(WAITS, "|").split("|")
    second = end + "==== END logs for container c of pod default/none ====\n" + start
    with pytest.raises(InputError, match="holds marks of a dump"):
        read(cluster_info({WEB: first, WAITS: second}), tmp_path)


MESSAGES_OF_KUBECTL = [
    "Warning: v1 ComponentStatus is deprecated in v1.19+",
    'error: the server doesn\'t have a resource type "queues"',
    'Error from server (Forbidden): pods is forbidden: User "x" cannot list resource "pods"',
    "W1118 10:00:00.123456   12345 helpers.go:663] --dry-run is deprecated",
    "E1118 10:00:00.123456   12345 memcache.go:265] couldn't get current server API group list",
    "Flag --export has been deprecated, This flag is deprecated and will be removed in future.",
    "No resources found in default namespace.",
    "+ kubectl get pods -A -o json",
    "$ kubectl get pods -A -o json",
    "Unable to connect to the server: dial tcp: lookup x: no such host",
]
YAML_LIST = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n1}}\n"


@pytest.mark.parametrize("message", MESSAGES_OF_KUBECTL)
def test_messages_before_between_and_after_documents(message: str) -> None:
    one, two = list_of("Node", node("n1")), list_of("Pod", pod("p"))
    for text in (f"{message}\n{one}{two}", f"{one}{message}\n{two}", f"{one}{two}{message}\n", f"{one}{two}{message}"):
        aside = Aside()
        assert [document.data["kind"] for document in parse_documents(text.encode(), "x", aside)] == [
            "NodeList",
            "PodList",
        ]
        assert " ".join(message.split()) in aside.summary("x")[0]
        with pytest.raises(InputError):
            parse_documents(text.encode(), "x")
    for text in (f"{message}\n{YAML_LIST}", f"{YAML_LIST}{message}\n", f"{message}\n---\n{YAML_LIST}"):
        aside = Aside()
        assert [document.data["kind"] for document in parse_documents(text.encode(), "x.yaml", aside)] == ["List"]
        assert " ".join(message.split()) in aside.summary("x.yaml")[0]


def test_a_message_in_the_middle_of_a_document() -> None:
    text = list_of("Node", node("n1")).replace('    "items"', 'Warning: late\n    "items"')
    assert len(parse_documents(text.encode(), "x", Aside())) == 1


def test_only_messages_is_an_error_that_shows_them() -> None:
    with pytest.raises(InputError) as caught:
        parse_documents(b'\nerror: the server doesn\'t have a resource type "queues"\n', "queues.json", Aside())
    output = 'queues.json: holds no objects but a message: error: the server doesn\'t have a resource type "queues"; '
    assert str(caught.value).startswith(output)


def test_messages_are_counted_with_their_line() -> None:
    aside = Aside()
    parse_documents(f"Warning: a\n\nWarning: b\n{YAML_LIST}".encode(), "x", aside)
    assert list(aside.rows("x")) == [
        (MESSAGES.many, "Warning: a", 1, "line 1"),
        (MESSAGES.many, "Warning: b", 1, "line 3"),
    ]


def test_a_transcript_around_a_dump(tmp_path: Any) -> None:
    before = "PS C:\\> minikube start\n* Done!\n{ not: a document\n{\nPS C:\\> kubectl cluster-info dump\n"
    text = cluster_info({DNS: "x\n"})
    assert read(before + text + "PS C:\\> exit\n", tmp_path) == FOUND
    flat = "\n".join(line.strip() for line in text.splitlines())
    assert read(before + flat + "\nPS C:\\> exit\n", tmp_path) == FOUND


def test_after_a_part_that_is_no_document_only_lists_count() -> None:
    one = list_of("Node", node("n1"))
    ghost = json.dumps(with_kind("Pod", pod("ghost")), indent=4)
    text = (
        f"{one}something else\n{ghost}\n{json.dumps(with_kind('Pod', pod('g')))}\n{list_of('Pod', pod('p'))}{ghost}\n"
    )
    aside = Aside()
    found = [document.data["kind"] for document in parse_documents(text.encode(), "x", aside)]
    assert found == ["NodeList", "PodList", "Pod"]
    error = aside.first_error(PARTS)
    assert error is not None
    assert error.place == f"line {one.count(chr(10)) + 1} column 1"
    assert aside.first_error(LOGS) is None


def test_a_document_that_is_cut_short_costs_only_itself() -> None:
    one, two, three = list_of("Node", node("n1")), list_of("Pod", pod("p")), list_of("Service")
    text = one + two[: len(two) // 2] + "\n" + three
    assert [d.data["kind"] for d in parse_documents(text.encode(), "x", Aside())] == ["NodeList", "ServiceList"]
    with pytest.raises(InputError, match="not valid JSON"):
        parse_documents(text.encode(), "x")


def test_looking_for_the_next_list_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []
    decoded = json_values._decoded
    monkeypatch.setattr(json_values, "_decoded", lambda *given: tries.append(given) or decoded(*given))
    text = list_of("Node", node("n1")) + "{\n" * 1000 + list_of("Pod", pod("p"))
    assert len(parse_documents(text.encode(), "x", Aside())) == 1
    assert len(tries) < 100


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("NAMESPACE   NAME    READY   STATUS\nkube-system dns 1/1 Running: yes\n", "a table"),
        ("\ufeff\r\nNAME     STATUS   ROLES\r\nn1   Ready   <none>\r\n", "a table"),
        ("Name:         web-0\nNamespace:    default\nStatus:       Running\n", "a description"),
        ("Name:               n1\nRoles:              <none>\nTaints:  a=b:NoSchedule\n  x: y: z\n", "a description"),
    ],
)
def test_what_is_for_people_is_called_so(text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_documents(text.encode(), "pods.txt", Aside())
    assert (
        str(caught.value) == f"pods.txt: {what} that kubectl prints for people; ask kubectl get for -o json or -o yaml"
    )


def test_objects_below_a_table_are_read() -> None:
    text = f"NAME     STATUS\nn1   Ready\n---\n{list_of('Node', node('n1'))}"
    found = [document.data for document in parse_documents(text.encode(), "x", Aside())]
    assert [one["kind"] for one in found if isinstance(one, dict)] == ["NodeList"]


def test_the_last_line_of_a_dump_into_a_file_is_a_message() -> None:
    aside = Aside()
    text = f"{list_of('Node', node('n1'))}Cluster info dumped to standard output\n"
    assert [document.data["kind"] for document in parse_documents(text.encode(), "x", aside)] == ["NodeList"]
    assert [row[1] for row in aside.rows("x")] == ["Cluster info dumped to standard output"]
