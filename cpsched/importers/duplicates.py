"""Objects that are given twice: a dump may hold one in several files, or an object and its successor of that name."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.aside import REPLACED, TWICE, Aside
from cpsched.errors import InputError
from cpsched.importers.kubernetes import Found
from cpsched.objects.base import Object


def without_duplicates(found: Iterable[Found], aside: Aside | None) -> list[Found]:
    """Every object once, in order of first appearance; with `aside` the newer of two counts, without it InputError."""
    kept: dict[tuple[type[Object], str], Found] = {}
    for item in found:
        key = (type(item.object), item.object.key)
        first = kept.get(key)
        if first is None:
            kept[key] = item
        elif aside is None:
            where = f" (first in {first.file})" if first.file != item.file else ""
            raise InputError(f"given twice{where}", file=item.file, place=item.place, right="names are unique")
        else:
            older, kept[key] = sorted((first, item), key=_age)
            _note(older, kept[key], aside)
    return list(kept.values())


def _age(item: Found) -> tuple[int, int]:
    """When two are alike in this, the sort leaves the later one last."""
    return item.object.metadata.creation_timestamp or 0, item.version


def _note(older: Found, newer: Found, aside: Aside) -> None:
    if older.uid and newer.uid and older.uid != newer.uid:
        aside.add(REPLACED, older.file, older.place, "has another uid than the newer one, which counts")
    elif older.object == newer.object or older.version != newer.version or (older.uid and older.uid == newer.uid):
        aside.add(TWICE, older.file, older.place)
    else:
        aside.add(REPLACED, older.file, older.place, "differs from the later one, which counts")
