"""A model: what a good decision is. A file in models/ holds a scheduler's configuration, rules and ordered levels."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from cpsched.policy.kube_registry import KubeVersion
from cpsched.policy.levels import Level, LevelEntry


def _switch(value: object) -> object:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


# YAML reads a bare on or off as a boolean, so the schema allows both spellings.
_SWITCH = BeforeValidator(_switch)
On = Annotated[Literal["on"], _SWITCH, WithJsonSchema({"enum": ["on", True]})]
OnOff = Annotated[Literal["on", "off"], _SWITCH, WithJsonSchema({"enum": ["on", "off", True, False]})]
AutoOff = Annotated[Literal["auto", "off"], _SWITCH, WithJsonSchema({"enum": ["auto", "off", False]})]
AutoOnOff = Annotated[
    Literal["auto", "on", "off"], _SWITCH, WithJsonSchema({"enum": ["auto", "on", "off", True, False]})
]
GangProtection = Literal["keep", "whole", "off"]
PdbProtection = Literal["soft", "hard", "off"]
AutoGang = Annotated[
    Literal["auto", "keep", "whole", "off"], _SWITCH, WithJsonSchema({"enum": ["auto", "keep", "whole", "off", False]})
]
AutoPdb = Annotated[
    Literal["auto", "soft", "hard", "off"], _SWITCH, WithJsonSchema({"enum": ["auto", "soft", "hard", "off", False]})
]


class Rules(BaseModel):
    """What is feasible. `auto` means: as the scheduler's configuration says."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True, title="Rules")

    assignment: On = Field("on", description="A pending, ungated task of an admissible job goes to at most one node.")
    capacity: On = Field("on", description="No node is given more than it has or will have.")
    filters: On = Field("on", description="Every predicate that the configuration enables holds in the final state.")
    nodegroup: AutoOff = Field(
        "auto",
        description="Queues keep to their groups of nodes, and to their limits there. "
        "auto: if the nodegroup plugin has enablePredicate on.",
    )
    cards: AutoOff = Field(
        "auto",
        description="What is placed fits on the node's cards one by one. auto: as the deviceshare plugin shares them.",
    )
    numa: AutoOff = Field(
        "auto",
        description="Containers find CPUs that are near to each other on nodes that insist on it. auto: if the "
        "numa-aware plugin has enablePredicate on.",
    )
    usage: AutoOff = Field(
        "auto",
        description="Nothing is placed on nodes whose measured load is too high. auto: if the usage plugin has "
        "enablePredicate on.",
    )
    topology_job: AutoOff = Field(
        "auto",
        alias="topology.job",
        description="A job that must stay in one HyperNode of a tier does. auto: if network-topology-aware has "
        "enabledHyperNodeGradient on.",
    )
    topology_subgroup: AutoOff = Field(
        "auto",
        alias="topology.subgroup",
        description="So does a sub-group of a job. auto: as topology.job.",
    )
    gang: AutoOnOff = Field(
        "auto",
        description="A job, and each of its sub-groups, gets its minimum or nothing. "
        "auto: if the gang plugin has enableJobReady on.",
    )
    queue: AutoOnOff = Field(
        "auto", description="A queue stays within its limit. auto: if its share plugin has enabledAllocatable on."
    )
    deserved: AutoOff = Field(
        "auto", description="Queues have shares. auto: those of the configured share plugin. off: no queues."
    )
    eviction: OnOff = Field("on", description="Tasks may be evicted by tasks entitled to it. off: no task is evicted.")
    eviction_scope: Literal["node", "domain", "cluster"] = Field(
        "domain",
        alias="eviction.scope",
        description="Victims lie on the node of the task they make room for, or anywhere. domain: on that node, and "
        "those of gangpreempt and gangreclaim anywhere in one HyperNode that the job may have.",
    )
    charge: OnOff = Field("on", description="Every victim is charged to one task that may evict it and needs the room.")
    protect_gang: AutoGang = Field(
        "auto",
        alias="protect.gang",
        description="keep: a victim's job keeps its minimum. whole: it keeps that or loses all. "
        "auto: keep where the gang plugin has enablePreemptable (enableReclaimable) on, else off.",
    )
    protect_conformance: AutoOnOff = Field(
        "auto",
        alias="protect.conformance",
        description="Critical pods and kube-system are never victims. "
        "auto: where the conformance plugin has enablePreemptable (enableReclaimable) on.",
    )
    protect_pdb: AutoPdb = Field(
        "auto",
        alias="protect.pdb",
        description="hard: no budget is exceeded. soft: the level pdb_violations counts the excess. "
        "auto: hard where the pdb plugin has enablePreemptable (enableReclaimable) on, else off.",
    )
    protect_cooldown: AutoOnOff = Field(
        "auto",
        alias="protect.cooldown",
        description="Pods that started a short while ago are no victims, if they say for how long. "
        "auto: where the cdp plugin has enablePreemptable (enableReclaimable) on.",
    )
    protect_guarantee: AutoOnOff = Field(
        "auto",
        alias="protect.guarantee",
        description="Evictions do not push a queue below its guarantee. "
        "auto: against reclaim only, where the capacity plugin has enableReclaimable on.",
    )
    enqueue: AutoOff = Field(
        "auto",
        description="Jobs enter from Pending under overcommit and queue quota. "
        "auto: if the enqueue action is configured. off: they enter freely.",
    )
    actions: On = Field("on", description="What no configured action could do is not allowed.")


RULE_KEYS: tuple[str, ...] = tuple(field.alias or name for name, field in Rules.model_fields.items())


class Model(BaseModel):
    """A policy file: the scheduler's own configuration, the rules of feasibility, the levels in order."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True, title="cpsched model")

    name: str = Field(min_length=1, description="The name by which --model finds it.")
    description: str = Field("", description="One or two sentences: when to use it.")
    scheduler: Literal["volcano", "kube"] = Field(description="Whose configuration `conf` is.")
    kube_version: Annotated[KubeVersion, BeforeValidator(str)] = Field(
        "1.36", description="The release of kube-scheduler that is mirrored."
    )
    conf: dict[str, Any] | None = Field(
        None,
        description="volcano: actions, tiers and configurations, verbatim. kube: a KubeSchedulerConfiguration. "
        "A configuration from the command line or the instance replaces it. Absent: the scheduler's own default.",
    )
    jobs: Literal["podgroups", "pods"] = Field(
        "podgroups", description="What a job is: a PodGroup with its pods, or every pod for itself."
    )
    rules: Rules = Field(Rules(), description="What is feasible.")
    levels: tuple[LevelEntry, ...] = Field(
        min_length=1, description="What is better, most important first; later levels only break ties."
    )

    @model_validator(mode="after")
    def _levels_fit_rules(self) -> Self:
        keys = [level.key for level in self.levels]
        repeated = next((key for key in keys if keys.count(key) > 1), None)
        if repeated:
            raise ValueError(f"the level {repeated} stands twice in levels")
        if self.rules.protect_pdb == "soft" and "pdb_violations" not in keys:
            raise ValueError("protect.pdb is soft, which needs the level pdb_violations")
        if self.rules.protect_pdb == "off" and "pdb_violations" in keys:
            raise ValueError("the level pdb_violations needs protect.pdb to be soft, hard or auto")
        if self.rules.deserved == "off" and "queue_deficit" in keys:
            raise ValueError("the level queue_deficit needs the rule deserved, which is off")
        return self

    def level(self, key: str) -> Level | None:
        """The level of that key, if the model has it."""
        return next((level for level in self.levels if level.key == key), None)
