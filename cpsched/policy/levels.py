"""The levels a model may list: how a decision is scored, one integer each, compared in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema, model_validator

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
    "nodes_used",
]
Sense = Literal["max", "min"]

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
    "nodes_used": "min",
}
"""Every level name that a solution may carry, with its sense."""

SPLIT: dict[str, tuple[str, ...]] = {"queue_deficit": ("queue_deficit_max", "queue_deficit_total")}
"""Keys that stand for several levels."""

BETWEEN = ("victim_max_priority", "victim_priority_sum")
"""What `victims_between` measures after every admission level but the last."""


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
