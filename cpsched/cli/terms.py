"""Under which terms `cpsched verify` checks a document: what the user says, else what the document states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cpsched.instance import Instance
    from cpsched.policy import Policy
    from cpsched.solution import Solution
    from cpsched.what_if.changes import Changes

_CONFIGURATIONS = {"input": "the input's own", "model": "the model's", "default": "the scheduler's default"}


@dataclass(frozen=True)
class Terms:
    """The options of the command that change the policy or the instance."""

    model: str | None = None
    conf: str | None = None
    kube_version: str | None = None
    sharding: dict[str, Any] | None = None
    lenient: bool = False
    changes: Changes | None = None

    def opened(self, inputs: Sequence[str], stated: Solution, file: str) -> tuple[Instance, Policy]:
        """The input under the policy.

        A document chooses among the models and releases that this package ships. It names no file, and it changes
        nothing about the input: a shard of its own would.
        """
        from cpsched.importers.load import load
        from cpsched.importers.policy import load_policy

        model = self.model or model_of(stated, file)
        instance = load(inputs, sharding=self.sharding, lenient=self.lenient, changes=self.changes)
        release = self.kube_version or stated.kube_version or None
        policy = load_policy(model, self.conf, instance=instance, lenient=self.lenient, kube_version=release)
        return instance, policy


def model_of(stated: Solution, file: str) -> str | None:
    """The shipped model that a document names, if it names any."""
    from cpsched.policy import stated_model

    return stated_model(stated.model, file=file) if stated.model else None


def sentence(instance: Instance, policy: Policy) -> str:
    """The terms for a reader."""
    from cpsched.policy import is_shipped

    whose = "a shipped model" if is_shipped(policy.model) else f"not a shipped one, from {policy.origin.model_file}"
    parts = [f"model {policy.model.name}, {whose}"]
    if policy.release:
        parts.append(f"kube-scheduler {policy.release}")
    if instance.sharding is not None:
        parts.append(f"sharding {instance.sharding.mode}, {len(instance.sharding.nodes)} in the shard")
    whose = _CONFIGURATIONS.get(policy.origin.conf, f"{policy.origin.conf_file} (--conf)")
    changed = f" What if: {'; '.join(one.effect for one in instance.what_if)}." if instance.what_if else ""
    return f"Checked under {'; '.join(parts)}; configuration: {whose}.{changed}"


def fields(policy: Policy) -> dict[str, Any]:
    """The terms as JSON."""
    from cpsched.policy import is_shipped

    origin = policy.origin
    return {
        "model": policy.name,
        "shipped": is_shipped(policy.model),
        "model_file": origin.model_file or None,
        "kube_version": policy.release or None,
        "configuration": {
            "from": "--conf" if origin.conf == "named" else origin.conf,
            "file": origin.conf_file or None,
        },
    }
