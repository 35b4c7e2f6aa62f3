"""nodeorder: kube-scheduler's scores, weighted; mirrors `plugins/nodeorder/nodeorder.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.fast.plugin_bulk import OrderBulk, Scores
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.plugins.predicates import cluster_of
from cpsched.greedy.volcano.plugins.score_pods import affinity_scores, spread_scores
from cpsched.greedy.volcano.plugins.score_resources import balanced_scores, least_scores, most_scores
from cpsched.greedy.volcano.plugins.score_static import image_score, node_affinity_scores, taint_scores
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf

BATCH: dict[str, Scores] = {
    "leastrequested.weight": least_scores,
    "mostrequested.weight": most_scores,
    "balancedresource.weight": balanced_scores,
    "nodeaffinity.weight": node_affinity_scores,
    "podaffinity.weight": affinity_scores,
    "tainttoleration.weight": taint_scores,
    "podtopologyspread.weight": spread_scores,
}
"""Scores from 0 to 100 for the candidate nodes, by their number; None if the score has nothing to say."""


def nodeorder(session: Session, conf: PluginConf) -> Hooks:
    """Sum the configured scores."""
    picture = cluster_of(session)
    weights = {key: conf.arguments.integer(key) for key in BATCH}
    image_weight = conf.arguments.integer("imagelocality.weight")

    def batch(task: TaskState, nodes: Sequence[NodeAccount]) -> dict[str, float]:
        indexes = [node.index for node in nodes]
        totals = [0] * len(nodes)
        for key, rate in BATCH.items():
            scores = rate(picture, task.task, indexes) if weights[key] else None
            if scores is not None:
                totals = [total + score * weights[key] for total, score in zip(totals, scores, strict=True)]
        return {node.name: float(total) for node, total in zip(nodes, totals, strict=True)}

    def image(task: TaskState, node: NodeAccount) -> float:
        return float(image_score(picture, task.task, node.index) * image_weight)

    soft = any(taint.effect == "PreferNoSchedule" for n in session.node_list for taint in n.node.node.spec.taints)
    constant = 0 if soft else 100 * weights["tainttoleration.weight"]
    images = image_weight and any(node.node.node.status.images for node in session.node_list)
    return Hooks(
        batch_node_order=batch,
        node_order=image if image_weight else None,
        bulk=None if images else OrderBulk(picture, weights, BATCH, constant),
    )
