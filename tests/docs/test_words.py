"""The words of the house: where a room has been gone through, none of the old words is left in it."""

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
    "rival": "second solver",
    "excuse": "slack",
    "excuses": "slacks",
    "lenient": "elastic",
    "kin": "identical",
    "twin": "identical",
    "said": "feature, output",
    "told": "given, output",
    "story": "trace",
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
    "pool": "node class",
    "pools": "node classes",
    "claimant": "entitled job",
    "wholeness": "integrality",
    "holder": "prover",
    "refuted": "infeasible",
}
"""Old word → what to say instead."""

PLACES = ["cpsched/optimum/**/*.py", "docs/optimum.md", "tests/unit/optimum/**/*.py"]
"""Where they are forbidden; the list only grows."""

QUOTED = {
    "cpsched/optimum/model/constraints/pod_filters/devices.py": {"pool"},
}
"""File → words of upstream or of the standard library that stay."""

TESTS_LEFT = {"pool", "pools", "judge", "judged", "nobody", "somebody", "whoever", "sketch", "sketches", "foreseen"}
TESTS_LEFT |= {
    "anybody",
    "everybody",
    "told",
    "said",
    "hope",
    "hopes",
    "vain",
    "race",
    "raced",
    "twin",
    "anew",
    "lenient",
}
TESTS_LEFT |= {
    "mended",
    "outline",
    "refuted",
    "hoped",
    "unfolded",
    "kin",
    "racer",
    "rival",
    "holder",
    "excuses",
    "mending",
}
"""Words that tests may still use; the list only shrinks."""

FILES = sorted({path for place in PLACES for path in ROOT.glob(place)})
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words(path: Path) -> Iterator[tuple[int, str]]:
    """(line, word) of names, strings and comments of a module, or of a page; names are cut at case and underscore."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        for number, line in enumerate(text.splitlines(), 1):
            yield from ((number, word.lower()) for word in WORD.findall(re.sub(r"`[^`]*`", "", line)))
        return
    imports = {number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*(from|import) ", line)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NAME, tokenize.STRING, tokenize.COMMENT) and token.start[0] not in imports:
            yield from ((token.start[0], word.lower()) for word in WORD.findall(token.string))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_old_word_is_left(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    allowed = QUOTED.get(name, set()) | (TESTS_LEFT if name.startswith("tests/") else set())
    found = [
        f"{name}:{line}: {word}, say {SAY[word]}" for line, word in words(path) if word in SAY and word not in allowed
    ]
    assert found == []


def test_words_are_found(tmp_path: Path) -> None:
    """In parts of names, in strings, comments and pages."""
    module = tmp_path / "module.py"
    module.write_text('hopeful = 1\nold_sketch = "a Hope"  # nobody\nclass Racer: ...\n')
    assert {word for _, word in words(module)} & SAY.keys() == {"sketch", "hope", "nobody", "racer"}
    page = tmp_path / "page.md"
    page.write_text("A sketch of `hope`.\n")
    assert {word for _, word in words(page)} & SAY.keys() == {"sketch"}
