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

PLACES = ["cpsched/**/*.py", "tests/**/*.py", "docs/**/*.py", "docs/**/*.md", "*.md"]
"""Where they are forbidden: everywhere."""

OF_HISTORY = {"CHANGELOG.md", "tests/docs/test_words.py"}
"""Files that name what was."""

QUOTED = {"lenient": "cpsched/optimum", "pool": "cpsched/optimum", "pools": "cpsched/optimum"}
"""Words of others, forbidden in one room only: an option's name; pools of devices and of processes."""

LEFT = {
    "CONTRIBUTING.md": (
        "anew everybody excuse foresight holder hope judge kin mend nobody race racer refuted rival sketch "
        "twin unfold vain whoever"
    ),
    "README.md": "judged",
    "SECURITY.md": "judged",
    "cpsched/capture": "told",
    "cpsched/certificate": "said",
    "cpsched/checker.py": "judged",
    "cpsched/cli": "anew judged nobody story told whoever",
    "cpsched/comparison": "nobody",
    "cpsched/explanation": "anew everybody nobody rival said told",
    "cpsched/filters": "everybody nobody whoever",
    "cpsched/gate": "judge nobody",
    "cpsched/greedy": "nobody story told",
    "cpsched/importers": "nobody",
    "cpsched/interrupts.py": "somebody told",
    "cpsched/lab": "anew nobody",
    "cpsched/optimum": "pool",
    "cpsched/policy": "nobody told",
    "cpsched/proof": "nobody said somebody told whoever",
    "cpsched/report": "judged nobody said told",
    "cpsched/rules": "anybody judged nobody told whoever",
    "cpsched/shares": "judge nobody",
    "cpsched/snapshot": "nobody somebody told twin whoever",
    "cpsched/solution.py": "judge judged said",
    "docs/capture.md": "told",
    "docs/certificate.md": "anew anybody",
    "docs/cli.md": "anew judged refuted whoever",
    "docs/compare.md": "anew judge judged nobody story whoever",
    "docs/doubts.md": "said",
    "docs/examples": "nobody whoever",
    "docs/explain.md": "anybody everybody nobody said somebody told whoever",
    "docs/filters.md": "judge mended nobody somebody",
    "docs/gate.md": "somebody told whoever",
    "docs/generate.md": "nobody",
    "docs/import.md": "told",
    "docs/index.md": "judged",
    "docs/instance.md": "told",
    "docs/issues.md": "anybody nobody somebody whoever",
    "docs/kube-mirror.md": "anew everybody judge nobody",
    "docs/model.md": "anybody judge judged nobody",
    "docs/policy.md": "judge nobody",
    "docs/proofs.md": "anybody told",
    "docs/python.md": "judged mend",
    "docs/questions.md": "judged",
    "docs/real-kube.md": "anew judged",
    "docs/real-volcano.md": "anew judged",
    "docs/report.md": "anew judge judged outline said told whoever",
    "docs/security.md": "judged somebody",
    "docs/studies": "anew everybody judged nobody told",
    "docs/study.md": "told",
    "docs/volcano-mirror.md": "everybody judge judged nobody somebody story vain",
    "tests/benchmark": "judged nobody rival told",
    "tests/browser": "nobody said told",
    "tests/cli": "anew judge judged mended nobody refuted said somebody story told unfolded whoever",
    "tests/conformance": "anybody everybody judge judged mended nobody said told whoever",
    "tests/contested.py": "anybody told",
    "tests/docs": "judge nobody said somebody told whoever",
    "tests/dumps.py": "unfolded",
    "tests/fuzz": "holder nobody",
    "tests/judge.py": "judge judged",
    "tests/live": "nobody said told",
    "tests/oracle": "anew anybody everybody foresight judge judged mend nobody rival said sketch somebody twin",
    "tests/property": "anew anybody everybody judge judged nobody said somebody told twin whoever",
    "tests/real": "judged told",
    "tests/unit": (
        "anew anybody claimant everybody foreseen holder hopes judge judged mended mending nobody race raced "
        "refuted rival said sketch sketches somebody story told unfolded vain whoever"
    ),
}
"""Room → old words that it still has, in names of JSON fields and options, in texts that users see, and in tests. It
only shrinks: a word that a room no longer has is taken out here."""

MOST_LEFT = 251
"""Entries of the list; lower it when the list gets shorter."""

FILES = sorted({path for place in PLACES for path in ROOT.glob(place) if str(path.relative_to(ROOT)) not in OF_HISTORY})
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
