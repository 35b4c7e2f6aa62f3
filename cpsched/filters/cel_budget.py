"""What evaluating a CEL selector may cost: a bound in steps and sizes, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cpsched.filters.cel_errors import NotUnderstoodError, TooExpensiveError

MOST_STEPS = 100_000
"""Parts of the expression that are visited, in loops again and again; usual selectors take a few hundred."""
MOST_SIZE = 10_000
"""Values in one value, written out; texts count one more for every hundred characters."""
_TEXT_LIKE_A_VALUE = 100
_VALUES_PER_STEP = 10
_STEPS_PER_MATCHED_CHARACTER = 10


class CelBudget:
    """What is left, and how large the values are that were met."""

    def __init__(self) -> None:
        self._left = MOST_STEPS
        self._sizes: dict[int, tuple[int, Any]] = {}
        """By identity, with the value, so that no other gets its identity."""

    @property
    def spent(self) -> int:
        """The steps taken so far."""
        return MOST_STEPS - self._left

    def spend(self, steps: int) -> None:
        """Take so many steps."""
        self._left -= steps
        if self._left < 0:
            raise TooExpensiveError

    def meet(self, value: Any) -> None:
        """Pay for a value that was made or handed on: a text for its length, a list or map once for its content."""
        if isinstance(value, str | bytes) or (isinstance(value, list | dict) and id(value) not in self._sizes):
            self.spend(self.size(value) // _VALUES_PER_STEP)

    def size(self, value: Any) -> int:
        """How many values are in it, itself included."""
        if isinstance(value, str | bytes):
            found = 1 + len(value) // _TEXT_LIKE_A_VALUE
        elif isinstance(value, list | dict):
            if id(value) not in self._sizes:
                self._sizes[id(value)] = (1 + sum(map(self.size, _content(value))), value)
            found = self._sizes[id(value)][0]
        else:
            found = 1
        if found > MOST_SIZE:
            raise TooExpensiveError
        return found

    def paid(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; what it is given is paid for, and what it is going to make before it makes it."""

        def call(*arguments: Any) -> Any:
            self.spend(sum(map(self.size, arguments)) // _VALUES_PER_STEP)
            if name in COSTS:
                self.spend(COSTS[name](*arguments))
            return function(*arguments)

        return call


def _content(value: Any) -> list[Any]:
    return [*value, *value.values()] if isinstance(value, dict) else value


def _numbers_only(*arguments: Any) -> int:
    if any(isinstance(one, str | bytes | list) for one in arguments):
        raise TypeError("no such overload")
    return 0


def _refused(*_: Any) -> int:
    raise NotUnderstoodError("durations and timestamps")


COSTS: Mapping[str, Callable[..., int]] = {
    "replace": lambda value, old, new: (len(value) + value.count(old) * len(new)) // _TEXT_LIKE_A_VALUE,
    "split": lambda value, by: value.count(by),
    "matches": lambda text, pattern: _STEPS_PER_MATCHED_CHARACTER * len(text) + len(pattern),
    # cel-python would repeat and format text.
    "_*_": _numbers_only,
    "_%_": _numbers_only,
    # cel-python reads these with patterns that can take for ever.
    "duration": _refused,
    "timestamp": _refused,
}
"""Steps of functions that can make more than they are given, or take longer; by what they are given."""
