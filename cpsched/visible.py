"""Foreign text made visible: characters that a terminal obeys, hides or reorders are written as escapes."""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F),  # combining grapheme joiner
        (0x115F, 0x1160),  # Hangul fillers
        (0x17B4, 0x17B5),  # Khmer inherent vowels
        (0x180B, 0x180F),  # Mongolian variation selectors
        (0x2800, 0x2800),  # Braille blank
        (0x3164, 0x3164),  # Hangul filler
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
        (0xE0100, 0xE01EF),  # variation selectors
    )
    for code in range(first, last + 1)
)
"""Python calls these printable, but no terminal shows them: two names could look alike."""


def visible(text: str, keep: str = "") -> str:
    r"""The text with everything that does not print written as `\x1b`, `\u202e` and so on, except what is in `keep`.

    Not printable are control characters (C0 with newline and tab, DEL, C1), what reorders text (bidi controls),
    separators other than the space, zero-width characters, and lone surrogates.
    """

    def shown(found: re.Match[str]) -> str:
        one = found[0]
        return one if one.isprintable() and one not in _BLANK else ascii(one)[1:-1]

    return _not_plain(keep).sub(shown, text)


@cache
def _not_plain(keep: str) -> re.Pattern[str]:
    return re.compile(f"[^ -~{re.escape(keep)}]")


def json_text(data: Any, indent: int | None = None) -> str:
    """JSON in which every character prints: json escapes all but DEL, which it takes for ASCII that prints."""
    import json  # slow to import, and cpsched.errors, which everything imports, needs this module

    return json.dumps(data, indent=indent).replace("\x7f", "\\u007f")
