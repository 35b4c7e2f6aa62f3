"""Tar archives: every format that tar programs write, compressed or not; links are not followed, bombs refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
from collections.abc import Callable
from contextlib import suppress

import pytest

from cpsched import archives, packed
from cpsched.aside import FILES, LINKS, Aside
from cpsched.errors import InputError
from cpsched.parsing import parse_documents
from tests.dumps import tarred, zipped

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
MODES = ("w", "w:gz", "w:bz2", "w:xz")
LONG = "namespaces/" + "a-long-name-" * 12 + "/pods.json"


def refusal(data: bytes, aside: Aside | None = None) -> str:
    with pytest.raises(InputError) as refused:
        parse_documents(data, "x.tgz", aside)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_and_compression_is_read(mode: str, form: int) -> None:
    members = {"a.json": '{"a": 1}', "b/c.yaml": "b: 2\n---\nc: 3\n" + "# " + "x" * 1000, "b/notes.txt": "no"}
    found = parse_documents(tarred(members, mode, form), "dump")
    assert [tuple(one) for one in found] == [
        ("dump!a.json", {"a": 1}),
        ("dump!b/c.yaml", {"b": 2}),
        ("dump!b/c.yaml", {"c": 3}),
    ]


@pytest.mark.parametrize("form", FORMATS[1:])
def test_long_names_are_whole(form: int) -> None:
    data = tarred({LONG: "[1]", "b.json": "[2]"}, form=form)
    assert [one.file for one in parse_documents(data, "x")] == [f"x!{LONG}", "x!b.json"]


def test_a_name_in_two_parts_is_whole() -> None:
    name = "/".join(["folder" * 4] * 6) + "/pods.json"
    assert [one.file for one in parse_documents(tarred({name: "[1]"}, form=tarfile.USTAR_FORMAT), "x")] == [f"x!{name}"]


def test_folders_and_leading_slashes_mean_nothing() -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        folder = tarfile.TarInfo("dump")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        info = tarfile.TarInfo("/tmp/dump/a.json")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"[1]"))
    assert [one.file for one in parse_documents(stream.getvalue(), "x")] == ["x!tmp/dump/a.json"]


@pytest.mark.parametrize("sort", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_set_aside_or_refused(sort: bytes) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        odd = tarfile.TarInfo("a.json")
        odd.type, odd.linkname = sort, "/etc/passwd"
        archive.addfile(odd)
        info = tarfile.TarInfo("b.json")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"[1]"))
    assert "the member 'a.json' is " in refusal(stream.getvalue())
    aside = Aside()
    assert [one.file for one in parse_documents(stream.getvalue(), "x", aside)] == ["x!b.json"]
    assert aside.first_error(LINKS) is not None


@pytest.mark.parametrize("name", ["../a.json", "b/../../a.json", "C:/a.json", "a\x1b.json"])
def test_misleading_names_are_set_aside_or_refused(name: str) -> None:
    data = tarred({name: "[1]", "b.json": "[2]"})
    assert "the member " in refusal(data)
    assert [one.data for one in parse_documents(data, "x", Aside())] == [[2]]


def test_a_name_twice_is_set_aside_or_refused() -> None:
    data = tarred({"a.json": "[1]"})[:1024] + tarred({"a.json": "[2]"})
    assert "the member 'a.json' is there twice" in refusal(data)
    assert [one.data for one in parse_documents(data, "x", Aside())] == [[1]]


def test_content_that_follows_a_sparse_file_is_found() -> None:
    plain = tarred({"core.json": b"x" * 600, "b.json": "[2]"}, form=tarfile.GNU_FORMAT)
    header = bytearray(plain[:512])
    header[156:157], header[482] = b"S", 1
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}".encode() + b"\0 "
    data = bytes(header) + bytes(512) + plain[512:]
    assert [one.data for one in parse_documents(data, "x", Aside())] == [[2]]


def test_the_end_may_come_without_zeros_but_not_within_a_member() -> None:
    data = tarred({"a.json": "[1]", "b.json": "[" + "1, " * 300 + "2]"})
    whole = 4 * 512 + 512
    assert len(parse_documents(data[:whole], "x")) == 2
    for length in (600, 1023, 1100, 1536, whole - 1):
        assert "broken tar archive (it ends too early)" in refusal(data[:length], Aside())
    assert "broken tar archive (a header is damaged)" in refusal(data[:1024] + b"x" * 512, Aside())
    damaged = data[:1030] + b"X" + data[1031:]
    assert "broken tar archive (a header is damaged)" in refusal(damaged, Aside())


def test_a_link_has_no_content_whatever_its_header_states() -> None:
    link = bytearray(tarred({"a.json": "[1]"})[:512])
    link[156:157] = b"1"
    link[148:156] = b" " * 8
    link[148:156] = f"{sum(link):06o}".encode() + b"\0 "
    assert [one.data for one in parse_documents(bytes(link) + tarred({"b.json": "[2]"}), "x", Aside())] == [[2]]


def test_numbers_in_binary_and_in_octal() -> None:
    data = bytearray(tarred({"a.json": "[1]"}))
    data[124:136] = b"\x80" + (3).to_bytes(11, "big")
    data[148:156] = b" " * 8
    data[148:156] = f"{sum(data[:512]):06o}".encode() + b"\0 "
    assert parse_documents(bytes(data), "x")[0].data == [1]


def test_cut_or_flipped_anywhere_it_is_an_input_error_or_a_result() -> None:
    for mode in MODES:
        data = tarred({"a.json": '{"a": [1, 2, 3]}', LONG: "{}", "l.json": "->a.json"}, mode)
        for position in range(0, len(data), 37):
            spoiled = bytearray(data)
            spoiled[position] ^= 0xFF
            for one in (bytes(spoiled), data[: position + 5]):
                with suppress(InputError):
                    parse_documents(one, "x", Aside())


def test_what_a_header_states_of_the_size_is_not_believed() -> None:
    data = bytearray(tarred({"a.json": "[1]", "b.json": "[2]"}))
    data[124:136] = b"77777777777\0"
    data[148:156] = b" " * 8
    data[148:156] = f"{sum(data[:512]):06o}".encode() + b"\0 "
    assert "unpacks to more than 1024 MiB" in refusal(bytes(data), Aside())
    data[0:6] = b"a.text"
    data[148:156] = b" " * 8
    data[148:156] = f"{sum(data[:512]):06o}".encode() + b"\0 "
    assert "it ends too early" in refusal(bytes(data), Aside())


def test_a_header_that_extends_another_is_bounded() -> None:
    header = bytearray(tarred({"a.json": "[1]"})[:512])
    header[124:136], header[156:157] = b"00100000000\0", b"L"
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}".encode() + b"\0 "
    assert "broken tar archive (a header of 16777216 bytes)" in refusal(bytes(header) + bytes(2**25))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_bombs_are_refused_by_their_ratio(pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "FREE_OF_RATIO", 2**20)
    output = "unpacks to more than 500 times its size; is it a decompression bomb?"
    log = tarred({"big.log": bytes(2**22), "a.json": "[1]"})
    assert output in refusal(pack(log), Aside()), "also of what is only passed over"
    assert output in refusal(pack(b" " * 2**22))


def test_members_are_bounded_also_across_nested_archives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 4)
    inner = zipped({"a.json": "1", "b.json": "2"})
    assert len(parse_documents(tarred({"in.zip": inner, "c.json": "[]"}, "w:gz"), "x")) == 3
    many = tarred({"in.zip": inner, "c.json": "[]", "d.json": "[]"}, "w:gz")
    assert "an archive of more than 4 files" in refusal(many, Aside())


def test_sizes_are_bounded_as_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_TOTAL", 1000)
    data = tarred({"a.json": "[" + " " * 600 + "]", "b.log": bytes(5000), "c.json": "[" + " " * 600 + "]"})
    assert "x.tgz!c.json: unpacks to more than 0 MiB" in refusal(data, Aside())


def test_the_whole_stream_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_STREAM", 2**20)
    data = tarred({"b.log": bytes(2**21), "c.json": "[]"}, "w:gz")
    assert "unpacks to more than 1 MiB" in refusal(data, Aside())


def test_xz_may_not_take_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_XZ_MEMORY", 2**20)
    assert "broken xz data" in refusal(tarred({"a.json": "[1]"}, "w:xz"))


def test_compressed_data_is_unpacked_to_its_end_or_refused() -> None:
    assert parse_documents(lzma.compress(b"[1]"), "x")[0].data == [1]
    assert parse_documents(bz2.compress(b"[1]"), "x")[0].data == [1]
    for data in (lzma.compress(b"[1]" * 99), bz2.compress(b"[1]" * 99), gzip.compress(b"[1]" * 99)):
        assert "broken " in refusal(data[:-9])
    assert "several xz streams" in refusal(lzma.compress(b"[1]") + lzma.compress(b"[2]"))


def test_an_archive_in_an_archive_is_read_and_one_in_that_is_set_aside() -> None:
    inner = tarred({"a.json": "[1]"}, "w:gz")
    middle = tarred({"inner.tgz": inner, "b.json": "[2]"})
    assert [one.file for one in parse_documents(middle, "x")] == ["x!inner.tgz!a.json", "x!b.json"]
    aside = Aside()
    outer = zipped({"middle.tar": middle, "c.json": "[3]"})
    assert [one.data for one in parse_documents(outer, "x", aside)] == [[2], [3]]
    assert "an archive in an archive in an archive" in str(aside.first_error(FILES))


def test_an_empty_archive_is_one() -> None:
    assert refusal(bytes(10240)) == "x.tgz: an archive without a .json or .yaml file"
    assert refusal(struct.pack("512x")) != "x.tgz: an archive without a .json or .yaml file"
