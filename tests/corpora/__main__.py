"""`python -m tests.corpora [NAME...]`: writes build/corpora/NAME.jsonl.gz, the same bytes each time."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from cpsched.comparison.many import each
from cpsched.files import write_whole
from cpsched.gate.exported import corpus_text, exported, lost, packed
from cpsched.gate.measure import CaseQuestion
from cpsched.options import Options
from tests.corpora.selection import CORPORA, sessions

ROOT = Path(__file__).parents[2]
QUESTION = CaseQuestion("mirror", options=Options(time_limit=20, deterministic=True), cache="none")


def write(name: str, jobs: int) -> None:
    """One corpus: sessions in a fixed order until so many are proved, without a doubt about what was read."""
    number, strata = CORPORA[name]
    work, rows = partial(exported, question=QUESTION), list[Mapping[str, Any]]()
    found = each(work, sessions(strata), jobs, lost)
    proved = (one.row for one in found if one.row is not None and one.is_proved and not one.row["doubts"])
    for row in islice(proved, number):
        rows.append(row)
        if len(rows) % 100 == 0:
            print(f"{name}: {len(rows)} cases", file=sys.stderr, flush=True)
    folder = ROOT / "build" / "corpora"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{name}.jsonl.gz", packed(corpus_text(name, QUESTION.engine, rows)))
    print(f"build/corpora/{name}.jsonl.gz: {len(rows)} cases")


if __name__ == "__main__":
    given = argparse.ArgumentParser(prog="python -m tests.corpora")
    given.add_argument("names", nargs="*", choices=[[], *CORPORA], default=[])
    given.add_argument("--jobs", type=int, default=2)
    options = given.parse_args()
    for wanted in options.names or CORPORA:
        write(wanted, options.jobs)
