"""`python -m tests.benchmark [NAME...]`: runs the named benchmarks, or all of them; each prints its table."""

from __future__ import annotations

import sys
from importlib import import_module

BENCHMARKS = {
    "help": "how long cpsched --help takes",
    "load": "how long a large kubectl dump takes to load, and how much memory",
    "kube": "one pass of the kube mirror over a large cluster",
    "optimum": "the optimum beside the plain model and the class model as they come",
    "agreement": "optimum and oracle, the two solvers, evidence and all decisions; rules that bind",
    "study": "the speed-up of a study on two cores",
    "volcano": "one full cycle of the Volcano mirror over the openb trace",
}
"""Each is a module here with a function `main`."""


def run(names: list[str]) -> int:
    """Run them one after the other; without a name all, with a wrong one none."""
    if not set(names) <= BENCHMARKS.keys():
        for name, about in BENCHMARKS.items():
            print(f"{name:8} {about}", file=sys.stderr)
        return 2
    for name in names or BENCHMARKS:
        print(f"\n{name}: {BENCHMARKS[name]}")
        import_module(f"tests.benchmark.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
