"""binpack: the fuller node is the better; mirrors `plugins/binpack/binpack.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.fast.plugin_bulk import BinpackBulk
from cpsched.greedy.volcano.fullness import fullness
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.session import Session
from cpsched.policy import PluginConf, packing_weights


def binpack(session: Session, conf: PluginConf) -> Hooks:
    """Score a node by how full the task would make it."""
    weight, weights = conf.arguments.integer("binpack.weight"), packing_weights(conf)
    if not weight:
        return Hooks()
    return Hooks(
        node_order=lambda task, node: fullness(task, node, weights) * (100 * weight), bulk=BinpackBulk(weight, weights)
    )
