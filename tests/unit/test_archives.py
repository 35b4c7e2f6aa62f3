"""ZIP archives: plain ones are read, tricks and bombs are refused in one line before they can do harm."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import zipfile
from collections.abc import Callable

import pytest

from cpsched import archives
from cpsched.errors import InputError
from cpsched.parsing import parse_documents

Build = Callable[[zipfile.ZipFile], None]


def packed(build: Build, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        build(archive)
    return stream.getvalue()


def plain(**members: str) -> bytes:
    def build(archive: zipfile.ZipFile) -> None:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)

    return packed(build)


def refusal(data: bytes) -> str:
    with pytest.raises(InputError) as refused:
        parse_documents(data, "x.zip")
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_documents_of_an_archive_know_their_member() -> None:
    data = plain(a_json='{"a": 1}', b_yaml="b: 2\n---\nc: 3\n", notes_txt="left out")
    documents = parse_documents(data, "x.zip")
    assert [(document.file, document.data) for document in documents] == [
        ("x.zip!a.json", {"a": 1}),
        ("x.zip!b.yaml", {"b": 2}),
        ("x.zip!b.yaml", {"c": 3}),
    ]


def test_folders_inside_are_fine_and_names_do_not_matter() -> None:
    def build(archive: zipfile.ZipFile) -> None:
        archive.mkdir("deep")
        archive.writestr("deep/er/a.json", "[1]")

    assert parse_documents(packed(build), "snapshot.gzip")[0].data == [1]
    assert parse_documents(packed(build, zipfile.ZIP_STORED), "x")[0].data == [1]


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("../a.json", "climbs out of the archive"),
        ("a/../../b.json", "climbs out of the archive"),
        ("/etc/a.json", "has an absolute name"),
        ("C:/a.json", "has an absolute name"),
        ("a\\b.json", "has a name with odd characters"),
        ("a\nb.json", "has a name with odd characters"),
    ],
)
def test_path_tricks_are_refused(name: str, output: str) -> None:
    def build(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("placeholder")
        info.filename = name
        archive.writestr(info, "{}")

    assert output in refusal(packed(build))


def test_a_name_cut_short_by_a_null_is_refused() -> None:
    data = plain(aXb_json="{}").replace(b"aXb.json", b"a\0b.json")
    assert "has a name with odd characters" in refusal(data)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_are_refused(kind: int) -> None:
    def build(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("a.json")
        info.external_attr = (kind | 0o777) << 16
        archive.writestr(info, "/etc/passwd")

    assert refusal(packed(build)) == "x.zip: the member 'a.json' is a link or a device; give an archive of plain files"


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize("second", ["a.json", "A.JSON"])
def test_names_given_twice_are_refused(second: str) -> None:
    def build(archive: zipfile.ZipFile) -> None:
        archive.writestr("a.json", "{}")
        archive.writestr(second, "{}")

    assert "is there twice" in refusal(packed(build))


def test_encrypted_and_oddly_packed_members_are_refused() -> None:
    data = bytearray(plain(a_json="{}"))
    central = data.index(b"PK\x01\x02")
    encrypted = bytearray(data)
    encrypted[central + 8] |= 1
    assert "the member 'a.json' is encrypted" in refusal(bytes(encrypted))
    data[central + 10 : central + 12] = struct.pack("<H", 99)
    assert "is packed by an unknown method" in refusal(bytes(data))
    assert "is packed by an unknown method" in refusal(packed(lambda a: a.writestr("a.json", "{}"), zipfile.ZIP_BZIP2))


def test_too_many_members_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    assert len(parse_documents(plain(a_json="1", b_json="2", c_json="[]"), "x.zip")) == 3
    assert refusal(plain(a_json="1", b_json="2", c_json="3", d_txt="")) == "x.zip: an archive of more than 3 files"


def test_a_bomb_is_refused_by_its_ratio_before_it_is_unpacked() -> None:
    bomb = packed(lambda archive: archive.writestr("a.json", b" " * (40 * 2**20)))
    assert len(bomb) < 2**17
    assert "x.zip!a.json: unpacks to more than 500 times its size; is it a decompression bomb?" in refusal(bomb)
    assert "unpacks to more than 500 times its size" in refusal(gzip.compress(b" " * (40 * 2**20)))


def test_what_the_header_says_of_the_size_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_TOTAL", 1000)
    data = bytearray(plain(a_json="[" + " " * 600 + "]", b_json="[" + " " * 600 + "]"))
    assert "x.zip!b.json: unpacks to more than 0 MiB" in refusal(bytes(data)), "the sum counts"
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(mark) + offset
        data[place : place + 4] = struct.pack("<I", 2)
    assert refusal(bytes(data))


def test_an_archive_in_an_archive_is_read_and_one_in_that_is_not() -> None:
    inner = plain(a_json="[1]")
    data = packed(lambda archive: archive.writestr("inner.json", inner))
    assert [tuple(document) for document in parse_documents(data, "x.zip")] == [("x.zip!inner.json!a.json", [1])]
    outer = packed(lambda archive: archive.writestr("outer.zip", data))
    output = "x.zip!outer.zip!inner.json: an archive in an archive in an archive; unpack it first"
    assert refusal(outer) == output


def test_broken_and_empty_archives_are_refused() -> None:
    data = plain(a_json='{"a": "' + "b" * 500 + '"}')
    assert "broken ZIP archive" in refusal(data[:60])
    spoiled = bytearray(data)
    spoiled[45] ^= 0xFF
    assert refusal(bytes(spoiled))
    assert refusal(plain()) == "x.zip: an archive without a .json or .yaml file"
    assert refusal(plain(a_txt="hello", b_txt="hello")) == "x.zip: an archive without a .json or .yaml file"


def test_what_is_packed_alone_is_read_whatever_it_is_called() -> None:
    assert parse_documents(plain(dump_txt="[1]"), "x.zip")[0].data == [1]


def test_a_member_nested_too_deep_is_refused() -> None:
    deep = "[" * 10**5 + "]" * 10**5
    assert refusal(plain(a_json=deep)).startswith("x.zip!a.json: nested deeper than 200 levels")


def test_cut_anywhere_it_is_one_line() -> None:
    data = plain(a_json='{"a": [1, 2, 3]}', b_json="{}")
    for length in range(4, len(data)):
        assert refusal(data[:length])
