"""Bytes in (compressed and archives too), JSON or YAML documents out: plain values of bounded depth and size.

Whatever takes `aside` sets aside what it cannot read as long as there is more to read; without it, all is InputError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from cpsched.archives import ArchiveLimits, ArchiveMember, is_archive, members
from cpsched.around import for_people, without_logs, without_messages
from cpsched.aside import FILES, LINKS, OTHER_FILES, PARTS, Aside, Sort
from cpsched.errors import InputError
from cpsched.json_values import MAX_DEPTH, RepeatedKeyError, depth_exceeds, json_values, lists_in, too_deep
from cpsched.packed import broken_data, foreign, opened
from cpsched.parts import Part, glued, parts
from cpsched.yaml_values import yaml_values

MAX_BYTES = 4 * 2**30
_PLAIN, _PACKED = (".json", ".yaml", ".yml"), ("", ".gz", ".bz2", ".xz")
_YAML = tuple(plain + packed for plain in (".yaml", ".yml") for packed in _PACKED)
SUFFIXES = tuple(plain + packed for plain in _PLAIN for packed in _PACKED)
_LINES = tuple(plain + packed for plain in (".jsonl", ".ndjson") for packed in _PACKED)
_ARCHIVES = (".zip", ".tgz", ".tbz2", ".txz", *(f".tar{packed}" for packed in _PACKED))
_APPLE = "._"
"""Files of that name hold what macOS notes about the file of the rest of the name."""
_ENCODINGS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Marks at the beginning; PowerShell's `>` writes UTF-16."""
_FIRST = re.compile(r"[^\s\ufeff]")
Item = TypeVar("Item")


class Document(NamedTuple):
    """One parsed JSON or YAML document and the file it came from."""

    file: str
    data: Any


def may_hold_objects(name: str) -> bool:
    """Whether a file of this name, among many, is worth reading; logs, pages and pictures are not."""
    last = name.rpartition("/")[2]
    return last.lower().endswith((*SUFFIXES, *_LINES, *_ARCHIVES)) and not last.startswith(_APPLE)


def parse_documents(data: bytes, file: str, aside: Aside | None = None) -> list[Document]:
    """The documents of a file, or of all files of an archive; the first bytes tell which it is."""
    if is_archive(data, file):
        return _of_archive(data, file, aside, ArchiveLimits())
    return _of_file(data, file, aside)


def tolerated(aside: Aside | None, sort: Sort, read: Callable[[], list[Item]]) -> list[Item]:
    """What `read` gives; nothing, if that is an error that can be set aside."""
    try:
        return read()
    except InputError as error:
        if aside is None:
            raise
        aside.add_error(sort, error)
        return []


def plain_text(data: bytes, file: str) -> str:
    """The bytes as text, unpacked if they are compressed."""
    return _decoded(_unpacked(data, file), file)


def limited(stream: Any, file: str) -> bytes:
    """All bytes of a stream, up to a size that no cluster has."""
    data: bytes = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES // 2**30} GiB", file=file)
    return data


def _of_file(data: bytes, file: str, aside: Aside | None) -> list[Document]:
    data = _unpacked(data, file)
    try:
        text = _decoded(data, file)
    except InputError:
        # A container log may hold any bytes.
        text = _decoded(without_logs(data.decode("latin-1"), file, aside).encode("latin-1"), file)
    return [Document(file, value) for value in _values(text, file, aside) if value is not None]


def _of_archive(
    data: bytes,
    file: str,
    aside: Aside | None,
    budget: ArchiveLimits,
    wanted: Callable[[str], bool] = may_hold_objects,
    depth: int = 0,
) -> list[Document]:
    """The files in it that are wanted."""
    found: list[Document] = []
    others: list[str] = []
    is_any_wanted = False
    for member in members(data, file, budget):
        if member.wrong is not None:
            tolerated(aside, LINKS, partial(_refuse, member, file))
        elif not wanted(member.name):
            others.append(f"{file}!{member.name}")
        else:
            is_any_wanted, content = True, member.read()
            read = partial(_of_member, content, f"{file}!{member.name}", aside, budget, depth)
            found += tolerated(aside, FILES, read)
    if not is_any_wanted and len(others) != 1:
        raise InputError("an archive without a .json or .yaml file", file=file)
    if not is_any_wanted:
        # What is packed alone is meant, whatever it is called.
        return _of_archive(data, file, aside, budget, lambda _: True, depth)
    if aside is not None:
        for name in others:
            aside.add(OTHER_FILES, name)
    return found


