"""The checks of an input against what the cluster itself says of it: CHECKS is the one registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cpsched.alterations import UNALTERED
from cpsched.completeness.counted import budgets, controllers, pod_groups, queues
from cpsched.completeness.kinds import missing_kinds, unknown_budgets
from cpsched.completeness.loads import doubts_of_load
from cpsched.completeness.nodes import absent, overcommitted, used
from cpsched.completeness.origin import dumped_namespaces, is_from_cluster, one_namespace, volumes_bound
from cpsched.completeness.refused import fitting, lacking_resources, nodes_counted
from cpsched.doubts import Doubt, DoubtKind
from cpsched.instance import Instance
from cpsched.policy import Policy

Check = Callable[[Instance], Iterable[tuple[str, str]]]
"""What it would bear on, and the sentence."""

CHECKS: dict[str, tuple[DoubtKind, Check]] = {
    "one namespace": ("missing pods", one_namespace),
    "namespaces dumped": ("missing pods", dumped_namespaces),
    "volumes bound": ("missing pods", volumes_bound),
    "nodes counted": ("missing nodes", nodes_counted),
    "resources lacking": ("missing pods", lacking_resources),
    "refused by every node": ("contradiction", fitting),
    "queues counted": ("missing pods", queues),
    "PodGroups counted": ("missing pods", pod_groups),
    "sets counted": ("missing pods", controllers),
    "budgets counted": ("missing pods", budgets),
    "nodes of running pods": ("missing nodes", absent),
    "nodes overcommitted": ("contradiction", overcommitted),
    "nodes used": ("missing pods", used),
    "missing kinds": ("missing kind", missing_kinds),
    "unknown budgets": ("missing kind", unknown_budgets),
}
"""name → what is in doubt, and the check; every doubt bears the name of its check."""


def doubts_of_input(instance: Instance) -> tuple[Doubt, ...]:
    """What the input contradicts or lacks; worked out once. An input that no cluster wrote has none.

    What a user asks to change, such as draining a node, is no contradiction: the cluster as it was is asked, if known.
    """
    if instance.what_if and UNALTERED not in instance.found_out:
        return ()
    instance = instance.found_out.get(UNALTERED, instance)
    known: tuple[Doubt, ...] | None = instance.found_out.get(__name__)
    if known is None:
        known = _found(instance) if is_from_cluster(instance) else ()
        instance.found_out[__name__] = known
    return known


def doubts(instance: Instance, policy: Policy, *, search: bool = False) -> tuple[Doubt, ...]:
    """Of the input and of the configuration; a search leaves out the extenders too that a mirror asks."""
    of_policy = policy.doubts_of_search if search else policy.doubts
    of_load = doubts_of_load(instance, policy)
    named = {(one.kind, one.name) for one in of_load}
    rest = (one for one in of_policy if (one.kind, one.name) not in named)
    return (*doubts_of_input(instance), *rest, *of_load)


def _found(instance: Instance) -> tuple[Doubt, ...]:
    return tuple(
        Doubt(kind=kind, name=name, decides=decides, text=text)
        for name, (kind, check) in CHECKS.items()
        for decides, text in check(instance)
    )
