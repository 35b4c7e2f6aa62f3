"""Patterns of Go's regexp syntax, parsed to steps of an automaton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from cpsched.errors import InputError
from cpsched.topology.regex_classes import CATEGORIES, PERL, POSIX, CharTest, any_of, between, of_category, without

_MOST_REPEATS, _MOST_STEPS, _DEEPEST = 1000, 2000, 200
_ESCAPES = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}


class _PatternError(Exception):
    """Go does not compile the pattern."""


@dataclass(frozen=True)
class Char:
    """One character that a test accepts."""

    accepts: CharTest


@dataclass(frozen=True)
class Split:
    """Go on at any of the places."""

    targets: tuple[int, ...]


@dataclass(frozen=True)
class Assertion:
    """Nothing is read, but something must hold."""

    holds: Callable[[str, int], bool]


Step = Char | Split | Assertion
Relative = list[Step]
"""Steps whose splits count from their own place."""


@dataclass(frozen=True)
class Program:
    """Steps one after the other; a match is complete behind the last."""

    steps: tuple[Step, ...]

    @property
    def end(self) -> int:
        """The place behind the last step."""
        return len(self.steps)


@dataclass(frozen=True)
class Flags:
    """`(?ims)`; `U` turns laziness round, which does not matter here."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


class Parser:
    """Recursive descent over the pattern."""

    def __init__(self, pattern: str):
        self._text, self._place, self._depth = pattern, 0, 0
        self._flags = Flags()
        self._names: set[str] = set()

    def program(self) -> Program | None:
        """The steps; None where Go refuses the pattern."""
        try:
            relative = self._alternatives()
            if self._place < len(self._text):
                raise _PatternError
        except _PatternError:
            return None
        return Program(tuple(_absolute(step, place) for place, step in enumerate(relative)))

    def _peek(self, text: str) -> bool:
        return self._text.startswith(text, self._place)

    def _take(self, text: str) -> bool:
        found = self._peek(text)
        self._place += len(text) * found
        return found

    def _next(self) -> str:
        if self._place >= len(self._text):
            raise _PatternError
        self._place += 1
        return self._text[self._place - 1]

    def _alternatives(self) -> Relative:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise InputError("a regular expression is nested too deeply", right=f"at most {_DEEPEST} levels")
        before, branches = self._flags, [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        self._depth -= 1
        self._flags = before
        joined = branches.pop()
        for branch in reversed(branches):
            joined = [Split((1, len(branch) + 2)), *branch, Split((len(joined) + 1,)), *joined]
            _limit(joined)
        return joined

    def _sequence(self) -> Relative:
        steps: Relative = []
        while self._place < len(self._text) and not self._peek("|") and not self._peek(")"):
            atom = self._atom()
            if atom is not None:
                steps += self._repeated(atom)
            _limit(steps)
        return steps

    def _atom(self) -> Relative | None:
        """One atom; None where only flags were set."""
        if self._take("(?"):
            return self._group()
        if self._take("("):
            return self._closed(self._alternatives())
        if self._take(r"\Q"):
            end = self._text.find(r"\E", self._place)
            quoted = self._text[self._place :] if end < 0 else self._text[self._place : end]
            self._place = len(self._text) if end < 0 else end + 2
            # What follows repeats the last character only.
            return self._quoted(quoted)
        char = self._next()
        if char in "*+?":
            raise _PatternError
        if char == "[":
            return [Char(self._folded(self._char_class()))]
        if char == ".":
            return [Char((lambda c: True) if self._flags.s else (lambda c: c != "\n"))]
        if char in "^$":
            return [Assertion(_edge(char, multiline=self._flags.m))]
        if char == "\\":
            return [self._escape()]
        return [self._literal(char)]

    def _quoted(self, text: str) -> Relative | None:
        if not text:
            return None
        literals: Relative = [self._literal(char) for char in text]
        return [*literals[:-1], *self._repeated(literals[-1:])]

    def _closed(self, inner: Relative) -> Relative:
        if not self._take(")"):
            raise _PatternError
        return inner

    def _group(self) -> Relative | None:
        if self._take("P<") or self._take("<"):
            end = self._text.find(">", self._place)
            name = self._text[self._place : end]
            if end < 0 or not name or not all(PERL["w"](c) for c in name) or name in self._names:
                raise _PatternError
            self._names.add(name)
            self._place = end + 1
            return self._closed(self._alternatives())
        before, value, seen = self._flags, True, False
        while True:
            char = self._next()
            if char in "imsU":
                self._flags, seen = replace(self._flags, **{char: value}), True
            elif char == "-" and value:
                value, seen = False, False
            elif char in ":)" and (seen or value):
                break
            else:
                raise _PatternError
        if char == ")":
            return None
        inner = self._closed(self._alternatives())
        self._flags = before
        return inner

    def _repeated(self, atom: Relative) -> Relative:
        operators = 0
        while (bounds := self._bounds()) is not None:
            operators += 1
            if operators > 1:
                # Go refuses `a**` but for the lazy `?`, which is read with the bounds.
                raise _PatternError
            atom = _repeat(atom, *bounds)
        return atom

    def _bounds(self) -> tuple[int, int | None] | None:
        found: tuple[int, int | None] | None = None
        if self._take("*"):
            found = (0, None)
        elif self._take("+"):
            found = (1, None)
        elif self._take("?"):
            found = (0, 1)
        elif self._peek("{"):
            found = self._braces()
        if found is not None:
            self._take("?")
        return found

    def _braces(self) -> tuple[int, int | None] | None:
        """`{n}`, `{n,}` or `{n,m}`; anything else is a literal brace."""
        end = self._text.find("}", self._place)
        low, comma, high = self._text[self._place + 1 : end].partition(",") if end > 0 else ("", "", "")
        numbers = [part for part in (low, high) if part]
        if not low or not all(part.isascii() and part.isdigit() and len(part) < 9 for part in numbers):
            return None
        least = int(low)
        most = (int(high) if high else None) if comma else least
        if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < least):
            raise _PatternError
        self._place = end + 1
        return least, most

    def _literal(self, char: str) -> Char:
        return Char(self._folded(lambda c: c == char))

    def _folded(self, accepts: CharTest) -> CharTest:
        if not self._flags.i:
            return accepts
        return lambda c: accepts(c) or accepts(c.lower()) or accepts(c.upper())

    def _escape(self) -> Step:
        char = self._next()
        if char in "Az":
            return Assertion(_edge("^" if char == "A" else "$", multiline=False))
        if char in "bB":
            return Assertion(_word_edge(wanted=char == "b"))
        named = self._named_class(char)
        if named is not None:
            return Char(self._folded(named))
        if char == "C":
            return Char(lambda c: True)
        return self._literal(self._escaped(char))

    def _named_class(self, char: str) -> CharTest | None:
        if char in PERL:
            return PERL[char]
        if char.lower() in PERL:
            return without(PERL[char.lower()])
        if char not in "pP":
            return None
        name = self._next()
        if name == "{":
            end = self._text.find("}", self._place)
            if end < 0:
                raise _PatternError
            name, self._place = self._text[self._place : end], end + 1
        negated = (char == "P") != name.startswith("^")
        category = name.removeprefix("^")
        if category not in CATEGORIES:
            if category == "Any":
                return without(lambda c: True) if negated else (lambda c: True)
            wrong = f"the class {category} of a regular expression is not supported"
            raise InputError(wrong, right="general categories such as L or Lu")
        inside = of_category(category)
        return without(inside) if negated else inside

    def _escaped(self, char: str) -> str:
        """The character that an escape stands for."""
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char == "x":
            return self._hexadecimal()
        if char in "01234567":
            # A single digit from 1 to 7 would be a back reference.
            digits = char
            while len(digits) < 3 and self._place < len(self._text) and self._text[self._place] in "01234567":
                digits += self._next()
            if char != "0" and len(digits) == 1:
                raise _PatternError
            return chr(int(digits, 8))
        if char.isascii() and not char.isalnum():
            return char
        raise _PatternError

    def _hexadecimal(self) -> str:
        if self._take("{"):
            end = self._text.find("}", self._place)
            digits, self._place = self._text[self._place : end], end + 1
            if end < 0:
                raise _PatternError
        else:
            digits = self._next() + self._next()
        if not digits or len(digits) > 8 or not all(map(POSIX["xdigit"], digits)) or int(digits, 16) > 0x10FFFF:
            raise _PatternError
        return chr(int(digits, 16))

    def _char_class(self) -> CharTest:
        negated = self._take("^")
        parts: list[CharTest] = []
        first = True
        while first or not self._peek("]"):
            if self._take("[:"):
                parts.append(self._posix())
            else:
                self._class_item(parts)
            first = False
            _limit(parts)
        self._next()
        inside = any_of(parts)
        return without(inside) if negated else inside

    def _posix(self) -> CharTest:
        end = self._text.find(":]", self._place)
        name = self._text[self._place : end] if end >= 0 else ""
        if name.removeprefix("^") not in POSIX:
            raise _PatternError
        self._place = end + 2
        inside = POSIX[name.removeprefix("^")]
        return without(inside) if name.startswith("^") else inside

    def _class_item(self, parts: list[CharTest]) -> None:
        char = self._next()
        if char == "\\":
            char = self._next()
            named = self._named_class(char)
            if named is not None:
                parts.append(named)
                return
            char = self._escaped(char)
        last = char
        if self._peek("-") and not self._peek("-]"):
            self._next()
            last = self._next()
            if last == "\\":
                last = self._escaped(self._next())
        if last < char:
            raise _PatternError
        parts.append(between(char, last))


