"""load(): a path, `-`, a mapping or a list of Kubernetes objects, told apart by looking, into one Instance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from cpsched.collector import without_collector
from cpsched.errors import InputError
from cpsched.importers import compact
from cpsched.importers.assemble import assemble
from cpsched.importers.formats import read_input, translated
from cpsched.importers.kubernetes import EXPECTED, Found, Report, input_error, objects_in, read_object
from cpsched.importers.snapshot import Context
from cpsched.instance import API_VERSION, Instance, Sharding
from cpsched.parsing import Document

Source = str | os.PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]]


def load(
    source: Source,
    *,
    sharding: Mapping[str, Any] | None = None,
    lenient: bool = False,
    report: Report | None = None,
    format: str | None = None,
    queues: Source | None = None,
) -> Instance:
    """Read and validate an instance; InputError says in one line what is wrong.

    Args:
        source: a path, "-" for stdin, a mapping (a List, an object, the compact form or another program's snapshot), or
            a list of objects.
        sharding: overrides the instance's own: {"mode": "none|soft|hard", "nodes": [...]}.
        lenient: broken cross-references become warnings of the instance.
        report: is filled with what was and what was not understood.
        format: a key of FORMATS, if it shall not be told by looking.
        queues: further objects that the source lacks, such as the queues of a cache dump.
    """
    with without_collector():
        return _load(source, sharding, Report() if report is None else report, lenient, format, queues)


def _load(
    source: Source,
    sharding: Mapping[str, Any] | None,
    report: Report,
    lenient: bool,
    format: str | None,
    queues: Source | None,
) -> Instance:
    found: list[Found] = []
    settings: dict[str, Any] = {}
    if queues is not None:
        for document in _documents(queues, "kubernetes", Context(report))[0]:
            found += _read(document, settings, report)
    given = frozenset((item.kind, item.object.metadata.name) for item in found)
    context = Context(report, lenient, given)
    documents, file = _documents(source, format, context)
    for document in documents:
        found += _read(document, settings, report)
    report.notes += context.notes
    if report.other_kinds and not found and not settings:
        kinds = ", ".join(sorted(report.other_kinds)[:5])
        raise InputError(f"nothing here is of a kind that scheduling looks at ({kinds})", file=file, right=EXPECTED)
    if sharding is not None:
        settings["sharding"] = _sharding(sharding, file)
    instance = assemble(found, lenient=lenient, file=file, **settings)
    if context.notes:
        instance = replace(instance, warnings=(*(f"{file}: {note}" for note in context.notes), *instance.warnings))
    return instance


def _documents(source: Source, format: str | None, context: Context) -> tuple[list[Document], str]:
    if isinstance(source, str | os.PathLike):
        documents = read_input(source, format, context)
        name = "stdin" if os.fspath(source) == "-" else os.fspath(source)
        if not documents:
            raise InputError("holds no document", file=name, right="give Kubernetes objects or an Instance")
        return documents, name
    if isinstance(source, Mapping):
        return translated([Document("input", source)], format, context), "input"
    if isinstance(source, Iterable):
        return translated([Document("input", list(source))], format, context), "input"
    raise InputError(f"cannot load {type(source).__name__}", right="give a path, a mapping or a list of objects")


def _read(document: Document, settings: dict[str, Any], report: Report) -> Iterable[Found]:
    for place, raw in objects_in(document):
        if isinstance(raw, Mapping) and raw.get("kind") == "Instance":
            yield from _read_compact(raw, document.file, place, settings, report)
        elif (item := read_object(raw, document.file, place, report)) is not None:
            yield item


def _read_compact(
    raw: Mapping[str, Any], file: str, place: str, settings: dict[str, Any], report: Report
) -> Iterable[Found]:
    if raw.get("apiVersion") != API_VERSION:
        raise InputError(
            f"apiVersion {raw.get('apiVersion')!r} of an Instance", file=file, place=place, right=f"write {API_VERSION}"
        )
    if settings:
        raise InputError("a second Instance", file=file, place=place, right="give one Instance at a time")
    form = compact.parse(raw, file)
    shard = form.sharding
    settings |= {"now": form.now, "conf": form.conf, "recipe": form.recipe}
    settings["sharding"] = Sharding(shard.mode, frozenset(shard.nodes), shard.name) if shard else None
    for where, item in compact.expand(form, file):
        if (made := read_object(item, file, where, report)) is not None:
            yield replace(made, by_hand=True)
    for index, item in enumerate(form.objects):
        if (read := read_object(item, file, f"objects[{index}]", report)) is not None:
            yield read


def _sharding(stated: Mapping[str, Any], file: str) -> Sharding:
    try:
        shard = compact.CompactSharding.model_validate(dict(stated))
    except ValidationError as error:
        raise input_error(error, file=file, place="sharding") from None
    return Sharding(shard.mode, frozenset(shard.nodes), shard.name)
