"""`python -m tests.outside`: what programs written by others say of many proofs, and which levels have none.

Every proved level of every shipped instance and of so many drawn sessions; exit code 1 if a program refuses a proof,
2 if none is installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from cpsched.comparison.session import CaseOptions, open_session
from cpsched.importers.corpus import cases
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.optimum.proofs.write import LevelProof
from cpsched.proof.export import FORMATS
from cpsched.proof.outside import CHECKERS, asked, is_installed
from cpsched.snapshot import Snapshot
from tests.benchmark.proofs import proofs_of
from tests.oracle.neighbours import neighbourly
from tests.oracle.plugin_sessions import KINDS, session
from tests.oracle.sessions import contest, entering, overcommitted

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "conformance" / "data"
RECORDED = ("volcano-recorded", "volcano-plugins-recorded", "volcano-topology-recorded", "kube-recorded")
DRAWN: dict[str, Callable[[int], Snapshot]] = {
    "contest": lambda seed: contest(seed).snapshot(),
    "overcommitted": lambda seed: overcommitted(seed).snapshot(),
    "entering": lambda seed: entering(seed).snapshot(),
    "cluster": lambda seed: contest(seed, scope="cluster").snapshot(),
    "affinity": lambda seed: neighbourly(seed, "affinity").snapshot(),
    "spread": lambda seed: neighbourly(seed, "spread").snapshot(),
    **{kind: partial(session, kind) for kind in KINDS},
}
"""Kinds of small sessions, drawn in turn."""


def main() -> int:
    """Check them all."""
    parser = argparse.ArgumentParser(prog="python -m tests.outside", description=__doc__)
    parser.add_argument("--number", type=int, default=100, help="drawn sessions beside the shipped instances")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--recorded", type=int, default=0, help="of the recorded sessions every so many-th; 0: none")
    parser.add_argument("--no-shipped", action="store_true", help="without the shipped instances")
    parser.add_argument("--no-programs", action="store_true", help="replay only")
    options = parser.parse_args()
    checkers = [] if options.no_programs else [name for name in CHECKERS if is_installed(name)]
    for name in CHECKERS if not options.no_programs else ():
        if name not in checkers:
            print(f"{name} is not installed: nothing was checked by it", file=sys.stderr)
    if not checkers and not options.no_programs:
        return 2
    counts: Counter[tuple[str, str]] = Counter()
    missing: list[str] = []
    for name, snapshot in sessions(options):
        for one in proofs_of(name, snapshot, seconds=20).levels:
            counts["replayer", "proved levels"] += 1
            counts["replayer", "checked" if one.proof else "no proof"] += 1
            if one.proof is None:
                missing.append(f"{name} {one.label} ({one.prover}): no proof")
            elif one.proof.statement.claim.is_trivial:
                counts["replayer", "of these with nothing to show"] += 1
            else:
                for checker in checkers:
                    why = refusal(one.proof, checker)
                    counts[checker, "refused" if why else "accepted"] += 1
                    missing += [f"{name} {one.label}: {checker} {why}"] if why else []
    for (checker, what), count in sorted(counts.items()):
        print(f"{checker:10} {what:30} {count:7}")
    print("\n".join(missing))
    return int(any(what == "refused" for _, what in counts))


def sessions(options: argparse.Namespace) -> Iterator[tuple[str, Snapshot]]:
    """Shipped instances, then recorded sessions, then drawn ones of every kind in turn."""
    for folder in () if options.no_shipped else ("tiny", "issues"):
        for path in sorted((ROOT / "instances" / folder).glob("*.json")):
            if path.name not in ("baseline.json", "expected.json"):
                instance = load(str(path))
                yield str(path.relative_to(ROOT)), Snapshot(instance, load_policy(None, None, instance=instance))
    for name in RECORDED if options.recorded else ():
        for case in list(cases(str(DATA / f"{name}.jsonl.gz")))[:: options.recorded]:
            opened = open_session(case, CaseOptions(model=name.partition("-")[0]))
            yield case.id, Snapshot(opened.instance, opened.policy)
    kinds = list(DRAWN)
    for seed in range(options.first, options.first + options.number):
        kind = kinds[seed % len(kinds)]
        yield f"{kind} {seed}", DRAWN[kind](seed)


def refusal(proof: LevelProof, checker: str) -> str:
    """Why the program refuses the proof; empty if it accepts it."""
    with tempfile.TemporaryDirectory(prefix="cpsched-outside-") as place:
        paths = []
        for format_ in FORMATS.values():
            for suffix, lines in format_.files.items() if format_.checker == checker else ():
                paths.append(f"{place}/proof.{suffix}")
                Path(paths[-1]).write_text("".join(lines(proof.statement, proof.steps)), encoding="utf-8")
        answer = asked(checker, paths, seconds=60)
    return "" if answer.accepted else answer.why


if __name__ == "__main__":
    sys.exit(main())