def _repeat(atom: Relative, least: int, most: int | None) -> Relative:
    if len(atom) * max(least, most or 1) > _MOST_STEPS:
        _too_large()
    steps = atom * least
    if most is None:
        if least:
            return [*steps, Split((1, -len(atom)))]
        return [Split((1, len(atom) + 2)), *atom, Split((-len(atom) - 1,))]
    optional: Relative = []
    for _ in range(most - least):
        optional = [Split((1, len(atom) + len(optional) + 1)), *atom, *optional]
    return [*steps, *optional]


def _limit(steps: list[Step] | list[CharTest]) -> None:
    if len(steps) > _MOST_STEPS:
        _too_large()


def _too_large() -> None:
    raise InputError("a regular expression is too large", right=f"at most {_MOST_STEPS} steps with repetitions")


def _absolute(step: Step, place: int) -> Step:
    return Split(tuple(place + target for target in step.targets)) if isinstance(step, Split) else step


def _edge(char: str, *, multiline: bool) -> Callable[[str, int], bool]:
    if char == "^":
        return lambda text, place: place == 0 or (multiline and text[place - 1] == "\n")
    return lambda text, place: place == len(text) or (multiline and text[place] == "\n")


def _word_edge(*, wanted: bool) -> Callable[[str, int], bool]:
    word = PERL["w"]

    def holds(text: str, place: int) -> bool:
        before = place > 0 and word(text[place - 1])
        after = place < len(text) and word(text[place])
        return (before != after) == wanted

    return holds
