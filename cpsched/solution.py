"""Solution: one decision format for every engine, with its levels, proofs and findings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cpsched.doubts import Doubt
from cpsched.errors import InputError

ProverName = Literal["bound", "lp", "cp-sat", "highs", ""]
PROVERS: tuple[ProverName, ...] = tuple(name for name in get_args(ProverName) if name)
"""What can hold a bound: the bounds of the variables, the linear program, or one of the solvers; empty is none."""

_GIVEN = ", given open levels"
"""What older files append to a prover."""


class SolutionStatus(StrEnum):
    """How far the engine got; only `optimal` is a proof for every level."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"
    HEURISTIC = "heuristic"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Eviction(_Part):
    """A task that is stopped; `action` and `for` say by which right and for which job (a recording may not know)."""

    task: str
    node: str = ""
    action: Literal["preempt", "reclaim", ""] = ""
    for_job: str = Field("", alias="for", description="the job it makes room for, namespace/name")


class Preemption(_Part):
    """What kube-scheduler says of one preemption; its own count of budget violations may differ from the true one."""

    task: str
    node: str
    victims: tuple[str, ...] = Field(description="most important first; those already terminating included")
    pdb_violations: int = Field(alias="pdbViolations", description="as kube-scheduler counts them")
    true_pdb_violations: int = Field(alias="truePdbViolations", description="as they really are")


class Level(_Part):
    """One objective, its value and what is proved about it."""

    name: str
    priority: int | None = Field(None, description="set for levels that exist once per priority")
    sense: Literal["max", "min"]
    value: int | str | None = Field(description="null for a victim level without victims; a start time is RFC 3339")
    bound: int | str | None = None
    proved: bool = False
    prover: ProverName = Field("", description="who holds the bound: bound, lp, cp-sat, highs, or empty")
    seconds: float = 0.0
    given_open_levels: bool = Field(
        False, description="value and bound meet, but an earlier level is open: the best only given that one's value"
    )

    @model_validator(mode="before")
    @classmethod
    def _older(cls, data: Any) -> Any:
        """Older files say in the prover that earlier levels are open."""
        prover = data.get("prover") if isinstance(data, Mapping) else None
        if not isinstance(prover, str) or not prover.endswith(_GIVEN):
            return data
        return {**data, "prover": prover.removesuffix(_GIVEN), "given_open_levels": True}

    @property
    def label(self) -> str:
        """jobs_admitted[1000], or the plain name."""
        return self.name if self.priority is None else f"{self.name}[{self.priority}]"


class Finding(_Part):
    """A rule the decision breaks."""

    rule: str
    subject: str = Field("", description="the task, job, node or queue concerned")
    message: str


class Solution(_Part):
    """What an engine decided."""

    api_version: Literal["cpsched/v1"] = Field("cpsched/v1", alias="apiVersion")
    kind: Literal["Solution"] = "Solution"
    engine: str = ""
    model: str = ""
    status: SolutionStatus = SolutionStatus.HEURISTIC
    binds: dict[str, str] = Field({}, description="task → node: starts now")
    allocated: dict[str, str] = Field(
        {}, description="task → node: holds room, but its gang is not ready, so not bound"
    )
    pipelined: dict[str, str] = Field({}, description="task → node: waits for room that is being or will be freed")
    evictions: tuple[Eviction, ...] = ()
    preemptions: tuple[Preemption, ...] = Field((), description="engine kube: who preempts where, and at what price")
    nominations: dict[str, str] = Field({}, description="task → nominated node after the decision")
    phases: dict[str, str] = Field({}, description="job → PodGroup phase after the decision")
    levels: tuple[Level, ...] = ()
    findings: tuple[Finding, ...] = ()
    unplaced: dict[str, list[str]] = Field({}, description="task → why it stays")
    versions: dict[str, str] = {}
    seed: int | None = None
    interrupted: bool = Field(False, description="the search was ended from outside; this is the best so far")
    notes: tuple[str, ...] = Field(
        (), description="what the engine has to say besides: a bound that was refuted, a solver that failed"
    )
    doubts: tuple[Doubt, ...] = Field(
        (), description="what the configuration runs and this decision leaves out: proofs hold for the rest of it"
    )
    instance_sha256: str = ""

    @classmethod
    def parse(cls, data: Any, *, file: str | None = None) -> Solution:
        """Read the JSON form; InputError says in one line what is wrong."""
        if not isinstance(data, Mapping):
            raise InputError("a Solution is a mapping", file=file, right="give what cpsched solve --json printed")
        if data.get("kind", "Solution") != "Solution":
            raise InputError(f"kind is {data.get('kind')!r}", file=file, place="kind", right="give a Solution")
        try:
            return cls.model_validate(dict(data))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise InputError(first["msg"].removeprefix("Value error, "), file=file, place=place) from None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; only engine kube has preemptions, few runs are interrupted or have notes or doubts."""
        unsaid = {name for name in ("preemptions", "interrupted", "notes", "doubts") if not getattr(self, name)}
        return self.model_dump(mode="json", by_alias=True, exclude=unsaid)

    @property
    def reserves(self) -> dict[str, str]:
        """Everything that holds or awaits room without starting now."""
        return {**self.allocated, **self.pipelined}

    @property
    def evicted(self) -> frozenset[str]:
        """Tasks that are stopped."""
        return frozenset(eviction.task for eviction in self.evictions)
