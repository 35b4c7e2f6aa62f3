"""The baseline: what every case came to when it was last accepted; one line per case, sorted, made to be diffed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

import cpsched.version
from cpsched.complaints import refusal
from cpsched.errors import InputError
from cpsched.files import read_document, write_whole
from cpsched.gate.affected import Affected
from cpsched.gate.measure import Distance, Measured
from cpsched.policy.levels import LevelRef
from cpsched.visible import json_text


class Behind(BaseModel):
    """The first level on which a decision was behind the optimum."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: str
    value: int | str | None
    best: int | str | None
    difference: int | None = None
    proved: bool = True


class Entry(BaseModel):
    """One case as it was accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instance: str = Field(description="hash of instance and policy: whether it is still the same question")
    model: str
    findings: dict[str, int] = Field({}, description="rule → accepted findings")
    levels: dict[str, int | str | None] = Field({}, description="label → value, most important first")
    decision: Affected | None = Field(None, description="who is placed and evicted; older files do not say")
    optimum: Literal["reached", "open"] | Behind | None = Field(
        None, description="reached: as good, proved. open: as good as the best found. Null if it was not asked for"
    )

    @field_validator("levels")
    @classmethod
    def _known_levels(cls, levels: dict[str, int | str | None]) -> dict[str, int | str | None]:
        for label, value in levels.items():
            LevelRef.of_label(label).value(value)
        return levels

    @classmethod
    def of(cls, one: Measured) -> Entry:
        """What is kept of a case."""
        return cls(
            instance=one.instance,
            model=one.model,
            findings=dict(sorted(one.rules.items())),
            levels=dict(one.levels),
            decision=one.decision,
            optimum=_optimum(one.distance),
        )


class Baseline(BaseModel):
    """The file."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    api_version: Literal["cpsched/v1"] = Field("cpsched/v1", alias="apiVersion")
    kind: Literal["Baseline"] = "Baseline"
    engine: str = Field(description="who decided")
    versions: dict[str, str] = {}
    cases: dict[str, Entry] = {}

    @classmethod
    def of(cls, engine: str, results: Iterable[Measured]) -> Baseline:
        """A new one from cases that were decided."""
        entries = {one.id: Entry.of(one) for one in results if one.outcome == "decided"}
        return cls(
            engine=engine, versions={"cpsched": cpsched.version.__version__}, cases=dict(sorted(entries.items()))
        )

    def text(self) -> str:
        """JSON with one line per case: a change of one case is a change of one line."""
        head = {"apiVersion": self.api_version, "kind": self.kind, "engine": self.engine, "versions": self.versions}
        lines = [f"  {json_text(key)}: {json_text(value)}," for key, value in head.items()]
        cases = [f"    {json_text(case)}: {json_text(_plain(entry))}" for case, entry in self.cases.items()]
        body = ",\n".join(cases)
        return "\n".join(["{", *lines, '  "cases": {', *([body] if body else []), "  }", "}", ""])


def read_baseline(path: str) -> Baseline:
    """The file; what is no baseline is one line."""
    document = read_document(path)
    if not isinstance(document.data, Mapping) or document.data.get("kind") != "Baseline":
        raise InputError("not a baseline", file=path, right="give a file that check --update wrote")
    try:
        return Baseline.model_validate(dict(document.data))
    except ValidationError as error:
        raise refusal(error, file=path, right="write it again with check --update") from None


def write_baseline(path: str, baseline: Baseline) -> None:
    """Whole or not at all."""
    write_whole(path, baseline.text())


def _optimum(distance: Distance | None) -> Literal["reached", "open"] | Behind | None:
    if distance is None:
        return None
    if distance.gap is None:
        return "reached" if distance.proved else "open"
    return Behind(**vars(distance.gap), proved=distance.proved)


def _plain(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json", exclude_defaults=True)
