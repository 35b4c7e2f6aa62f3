"""Connected components, against a walk from every thing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cpsched.components import components

GROUPS = st.lists(st.lists(st.integers(0, 12), max_size=4), max_size=8)


@given(GROUPS)
def test_as_a_walk_from_every_thing_finds_them(groups: list[list[int]]) -> None:
    things = list(range(13))
    found = components(things, groups)
    assert sorted(thing for one in found for thing in one) == things
    for thing in things:
        reached, waiting = {thing}, [thing]
        while waiting:
            one = waiting.pop()
            new = {other for group in groups if one in group for other in group} - reached
            reached |= new
            waiting += new
        assert next(set(one) for one in found if thing in one) == reached


def test_the_order_is_that_of_the_things() -> None:
    assert components("dacb", [("a", "b"), ("b", "d")]) == [["d", "a", "b"], ["c"]]
    assert components((), ()) == []
