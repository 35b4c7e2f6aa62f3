"""A policy: a model together with the scheduler configuration that holds for one run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from cpsched.doubts import Doubt
from cpsched.policy.dialect import recognise
from cpsched.policy.kube_conf import KubeConf, checked_version
from cpsched.policy.kube_extender import not_asked, not_searched
from cpsched.policy.kube_profile import DEFAULT_SCHEDULER
from cpsched.policy.levels import Level
from cpsched.policy.model import GangProtection, Model, PdbProtection, Rules
from cpsched.policy.notes import Notes
from cpsched.policy.origin import Origin, model_title
from cpsched.policy.unsearched import plugins_not_searched, shares_no_cards
from cpsched.policy.volcano_conf import VolcanoConf
from cpsched.policy.volcano_plugin import PluginConf
from cpsched.policy.volcano_registry import SHARE_PLUGINS

EvictingAction = Literal["preempt", "reclaim"]
GangAction = Literal["gangpreempt", "gangreclaim"]
AnyAction = EvictingAction | GangAction

GANG_ACTIONS: frozenset[GangAction] = frozenset(("gangpreempt", "gangreclaim"))
VICTIM_ACTIONS: tuple[AnyAction, ...] = ("preempt", "reclaim", "gangpreempt", "gangreclaim")

VICTIM_FLAGS: dict[str, str] = {
    "preempt": "enablePreemptable",
    "reclaim": "enableReclaimable",
    "gangpreempt": "enablePreemptable",
    "gangreclaim": "enableReclaimable",
}
"""The flag with which a plugin takes part in choosing the victims of an action, or would if the action asked it."""


PLUGIN_OF_NODE_RULE: dict[str, str] = {
    "nodegroup": "nodegroup",
    "cards": "deviceshare",
    "numa": "numa-aware",
    "usage": "usage",
}
"""Rule about nodes → the plugin that decides it."""


class Policy(BaseModel):
    """What every engine and the checker follow; `volcano` and `kube` are both there, for either mirror."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    model: Model
    volcano: VolcanoConf
    kube: KubeConf
    conf: Mapping[str, Any] | None = None
    """The configuration as it was written; None for the scheduler's default."""
    origin: Origin = Origin()

    @property
    def sha256(self) -> str:
        """Hash of all that was stated: the model, the configuration, kube-scheduler's release."""
        parts = [self.model.model_dump(mode="json"), self.conf, self.kube.version]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()

    @cached_property
    def meaning_sha256(self) -> str:
        """Hash of the model and of the configuration as it works: what documents carry as `policy_sha256`."""
        # Whether extenders are asked makes no difference to the result: neither checker nor search knows any.
        kube = replace(self.kube, warnings=(), doubts=(), extenders=())
        volcano = replace(self.volcano, warnings=(), doubts=())
        model = self.model.model_dump(mode="json", exclude={"conf", "description"})
        content = {"model": model, "conf": repr(kube if self.is_kube else volcano)}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def without_extenders(self, file: str) -> Policy:
        """The same policy in which no extender is asked, with a doubt for each; what it manages stays its own."""
        if not self.kube.extenders:
            return self
        doubts = tuple(not_asked(extender) for extender in self.kube.extenders)
        warnings = (*self.kube.warnings, *(f"{file}: {doubt.text}" for doubt in doubts))
        kube = replace(self.kube, extenders=(), warnings=warnings, doubts=(*self.kube.doubts, *doubts))
        return self.model_copy(update={"kube": kube})

    @cached_property
    def name(self) -> str:
        """The model's name, which no other than a shipped model shares with it."""
        return model_title(self.model, self.origin.model_file)

    @property
    def release(self) -> str:
        """The release of kube-scheduler by whose rules decisions are checked; empty if those are not asked."""
        return self.kube.version if self.is_kube else ""

    @property
    def rules(self) -> Rules:
        """The model's rules, `auto` not yet resolved."""
        return self.model.rules

    @property
    def is_kube(self) -> bool:
        """Whether kube-scheduler's configuration decides what `auto` means."""
        return self.model.scheduler == "kube"

    @property
    def jobs_are_pods(self) -> bool:
        """Whether every pod is a job of its own, whatever its PodGroup says."""
        return self.model.jobs == "pods"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was ignored or left out while the configuration was read, and whose pods are left to others."""
        return (*(self.kube.warnings if self.is_kube else self.volcano.warnings), *self.origin.beside)

    @property
    def choice(self) -> str:
        """The model and why it is this one, as a sentence; empty where the user named it or nothing was to choose."""
        return f"Model {self.name}: {self.origin.chosen}." if self.origin.chosen else ""

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What the real scheduler would run and no decision here takes into account."""
        return self.kube.doubts if self.is_kube else self.volcano.doubts

    @property
    def doubts_of_search(self) -> tuple[Doubt, ...]:
        """The same for the search and its proofs, which know no extender and not all plugins."""
        if self.is_kube:
            return (*self.doubts, *map(not_searched, self.kube.extenders))
        return (*self.doubts, *plugins_not_searched(self.volcano))

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """Configured actions in order; kube-scheduler's are implicit: bind, and preempt where a profile does."""
        if self.is_kube:
            return ("bind", "preempt") if self.kube.preempts else ("bind",)
        return self.volcano.actions

    def has_action(self, action: str) -> bool:
        """Whether the action is configured."""
        return action in self.actions

    def evicts(self, action: AnyAction) -> bool:
        """Whether the action is configured and evictions are allowed at all."""
        return self.rules.eviction == "on" and self.has_action(action)

    def preempts_for(self, scheduler_name: str) -> bool:
        """Whether pods of that schedulerName may preempt; under kube-scheduler that is up to their profile."""
        profile = self.kube.profile(scheduler_name or DEFAULT_SCHEDULER) if self.is_kube else None
        return profile is None or profile.preempts

    def plugin(self, name: str) -> PluginConf | None:
        """The first entry of a Volcano plugin; None under kube-scheduler."""
        return None if self.is_kube else self.volcano.plugin(name)

    def enabled(self, plugin: str, flag: str) -> bool:
        """Whether a Volcano plugin is configured with the flag on."""
        return not self.is_kube and self.volcano.enabled(plugin, flag)

    @cached_property
    def share_plugins(self) -> tuple[str, ...]:
        """proportion and capacity, as far as they are configured, in tier order."""
        if self.is_kube or self.rules.deserved == "off":
            return ()
        names = (plugin.name for plugin in self.volcano.plugins if plugin.name in SHARE_PLUGINS)
        return tuple(dict.fromkeys(names))

    @cached_property
    def share_plugin(self) -> str | None:
        """The plugin whose shares count; of two, the first that limits queues, or else the first."""
        limiting = (name for name in self.share_plugins if self.enabled(name, "enabledAllocatable"))
        return next(limiting, next(iter(self.share_plugins), None))

    @cached_property
    def limits_queues(self) -> bool:
        """Whether the rule `queue` is in force."""
        if self.share_plugin is None or self.rules.queue == "off":
            return False
        return self.rules.queue == "on" or self.enabled(self.share_plugin, "enabledAllocatable")

    @cached_property
    def requires_gangs(self) -> bool:
        """Whether the rule `gang` is in force."""
        if self.rules.gang == "auto":
            return self.enabled("gang", "enableJobReady")
        return self.rules.gang == "on"

    @cached_property
    def pending_jobs_enter(self) -> Literal["enqueue", "freely", "never"]:
        """How a job leaves the phase Pending: by the enqueue action, by itself, or not in this session."""
        if self.is_kube or self.rules.enqueue == "off":
            return "freely"
        if self.has_action("enqueue"):
            return "enqueue"
        return "freely" if self.has_action("allocate") else "never"

    def gang_protects(self, action: AnyAction) -> GangProtection:
        """What the rule `protect.gang` says about victims of the action; no flag switches it off in gang actions."""
        if self.rules.protect_gang == "auto" and action in GANG_ACTIONS:
            if self.plugin("gang") is None:
                return "off"
            return "whole" if self.volcano.configurations[action].boolean("allowWholeBundle") else "keep"
        if self.rules.protect_gang == "auto":
            return "keep" if self.enabled("gang", VICTIM_FLAGS[action]) else "off"
        return self.rules.protect_gang

    def conformance_protects(self, action: AnyAction) -> bool:
        """Whether the rule `protect.conformance` shields critical pods from the action."""
        if self.rules.protect_conformance == "auto" and action in GANG_ACTIONS:
            return self.plugin("conformance") is not None
        if self.rules.protect_conformance == "auto":
            return self.enabled("conformance", VICTIM_FLAGS[action])
        return self.rules.protect_conformance == "on"

    def pdb_protects(self, action: AnyAction) -> PdbProtection:
        """What the rule `protect.pdb` says about victims of the action."""
        if self.rules.protect_pdb == "auto":
            return "hard" if self.enabled("pdb", VICTIM_FLAGS[action]) else "off"
        return self.rules.protect_pdb

    def cooldown_protects(self, action: AnyAction) -> bool:
        """Whether the rule `protect.cooldown` spares pods for a while after their start; gang actions never ask cdp."""
        if self.rules.protect_cooldown == "auto":
            return action in ("preempt", "reclaim") and self.enabled("cdp", VICTIM_FLAGS[action])
        return self.rules.protect_cooldown == "on"

    def keeps_near(self, key: str) -> bool:
        """Whether the rule topology.job or topology.subgroup is in force."""
        is_on = (self.rules.topology_job if key == "topology.job" else self.rules.topology_subgroup) == "auto"
        return is_on and self.enabled("network-topology-aware", "enabledHyperNodeGradient")

    def asks_shares(self, action: AnyAction) -> bool:
        """Whether the action takes only by shares; without a plugin that has any, gangreclaim takes from any queue."""
        return action == "reclaim" or (action == "gangreclaim" and self.share_plugin is not None)

    @cached_property
    def evicts_beside(self) -> bool:
        """Whether every victim has a task beside it that may evict it, and none goes for a job elsewhere.

        Gang actions may take the rest of a gang along from anywhere, whatever the scope is.
        """
        return self.rules.eviction_scope != "cluster" and not any(map(self.evicts, GANG_ACTIONS))

    def node_rule(self, key: str) -> PluginConf | None:
        """The plugin whose rule about nodes is in force under the key, None if it is not."""
        plugin = self.plugin(PLUGIN_OF_NODE_RULE[key])
        if plugin is None or not plugin.on("enablePredicate") or getattr(self.rules, key) == "off":
            return None
        return None if key == "cards" and shares_no_cards(plugin) else plugin

    def guarantee_protects(self, action: AnyAction) -> bool:
        """Whether the rule `protect.guarantee` shields queues from the action."""
        if self.rules.protect_guarantee == "auto":
            return action in ("reclaim", "gangreclaim") and self.enabled("capacity", "enableReclaimable")
        return self.rules.protect_guarantee == "on"

    @property
    def levels(self) -> tuple[Level, ...]:
        """The model's levels; without queues that have shares there is no queue_deficit."""
        return tuple(level for level in self.model.levels if level.key != "queue_deficit" or self.share_plugin)

    @property
    def victims_between(self) -> bool:
        """Whether victims are settled between the admission levels."""
        admission = self.model.level("jobs_admitted")
        return admission is not None and admission.victims_between


