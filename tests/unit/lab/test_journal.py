"""What was appended stays, whatever happens in between."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest

from cpsched.errors import InputError
from cpsched.lab.study.journal import Flaw, Journal
from cpsched.lab.study.records import Record

A, B, C, D = (letter * 64 for letter in "abcd")


def keys(journal: Journal[Record]) -> list[str]:
    return [entry[1].key for entry in journal.entries() if not isinstance(entry, Flaw)]


def flaws(journal: Journal[Record]) -> list[str]:
    return [str(entry.error) for entry in journal.entries() if isinstance(entry, Flaw)]


@pytest.fixture
def journal(tmp_path: Path) -> Journal[Record]:
    made = Journal(tmp_path / "results.jsonl", Record)
    for key in (A, B, C):
        made.append({"key": key, "text": "line\nbreak", "long": "x" * 100_000})
    return made


def test_records_come_back_in_order_and_by_place(journal: Journal[Record]) -> None:
    assert keys(journal) == [A, B, C]
    places = [entry[0] for entry in journal.entries() if not isinstance(entry, Flaw)]
    assert [place.line for place in places] == [1, 2, 3]
    assert [record.key for record in journal.at(reversed(places))] == [C, B, A]
    assert not journal.repair()


def test_an_absent_journal_is_empty(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "none.jsonl", Record)
    assert keys(journal) == []
    assert not journal.repair()


@pytest.mark.parametrize("cut", [1, 2, 50_000, 100_030])
def test_a_torn_last_line_is_passed_over_and_cut_off(journal: Journal[Record], cut: int) -> None:
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-cut])
    assert keys(journal) == [A, B]
    assert journal.repair()
    journal.append({"key": D})
    assert keys(journal) == [A, B, D]
    assert journal.path.read_bytes().startswith(whole[: len(whole) // 3 * 2])


def test_a_file_of_nothing_but_a_torn_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "results.jsonl", Record)
    journal.path.write_text('{"key":')
    assert journal.repair()
    assert journal.path.read_bytes() == b""


def test_a_spoilt_line_in_the_middle_costs_only_itself_and_is_stated(journal: Journal[Record]) -> None:
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(
        lines[0] + b"\0" * 5000 + b"\n[1]\n\n" + lines[2] + lines[1].replace(b'"text"', b'"key"') + b'{"key":'
    )
    assert keys(journal) == [A, C]
    first, second, third, fourth = flaws(journal)
    assert first == f"{journal.path}: line 2 column 1: not valid JSON: a value is missing"
    assert second.startswith(f"{journal.path}: line 3: a list should be a mapping")
    assert third == f"{journal.path}: line 4: 0 values on one line; write one"
    assert fourth == f"{journal.path}: line 6: the key key is there twice (first in line 6); keep one of them"


def test_what_cannot_be_read_is_set_aside_and_nothing_is_lost(journal: Journal[Record]) -> None:
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + b"[1]\n" + lines[1] + b"[2]\n" + lines[2])
    found, beside = journal.set_aside(lambda flaw: flaw.data == [1])
    assert [flaw.place.line for flaw in found] == [2]
    assert journal.path.read_bytes() == lines[0] + lines[1] + b"[2]\n" + lines[2]
    found, beside = journal.set_aside(lambda _: True)
    assert [flaw.place.line for flaw in found] == [3]
    assert (journal.path.read_bytes(), beside.read_bytes()) == (b"".join(lines), b"[1]\n[2]\n")
    assert journal.set_aside(lambda _: True)[0] == []


def test_a_full_disk_is_one_line_and_costs_no_record(journal: Journal[Record]) -> None:
    """The limit on the size of files stands for the disk: both refuse the write in the middle."""
    size = journal.path.stat().st_size
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, old[1]))
    try:
        with pytest.raises(InputError, match="cannot be written: File too large; make room and run the study again"):
            journal.append({"key": D, "text": "x" * 100})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert journal.path.stat().st_size == size + 10
    assert journal.repair()
    assert keys(journal) == [A, B, C]


def test_a_record_is_one_line(journal: Journal[Record]) -> None:
    assert [json.loads(line)["key"] for line in journal.path.read_text().split("\n")[:-1]] == [A, B, C]
