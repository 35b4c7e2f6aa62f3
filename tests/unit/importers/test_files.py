"""Where inputs come from: files, gzip, stdin, folders, several documents in one file."""

from __future__ import annotations

import gzip
import io
import json
import types

import pytest

from cpsched.errors import InputError
from cpsched.importers.load import load

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
OTHER = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}}
YAML = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  creationTimestamp: 2026-01-01T00:00:00Z
---
"""


def write(folder, name, content):
    """A file of that content, which may be text, bytes or values to write as JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def nodes(source):
    """Names of the nodes found."""
    return list(load(source).nodes)


class TestForms:
    """JSON, YAML, compressed, in a row."""

    def test_json(self, tmp_path):
        """One value."""
        assert nodes(write(tmp_path, "a.json", [NODE, OTHER])) == ["n1", "n2"]

    def test_path_as_text(self, tmp_path):
        """A path may be a string; the instance remembers it."""
        path = write(tmp_path, "a.json", NODE)
        assert load(str(path)).file == str(path)

    def test_json_values_in_a_row(self, tmp_path):
        """As jq prints them."""
        assert nodes(write(tmp_path, "a.json", f"{json.dumps(NODE)}\n{json.dumps(OTHER)}\n")) == ["n1", "n2"]

    @pytest.mark.parametrize("name", ["a.yaml", "a.yml", "a"])
    def test_yaml_documents(self, tmp_path, name):
        """Separated by ---, an empty one does not count, and times stay text."""
        assert nodes(write(tmp_path, name, YAML)) == ["n1", "n2"]

    def test_json_in_a_yaml_file(self, tmp_path):
        """JSON is YAML."""
        assert nodes(write(tmp_path, "a.yaml", [NODE])) == ["n1"]

    def test_byte_order_mark(self, tmp_path):
        """Windows writes one."""
        assert nodes(write(tmp_path, "a.json", b"\xef\xbb\xbf" + json.dumps(NODE).encode())) == ["n1"]

    @pytest.mark.parametrize("name", ["a.json.gz", "a.json", "dump"])
    def test_gzip_is_seen_by_its_bytes(self, tmp_path, name):
        """Whatever the file is called."""
        assert nodes(write(tmp_path, name, gzip.compress(json.dumps(NODE).encode(), mtime=0))) == ["n1"]

    def test_stdin(self, monkeypatch):
        """A dash; errors say stdin."""
        monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(YAML.encode())))
        assert nodes("-") == ["n1", "n2"]
        monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(b"{")))
        with pytest.raises(InputError, match=r"^stdin: "):
            load("-")

    def test_folder(self, tmp_path):
        """All JSON and YAML files below it, in order of their names; others are left alone."""
        write(tmp_path, "b/x.json", NODE)
        write(tmp_path, "a.yaml.gz", gzip.compress(b"kind: Node\nmetadata: {name: n0}\n", mtime=0))
        write(tmp_path, "notes.txt", "not for us")
        assert nodes(tmp_path) == ["n0", "n1"]


class TestErrors:
    """One line each, with the file."""

    @pytest.mark.parametrize(
        ("name", "content", "line"),
        [
            ("a.json", "", "the file is empty; give Kubernetes objects or an Instance as JSON or YAML"),
            ("a.json", "  \n", "the file is empty; give Kubernetes objects or an Instance as JSON or YAML"),
            ("a.json", '{"a": 1,}', "line 1 column 9: not valid JSON: "),
            (
                "a.json",
                '{"a":\n 1 2}',
                "line 2 column 4: not valid JSON: a comma or a closing bracket is missing",
            ),
            ("a.json", '{"a": NaN}', "line 1 column 7: not valid JSON: NaN is not a number in JSON"),
            ("a.yaml", "a: [1\nb: 2", "line 2 column "),
            ("a.json", b"\xff{", "not UTF-8 text (byte 0); give JSON or YAML text"),
            ("a.json.zst", b"\x28\xb5\x2f\xfd{", "is compressed by zstd; unpack it by zstd -d"),
            ("a.rar", b"Rar!\x1a\x07{", "is a RAR archive; unpack it, or pack it as tar or ZIP"),
            ("a.pb", b"k8s\x00{", "holds objects as protobuf; ask the API server for JSON"),
            ("a.json", b"\xff\xfe{", "not UTF-16 text (byte 2); give JSON or YAML text"),
            ("a.json.gz", b"\x1f\x8bbroken", "broken gzip data "),
            ("a.json.gz", gzip.compress(b"{}" * 999, mtime=0)[:-9], "broken gzip data "),
            ("a.yaml", "---\n---\n", "holds no document; give Kubernetes objects or an Instance"),
        ],
    )
    def test_content(self, tmp_path, name, content, line):
        """Empty, half written, not text, nothing in it."""
        path = write(tmp_path, name, content)
        with pytest.raises(InputError) as caught:
            load(path)
        assert str(caught.value).startswith(f"{path}: {line}")

    def test_no_such_file(self, tmp_path):
        """And what could be named instead."""
        with pytest.raises(
            InputError, match=r"gone\.json: no such file; name an existing file, a folder, or - for stdin"
        ):
            load(tmp_path / "gone.json")

    def test_empty_folder(self, tmp_path):
        """A folder without manifests."""
        with pytest.raises(InputError, match=r"no \.json or \.yaml file in this folder; name a file or a folder"):
            load(tmp_path)

    def test_duplicates_across_files(self, tmp_path):
        """The first place is named too."""
        write(tmp_path, "a.json", NODE)
        write(tmp_path, "b.json", NODE)
        with pytest.raises(InputError, match=r"b\.json: Node n1: given twice \(first in .*a\.json\); names are unique"):
            load(tmp_path, strict=True)

    def test_place_within_a_file(self, tmp_path):
        """File first, then the place in it."""
        path = write(tmp_path, "a.json", {"apiVersion": "v1", "kind": "List", "items": [NODE, 5]})
        with pytest.raises(InputError) as caught:
            load(path, strict=True)
        assert str(caught.value).startswith(f"{path}: items[1]: a number where an object was expected")

    def test_not_a_source(self):
        """Something else altogether."""
        with pytest.raises(InputError, match="cannot load int; give a path, a mapping or a list of objects"):
            load(5)

    def test_bad_sharding(self):
        """The argument is checked like the file."""
        with pytest.raises(InputError, match='sharding: mode: "firm" should be'):
            load([NODE], sharding={"mode": "firm"})
