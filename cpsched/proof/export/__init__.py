"""A statement and its proof for programs written by others: VeriPB reads one form, viprchk the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from cpsched.proof.export.veripb import formula, proof
from cpsched.proof.export.vipr import certificate
from cpsched.proof.rows import ProofStatement

Writer = Callable[[ProofStatement, Iterable[Any]], Iterator[str]]


class OutsideFormat(NamedTuple):
    """The files of one proof, by suffix; the checker is called with them in this order."""

    checker: str
    files: dict[str, Writer]


FORMATS: dict[str, OutsideFormat] = {
    "veripb": OutsideFormat("veripb", {"opb": formula, "pbp": proof}),
    "vipr": OutsideFormat("viprchk", {"vipr": certificate}),
}
