"""The pages on real decisions: their figures add up, and agree with what the tests count."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from cpsched.comparison.optima import Optima
from cpsched.options import Options
from tests.conformance.test_recorded_findings import DECISIONS
from tests.real.measure import decisions
from tests.real.page import figures, reasons_of, worst

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "conformance" / "data"
OPTIONS = Options(workers=1)


def numbers(page: str) -> dict[str, int]:
    """The counts of the first table by what they count."""
    rows = re.findall(r"^\| ([^|]+) \| ([\d,]+)", page, re.MULTILINE)
    return {what.strip("— "): int(count.replace(",", "")) for what, count in rows}


def check_sums(page: str) -> None:
    found = numbers(page)
    broken, clean = found["decisions that break a rule"], found["decisions that break none"]
    assert found["different decisions recorded in them"] == broken + clean
    parts = ("optimal, proved", "worse: a better decision is known", "equal to the best found, not proved")
    assert found["of these, compared with the optimum"] == sum(found[part] for part in parts) <= clean


@pytest.mark.parametrize(("name", "sessions"), [("volcano", 2592), ("kube", 1085)])
def test_the_pages_add_up(name: str, sessions: int) -> None:
    page = (ROOT / "docs" / f"real-{name}.md").read_text(encoding="utf-8")
    check_sums(page)
    assert numbers(page)["sessions"] == sessions
    assert len(re.findall(r"^\d+\. `[a-z]+-\d+-\d+` is ", page, re.MULTILINE)) == 10


def test_volcanos_page_counts_what_the_checker_counts() -> None:
    found = numbers((ROOT / "docs" / "real-volcano.md").read_text(encoding="utf-8"))
    decided, clean = map(sum, zip(*DECISIONS.values(), strict=True))
    assert (found["different decisions recorded in them"], found["decisions that break none"]) == (decided, clean)


def test_a_page_is_made_from_a_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "some.jsonl"
    with gzip.open(DATA / "volcano-recorded.jsonl.gz", "rb") as stream:
        corpus.write_bytes(b"".join(next(stream) for _ in range(12)))
    optima = Optima(tmp_path / "optima")
    found = list(decisions(str(corpus), "volcano", optima, OPTIONS))
    check_sums(figures(found))
    flat = [one for case in found for one in case]
    chosen = worst(flat)
    assert chosen
    assert [one.case for one in chosen] == list(dict.fromkeys(one.case for one in chosen))
    assert [one.place for one in chosen] == sorted(one.place for one in chosen)
    stated = reasons_of(str(corpus), "volcano", chosen, optima, OPTIONS).splitlines()
    assert len(stated) == len(chosen)
    assert all("is worse than" in line for line in stated)
