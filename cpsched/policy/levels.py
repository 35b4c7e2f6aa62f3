"""The levels a model may list: how a decision is scored, one integer each, compared in order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema, model_validator

from cpsched import timestamps
from cpsched.complaints import shown
from cpsched.policy.notes import known

LevelKey = Literal[
    "jobs_admitted",
    "queue_deficit",
    "pdb_violations",
    "victim_max_priority",
    "victim_priority_sum",
    "victim_count",
    "victim_start_time",
    "gangs_broken",
    "tasks_bound",
    "tasks_placed",
    "resources_placed",
    "topology_tier_max",
    "topology_tier_sum",
    "hypernodes_used",
    "nodes_used",
]
Sense = Literal["max", "min"]
Value = int | None
"""Of a decision on a level."""
Stated = int | str | None
"""The same in files and tables."""
_IN_BRACKETS = re.compile(r"-?[0-9]{1,10}\]")

LEVEL_KEYS: tuple[LevelKey, ...] = get_args(LevelKey)

SENSES: dict[str, Sense] = {
    "jobs_admitted": "max",
    "queue_deficit_max": "min",
    "queue_deficit_total": "min",
    "pdb_violations": "min",
    "victim_max_priority": "min",
    "victim_priority_sum": "min",
    "victim_count": "min",
    "victim_start_time": "max",
    "gangs_broken": "min",
    "tasks_bound": "max",
    "tasks_placed": "max",
    "resources_placed": "max",
    "topology_tier_max": "min",
    "topology_tier_sum": "min",
    "hypernodes_used": "min",
    "nodes_used": "min",
}
"""Every level name that a solution may carry, with its sense."""

SPLIT: dict[str, tuple[str, ...]] = {"queue_deficit": ("queue_deficit_max", "queue_deficit_total")}
"""Keys that stand for several levels."""

ABOUT_NEARNESS = frozenset({"topology_tier_max", "topology_tier_sum", "hypernodes_used"})
"""Levels that a plan has only where something is about network topology: there they cannot tell decisions apart."""

BETWEEN = ("victim_max_priority", "victim_priority_sum")
"""What `victims_between` measures after every admission level but the last."""


class LevelRef(NamedTuple):
    """One level of a session: its name, and the priority of a level that exists once per priority.

    A value is an integer, or None without victims or, of topology_tier_max, without units. What it measures is in
    nanoseconds where it is a time; files and tables state such a value as RFC 3339.
    """

    name: str
    priority: int | None = None

    @classmethod
    def of_label(cls, label: str) -> LevelRef:
        """The level of a label, jobs_admitted[1000] or a plain name; ValueError if there is no such level."""
        name, bracket, priority = label.partition("[")
        if name not in SENSES or (bracket and not _IN_BRACKETS.fullmatch(priority)):
            raise ValueError(f"{label} is not a level")
        return cls(name, int(priority.removesuffix("]")) if bracket else None)

    @property
    def label(self) -> str:
        """jobs_admitted[1000], or the plain name."""
        return self.name if self.priority is None else f"{self.name}[{self.priority}]"

    @property
    def is_better_more(self) -> bool:
        """Whether more is better."""
        return SENSES.get(self.name) == "max"

    @property
    def is_time(self) -> bool:
        """Whether its values are times."""
        return self.name == "victim_start_time"

    def rank(self, value: Value) -> tuple[int, int]:
        """A key that sorts better values first: none is best, whatever the sense."""
        return (0, 0) if value is None else (1, -value if self.is_better_more else value)

    def stated(self, value: Value) -> Stated:
        """The value as files and tables state it."""
        return timestamps.text(value) if self.is_time and value is not None else value

    def value(self, stated: Stated) -> Value:
        """The value that is stated; ValueError for what is none of this level."""
        if isinstance(stated, str):
            if not self.is_time:
                raise ValueError(f"{shown(stated)} is no value of {self.label}, which is a whole number")
            return timestamps.parse(stated)
        return stated


class Level(BaseModel):
    """One entry of a model's levels."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: LevelKey
    victims_between: bool = Field(False, description="jobs_admitted only: settle victims between the priorities.")

    @property
    def names(self) -> tuple[str, ...]:
        """The levels it stands for, as a solution names them."""
        return SPLIT.get(self.key, (self.key,))

    @model_validator(mode="after")
    def _between_admissions_only(self) -> Level:
        if self.victims_between and self.key != "jobs_admitted":
            raise ValueError(f"victims_between belongs to jobs_admitted, not to {self.key}")
        return self


def _read(entry: object) -> object:
    if isinstance(entry, Level):
        return entry
    options: object = {}
    if isinstance(entry, Mapping) and len(entry) == 1:
        entry, options = next(iter(entry.items()))
    if not isinstance(entry, str) or not isinstance(options, Mapping):
        raise ValueError("a level is a key, or a mapping of one key to its options")
    if entry not in LEVEL_KEYS:
        raise ValueError(f"unknown level {entry}; {known(entry, LEVEL_KEYS)}")
    if "key" in options:
        raise ValueError("key is not an option of a level")
    return {"key": entry, **options}


def _written(level: Level) -> Any:
    return {level.key: {"victims_between": True}} if level.victims_between else level.key


_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "enum": list(LEVEL_KEYS)},
        {
            "type": "object",
            "description": "jobs_admitted with its option.",
            "properties": {
                "jobs_admitted": {
                    "type": "object",
                    "properties": {
                        "victims_between": {
                            "type": "boolean",
                            "default": False,
                            "description": "After each priority but the lowest, settle the victims that no job of "
                            "lower priority has a right to evict.",
                        }
                    },
                    "additionalProperties": False,
                }
            },
            "required": ["jobs_admitted"],
            "additionalProperties": False,
        },
    ],
    "title": "Level",
}

LevelEntry = Annotated[Level, BeforeValidator(_read), PlainSerializer(_written), WithJsonSchema(_SCHEMA)]
"""A level as a model file writes it."""
