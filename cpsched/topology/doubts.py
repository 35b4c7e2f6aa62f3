"""What an answer leaves out of network topology and sub-groups: the checker and the search do not know them yet."""

from __future__ import annotations

from cpsched.doubts import Doubt
from cpsched.instance import Instance
from cpsched.objects.groups import NetworkTopology, PodGroupSpec
from cpsched.policy import Policy
from cpsched.topology.demand import HARD

_SHOWN = 3


def doubts_of_search(instance: Instance, policy: Policy) -> tuple[Doubt, ...]:
    """What the policy would have had decided by something else, and what the session asks of topology besides."""
    return (*policy.doubts_of_search, *topology_doubts(instance, policy))


def topology_doubts(instance: Instance, policy: Policy) -> tuple[Doubt, ...]:
    """One if jobs must run near each other, one if they are made of sub-groups; none of jobs that only prefer it."""
    if policy.is_kube or policy.jobs_are_pods:
        return ()
    specs = {key: job.group.spec for key, job in instance.jobs.items() if job.tasks}
    hard = [
        key
        for key, spec in specs.items()
        if any(one is not None and one.mode == HARD for one in (spec.network_topology, *_of_groups(spec)))
    ]
    divided = [key for key, spec in specs.items() if spec.sub_group_policy]
    found = []
    if hard:
        found.append(_doubt("networkTopology", hard, "which nodes may be used together"))
    if divided:
        found.append(_doubt("subGroupPolicy", divided, "which pods start together"))
    return tuple(found)


def _of_groups(spec: PodGroupSpec) -> tuple[NetworkTopology | None, ...]:
    return tuple(one.network_topology for one in spec.sub_group_policy)


def _doubt(field: str, jobs: list[str], decides: str) -> Doubt:
    named = ", ".join(jobs[:_SHOWN]) + (f" and {len(jobs) - _SHOWN} more" if len(jobs) > _SHOWN else "")
    text = f"{field} of PodGroup {named}: topology is not part of the optimum yet, so the answer is made without it"
    return Doubt(kind="topology", name=field, decides=decides, text=f"{text}; it decides: {decides}")
