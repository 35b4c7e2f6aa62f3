"""What a user asked for in the form, and the page that answers it. Nothing in a form names a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cpsched.errors import InputError
from cpsched.parsing import parse_documents
from cpsched.policy import model_names
from cpsched.what_if.changes import Changes

MOST_NODES = 1000
FIELDS = ("model", "cordon", "drain", "evict", "without", "add", "like", "submit")


@dataclass(frozen=True)
class ChangeRequest:
    """The form's fields as text, and what they mean."""

    fields: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unknown := sorted(self.fields.keys() - set(FIELDS)):
            raise InputError(f"unknown field {unknown[0]}", right=f"one of {', '.join(FIELDS)}")

    @property
    def model(self) -> str | None:
        """A shipped model, None for the one that follows from the cluster; a form never names a file."""
        named = self.fields.get("model", "")
        if named and named not in model_names():
            raise InputError(f"no model {named}", place="model", right=f"one of {', '.join(model_names())}")
        return named or None

    @property
    def changes(self) -> Changes:
        """How the cluster is changed before it is decided on."""
        return Changes(
            submit=self._submitted(),
            cordon=self._names("cordon"),
            drain=self._names("drain"),
            without=self._names("without"),
            evict=self._names("evict"),
            add_nodes=self._added(),
        )

    def _names(self, name: str) -> tuple[str, ...]:
        return tuple(self.fields.get(name, "").replace(",", " ").split())

    def _added(self) -> tuple[tuple[int, str], ...]:
        count, like = self.fields.get("add", "").strip(), self.fields.get("like", "").strip()
        if not count and not like:
            return ()
        if not count.isdecimal() or not 1 <= int(count) <= MOST_NODES or not like:
            right = f"a number from 1 to {MOST_NODES}, and the node that the new ones are like"
            raise InputError("nodes to add", place="add", right=right)
        return ((int(count), like),)

    def _submitted(self) -> tuple[Mapping[str, object], ...]:
        """The objects themselves: a text is never taken for a path."""
        text = self.fields.get("submit", "").strip()
        documents = parse_documents(text.encode(), "submit") if text else []
        for document in documents:
            if not isinstance(document.data, Mapping):
                raise InputError(
                    "no Kubernetes object", place="submit", right="paste manifests, as kubectl apply takes them"
                )
        return tuple(document.data for document in documents)
