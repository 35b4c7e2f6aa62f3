"""Proofs for programs written by others: exported into a folder, and checked by those that are installed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.certificate.replay import StatedProof
    from cpsched.proof.outside import OutsideAnswer

LARGEST_LOG = 256 * 2**20
"""Bytes of a solver's log; one that is larger is no proof."""
SECONDS = 600.0
"""After which a checker is ended."""
_STEM = re.compile(r"[0-9]{2}-[-a-z0-9_]+")


def chosen(given: str | None) -> list[str]:
    """The checkers that are named, or else those that are installed; InputError if there are none."""
    from cpsched.proof.outside import CHECKERS, is_installed

    if given is None:
        found = [name for name in CHECKERS if is_installed(name)]
        if not found:
            raise InputError("no program that checks proofs is installed", right=f"install {' or '.join(CHECKERS)}")
        return found
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in CHECKERS:
            raise InputError(f"--with {name}: no program that is known", right=f"known: {', '.join(CHECKERS)}")
        if not is_installed(name):
            raise InputError(f"--with {name}: it is not installed", right="put it on the PATH, or leave it out")
    return list(dict.fromkeys(names))


def stem_of(number: int, label: str) -> str:
    """The name of a level's files, without their suffix."""
    return f"{number:02}-{re.sub('[^a-z0-9_]+', '-', label).strip('-')}"


def write(folder: Path, stem: str, proof: StatedProof, formats: Iterable[str]) -> list[Path]:
    """The files of one proof, each of them whole."""
    from cpsched.files import writing_whole
    from cpsched.proof.export import FORMATS

    written = []
    for name in formats:
        for suffix, lines in FORMATS[name].files.items():
            path = folder / f"{stem}.{suffix}"
            with writing_whole(path) as stream:
                for line in lines(proof.statement, proof.steps):
                    stream.write(line.encode())
            written.append(path)
    return written


def checked_by(checker: str, folder: Path, stem: str) -> OutsideAnswer:
    """What the program says of the files of one proof."""
    from cpsched.proof.outside import asked

    return asked(checker, [str(folder / f"{stem}.{suffix}") for suffix in _suffixes(checker)], seconds=SECONDS)


def stems_in(folder: Path, checker: str) -> list[str]:
    """The proofs in a folder that the program can check, by name."""
    if not folder.is_dir():
        raise InputError("no such folder", file=str(folder), right="give what cpsched proof export wrote")
    first, *others = _suffixes(checker)
    found = [path.stem for path in sorted(folder.glob(f"*.{first}")) if _STEM.fullmatch(path.stem)]
    return [stem for stem in found if all((folder / f"{stem}.{suffix}").is_file() for suffix in others)]


def command_of(prover: str) -> list[str]:
    """The program of `--prover exec:CMD` with its arguments; empty for every other prover."""
    import shlex

    if not prover.startswith("exec:"):
        return []
    try:
        words = shlex.split(prover.removeprefix("exec:"))
    except ValueError as error:
        raise InputError(f"--prover {prover}: {error}", right="quote it as a shell would want it") from None
    if not words:
        raise InputError("--prover exec: names no program", right="give exec:CMD")
    return words


def log_of(command: list[str], formula: Iterable[str], *, seconds: float) -> str | None:
    """The log that a solver writes about a formula: called with the file to read and the file to write."""
    from cpsched.files import read_text_within, write_whole
    from cpsched.proof.outside import ran

    with tempfile.TemporaryDirectory(prefix="cpsched-solver-") as place:
        read, written = Path(place) / "level.opb", Path(place) / "level.pbp"
        write_whole(read, "".join(formula))
        if not ran([*command, str(read), str(written)], seconds=seconds):
            return None
        return read_text_within(written, LARGEST_LOG)


def _suffixes(checker: str) -> list[str]:
    from cpsched.proof.export import FORMATS

    return [suffix for one in FORMATS.values() if one.checker == checker for suffix in one.files]


def outside_verdicts(proofs: Iterable[StatedProof], checkers: list[str]) -> Iterator[tuple[str, str, OutsideAnswer]]:
    """(level, checker, answer) of every proof that has something to show."""
    from cpsched.proof.export import FORMATS

    formats = [name for name, one in FORMATS.items() if one.checker in checkers]
    with tempfile.TemporaryDirectory(prefix="cpsched-proofs-") as place:
        for number, proof in enumerate(proofs, start=1):
            if proof.statement.claim.is_trivial:
                continue
            stem = stem_of(number, proof.level.label)
            written = write(Path(place), stem, proof, formats)
            for checker in checkers:
                yield proof.level.label, checker, checked_by(checker, Path(place), stem)
            for path in written:
                path.unlink()
