"""network-topology-aware: pods near each other; mirrors `plugins/network-topology-aware/network_topology_aware.go`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cpsched.greedy.volcano.fast.plugin_bulk import NearBulk
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.plugins.hyper_node_bulk import NearScores
from cpsched.greedy.volcano.plugins.hyper_node_room import HyperNodeSums, Weights
from cpsched.greedy.volcano.plugins.hyper_node_search import HyperNodeRows
from cpsched.greedy.volcano.plugins.hyper_node_tiers import Tiers
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.policy import PluginConf


def network_topology_aware(session: Session, conf: PluginConf) -> Hooks:
    """Gradients of HyperNodes for jobs with topology, and scores for nodes and HyperNodes."""
    weights = Weights(conf)
    room = HyperNodeSums(session, weights)
    search = HyperNodeRows(session, room, conf.arguments.integer("hypernode.gradient.evict.max-hypernodes"))
    scores = _Scores(session, conf, room, weights)
    return Hooks(
        batch_node_order=scores.nodes,
        hyper_node_order=scores.hyper_nodes,
        job_gradient=search.for_job,
        sub_job_gradient=search.for_sub_job,
        on_allocate=room.taken,
        on_deallocate=room.given_back,
        bulk=scores.bulk(),
    )


class _Scores:
    """How good nodes and HyperNodes are."""

    def __init__(self, session: Session, conf: PluginConf, room: HyperNodeSums, weights: Weights):
        self._session, self._tree, self._room, self._weights = session, session.tree, room, weights
        self._scale = 100.0 * conf.arguments.integer("weight")
        fading = conf.arguments.number("hypernode.binpack.normal-pod.fading")
        packs = conf.arguments.boolean("hypernode.binpack.normal-pod.enable")
        self._tiers = Tiers(session.tree, session.choices, fading) if packs else None

    def bulk(self) -> NearBulk | None:
        """The node scores for all nodes at once; None where HyperNodes overlap, and a Go map decides which counts."""
        if not NearScores.possible(self._session, self._tiers):
            return None
        scores = NearScores(self._session, self._room, self._weights, self._tiers, self._scale, self._near)
        return NearBulk(scores.scores, self._room.state)

    def nodes(self, task: TaskState, nodes: Sequence[NodeAccount]) -> dict[str, float]:
        """Nearness to where the sub-job is for pods with topology, fullness of the domains for others."""
        sub_job = self._session.jobs[task.job].sub_job_of[task.key]
        names = [node.name for node in nodes]
        if sub_job.demand is not None:
            scores = self._nearness(task.here, sub_job, names) if task.here else {}
        else:
            scores = self._fullness(task, names) if self._tiers is not None else {}
        return {name: self._scale * score for name, score in scores.items()}

    def _nearness(self, here: str, sub_job: SubJob, names: Iterable[str]) -> dict[str, float]:
        leaves = {name: self._tree.leaf(name) for name in names}
        by_leaf = {leaf: self._near(leaf, here) for leaf in set(leaves.values())}
        scores = {name: by_leaf[leaf] for name, leaf in leaves.items()}
        best = [name for name in scores if scores[name] == max(by_leaf.values())]
        if len(best) > 1:
            for name in best:
                scores[name] += self._share(sub_job, self._tree.leaf(name))
        return scores

    def _near(self, leaf: str, here: str) -> float:
        if not leaf:
            return 0.0
        if leaf == here:
            return 1.0
        common = self._tree.common(leaf, here)
        if common not in self._tree:
            return 0.0
        tier, least, most = self._tree.tier(common), self._tree.tiers[0], self._tree.tiers[-1]
        if least == most:
            return 1.0
        return (most - tier) / (most - least) if least <= tier <= most else 0.0

    def _share(self, sub_job: SubJob, name: str) -> float:
        """The part of the sub-job's tasks that is on the nodes of a HyperNode."""
        there = sum(self._tree.holds(name, task.node) for task in sub_job.tasks.values())
        return there / len(sub_job.tasks) if sub_job.tasks else 0.0

    def _fullness(self, task: TaskState, names: Iterable[str]) -> dict[str, float]:
        assert self._tiers is not None
        weighed = self._weights.weighed(task.ordered_request)
        known: dict[str, float] = {}

        def pack(domain: str) -> float:
            if domain not in known:
                known[domain] = self._room.fullness(domain, weighed)
            return known[domain]

        return self._tiers.means(names, pack)

    def hyper_nodes(self, sub_job: SubJob, names: Sequence[str]) -> Mapping[str, float]:
        """How full the whole sub-job would make them; of equally full ones, the more of it is there already."""
        asked: dict[str, float] = {}
        for task in sub_job.tasks.values():
            for name, amount in self._weights.weighed(task.ordered_request):
                asked[name] = asked.get(name, 0) + amount
        request = sorted(asked.items(), key=lambda item: (item[0] not in ("cpu", "memory"), item[0]))
        scores = {name: self._room.fullness(name, request) for name in names}
        best = [name for name in names if scores[name] == max(scores.values())]
        if len(best) > 1:
            for name in best:
                scores[name] += self._share(sub_job, name)
        return {name: self._scale * score for name, score in scores.items()}
