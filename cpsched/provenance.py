"""What a decision was made under, as Solutions and Certificates carry it, and how that differs from what is here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cpsched.instance import Instance
from cpsched.policy import Policy
from cpsched.policy.notes import shown
from cpsched.solution import Shard, Solution

MOST_NODES = 10
"""So many nodes of a shard are named in a line."""


def made_under(policy: Policy) -> dict[str, Any]:
    """The policy, by the fields of a document."""
    return {"model": policy.name, "kube_version": policy.release, "policy_sha256": policy.meaning_sha256}


def made_from(instance: Instance) -> dict[str, Any]:
    """The instance, by the fields of a document; of a large one that takes its time."""
    return {"instance_sha256": instance.sha256, "sharding": _shard(instance), "what_if": instance.what_if}


def differences(instance: Instance, policy: Policy, solution: Solution) -> Iterator[str]:
    """A line for each thing that the solution was made under and that is another here."""
    if is_other_input(instance, solution):
        why = f"{other_shard(instance, solution)}{_what_if(instance, solution)}"
        yield f"was made from another input (instance_sha256 differs){why}"
    if is_other_policy(policy, solution):
        yield f"was made under another policy{other_policy(policy, solution)}"


def is_other_input(instance: Instance, solution: Solution) -> bool:
    """Whether it states the hash of another instance."""
    return solution.instance_sha256 not in ("", instance.sha256)


def is_other_policy(policy: Policy, solution: Solution) -> bool:
    """By the hash; older files have none, and only state names."""
    if solution.policy_sha256:
        return solution.policy_sha256 != policy.meaning_sha256
    return solution.model not in ("", policy.name) or solution.kube_version not in ("", policy.release)


def other_shard(instance: Instance, solution: Solution) -> str:
    """The sharding that the solution states, if the instance has another."""
    here = _shard(instance)
    if solution.sharding == here:
        return ""
    return f": {_sharding(solution.sharding)}, here {_sharding(here)}; see --sharding and --shard-nodes"


def _what_if(instance: Instance, solution: Solution) -> str:
    """The options that changed the solution's instance, if they are not those of the instance here."""
    made, here = ({one.option for one in those.what_if} for those in (solution, instance))
    if made == here:
        return ""
    options = " ".join(shown(one.option) for one in solution.what_if) or "no such option"
    return f": it was made with {options}; give the same here"


def other_policy(policy: Policy, solution: Solution) -> str:
    """What the solution states about its policy, if that tells the difference."""
    stated = (solution.model or policy.name, solution.kube_version or policy.release)
    if stated == (policy.name, policy.release):
        return ": the same model, but another content or configuration; see --model and --conf"
    made, here = f"model {shown(stated[0])}{_release(stated[1])}", f"model {policy.name}{_release(policy.release)}"
    return f": {made}, here {here}; see --model, --conf and --kube-version"


def _shard(instance: Instance) -> Shard | None:
    shard = instance.sharding
    # The importer lets only these modes in.
    return None if shard is None else Shard.model_validate({**vars(shard), "nodes": sorted(shard.nodes)})


def _sharding(shard: Shard | None) -> str:
    if shard is None:
        return "no sharding"
    names = ", ".join(map(shown, shard.nodes[:MOST_NODES]))
    more = f" and {len(shard.nodes) - MOST_NODES} more" if len(shard.nodes) > MOST_NODES else ""
    return f"sharding {shard.mode}" + (f" of nodes {names}{more}" if names else " without nodes")


def _release(version: str) -> str:
    return f" of kube-scheduler {version}" if version else ""
