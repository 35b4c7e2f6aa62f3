"""Rules of Volcano's plugins about which nodes hold which tasks: what they read off a snapshot, by the rule's key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from cpsched.policy import PluginConf
from cpsched.snapshot.node_rules.cards import CardRule
from cpsched.snapshot.node_rules.contract import NodeRule
from cpsched.snapshot.node_rules.node_groups import GroupRule
from cpsched.snapshot.node_rules.node_load import MeasuredLoad
from cpsched.snapshot.node_rules.numa import NumaRule

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot

NODE_RULES: dict[str, Callable[[Snapshot, PluginConf, frozenset[str]], NodeRule]] = {
    "nodegroup": GroupRule,
    "cards": CardRule,
    "numa": NumaRule,
    "usage": MeasuredLoad,
}

Kind = TypeVar("Kind")


def node_rules(snapshot: Snapshot, exempt: Mapping[str, frozenset[str]] | None = None) -> dict[str, NodeRule]:
    """The rules that are in force, by key; `exempt` names per key tasks of which it is not asked."""
    plugins = ((key, snapshot.policy.node_rule(key)) for key in NODE_RULES)
    exempted, none = exempt or {}, frozenset[str]()
    in_force = ((key, plugin) for key, plugin in plugins if plugin is not None)
    return {key: NODE_RULES[key](snapshot, plugin, exempted.get(key, none)) for key, plugin in in_force}


def rule_of(rules: Mapping[str, NodeRule], kind: type[Kind]) -> Kind | None:
    """The rule of that class, None if it is not in force."""
    return next((rule for rule in rules.values() if isinstance(rule, kind)), None)


__all__ = ["NODE_RULES", "CardRule", "GroupRule", "MeasuredLoad", "NodeRule", "NumaRule", "node_rules", "rule_of"]
