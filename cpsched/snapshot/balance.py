"""Who may be moved for balance: the nodes off which rescheduling moves pods, whichever pods their room then serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpsched.objects.beside import NodeLoad
from cpsched.policy.nested import LowUtilization

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot


def overloaded_nodes(snapshot: Snapshot) -> frozenset[str]:
    """Nodes loaded above a strategy's target while another, not cordoned, has less to do than its threshold."""
    plugin = snapshot.policy.plugin("rescheduling")
    if plugin is None or not plugin.on("enabledVictim") or not snapshot.policy.has_action("shuffle"):
        return frozenset()
    found: set[str] = set()
    loads = snapshot.instance.node_usage or {}
    strategies: tuple[LowUtilization, ...] = plugin.arguments.form("strategies")
    for strategy in strategies:
        least, most = dict(strategy.thresholds), dict(strategy.targets)
        low, high = set(), set()
        for name, node in snapshot.instance.nodes.items():
            load = loads.get(name, NodeLoad())
            if not node.node.spec.unschedulable and load.cpu < least["cpu"] and load.memory < least["memory"]:
                low.add(name)
            elif load.cpu > most["cpu"] or load.memory > most["memory"]:
                high.add(name)
        found |= high if low else set()
    return frozenset(found)
