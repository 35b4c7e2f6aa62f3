"""Fewer matching pods in the node's domains; mirrors `plugins/podtopologyspread/scoring.go`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cpsched.filters.masks import per_node
from cpsched.filters.spread_constraint import SpreadConstraint, hard_constraints
from cpsched.filters.state import NodeState
from cpsched.greedy.kube.scores.contract import HIGHEST, ScoreRequest, Scores
from cpsched.greedy.kube.scores.curve import rounded
from cpsched.instance import Task
from cpsched.objects.affinity import TopologySpreadConstraint
from cpsched.selectors import blocks

NAME = "PodTopologySpread"
HOSTNAME = "kubernetes.io/hostname"
Mask = npt.NDArray[np.bool_]


def score(request: ScoreRequest) -> Scores | None:
    """100 for the emptiest domains, 0 for nodes that lack a key; skipped without soft constraints."""
    constraints = _soft_constraints(request)
    if not constraints:
        return None
    needs_keys = bool(request.task.pod.spec.topology_spread_constraints) or not _system_defaulted(request)
    keyed = _with_all_keys(request, constraints) if needs_keys else np.ones(len(request.snapshot.nodes), dtype=np.bool_)
    raw = np.zeros(len(request.places), dtype=np.float64)
    for constraint in constraints:
        raw += _weighed(request, constraint, keyed)
    return _normalized(rounded(raw), request.pick(keyed))


def _weighed(request: ScoreRequest, constraint: SpreadConstraint, keyed: Mask) -> npt.NDArray[np.float64]:
    """Count times weight plus skew per node; a node without the key gets nothing."""
    cluster = request.snapshot.cluster
    domains = cluster.domains(constraint.topology_key)
    scored = request.places[request.pick(keyed)]
    codes = domains.codes[scored]
    if constraint.topology_key == HOSTNAME:
        size = len(scored)
        counts = np.zeros(len(keyed), dtype=np.int64) if request.bare else _matching(request, constraint)
        counted = request.pick(counts)
    else:
        size = len(np.unique(codes))
        counts = np.where(keyed & _included(request, constraint), _matching(request, constraint), 0)
        # One place more for nodes without the key, whose code is -1.
        totals = np.bincount(domains.codes + 1, weights=counts, minlength=len(domains.values) + 1)
        counted = totals[request.pick(domains.codes) + 1]
    weighed = counted.astype(np.float64) * math.log(size + 2) + float(constraint.max_skew - 1)
    return np.where(request.pick(domains.codes) >= 0, weighed, 0.0)


def _matching(request: ScoreRequest, constraint: SpreadConstraint) -> Scores:
    """Staying pods of the namespace that the selector picks, per node; an empty selector picks none."""
    counts = np.zeros(len(request.snapshot.nodes), dtype=np.int64)
    if constraint.selector.is_empty:
        return counts
    cluster = request.snapshot.cluster
    for one in cluster.labels.matching(frozenset((request.task.namespace,)), constraint.selector):
        if not one.terminating:
            for index, amount in one.counts.items():
                counts[index] += amount
    return counts


def _included(request: ScoreRequest, constraint: SpreadConstraint) -> Mask:
    """Nodes that the constraint's policies count."""
    cluster, task = request.snapshot.cluster, request.task
    facts, comparison = cluster.facts(task), request.framework.args.features.taint_comparison
    included = np.ones(len(cluster.node_list), dtype=np.bool_)
    if constraint.honours_affinity:
        wanted = facts.node_affinity
        included &= per_node(cluster, (NAME, wanted), lambda node: wanted.matches(node.labels, node.name))
    if constraint.honours_taints:
        included &= ~per_node(
            cluster, (NAME, "score", facts.tolerations, comparison), lambda n: _blocked(n, task, comparison)
        )
    return included


def _blocked(node: NodeState, task: Task, comparison: bool) -> bool:
    return blocks(node.node.node.spec.taints, task.pod.spec.tolerations, comparison=comparison)


def _with_all_keys(request: ScoreRequest, constraints: tuple[SpreadConstraint, ...]) -> Mask:
    keyed = np.ones(len(request.snapshot.nodes), dtype=np.bool_)
    for constraint in constraints:
        keyed &= request.snapshot.cluster.domains(constraint.topology_key).codes >= 0
    return keyed


def _normalized(raw: Scores, keyed: Mask) -> Scores:
    known = raw[keyed]
    largest = int(known.max(initial=0))
    if largest == 0:
        return np.where(keyed, HIGHEST, 0)
    return np.where(keyed, HIGHEST * (largest + int(known.min()) - raw) // largest, 0)


def _system_defaulted(request: ScoreRequest) -> bool:
    return request.framework.profile.args.topology_spread.system_defaulted


def _soft_constraints(request: ScoreRequest) -> tuple[SpreadConstraint, ...]:
    """Constraints with ScheduleAnyway, parsed as the filter parses those with DoNotSchedule."""
    task, args, cluster = request.task, request.framework.args, request.snapshot.cluster
    own = task.pod.spec.topology_spread_constraints
    if own:
        soft = _hardened(own)
        spec = task.pod.spec.model_copy(update={"topology_spread_constraints": soft})
        double = Task(task.key, task.pod.model_copy(update={"spec": spec}), task.group)
        return hard_constraints(double, cluster, args) if soft else ()
    soft = _hardened(args.default_constraints)
    if not soft:
        return ()
    owners = tuple((owner.kind, owner.name) for owner in task.pod.metadata.owner_references if owner.controller)
    key = (NAME, "soft", soft_key(soft), cluster.facts(task).labels.number, owners)
    found = cluster.memo.get(key)
    if found is None:
        found = cluster.memo[key] = hard_constraints(task, cluster, replace(args, default_constraints=soft))
    result: tuple[SpreadConstraint, ...] = found
    return result


def soft_key(constraints: tuple[TopologySpreadConstraint, ...]) -> tuple[tuple[str, int, str, str], ...]:
    """Default constraints as a key for memos."""
    return tuple((c.topology_key, c.max_skew, c.node_affinity_policy, c.node_taints_policy) for c in constraints)


def _hardened(stated: tuple[TopologySpreadConstraint, ...]) -> tuple[TopologySpreadConstraint, ...]:
    soft = (one for one in stated if one.when_unsatisfiable == "ScheduleAnyway")
    return tuple(one.model_copy(update={"when_unsatisfiable": "DoNotSchedule"}) for one in soft)
