"""`python -m tests.outside`: what programs written by others say of many proofs, and which levels have none.

Every proved level of every shipped instance and of so many drawn sessions; exit code 1 if a program refuses a proof,
2 if none is installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.optimum.proofs.write import LevelProof
from cpsched.proof.export import FORMATS
from cpsched.proof.outside import CHECKERS, asked, is_installed
from cpsched.snapshot import Snapshot
from tests.benchmark.proofs import proofs_of
from tests.oracle.sessions import contest

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Check them all."""
    parser = argparse.ArgumentParser(prog="python -m tests.outside", description=__doc__)
    parser.add_argument("--number", type=int, default=100, help="drawn sessions beside the shipped instances")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--no-programs", action="store_true", help="replay only")
    options = parser.parse_args()
    checkers = [] if options.no_programs else [name for name in CHECKERS if is_installed(name)]
    for name in CHECKERS if not options.no_programs else ():
        if name not in checkers:
            print(f"{name} is not installed: nothing was checked by it", file=sys.stderr)
    if not checkers and not options.no_programs:
        return 2
    counts: Counter[tuple[str, str]] = Counter()
    output: list[str] = []
    for name, snapshot in sessions(options.first, options.number):
        for one in proofs_of(name, snapshot, seconds=20).levels:
            counts["replayer", "proved levels"] += 1
            counts["replayer", "checked" if one.proof else "no proof"] += 1
            if one.proof is None:
                output.append(f"{name} {one.label} ({one.prover}): no proof")
            elif one.proof.statement.claim.is_trivial:
                counts["replayer", "of these with nothing to show"] += 1
            else:
                for checker in checkers:
                    why = refusal(one.proof, checker)
                    counts[checker, "refused" if why else "accepted"] += 1
                    output += [f"{name} {one.label}: {checker} {why}"] if why else []
    for (checker, what), count in sorted(counts.items()):
        print(f"{checker:10} {what:30} {count:7}")
    print("\n".join(output))
    return int(any(what == "refused" for _, what in counts))


def sessions(first: int, number: int) -> Iterator[tuple[str, Snapshot]]:
    """Shipped instances, then drawn ones."""
    for folder in ("tiny", "issues"):
        for path in sorted((ROOT / "instances" / folder).glob("*.json")):
            if path.name not in ("baseline.json", "expected.json"):
                instance = load(str(path))
                yield str(path.relative_to(ROOT)), Snapshot(instance, load_policy(None, None, instance=instance))
    for seed in range(first, first + number):
        yield f"contest {seed}", contest(seed).snapshot()


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
