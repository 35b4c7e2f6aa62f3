"""load(): a path, `-`, a mapping or a list of Kubernetes objects, distinguished by content, into one Instance."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cpsched.alterations import UNALTERED, Alteration
from cpsched.aside import FILES, LINKS, NO_OBJECTS, OBJECTS, PARTS, Aside
from cpsched.collector import without_collector
from cpsched.errors import InputError
from cpsched.files import read_document
from cpsched.importers import compact
from cpsched.importers.assemble import assemble
from cpsched.importers.captured import is_capture, stated
from cpsched.importers.cluster_info import NAMESPACES_DUMPED, namespaces_dumped
from cpsched.importers.duplicates import without_duplicates
from cpsched.importers.formats import KUBERNETES, read_input, translated
from cpsched.importers.gaps import Gaps
from cpsched.importers.generated_names import Taken, is_unnamed, named, taken_by
from cpsched.importers.kubernetes import EXPECTED, Found, ReadReport, input_error, no_object, read_object
from cpsched.importers.listed import objects_in
from cpsched.importers.python_names import as_of_server, is_of_client
from cpsched.importers.snapshot import Context
from cpsched.instance import API_VERSION, Instance
from cpsched.located import located
from cpsched.objects.beside import NodeLoad, Sharding
from cpsched.parsing import Document, tolerated
from cpsched.topology.notes import topology_notes
from cpsched.what_if.apply import applied
from cpsched.what_if.changes import Changes, Cluster, last_moment
from cpsched.what_if.submit import as_new
from cpsched.workloads.expand import PODS_LACKING, Given, expanded
from cpsched.workloads.expand import given as workload

FAULTS = (OBJECTS, FILES, PARTS, NO_OBJECTS)
"""What is set aside of a cluster, and is an error in a case."""
TITLE = __name__
"""Under this key stands in `found_out` of an instance what it is called in a heading: the names of its files."""
Path = str | os.PathLike[str]
Source = Path | Sequence[Path] | Mapping[str, Any] | Sequence[Mapping[str, Any]]


def load(  # noqa: PLR0913 - what a user can say of an input
    source: Source,
    *,
    sharding: Mapping[str, Any] | None = None,
    node_usage: Mapping[str, Any] | Path | None = None,
    lenient: bool = False,
    strict: bool = False,
    report: ReadReport | None = None,
    format: str | None = None,
    queues: Source | None = None,
    changes: Changes | None = None,
    held: bool = False,
) -> Instance:
    """Read and validate an instance; InputError says in one line what is wrong.

    What is read is a cluster or a case. Of a cluster, files and objects that cannot be read beside others are set
    aside, counted in the report and named in the warnings. In a case every fault is an error. A compact Instance is
    a case; everything else is a cluster, unless `strict`.

    Args:
        source: a path, "-" for stdin, several paths of one cluster, a mapping (a List, an object, the compact form or
            another program's snapshot), or a list of objects.
        sharding: overrides the instance's own: {"mode": "none|soft|hard", "nodes": [...]}.
        node_usage: overrides the instance's own: node → {"cpu": percent, "memory": percent, "age": seconds}, or a file
            with that.
        lenient: in a case too, broken cross-references become warnings of the instance.
        strict: treat the source as a case.
        report: is filled with what was and what was not understood.
        format: a key of FORMATS; detected if not given.
        queues: further objects that the source lacks, such as the queues of a cache dump.
        changes: what is changed before anything is decided.
        held: with the tasks of jobs that wait for enqueue, which have no pods yet, so that they can be explained.
    """
    with without_collector():
        report = ReadReport() if report is None else report
        changes = Changes() if changes is None else changes
        stated = {"sharding": sharding, "node_usage": changes.node_usage if node_usage is None else node_usage}
        return _load(source, stated, Context(report, lenient, strict, held=held), format, queues, changes)


def _load(
    source: Source,
    stated: Mapping[str, Any],
    context: Context,
    format: str | None,
    queues: Source | None,
    changes: Changes,
) -> Instance:
    settings: dict[str, Any] = {}
    report = context.report
    further = [] if queues is None else _documents(queues, KUBERNETES, context)[0]
    given = [item for document in further for item in _read(document, settings, context)]
    context.given = frozenset((item.kind, item.object.metadata.name) for item in given)
    documents, file = _documents(source, format, context)
    found = [item for document in documents for item in _read(document, settings, context)]
    found += _read_unnamed(context, taken_by(found, context.workloads))
    report.notes += context.notes
    if not found and not settings and not context.workloads:
        _refuse_nothing(report, file)
    is_case = context.strict or (bool(settings) and report.format == KUBERNETES)
    if is_case and (fault := report.aside.first_error(*FAULTS)) is not None:
        raise fault
    if stated["sharding"] is not None:
        settings["sharding"] = _sharding(stated["sharding"], file)
    if stated["node_usage"] is not None:
        settings["node_usage"] = _node_usage(stated["node_usage"], file)
    aside = None if is_case else report.aside
    items = without_duplicates([*given, *found], aside)
    settings = context.captured | settings
    unaltered, items, what_if = _completed(items, context, changes, file, settings.get("now"), is_case=is_case)
    if not items and not settings:
        _refuse_nothing(report, file)
    # An Instance of objects alone is what `cpsched import` made of a cluster, which may lack what it refers to.
    is_made = not context.strict and not any(item.by_hand for item in found)
    report.gaps = Gaps(tolerant=context.lenient or not is_case or is_made)
    instance = assemble(items, gaps=report.gaps, aside=aside, file=file, **settings)
    notes = [*report.aside.summary(file), *context.notes, *topology_notes(instance)]
    warnings = (*(f"{file}: {note}" for note in notes), *instance.warnings)
    instance = replace(instance, what_if=what_if, warnings=warnings)
    context.counted[TITLE] = _title(source)
    context.counted[NAMESPACES_DUMPED] = namespaces_dumped(documents)
    instance.found_out.update(context.counted)
    if what_if:
        before = assemble(unaltered, gaps=Gaps(tolerant=True), aside=Aside(), file=file, **settings)
        before.found_out.update(context.counted)
        instance.found_out[UNALTERED] = before
    return instance


def _refuse_nothing(report: ReadReport, file: str) -> None:
    """InputError if nothing was read, for the reason that explains it best; a cluster may also be empty."""
    if (fault := report.aside.first_error(OBJECTS, FILES, PARTS)) is not None:
        raise fault
    if report.other_kinds:
        kinds = ", ".join(sorted(report.other_kinds)[:5])
        raise InputError(f"nothing here is of a kind that scheduling looks at ({kinds})", file=file, right=EXPECTED)
    if (count := report.aside.count(NO_OBJECTS)) > 1:
        raise InputError(f"none of {count} documents holds an object", file=file, right=EXPECTED)
    if (fault := report.aside.first_error(NO_OBJECTS, LINKS)) is not None:
        raise fault


def _documents(source: Source, format: str | None, context: Context) -> tuple[list[Document], str]:
    """The documents of the source, and what to call it."""
    if not isinstance(source, str | os.PathLike | Iterable):
        raise InputError(f"cannot load {type(source).__name__}", right="give a path, a mapping or a list of objects")
    items: list[Any] = [source] if isinstance(source, str | os.PathLike | Mapping) else list(source)
    if items and all(isinstance(item, str | os.PathLike) for item in items):
        documents = [document for path in items for document in _of_path(path, format, context)]
        name = ", ".join(map(_name, items))
    else:
        documents, name = [Document("input", source if isinstance(source, Mapping) else items)], "input"
    return translated(_without_rows(documents, context), format, context), name


def _without_rows(documents: list[Document], context: Context) -> list[Document]:
    """The documents without files of several recorded sessions: together they are no cluster."""
    rows = Counter(document.file for document in documents if _is_row(document.data))
    for file, count in rows.items():
        if count > 1:
            tolerated(context.aside, FILES, partial(_refuse_rows, file, count))
    return [document for document in documents if rows[document.file] < 2]


def _is_row(data: Any) -> bool:
    objects = data.get("objects") if isinstance(data, Mapping) and "kind" not in data else None
    return isinstance(objects, list) and any(isinstance(one, Mapping) and "kind" in one for one in objects)


def _refuse_rows(file: str, count: int) -> list[Document]:
    right = "give them to compare or check, which take many, or one of them alone"
    raise InputError(f"holds {count} recorded sessions", file=file, right=right)


def _of_path(path: Path, format: str | None, context: Context) -> list[Document]:
    path = located(path)
    documents = read_input(path, format, context)
    if not documents:
        unread = context.aside and context.aside.first_error(FILES, LINKS)
        right = "give Kubernetes objects or an Instance"
        raise unread or InputError("holds no document", file=_name(path), right=right)
    return documents


def _title(source: Source) -> str:
    items = [source] if isinstance(source, str | os.PathLike | Mapping) else source
    return ", ".join(os.path.basename(_name(one)) for one in items if isinstance(one, str | os.PathLike))


def _name(path: Path) -> str:
    return "stdin" if os.fspath(path) == "-" else os.fspath(path)


def _read(document: Document, settings: dict[str, Any], context: Context) -> Iterator[Found]:
    for place, raw in objects_in(document, strict=context.strict):
        raw = as_of_server(raw) if is_of_client(raw) else raw
        if _is_instance(raw, place):
            yield from _read_compact(raw, document.file, place, settings, context)
        elif is_capture(raw):
            context.captured |= stated(raw, document.file, place, context.notes)
        elif is_unnamed(raw):
            context.unnamed.append((raw, document.file, place))
        else:
            yield from _read_object(raw, document.file, place, context)


def _read_unnamed(context: Context, taken: Taken) -> list[Found]:
    """The objects that say only how their names begin, once all other names are known."""
    unnamed = [(named(raw, taken), file, place) for raw, file, place in context.unnamed]
    return [item for raw, file, place in unnamed for item in _read_object(raw, file, place, context)]


def _read_object(raw: Any, file: str, place: str, context: Context) -> list[Found]:
    """The object, if it is one of a kind that scheduling looks at; workloads are kept apart."""
    report, aside = context.report, context.aside
    one = workload(raw, file, place)
    if one is not None:
        context.workloads.append(one)
        if one.is_only_workload:
            report.read[one.kind] += 1
            return []
    is_none = isinstance(raw, InputError) or (not place and no_object(raw, file, place) is not None)
    found = tolerated(aside, NO_OBJECTS if is_none else OBJECTS, lambda: [read_object(raw, file, place, report)])
    return [item for item in found if item is not None]


def _is_instance(raw: Any, place: str) -> bool:
    """Whether this is the compact form, of any version; other programs have such a kind in a group with a dot."""
    if not isinstance(raw, Mapping) or raw.get("kind") != "Instance":
        return False
    group = str(raw.get("apiVersion")).partition("/")[0]
    return group == API_VERSION.partition("/")[0] or (not place and "." not in group)


def _read_compact(
    raw: Mapping[str, Any], file: str, place: str, settings: dict[str, Any], context: Context
) -> Iterator[Found]:
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
    if form.nodeUsage is not None:
        settings["node_usage"] = _loads(form.nodeUsage)
    for where, item in compact.expand(form, file):
        for made in _read_object(item, file, where, context):
            yield replace(made, by_hand=True)
    for index, item in enumerate(form.objects):
        yield from _read_object(item, file, f"objects[{index}]", context)


def _completed(
    items: list[Found], context: Context, changes: Changes, file: str, now: int | None, *, is_case: bool
) -> tuple[list[Found], list[Found], tuple[Alteration, ...]]:
    """The objects before and after changes: with the pods of workloads that have none yet, changed as the user asks."""
    aside = None if is_case else context.aside
    made = expanded(context.workloads, items, aside=aside, waiting=context.held and not is_case)
    context.notes += [*made.notes, *made.summary]
    context.counted[PODS_LACKING] = tuple(made.lacking)
    items = [*items, *made.found]
    if not changes:
        return items, items, ()
    taken = taken_by(items, context.workloads)
    submitted = [(source, *_submitted(source, taken)) for source in changes.submit]
    cluster = Cluster(list(items), file, last_moment(items, now))
    context.notes += applied(cluster, changes, submitted, context.workloads)
    return items, cluster.found, tuple(cluster.what_if)


def _submitted(source: Source, taken: Taken) -> tuple[list[Found], list[Given]]:
    """The objects of something that is submitted, where every fault is an error."""
    context, settings = Context(ReadReport(), strict=True), dict[str, Any]()
    documents, file = _documents(source, KUBERNETES, context)
    news = [Document(one.file, [as_new(raw) for _, raw in objects_in(one)]) for one in documents]
    found = [item for document in news for item in _read(document, settings, context)]
    taken |= taken_by(found, context.workloads)
    found += _read_unnamed(context, taken)
    if settings:
        raise InputError("an Instance", file=file, place="--submit", right="submit Kubernetes objects")
    if not found and not context.workloads:
        _refuse_nothing(context.report, file)
        raise InputError("holds nothing to submit", file=file, place="--submit", right="give Kubernetes objects")
    return found, context.workloads


def _node_usage(stated: Mapping[str, Any] | Path, file: str) -> dict[str, NodeLoad]:
    """The loads as they are given, or as a file holds them, by itself or as `nodeUsage` of an instance."""
    place = "node_usage"
    if isinstance(stated, str | os.PathLike):
        document = read_document(located(stated))
        value, file, place = document.data, document.file, "nodeUsage"
        right = "give node: {cpu: percent, memory: percent, age: seconds}"
        if not isinstance(value, Mapping):
            raise InputError("holds no loads of nodes", file=file, right=right)
        stated = value.get("nodeUsage", value)
        if not isinstance(stated, Mapping):
            raise InputError("holds no loads of nodes", file=file, place=place, right=right)
    try:
        return _loads(TypeAdapter(dict[str, compact.CompactLoad]).validate_python(dict(stated)))
    except ValidationError as error:
        raise input_error(error, file=file, place=place) from None


def _loads(stated: Mapping[str, compact.CompactLoad]) -> dict[str, NodeLoad]:
    return {name: NodeLoad(one.cpu, one.memory, one.age) for name, one in stated.items()}


def _sharding(stated: Mapping[str, Any], file: str) -> Sharding:
    try:
        shard = compact.CompactSharding.model_validate(dict(stated))
    except ValidationError as error:
        raise input_error(error, file=file, place="sharding") from None
    return Sharding(shard.mode, frozenset(shard.nodes), shard.name)
