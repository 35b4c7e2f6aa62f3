"""Proofs beside certificates: written by solve, found again by verify."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cpsched.cli.output import as_json, warn
from cpsched.cli.outside import log_of
from cpsched.cli.progress import progress
from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.instance import Instance
    from cpsched.policy import Policy
    from cpsched.solution import Solution

SUFFIX = ".steps.gz"


def certificate_with_proofs(
    instance: Instance,
    policy: Policy,
    solution: Solution,
    which: Literal["all", "cheap", "none"],
    path: str | None,
    *,
    seconds: float,
    command: list[str],
) -> str:
    """The certificate's text; proofs that are too long for it are written beside it first, each file whole.

    The command is another solver that is asked for proofs of levels for which none is found; none is asked if empty.
    """
    from cpsched.certificate import certify
    from cpsched.files import write_whole
    from cpsched.optimum.proofs.write import with_proofs

    def watched(levels: Iterable[int], count: int) -> Iterable[int]:
        return progress(levels, count, "Proving")

    plain = certify(instance, policy, solution)
    program = partial(log_of, command, seconds=seconds) if command else None
    certificate, files, logs = with_proofs(
        instance, policy, plain, which, seconds=seconds, progress=watched, program=program
    )
    for name, content in files.items():
        write_whole(beside(path, name), content)
    for label, formula, log in logs:
        stem = beside(path, sha256(log.encode()).hexdigest()).with_suffix("").with_suffix("")
        write_whole(stem.with_suffix(".opb"), formula)
        write_whole(stem.with_suffix(".pbp"), log)
        kept = f"{stem.name}.opb {stem.name}.pbp"
        warn([f"{label}: the log of {command[0]} is of other kinds of steps; kept for veripb {kept}"])
    return as_json(certificate.to_dict())


def beside(path: str | None, name: str) -> Path:
    """Where the proof of that hash lies, beside the certificate."""
    return Path(path or ".").parent / f"{name}{SUFFIX}"


def steps_beside(path: str | None, name: str) -> Iterable[Any]:
    """The steps in the file of that hash; InputError if it is missing, another, or no proof."""
    from cpsched.files import read_lines, sha256_of
    from cpsched.proof.reading import LONGEST_LINE, steps_in

    place = beside(path, name)
    if place.exists() and not place.is_file():
        raise InputError("is no file", file=str(place), right="put the proof back that solve wrote beside it")
    if sha256_of(place) != name:
        raise InputError("is not the proof that the certificate names: its hash differs", file=str(place))
    return steps_in(read_lines(place, longest=LONGEST_LINE), str(place))
