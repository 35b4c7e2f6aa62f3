"""The formats that an input can have, and how each becomes Kubernetes objects; FORMATS is the one registry."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cpsched.errors import InputError
from cpsched.files import read_documents
from cpsched.importers import kai_snapshot, simulator, trace_objects, volcano_dump
from cpsched.importers.listed import objects_in
from cpsched.importers.raw import Raw
from cpsched.importers.snapshot import Context
from cpsched.instance import API_VERSION
from cpsched.parsing import Document


@dataclass(frozen=True)
class Format:
    """A kind of input: documents that are looked at, or tables that are known by their columns."""

    about: str
    looks_like: Callable[[list[Document]], bool] = lambda _: False
    of_documents: Callable[[list[Document], Context], Raw] | None = None
    of_tables: Callable[[Path, Context], Raw] | None = None


def _one(look: Callable[[Document], bool]) -> Callable[[list[Document]], bool]:
    return lambda documents: len(documents) == 1 and look(documents[0])


def _only(translate: Callable[[Document, Context], Raw]) -> Callable[[list[Document], Context], Raw]:
    def of_documents(documents: list[Document], context: Context) -> Raw:
        if len(documents) != 1 or not isinstance(documents[0].data, dict):
            raise InputError(f"{len(documents)} documents", file=documents[0].file, right="one snapshot has one")
        return translate(documents[0], context)

    return of_documents


KUBERNETES = "kubernetes"
FORMATS: dict[str, Format] = {
    KUBERNETES: Format("Kubernetes objects or a compact Instance"),
    "volcano-dump": Format(
        "Volcano's cache dump (kill -USR1)", volcano_dump.looks_like, of_documents=volcano_dump.translate
    ),
    "kai": Format(
        "KAI-Scheduler's snapshot", _one(kai_snapshot.looks_like), of_documents=_only(kai_snapshot.translate)
    ),
    "simulator": Format(
        "kube-scheduler-simulator's export", _one(simulator.looks_like), of_documents=_only(simulator.translate)
    ),
    "openb": Format("the openb tables", of_tables=trace_objects.openb_objects),
    "dlrm": Format("the dlrm table", of_tables=trace_objects.dlrm_objects),
}


def find(name: str) -> Format:
    """The format of that name; InputError for one that is unknown."""
    if name not in FORMATS:
        raise InputError(f"unknown format {name}", right=f"known: {', '.join(FORMATS)}")
    return FORMATS[name]


def read_input(path: str | os.PathLike[str], name: str | None, context: Context) -> list[Document]:
    """The documents of a path, which may be tables; `name` spares the looking."""
    if name is None and os.fspath(path) != "-":
        name = trace_objects.kind_of(Path(path))
    tables = find(name).of_tables if name is not None else None
    if name is None or tables is None:
        return read_documents(path, context.aside)
    return [_instance(tables(Path(path), context), os.fspath(path), name, context)]


def translated(documents: list[Document], name: str | None, context: Context) -> list[Document]:
    """The same documents, or an Instance made of another program's snapshot, beside the documents that are not its."""
    snapshot = [document for document in documents if not _is_kubernetes(document)]
    if name is None:
        name, snapshot = _recognised(snapshot)
    translate = FORMATS[name].of_documents if name is not None else None
    if name is None or translate is None or not snapshot:
        return documents
    taken = {id(document) for document in snapshot}
    others = [document for document in documents if id(document) not in taken]
    context.given |= {key for document in others for key in _names(document)}
    return [*others, _instance(translate(snapshot, context), snapshot[0].file, name, context)]


def _recognised(documents: list[Document]) -> tuple[str | None, list[Document]]:
    """The format and the documents of the first file that looks like another program's snapshot."""
    files: dict[str, list[Document]] = {}
    for document in documents:
        files.setdefault(document.file, []).append(document)
    found = ((name, those) for those in files.values() for name, one in FORMATS.items() if one.looks_like(those))
    return next(found, (None, []))


def _is_kubernetes(document: Document) -> bool:
    return isinstance(document.data, Mapping) and isinstance(document.data.get("kind"), str)


def _names(document: Document) -> Iterator[tuple[str, str]]:
    for _, item in objects_in(document):
        metadata = item.get("metadata") if isinstance(item, Mapping) else None
        if isinstance(metadata, Mapping):
            yield str(item.get("kind")), str(metadata.get("name"))


def _instance(made: Raw, file: str, name: str, context: Context) -> Document:
    context.report.format = name
    return Document(file, {"apiVersion": API_VERSION, "kind": "Instance", **made})