def policy_for(
    model: Model,
    conf: Mapping[str, Any] | None,
    *,
    strict: bool = False,
    kube_version: str | None = None,
    file: str | None = None,
    origin: Origin | None = None,
) -> Policy:
    """The model under the configuration given, or else its own, or else the scheduler's default."""
    release = checked_version(kube_version or model.kube_version)
    given = model.conf if conf is None else conf
    label = file if conf is not None else f"model {model.name}"
    volcano, kube = VolcanoConf.default(), KubeConf.default(release)
    if given is None:
        return Policy(model=model, volcano=volcano, kube=kube, origin=origin or Origin())
    found = recognise(given, file=label)
    if found.scheduler != model.scheduler:
        owner = {"volcano": "Volcano", "kube": "kube-scheduler"}
        wrong = f"this is a configuration of {owner[found.scheduler]}"
        right = f"the model {model.name} needs one of {owner[model.scheduler]}, or choose another model"
        raise Notes(label).error(wrong, right=right)
    if found.scheduler == "volcano":
        volcano = VolcanoConf.parse(found.conf, file=label, strict=strict)
        volcano = replace(volcano, warnings=(*found.warnings, *volcano.warnings))
    else:
        kube = KubeConf.parse(found.conf, version=release, file=label, strict=strict)
        kube = replace(kube, warnings=(*found.warnings, *kube.warnings))
    return Policy(model=model, volcano=volcano, kube=kube, conf=found.conf, origin=origin or Origin())
