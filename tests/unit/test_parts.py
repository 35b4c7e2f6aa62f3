"""Where documents end: `---`, or nothing at all between YAML documents; documents or an error, never nothing."""

from __future__ import annotations

import json

import pytest

from cpsched.aside import PARTS, Aside
from cpsched.errors import InputError
from cpsched.parsing import parse_documents

NODE = "apiVersion: v1\nkind: Node\nmetadata:\n  name: %s\nstatus:\n  allocatable: {cpu: 4}\n"
POD = "# a pod\nkind: Pod\napiVersion: v1\nmetadata: {name: %s}\nspec:\n  containers:\n  - name: main\n    kind: x\n"
LIST = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: %s}\nkind: List\n"


def names(text: str, file: str = "x.yaml", aside: Aside | None = None) -> list[str]:
    data = [document.data for document in parse_documents(text.encode(), file, aside)]
    return [one["items"][0]["metadata"]["name"] if "items" in one else one["metadata"]["name"] for one in data]


def refusal(text: str, aside: Aside | None = None) -> str:
    with pytest.raises(InputError) as refused:
        parse_documents(text.encode(), "x.yaml", aside)
    return str(refused.value)


@pytest.mark.parametrize("aside", [None, Aside()], ids=["strict", "cluster"])
@pytest.mark.parametrize(
    "forms", [(NODE, NODE), (NODE, POD), (POD, NODE, POD), (LIST, LIST), (LIST, NODE), (NODE, LIST, POD)]
)
def test_documents_with_nothing_between_them(forms: tuple[str, ...], aside: Aside | None) -> None:
    text = "".join(form % f"o{number}" for number, form in enumerate(forms))
    found = [f"o{number}" for number in range(len(forms))]
    assert names(text, aside=aside) == found
    assert names(text.replace("\n", "\r\n"), aside=aside) == found
    assert names("\ufeff" + text, aside=aside) == found
    assert names(f"{text}---\n{text}", aside=aside) == [*found, *found]


@pytest.mark.parametrize("aside", [None, Aside()], ids=["strict", "cluster"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (NODE % "a" + "kind: Pod\n", 7),
        (NODE % "a" + "metadata: {name: b}\napiVersion: v1\nkind: Node\n", 7),
        (NODE % "a" + "apiVersion: v1\nmetadata: {name: b}\n", 7),
        (NODE % "a" + "metadata: {name: b}\n", 7),
        ("metadata: {name: a}\nkind: Node\nmetadata: {name: b}\nkind: Node\n", 3),
    ],
)
def test_documents_that_could_end_in_several_places_are_one_clear_line(
    text: str, line: int, aside: Aside | None
) -> None:
    output = refusal(text, aside)
    assert output.startswith(f"x.yaml: line {line}: the key ")
    assert "is there twice" in output


def test_lines_are_counted_from_the_beginning_of_the_file() -> None:
    text = NODE % "a" + POD % "b" + "---\n" + NODE % "c" + NODE.replace("{cpu: 4}", "[") % "d"
    with pytest.raises(InputError, match=r"line 28 column 1: not valid YAML"):
        names(text)
    twice = NODE % "a" + "---\n" + NODE % "b" + POD.replace("kind: x", "name: x") % "c"
    assert "line 21: the key name is there twice (first in line 20)" in refusal(twice)


def test_one_bad_document_among_several_is_set_aside() -> None:
    template = "apiVersion: v1\nkind: Node\nmetadata:\n  name: {{ .Values.name }}\n"
    aside = Aside()
    assert names(f"{NODE % 'a'}---\n{template}---\n{NODE % 'b'}...\n{NODE % 'c'}", aside=aside) == ["a", "b", "c"]
    error = aside.first_error(PARTS)
    assert error is not None
    assert error.place == "line 11 column 10"
    assert refusal(f"{NODE % 'a'}---\n{template}").startswith("x.yaml: line 11 column 10: not valid YAML")
    assert refusal(template, Aside()).startswith("x.yaml: line 4 column 10: not valid YAML")


def test_json_documents_with_and_without_something_between_them() -> None:
    one, two = (json.dumps({"metadata": {"name": name}}, indent=2) for name in "ab")
    for between in ("", " ", "\n", "\r\n", "\n\n\t\n", "\n---\n", "\n---\r\n", "\ufeff"):
        assert names(one + between + two, "x.json") == ["a", "b"]
    line = json.dumps({"metadata": {"name": "c"}})
    assert names(f"{line}\n{line}\n{line}\n", "x.json") == ["c", "c", "c"]
    assert names(f"{one}\n---\n{NODE % 'b'}", "x") == ["a", "b"]
    assert names(f"{NODE % 'b'}---\n{one}", "x") == ["b", "a"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("text", [NODE % "ä", json.dumps({"metadata": {"name": "ä"}}, ensure_ascii=False)])
def test_encodings(text: str, encoding: str) -> None:
    data = text.replace("\n", "\r\n").encode(encoding)
    assert parse_documents(data, "x")[0].data["metadata"]["name"] == "ä"
    with pytest.raises(InputError, match=r"not UTF-(8|16|32) text \(byte "):
        parse_documents(data + b"\xff", "x")


def test_trailing_garbage_and_a_broken_part_are_set_aside() -> None:
    one = json.dumps({"metadata": {"name": "a"}})
    for end in ("]", "}}", "garbage\n", "\x00", '{"metadata": {"name": "b"}', '{"metadata": {}, "metadata": {}}'):
        aside = Aside()
        assert names(f"{one}\n{end}", "x.json", aside) == ["a"]
        assert aside.first_error(PARTS) is not None
        with pytest.raises(InputError):
            names(f"{one}\n{end}", "x.json")


def test_nothing_at_all_is_an_error() -> None:
    for text in ("", "\n\t \r\n", "\ufeff"):
        assert refusal(text, Aside()).startswith("x.yaml: the file is empty")
    logs = "==== START logs for container a of pod b/c ====\n{}\n==== END logs for container a of pod b/c ====\n"
    assert refusal(logs, Aside()).startswith("x.yaml: holds container logs and no objects")
