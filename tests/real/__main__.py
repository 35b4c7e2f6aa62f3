"""`python -m tests.real [volcano|kube]`: writes docs/real-volcano.md and docs/real-kube.md from recorded decisions.

Optima are remembered, so a run that was cut short goes on where it stopped.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cpsched.comparison.optima import optima_in
from cpsched.files import write_whole
from cpsched.options import Options
from tests.real.measure import decisions
from tests.real.page import figures, reasons_of, victims_table, worst

ROOT = Path(__file__).parents[2]
DATA = Path("tests/conformance/data")
OPTIONS = Options(time_limit=60, workers=1)

PAGES = {"volcano": "volcano", "kube": "kube", "volcano-topology": "volcano"}
"""Page, also a corpus → the model."""


def write(name: str) -> None:
    """One page."""
    corpus, optima, model = str(ROOT / DATA / f"{name}-recorded.jsonl.gz"), optima_in(None), PAGES[name]
    found = []
    for case in decisions(corpus, model, optima, OPTIONS):
        found.append(case)
        if len(found) % 100 == 0:
            print(f"{name}: {len(found)} sessions", file=sys.stderr, flush=True)
    chosen = worst(one for case in found for one in case)
    stated = reasons_of(corpus, model, chosen, optima, OPTIONS)
    frame = (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
    page = frame.replace("{figures}", figures(found)).replace("{worst}", stated)
    page = page.replace("{victims}", victims_table(found))
    write_whole(ROOT / "docs" / f"real-{name}.md", page)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or PAGES:
        write(wanted)
