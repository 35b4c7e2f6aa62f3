"""The certificate as a file: a decision, its vector, its bounds, the evidence for each, and what it was made from."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from cpsched.alterations import Alteration
from cpsched.complaints import refusal
from cpsched.errors import InputError
from cpsched.frames import Framed, Row, Tables
from cpsched.policy.kube_registry import KubeVersion
from cpsched.policy.levels import LevelRef
from cpsched.policy.notes import shown
from cpsched.proof.forms import FORM_NAMES
from cpsched.solution import PROVERS, Eviction, Level, Shard, Solution

CLAIMED = "claimed"
"""The kind of a bound without evidence: a prover reported it, and nothing here can compute it again."""
STEPS = "steps"
"""The kind of a bound that is derived step by step from rows that every decision satisfies (`cpsched/proof`)."""
LARGEST_INLINE = 64 * 2**10
"""Bytes of steps in the certificate itself; more lie in a file beside it."""
_HASH = re.compile(r"[0-9a-f]{64}")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Evidence(_Part):
    """Why nothing beyond the bound can be reached by a decision with the stated values on all earlier levels."""

    kind: str = Field(description="how the bound is computed again from the instance, or claimed")
    by: str = Field(
        "", description="claimed: the prover that reported the bound", json_schema_extra={"enum": ["", *PROVERS]}
    )

    form: str = Field(
        "", description="steps: how much the statement tells apart", json_schema_extra={"enum": ["", *FORM_NAMES]}
    )
    steps: tuple[Any, ...] | None = Field(None, description="steps: the proof, if it is short")
    file: str = Field(
        "", description="steps: else the SHA-256 of a gzip file beside the certificate, HASH.steps.gz, one step a line"
    )

    @model_serializer(mode="wrap")
    def _what_there_is(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what only proofs have where there is none, as certificates were before there were any."""
        absent = [name for name in ("form", "steps", "file") if not getattr(self, name)]
        return {name: value for name, value in written(self).items() if name not in absent}

    @model_validator(mode="after")
    def _steps_somewhere(self) -> Self:
        if self.kind != STEPS:
            return self
        if self.form not in FORM_NAMES:
            raise ValueError(f"a statement has the form {shown(self.form)}; form is one of {', '.join(FORM_NAMES)}")
        if bool(self.steps) == bool(self.file) or (self.file and not _HASH.fullmatch(self.file)):
            raise ValueError("a proof is either in steps, or in a file whose SHA-256 is given")
        return self

    @model_validator(mode="after")
    def _named_by_a_prover(self) -> Self:
        if self.kind == CLAIMED and self.by not in PROVERS:
            raise ValueError(f"a bound is claimed by {shown(self.by)}; by is one of {', '.join(PROVERS)}")
        if self.kind != CLAIMED and self.by:
            raise ValueError(f"by stands beside evidence of kind {shown(self.kind)}; only a claimed bound has it")
        return self


class CertifiedLevel(_Part):
    """One level: its value, a bound on what any decision with the same earlier values can reach, and why."""

    name: str
    priority: int | None = None
    sense: Literal["max", "min"]
    value: int | str | None = Field(description="null for a victim level without victims; a start time is RFC 3339")
    bound: int | str | None = Field(description="as the value; null: not even the absence of victims is excluded")
    proved: bool = Field(description="value and bound meet, here and on every earlier level")
    evidence: Evidence

    @property
    def label(self) -> str:
        """jobs_admitted[1000], or the plain name."""
        return self.ref.label

    @property
    def ref(self) -> LevelRef:
        """Which level it is."""
        return LevelRef(self.name, self.priority)


class Decided(_Part):
    """The decision itself, as in a Solution."""

    binds: dict[str, str] = {}
    allocated: dict[str, str] = {}
    pipelined: dict[str, str] = {}
    evictions: tuple[Eviction, ...] = ()
    phases: dict[str, str] = {}


class Certificate(Framed, _Part):
    """A decision with everything that is needed to check it again."""

    api_version: Literal["cpsched/v1"] = Field("cpsched/v1", alias="apiVersion")
    kind: Literal["Certificate"] = "Certificate"
    model: str = Field(description="name of the model; of a file that bears a shipped name: volcano (from FILE)")
    kube_version: Literal[KubeVersion, ""] = Field("", description="release of kube-scheduler, if one is mirrored")
    policy_sha256: str = Field(description="of the model and the scheduler configuration together")
    instance_sha256: str
    sharding: Shard | None = Field(None, description="of the instance, if it has any")
    what_if: tuple[Alteration, ...] = Field((), description="how the cluster was changed before it was decided on")
    versions: dict[str, str] = {}
    decision: Decided
    levels: tuple[CertifiedLevel, ...]
    sha256: str = Field("", description="of all the rest, so that a slip of the editor is noticed")

    def _headline(self) -> str:
        proved = sum(level.proved for level in self.levels)
        return f"model {self.model}: {proved} of {len(self.levels)} levels proved"

    def _tables(self) -> Tables:
        return {"levels": lambda: (_row(level) for level in self.levels)}

    @classmethod
    def parse(cls, data: Any, *, file: str | None = None) -> Certificate:
        """Read the JSON form; InputError says in one line what is wrong."""
        if not isinstance(data, Mapping) or data.get("kind") != "Certificate":
            raise InputError("not a Certificate", file=file, right="give what cpsched solve --certificate wrote")
        try:
            return cls.model_validate(dict(data))
        except ValidationError as error:
            raise refusal(error, file=file) from None

    def sealed(self) -> Certificate:
        """With the checksum of its content."""
        return self.model_copy(update={"sha256": self.checksum()})

    def checksum(self) -> str:
        """SHA-256 of everything but the checksum."""
        content = self.model_dump(mode="json", by_alias=True, exclude={"sha256", *self._unsaid})
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return self.model_dump(mode="json", by_alias=True, exclude=self._unsaid)

    @property
    def _unsaid(self) -> set[str]:
        """What older certificates do not have, and most others do not need."""
        return {name for name in ("kube_version", "sharding", "what_if") if not getattr(self, name)}

    def as_solution(self) -> Solution:
        """The decision and its levels in the form that the checker takes."""
        fields = {"name", "priority", "sense", "value", "bound", "proved"}
        levels = tuple(Level(**level.model_dump(include=fields)) for level in self.levels)
        return Solution(
            model=self.model,
            kube_version=self.kube_version,
            policy_sha256=self.policy_sha256,
            instance_sha256=self.instance_sha256,
            sharding=self.sharding,
            what_if=self.what_if,
            levels=levels,
            **{name: getattr(self.decision, name) for name in Decided.model_fields},
        )


def _row(level: CertifiedLevel) -> Row:
    stated = {"level": level.label, "better": level.sense, "value": level.value, "bound": level.bound}
    return stated | {"proved": level.proved, "evidence": level.evidence.kind, "by": level.evidence.by}
