"""What was appended stays, whatever happens in between."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest

from cpsched.errors import InputError
from cpsched.lab.study.journal import Journal


def keys(journal: Journal) -> list[str]:
    return [record["key"] for _, record in journal.entries()]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(tmp_path / "results.jsonl")
    for key in "abc":
        made.append({"key": key, "text": "line\nbreak", "long": "x" * 100_000})
    return made


def test_records_come_back_in_order_and_by_place(journal: Journal) -> None:
    assert keys(journal) == ["a", "b", "c"]
    places = [place for place, _ in journal.entries()]
    assert [record["key"] for record in journal.at(reversed(places))] == ["c", "b", "a"]
    assert not journal.mend()


def test_an_absent_journal_is_empty(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "none.jsonl")
    assert keys(journal) == []
    assert not journal.mend()


@pytest.mark.parametrize("cut", [1, 2, 50_000, 100_030])
def test_a_torn_last_line_is_passed_over_and_cut_off(journal: Journal, cut: int) -> None:
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-cut])
    assert keys(journal) == ["a", "b"]
    assert journal.mend()
    journal.append({"key": "d"})
    assert keys(journal) == ["a", "b", "d"]
    assert journal.path.read_bytes().startswith(whole[: len(whole) // 3 * 2])


def test_a_file_of_nothing_but_a_torn_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "results.jsonl")
    journal.path.write_text('{"key":')
    assert journal.mend()
    assert journal.path.read_bytes() == b""


def test_a_spoilt_line_in_the_middle_costs_only_itself(journal: Journal) -> None:
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + b"\0" * 5000 + b"\n[1]\n" + lines[2])
    assert keys(journal) == ["a", "c"]
    [(place, record)] = [one for one in journal.entries() if one[1]["key"] == "c"]
    assert list(journal.at([place])) == [record]


def test_a_full_disk_is_one_line_and_costs_no_record(journal: Journal) -> None:
    """The limit on the size of files stands for the disk: both refuse the write in the middle."""
    size = journal.path.stat().st_size
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, old[1]))
    try:
        with pytest.raises(InputError, match="cannot be written: File too large; make room and run the study again"):
            journal.append({"key": "d", "text": "x" * 100})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert journal.path.stat().st_size == size + 10
    assert journal.mend()
    assert keys(journal) == ["a", "b", "c"]


def test_a_record_is_one_line(journal: Journal) -> None:
    assert [json.loads(line)["key"] for line in journal.path.read_text().split("\n")[:-1]] == ["a", "b", "c"]
