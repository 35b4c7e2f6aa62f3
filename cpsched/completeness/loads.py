"""The load of nodes, which no Kubernetes object holds: without it the plugin usage has nothing to go by."""

from __future__ import annotations

from cpsched.doubts import Doubt
from cpsched.instance import Instance
from cpsched.policy import Policy
from cpsched.policy.volcano_plugin import decided

USERS = {"usage": ("enablePredicate", "enableNodeOrder"), "rescheduling": ("enabledVictim",)}
"""Plugins that go by the load, with the flags behind which they do."""


def doubts_of_load(instance: Instance, policy: Policy) -> tuple[Doubt, ...]:
    """One per plugin that would ask for the load; none if it is given."""
    if policy.is_kube or instance.node_usage is not None:
        return ()
    found = []
    for name, flags in USERS.items():
        plugin = policy.plugin(name)
        decides = "" if plugin is None else decided(plugin.flags, flags, policy.actions)
        if decides:
            text = f"plugin {name} goes by the load of nodes and none is given, so the answer is made as if it had no"
            text += f" measurements; it decides: {decides}; give --node-usage FILE (nodeUsage of an instance)"
            found.append(Doubt(kind="plugin", name=name, decides=decides, text=text))
    return tuple(found)
