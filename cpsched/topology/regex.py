"""Go's regular expressions on node names, in time linear in the name: every state is followed at once.

Mirrors what `regexp.MatchString` answers; groups, laziness and the place of the match make no difference to it.
"""

from __future__ import annotations

from functools import lru_cache

from cpsched.topology.regex_parse import Assertion, Char, Parser, Program, Split


class Pattern:
    """A compiled pattern."""

    def __init__(self, program: Program):
        self._program = program

    def found_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        current: set[int] = set()
        for place in range(len(text) + 1):
            # A match may begin at any place.
            self._follow(0, text, place, current)
            if self._program.end in current:
                return True
            if place == len(text):
                return False
            following: set[int] = set()
            for state in current:
                step = self._program.steps[state]
                if isinstance(step, Char) and step.accepts(text[place]):
                    self._follow(state + 1, text, place + 1, following)
            current = following
        return False

    def _follow(self, state: int, text: str, place: int, reached: set[int]) -> None:
        waiting = [state]
        while waiting:
            state = waiting.pop()
            if state in reached:
                continue
            reached.add(state)
            if state == self._program.end:
                continue
            step = self._program.steps[state]
            if isinstance(step, Split):
                waiting += step.targets
            elif isinstance(step, Assertion) and step.holds(text, place):
                waiting.append(state + 1)


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Pattern | None:
    """The pattern, None where Go does not compile it; InputError where it is not supported here."""
    program = Parser(pattern).program()
    return None if program is None else Pattern(program)
