"""Solution: one decision format for every engine, with its levels, proofs and findings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from cpsched.alterations import Alteration
from cpsched.complaints import refusal
from cpsched.doubts import Doubt
from cpsched.errors import InputError
from cpsched.frames import Framed, headline_of_solution, tables_of_solution
from cpsched.policy.kube_registry import KubeVersion
from cpsched.policy.levels import LevelRef

ProverName = Literal["bound", "counting", "lp", "packing", "cp-sat", "highs", ""]
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


NO_DECISION = (SolutionStatus.INFEASIBLE, SolutionStatus.UNKNOWN)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


EvictionAction = Literal["preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle", ""]


class Eviction(_Part):
    """A task that is stopped; `action` and `for` say by which right and for which job (a recording may not know)."""

    task: str
    node: str = ""
    action: EvictionAction = ""
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
    prover: ProverName = Field("", description="who holds the bound; empty for none")
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

    @cached_property
    def label(self) -> str:
        """jobs_admitted[1000], or the plain name."""
        return self.ref.label

    @property
    def ref(self) -> LevelRef:
        """Which level it is."""
        return LevelRef(self.name, self.priority)

    @property
    def rank(self) -> tuple[int, int]:
        """A key that sorts better values first."""
        return self.ref.rank(self.ref.value(self.value))

    def without_proof(self) -> Level:
        """The level and its value, without anything that is stated to be proved about it."""
        return Level(name=self.name, priority=self.priority, sense=self.sense, value=self.value)


class Finding(_Part):
    """A rule the decision breaks."""

    rule: str
    subject: str = Field("", description="the task, job, node or queue concerned")
    message: str


_RARE = ("preemptions", "interrupted", "notes", "doubts", "called_optimal", "kube_version", "sharding", "what_if")
_OURS = ("cpsched", "ortools", "highspy")


class Shard(_Part):
    """The nodes of one scheduler among several, as the instance had them."""

    mode: Literal["none", "soft", "hard"]
    nodes: tuple[str, ...] = ()
    name: str = ""


class Solution(Framed, _Part):
    """What an engine decided."""

    api_version: Literal["cpsched/v1"] = Field("cpsched/v1", alias="apiVersion")
    kind: Literal["Solution"] = "Solution"
    engine: str = ""
    model: str = Field("", description="name of the model; of a file that bears a shipped name: volcano (from FILE)")
    kube_version: Literal[KubeVersion, ""] = Field("", description="release of kube-scheduler that it was checked by")
    policy_sha256: str = Field("", description="of the model and the scheduler configuration together")
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
        (), description="what the engine has to say besides: a bound that was contradicted, a solver that failed"
    )
    doubts: tuple[Doubt, ...] = Field(
        (), description="what the configuration runs and this decision leaves out: proofs hold for the rest of it"
    )
    instance_sha256: str = ""
    sharding: Shard | None = Field(None, description="of the instance, if it has any")
    what_if: tuple[Alteration, ...] = Field((), description="how the instance was changed before it was decided on")
    called_optimal: bool = Field(
        False,
        description="a decision from outside states that it is optimal; not verified, none of its proofs count",
    )
    _proved_here: bool = PrivateAttr(False)

    _headline = headline_of_solution
    _tables = tables_of_solution

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
            raise refusal(error, file=file) from None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; fields that few decisions have are left out of the others."""
        unsaid = {name for name in _RARE if not getattr(self, name)}
        return self.model_dump(mode="json", by_alias=True, exclude=unsaid)

    @property
    def proves(self) -> bool:
        """Whether its proofs were made by this package's own search; no file and no other program can state that."""
        return self._proved_here

    def with_own_proofs(self) -> Solution:
        """For the search alone, and for what this user's seal says that it found."""
        own = self.model_copy()
        own._proved_here = True
        return own

    def from_outside(self) -> Solution:
        """As a decision counts that was not made here: what it does, and what it states without a proof.

        Its levels are left for the checker to hold against the true ones. What it says in our name is left out: notes,
        interruptions, kube-scheduler's own counts, versions of this package and its solvers.
        """
        decides = self.binds or self.reserves or self.evictions
        status = self.status if self.status in NO_DECISION and not decides else SolutionStatus.HEURISTIC
        outside = self.model_copy(
            update={
                "status": status,
                "called_optimal": self.called_optimal or self.status is SolutionStatus.OPTIMAL,
                "levels": () if status in NO_DECISION else tuple(level.without_proof() for level in self.levels),
                "versions": {name: version for name, version in self.versions.items() if name not in _OURS},
                "preemptions": (),
                "notes": (),
                "doubts": (),
                "interrupted": False,
            }
        )
        outside._proved_here = False
        return outside

    @property
    def reserves(self) -> dict[str, str]:
        """Everything that holds or awaits room without starting now."""
        return {**self.allocated, **self.pipelined}

    @property
    def evicted(self) -> frozenset[str]:
        """Tasks that are stopped."""
        return frozenset(eviction.task for eviction in self.evictions)


class Solutions(_Part):
    """What was decided in a cluster of two schedulers: a decision for each, as if the other did nothing."""

    api_version: Literal["cpsched/v1"] = Field("cpsched/v1", alias="apiVersion")
    kind: Literal["Solutions"] = "Solutions"
    solutions: tuple[Solution, ...] = Field(description="one per scheduler whose pods wait; the model says whose it is")
    notes: tuple[str, ...] = Field((), description="what holds of them together")

    @classmethod
    def parse(cls, data: Any, *, file: str | None = None) -> tuple[Solution, ...]:
        """The decisions in the JSON form of Solutions, or the one in that of a Solution."""
        if not isinstance(data, Mapping) or data.get("kind") != "Solutions":
            return (Solution.parse(data, file=file),)
        found = data.get("solutions")
        if not isinstance(found, list) or not found:
            raise InputError(
                "no solutions", file=file, place="solutions", right="give what cpsched solve --json printed"
            )
        return tuple(Solution.parse(one, file=file) for one in found)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; each decision has that of a Solution."""
        head = {"apiVersion": self.api_version, "kind": self.kind}
        return {**head, "solutions": [one.to_dict() for one in self.solutions], "notes": list(self.notes)}
