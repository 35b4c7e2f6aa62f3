"""The words of the house: no old word in names, strings, comments and pages, but for a list that only shrinks."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SAY: dict[str, str] = {
    "sketch": "relaxed model",
    "sketches": "relaxed models",
    "foresight": "bounding pass",
    "foresee": "bound",
    "foreseen": "bound",
    "hope": "bound",
    "hopes": "bounds",
    "hoped": "targeted",
    "vain": "not attained",
    "mend": "drop violations, fix",
    "mends": "fixes",
    "mended": "without violations",
    "mending": "dropping violations",
    "unfold": "disaggregate",
    "unfolded": "disaggregated",
    "unfolding": "disaggregation",
    "outline": "class counts",
    "outlined": "counts",
    "racer": "worker process",
    "race": "portfolio",
    "raced": "ran in parallel",
    "rival": "second solver, alternative",
    "rivals": "alternatives, competitors",
    "excuse": "slack",
    "excuses": "slacks",
    "lenient": "elastic",
    "kin": "identical",
    "twin": "identical",
    "twins": "identical ones",
    "said": "feature, output",
    "told": "given, output",
    "story": "trace",
    "stories": "traces",
    "dice": "random choice",
    "luck": "random choice",
    "liar": "forger",
    "manners": "conventions",
    "whoever": "name the task, the job or the node",
    "whomever": "name the task, the job or the node",
    "nobody": "no task, no job",
    "somebody": "a task, a job",
    "everybody": "all tasks, all jobs",
    "anybody": "any task, any job",
    "anew": "again",
    "shall": "drop it",
    "judge": "checker",
    "judged": "checked",
    "judges": "checks",
    "judging": "checking",
    "pool": "node class",
    "pools": "node classes",
    "claimant": "entitled job",
    "wholeness": "integrality",
    "holder": "prover",
    "refuted": "infeasible",
}
"""Old word → what to say instead."""

PLACES = ["cpsched/**/*.py", "tests/**/*.py", "docs/**/*.py", "docs/**/*.md", "*.md"]
"""Where they are forbidden: everywhere."""

OF_HISTORY = {"CHANGELOG.md", "tests/docs/test_words.py"}
"""Files that name what was."""

QUOTED = {"lenient": "cpsched/optimum", "pool": "cpsched/optimum", "pools": "cpsched/optimum"}
"""Words of others, forbidden in one room only: an option's name; pools of devices and of processes."""

PUBLIC = re.compile(r"volcano-eviction-serves-nobody|InvalidPoolError|(?s:### Say this, not that\n\n.*?\n\n)")
"""Not searched: a shipped instance's name, an error of device pools, and the table of these words itself."""

LEFT = {
    "cpsched/explanation": "rivals told",
    "cpsched/gate": "judge",
    "tests/cli": "judge rivals",
    "tests/unit": "rivals told",
}
"""Room → old words that it still has as fields of a released JSON form (`told` and `rivals` of an Explanation) or as a
released method (`judge` of a case). It only shrinks: a word that a room no longer has is taken out here."""

MOST_LEFT = 7
"""Entries of the list; lower it when the list gets shorter."""

FILES = sorted({path for place in PLACES for path in ROOT.glob(place) if str(path.relative_to(ROOT)) not in OF_HISTORY})
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words(path: Path) -> Iterator[tuple[int, str]]:
    """(line, word) of names, strings and comments of a module, or of a page; names are cut at case and underscore."""
    text = PUBLIC.sub("", path.read_text(encoding="utf-8"))
    if path.suffix != ".py":
        for number, line in enumerate(text.splitlines(), 1):
            yield from ((number, word.lower()) for word in WORD.findall(re.sub(r"`[^`]*`", "", line)))
        return
    imports = {number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*(from|import) ", line)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NAME, tokenize.STRING, tokenize.COMMENT) and token.start[0] not in imports:
            yield from ((token.start[0], word.lower()) for word in WORD.findall(token.string))


def room(path: Path) -> str:
    """The package's or the tests' part that the file is in, or the page."""
    return "/".join(path.relative_to(ROOT).parts[:2])


def old_words(path: Path) -> Iterator[tuple[int, str]]:
    """(line, word) of every old word in the file that is not a word of others."""
    for line, word in words(path):
        if word in SAY and (word not in QUOTED or QUOTED[word] == room(path)):
            yield line, word


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_old_word_is_left(path: Path) -> None:
    left, name = LEFT.get(room(path), "").split(), path.relative_to(ROOT)
    assert [f"{name}:{line}: {word}, say {SAY[word]}" for line, word in old_words(path) if word not in left] == []


def test_the_list_of_what_is_left_only_shrinks() -> None:
    rooms = {room(path) for path in FILES}
    assert LEFT.keys() <= rooms
    assert all(set(left.split()) <= SAY.keys() for left in LEFT.values())
    assert sum(len(left.split()) for left in LEFT.values()) <= MOST_LEFT


def test_words_are_found(tmp_path: Path) -> None:
    """In parts of names, in strings, comments and pages."""
    module = tmp_path / "module.py"
    module.write_text('hopeful = 1\nold_sketch = "a Hope"  # nobody\nclass Racer: ...\n')
    assert {word for _, word in words(module)} & SAY.keys() == {"sketch", "hope", "nobody", "racer"}
    page = tmp_path / "page.md"
    page.write_text("A sketch of `hope`.\n")
    assert {word for _, word in words(page)} & SAY.keys() == {"sketch"}
