"""`python -m tests.benchmark [NAME...]`: runs the named benchmarks, or all of them; each prints its table.

`python -m tests.benchmark agreement --help`: after a single name come its options, if it has any.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

BENCHMARKS = {
    "help": "how long cpsched --help takes",
    "load": "how long a large kubectl dump takes to load, and how much memory",
    "kube": "one pass of the kube mirror over a large cluster",
    "optimum": "the optimum beside the plain model and the class model as they come",
    "agreement": "every prover against exhaustive search, for as long as wanted (--help)",
    "evidence": "bounds of certificates against all decisions; which rules bind",
    "grid": "the grid of Priority Matters beside the plain model and the class model (--help)",
    "hops": "changes of module in a solve of one small cluster",
    "page": "the report in Chromium: size, time to open, time to answer, by size of the cluster",
    "proofs": "proofs of levels: how many, how large, what writing and checking them takes (--help)",
    "proved": "fresh sessions of every recorded profile: all proved in 10 s? (--help)",
    "study": "the speed-up of a study on two cores",
    "topology": "one cycle of the Volcano mirror over gangs in a tree of HyperNodes",
    "tuning": "the tuning constants of the optimum as they are, halved and doubled",
    "volcano": "one full cycle of the Volcano mirror over the openb trace",
    "vectorpack": "published vector packing instances: the fewest nodes (--help)",
}
"""Each is a module here with a function `main`."""


TAKES_OPTIONS = frozenset({"agreement", "grid", "optimum", "proofs", "proved", "vectorpack"})


def run(arguments: list[str]) -> int:
    """Run them one after the other; without a name all, with a wrong one none. Not 0: one found something wrong."""
    single = arguments[:1]
    if single and single[0] in TAKES_OPTIONS and arguments[1:2] and arguments[1].startswith("-"):
        return _run(single[0], arguments[1:])
    if not set(arguments) <= BENCHMARKS.keys():
        for name, about in BENCHMARKS.items():
            print(f"{name:10} {about}", file=sys.stderr)
        return 2
    return max(_run(name) for name in arguments or BENCHMARKS)


def _run(name: str, options: Sequence[str] = ()) -> int:
    print(f"\n{name}: {BENCHMARKS[name]}", flush=True)
    main = import_module(f"tests.benchmark.{name}").main
    return (main(options) if options else main()) or 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
