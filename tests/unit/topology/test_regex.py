"""Go's regular expressions on names: the answers of RE2, in time linear in the name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpsched.errors import InputError
from cpsched.topology.regex import compiled

NAMES = ("node-2", "n01x", "aaaaaaaab", "foo-1", "", "a.bb", "GPU_7")


@pytest.mark.parametrize(
    "pattern",
    [
        "^node-[0-3]$",
        "n(0|1)+x",
        "(a+)+$",
        r"\d{2,3}",
        r"[^a-c-e]b",
        "a|b|",
        "^$",
        "x*",
        r"\bfoo\b",
        r"\Boo",
        "(?P<x>a)b",
        "(?:ab)?c",
        "(?i)node",
        "(?i:GP)U",
        r"\w+_\d",
        r"[\d.]b",
        r"\x61\.b",
        r"[a\-]b",
        "a{2}?b",
        "a{,3}",
        r"\Aa.*b\z",
    ],
)
def test_it_answers_as_python_where_both_read_the_same(pattern: str) -> None:
    expected = pattern.replace(r"\z", r"\Z").replace("a{,3}", r"a\{,3\}")
    found = compiled(pattern)
    assert found is not None
    assert [found.found_in(name) for name in NAMES] == [bool(re.search(expected, name)) for name in NAMES]


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("[[:alpha:]]-", {"node-2", "foo-1"}),
        ("[[:^alpha:]]$", {"node-2", "foo-1", "GPU_7"}),
        (r"\pL\d", {"n01x"}),
        (r"\p{Lu}{3}", {"GPU_7"}),
        (r"^\P{Ll}", {"GPU_7"}),
        (r"\Qa.b\Eb", {"a.bb"}),
        (r"(?s).\x{2e}.", {"a.bb"}),
        ("a-b-", set()),
    ],
)
def test_it_reads_what_python_does_not(pattern: str, matching: set[str]) -> None:
    found = compiled(pattern)
    assert found is not None
    assert {name for name in NAMES if found.found_in(name)} == matching


@pytest.mark.parametrize(
    "pattern",
    ["n[0-", "(", ")", "*a", "a**", "a{2}{3}", "a{3,2}", "a{1,1001}", r"\1", r"\y", "(?=a)", "[b-a]", "(?P<>a)", "a\\"],
)
def test_what_go_does_not_compile_selects_nothing(pattern: str) -> None:
    assert compiled(pattern) is None


@pytest.mark.parametrize("pattern", ["(" * 300 + ")" * 300, "(a{100}){100}", r"\p{Greek}"])
def test_what_is_too_large_or_not_supported_is_stated(pattern: str) -> None:
    with pytest.raises(InputError, match="regular expression"):
        compiled(pattern)


def test_nothing_backtracks() -> None:
    found = compiled("(a*)*(a*)*(a*)*b$")
    assert found is not None
    assert not found.found_in("a" * 250)


@given(st.text("ab|*()[]-\\d^${}1,?+.", max_size=12), st.text("ab1-", max_size=6))
def test_no_pattern_breaks_it(pattern: str, name: str) -> None:
    found = compiled(pattern)
    if found is None or re.search(r"[\[\\{$]", pattern):
        # Python reads sets, escapes, bounds and the end of a text otherwise.
        return
    try:
        expected = re.compile(pattern)
    except re.error:
        return
    assert found.found_in(name) == bool(expected.search(name))
