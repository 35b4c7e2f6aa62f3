"""How many namespaces `kubectl cluster-info dump` was made of: it prints all its lists once for each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from cpsched.parsing import Document

_KINDS = ("EventList", "ReplicationControllerList", "ServiceList", "DaemonSetList", "PodList")
NAMESPACES_DUMPED = __name__
"""Under this key the number stands in `found_out` of an instance that comes from such a dump."""


def namespaces_dumped(documents: Iterable[Document]) -> int:
    """The number of namespaces, empty ones too; 0 if the documents are no such dump."""
    lists = Counter(
        kind
        for one in documents
        if isinstance(one.data, Mapping) and isinstance(kind := one.data.get("kind"), str) and kind.endswith("List")
    )
    counts = {lists[kind] for kind in _KINDS}
    return counts.pop() if len(counts) == 1 else 0
