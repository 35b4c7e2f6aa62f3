"""What is set aside is stated in a few lines: what, how often, where, and the most important first."""

from __future__ import annotations

from cpsched.aside import FILES, LINKS, LOGS, MOST_REASONS, NO_OBJECTS, OBJECTS, OTHER_FILES, SORTS, TWICE, Aside
from cpsched.errors import InputError


def test_nothing_is_no_line() -> None:
    assert Aside().summary("x") == []
    assert list(Aside().rows("x")) == []


def test_a_line_for_each_sort_with_a_few_places() -> None:
    aside = Aside()
    for number in range(5):
        aside.add(OTHER_FILES, f"dump/logs/{number}.log")
    aside.add(TWICE, "dump/pods.json", "Pod a/b")
    right = "write 1Gi"
    aside.add_error(OBJECTS, InputError("no quantity", file="dump/pods.json", place="Pod a/c: spec", right=right))
    aside.add_error(NO_OBJECTS, InputError("an object without a kind", file="dump/values.yaml"))
    assert aside.summary("dump") == [
        "set aside: 1 unreadable object (pods.json: Pod a/c: spec: no quantity; write 1Gi)",
        "set aside: 1 document that holds no objects (values.yaml)",
        "set aside: 1 object given twice (pods.json: Pod a/b)",
        "set aside: 5 files that are neither JSON nor YAML (logs/0.log; logs/1.log; logs/2.log; ...)",
    ]
    assert list(aside.rows("dump"))[-1] == (OTHER_FILES.many, "", 5, "logs/0.log; logs/1.log; logs/2.log; ...")


def test_names_begin_at_what_was_given() -> None:
    aside = Aside()
    aside.add(OTHER_FILES, "a.tgz!b.log")
    aside.add(LOGS, "a.tgz", count=7)
    aside.add(TWICE, "a.tgz", "Pod p")
    aside.add(LINKS, "elsewhere/a.tgz!x")
    assert aside.summary("a.tgz") == [
        "set aside: 1 link or special file, which is not read (elsewhere/a.tgz!x)",
        "set aside: 1 object given twice (Pod p)",
        "set aside: 1 file that is neither JSON nor YAML (b.log)",
        "set aside: 7 container logs",
    ]


def test_at_most_six_lines() -> None:
    aside = Aside()
    for sort in SORTS[:6]:
        aside.add(sort, "x")
    assert len(aside.summary("x")) == 6
    for sort in SORTS:
        aside.add(sort, "x")
    lines = aside.summary("x")
    assert len(lines) == 6
    assert lines[0].startswith("set aside: 2 unreadable objects")
    assert lines[-1] == "set aside: 5 more sorts of things; cpsched import --report shows all"
    assert len(list(aside.rows("x"))) == len(SORTS)


def test_reasons_without_end_are_counted_together() -> None:
    aside = Aside()
    for number in range(MOST_REASONS + 500):
        aside.add(FILES, "x", why=str(number))
    rows = list(aside.rows("y"))
    assert len(rows) == MOST_REASONS + 1
    assert rows[0] == (FILES.many, "", 500, "x; x; x; ...")
    assert aside.summary("y")[0].startswith(f"set aside: {MOST_REASONS + 500} unreadable files (x: 0; x: 1; x: 2; ...")


def test_one_takes_over_what_another_has() -> None:
    first, second = Aside(), Aside()
    for _ in range(2):
        first.add_error(FILES, InputError("bad", file="a"))
    for _ in range(5):
        second.add_error(FILES, InputError("bad", file="b"))
    second.add_error(OBJECTS, InputError("worse", file="c"))
    first.update(second)
    assert list(first.rows("")) == [
        (OBJECTS.many, "worse", 1, "c"),
        (FILES.many, "bad", 7, "a; a; b; ..."),
    ]
    assert str(first.first_error(OBJECTS)) == "c: worse"
    assert str(first.first_error(LINKS, FILES)) == "a: bad"
    assert first.first_error(LINKS) is None