def _refuse(member: ArchiveMember, file: str) -> list[Document]:
    wrong = f"the member {member.name!r} {member.wrong}"
    raise InputError(wrong, file=file, right="give an archive of plain files")


def _of_member(content: bytes, file: str, aside: Aside | None, budget: ArchiveLimits, depth: int) -> list[Document]:
    """A file in an archive; an archive in an archive is read, an archive in that one is not."""
    if not is_archive(content, file):
        return _of_file(content, file, aside)
    if depth:
        raise InputError("an archive in an archive in an archive", file=file, right="unpack it first")
    return _of_archive(content, file, aside, budget, depth=depth + 1)


def _unpacked(data: bytes, file: str) -> bytes:
    stream = opened(data, file, MAX_BYTES)
    if stream is None:
        return data
    with broken_data(data, file):
        return stream.read(MAX_BYTES + 1)


def _decoded(data: bytes, file: str) -> str:
    if (wrong := foreign(data, file)) is not None:
        raise wrong
    encoding = next((name for mark, name in _ENCODINGS.items() if data.startswith(mark)), None) or _unmarked(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.upper().removesuffix("-SIG").removesuffix("-LE").removesuffix("-BE")
        message = f"not {name} text (byte {error.start})"
        raise InputError(message, file=file, right="give JSON or YAML text") from None


def _unmarked(data: bytes) -> str:
    """UTF-8, unless every other byte of the first characters is zero."""
    return "utf-16-le" if data[1:2] == b"\0" else "utf-16-be" if data[:1] == b"\0" else "utf-8"


def _values(text: str, file: str, aside: Aside | None) -> list[Any]:
    """The documents of a text; what kubectl prints for people has none."""
    try:
        found = _values_around(text, file, aside)
    except InputError as error:
        raise for_people(text, file) or error from None
    if not any(isinstance(one, list) or (isinstance(one, dict) and "kind" in one) for one in found):
        wrong = for_people(text, file)
        if wrong is not None:
            raise wrong
    return found


def _values_around(text: str, file: str, aside: Aside | None) -> list[Any]:
    bare = without_logs(text, file, aside)
    if aside is not None and not _is_json(bare, file):
        bare = without_messages(bare, file, aside)
    if _FIRST.search(bare) is None:
        wrong = "the file is empty" if _FIRST.search(text) is None else "holds container logs and no objects"
        raise InputError(wrong, file=file, right="give Kubernetes objects or an Instance as JSON or YAML")
    try:
        return _read(Part(bare, 1), file, None)
    except InputError as error:
        return _part_by_part(bare, file, aside, error)


def _part_by_part(text: str, file: str, aside: Aside | None, error: InputError) -> list[Any]:
    """The documents of a text that cannot be read as a whole; the error, if there is none."""
    if aside is not None:
        text = without_messages(text, file, aside)
    found = parts(text)
    faults = None if aside is None else Aside()
    values = [value for part in found for value in tolerated(faults, PARTS, partial(_unglued, part, file, faults))]
    if not values:
        raise error
    if aside is not None and faults is not None:
        aside.update(faults)
    return values


def _unglued(part: Part, file: str, aside: Aside | None) -> list[Any]:
    """The documents of a part; YAML documents with nothing between them are distinguished by their keys."""
    try:
        return _read(part, file, aside)
    except RepeatedKeyError:
        pieces = glued(part)
        if len(pieces) == 1:
            raise
        return [value for piece in pieces for value in tolerated(aside, PARTS, partial(_read, piece, file, None))]
    except InputError as error:
        if aside is None or _is_json(part.text, file) or not (found := lists_in(part.text, file, part.line)):
            raise
        aside.add_error(PARTS, error)
        return found


def _read(part: Part, file: str, aside: Aside | None) -> list[Any]:
    if _is_json(part.text, file):
        return json_values(part.text, file, part.line, aside)
    try:
        values = list(yaml_values(part.text, file, part.line))
    except RecursionError:
        raise too_deep(file) from None
    if depth_exceeds(values, MAX_DEPTH):
        raise too_deep(file)
    return values


def _is_json(text: str, file: str) -> bool:
    first = _FIRST.search(text)
    return first is not None and first[0] in "{[" and not file.lower().endswith(_YAML)
