"""Explanation: what is known about why a job or task is where it is, or is nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cpsched.alterations import Alteration
from cpsched.doubts import Doubt
from cpsched.solution import Eviction
from cpsched.tables import Block, html, markdown, plain


class Verdict(StrEnum):
    """The grade of the answer."""

    SETTLED = "settled"
    """Nothing to place: it runs, has ended, is held by a gate, or belongs to no job of this session."""
    PLACED = "placed"
    IMPOSSIBLE = "impossible"
    """No feasible decision places it."""
    OUTRANKED = "outranked"
    """It could be placed, but those ahead of it leave no room."""
    MISSED = "missed"
    """The heuristic leaves it, a better decision places it."""
    TIED = "tied"
    """The heuristic leaves it, a decision that is as good on every level places it."""
    UNDECIDED = "undecided"
    """Not found out in time."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class NodeReasons(_Part):
    """Nodes that refuse a task for the same reasons; without reasons they fits now."""

    task: str
    nodes: tuple[str, ...]
    reasons: tuple[str, ...]


class CapacitySum(_Part):
    """Nodes that have the same of a resource that they lack: allocatable = running + ending + free."""

    nodes: tuple[str, ...]
    resource: str
    allocatable: str
    running: str = Field(description="requested by pods on the node that are not being deleted")
    ending: str = Field(description="requested by pods on the node that are being deleted")
    free: str = Field(description="negative if pods request more than the node has")
    needs: str = Field(description="what the task requests")


class Reason(_Part):
    """One requirement of a minimal set."""

    key: str = Field(description="the rule, as in docs/model.md")
    subject: str = ""
    nodes: tuple[str, ...] = Field((), description="the nodes it is about; none named means all")
    text: str = ""


class CompetitorReason(_Part):
    """A job that is ahead and keeps what it gets, or a level that would get worse."""

    job: str | None = None
    priority: int | None = None
    level: str | None = None
    text: str = ""


RepairKind = Literal["queue", "gang", "eviction", "capacity", "nodes", "together"]
"""together: several kinds at once."""


class RepairChange(_Part):
    """One change to the cluster."""

    kind: Literal["queue", "gang", "eviction", "capacity", "nodes"]
    subject: str
    amount: int
    resource: str = ""
    part: str = ""
    text: str


class Repair(_Part):
    """Changes that together make the placement possible, none of them spare."""

    changes: tuple[RepairChange, ...]
    admitted: bool | None = Field(
        description="whether the optimum of the changed cluster places it; null: unknown (time limit)"
    )


class Victims(_Part):
    """A victim set on one node with its score vector, most important level first."""

    tasks: tuple[str, ...]
    levels: dict[str, int | str | None]
    findings: tuple[str, ...] = Field((), description="rules the set breaks")


class Candidate(_Part):
    """One node in the eyes of a task that preempts."""

    node: str
    reason: str = Field("", description="why the heuristic cannot use it")
    heuristic: Victims | None = None
    optimal: Victims | None = None
    optimal_reason: str = Field("", description="why no victim set is feasible, or that it was not found out")
    chosen: bool = Field(False, description="the heuristic's choice, if the task is tried alone")
    best: bool = Field(False, description="no node is better on the levels")


class Explanation(_Part):
    """The answer to one question."""

    api_version: Literal["cpsched/v1"] = Field("cpsched/v1", alias="apiVersion")
    kind: Literal["Explanation"] = "Explanation"
    job: str = Field(description="the job's name; a pod without a PodGroup is called by its own")
    task: str | None = None
    engine: str
    model: str
    verdict: Verdict
    summary: str
    placements: dict[str, str] = {}
    evictions: tuple[Eviction, ...] = ()
    told: tuple[str, ...] = Field((), description="what the engine itself says")
    nodes: tuple[NodeReasons, ...] = ()
    capacity: tuple[CapacitySum, ...] = Field((), description="sums of the nodes that lack capacity")
    concerns: tuple[str, ...] = Field((), description="what stands against it besides nodes: queue, gang, entering")
    conflicts: tuple[tuple[Reason, ...], ...] = Field(
        (), description="minimal sets of requirements that cannot all hold; each is enough by itself"
    )
    conflicts_minimal: bool = Field(True, description="false: not known in time that no member of a set is spare")
    rivals: tuple[CompetitorReason, ...] = ()
    repairs: tuple[Repair, ...] = ()
    time_limit: float | None = Field(None, description="seconds that the whole answer was given")
    repairs_not_tried: tuple[RepairKind, ...] = Field((), description="kinds for which there was no time")
    repairs_not_finished: tuple[RepairKind, ...] = Field(
        (), description="kinds of which something was left open: there may be other or smaller repairs"
    )
    alternative: dict[str, str] = Field({}, description="where the optimum, or any feasible decision, would place it")
    alternative_evictions: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = Field((), description="what the configuration runs and the answer leaves out")
    what_if: tuple[Alteration, ...] = Field((), description="how the cluster was changed before it was decided on")

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return self.model_dump(mode="json", by_alias=True)

    @property
    def is_open(self) -> bool:
        """Whether time ended it without an answer."""
        return self.verdict is Verdict.UNDECIDED

    def blocks(self) -> Iterator[Block]:
        """The explanation as lines and tables."""
        from cpsched.explanation.blocks import blocks

        return blocks(self)

    def to_markdown(self) -> str:
        """The explanation as Markdown."""
        return markdown(self.blocks()) + "\n"

    def __str__(self) -> str:
        return plain(self.blocks())

    def _repr_html_(self) -> str:
        return html(self.blocks())
