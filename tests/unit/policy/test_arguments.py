from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.policy.arguments import Argument, Arguments, Value, resolve
from cpsched.policy.notes import Notes

TABLE = {
    "whole": Argument("integer", 7),
    "factor": Argument("number", 1.2, least=1.0),
    "switch": Argument("boolean", True),
    "words": Argument("text", "none"),
    "wait": Argument("duration"),
    "hard": Argument("strict", 3, least=0),
    "old": Argument("unread"),
    "zone.*": Argument("window"),
}


def read(given: dict[str, object], notes: Notes | None = None) -> Arguments:
    return resolve(given, TABLE, "plugin toy", notes or Notes(), "arguments")


def test_what_is_not_given_has_its_default() -> None:
    arguments = read({})
    assert (arguments.integer("whole"), arguments.number("factor"), arguments.boolean("switch")) == (7, 1.2, True)
    assert (arguments.text("words"), arguments.nanoseconds("wait"), arguments.family("zone.")) == ("none", None, {})


@pytest.mark.parametrize(
    ("key", "raw", "expected"),
    [
        ("whole", 5, 5),
        ("whole", -5, -5),
        ("factor", 2, 2.0),
        ("factor", 1.5, 1.5),
        ("switch", False, False),
        ("switch", "false", False),
        ("switch", "F", False),
        ("switch", "0", False),
        ("switch", "T", True),
        ("words", "a, b", "a, b"),
        ("wait", "3m", 180_000_000_000),
        ("hard", 2.9, 2),
        ("zone.a", "10:00-21:00", "10:00-21:00"),
    ],
)
def test_a_fitting_value_is_taken_without_a_word(key: str, raw: object, expected: Value) -> None:
    notes = Notes()
    assert read({key: raw}, notes).values[key] == expected
    assert notes.warnings == []


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("whole", "5"),
        ("whole", 5.0),
        ("whole", True),
        ("whole", None),
        ("factor", "1.5"),
        ("factor", True),
        ("factor", 0.9),
        ("switch", "yes"),
        ("switch", "tRuE"),
        ("switch", 1),
        ("words", 1),
        ("wait", 180),
        ("wait", "0s"),
        ("wait", "soon"),
        ("hard", -1),
    ],
)
def test_a_misfit_is_ignored_with_a_warning(key: str, raw: object) -> None:
    notes = Notes("f.conf")
    assert read({key: raw}, notes).values[key] == TABLE[key].default
    (warning,) = notes.warnings
    assert warning.startswith(f"f.conf: arguments.{key}: ")


@pytest.mark.parametrize(("key", "raw"), [("hard", "3"), ("hard", True), ("zone.a", 600)])
def test_what_would_end_the_scheduler_is_an_error(key: str, raw: object) -> None:
    with pytest.raises(InputError, match="stops the scheduler"):
        read({key: raw}, Notes())


def test_an_argument_that_upstream_does_not_read_may_hold_anything() -> None:
    notes = Notes()
    read({"old": object()}, notes)
    assert notes.warnings == []


def test_an_unknown_argument_is_named_with_the_nearest_known_one() -> None:
    notes = Notes()
    assert "whale" not in read({"whale": 1}, notes).values
    (warning,) = notes.warnings
    assert (
        "unknown argument whale of plugin toy is ignored, as by Volcano; did you mean whole? known: factor," in warning
    )
    with pytest.raises(InputError, match="unknown argument whale"):
        read({"whale": 1}, Notes(strict=True))


def test_a_family_needs_a_member_name() -> None:
    notes = Notes()
    assert read({"zone.": "10:00-21:00"}, notes).family("zone.") == {}
    assert "unknown argument zone. of plugin toy" in notes.warnings[0]
