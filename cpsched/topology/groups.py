"""Which sub-group of its job a pod belongs to; mirrors `api/sub_job_info.go` and `getOrCreateSubJob`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cpsched.instance import Job, Task
from cpsched.objects.groups import SubGroupPolicy
from cpsched.selectors import EVERYTHING, NOTHING, Selector, SelectorError, label_selector

_LONGEST, _ALPHABET = 128, "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True)
class SubGroup:
    """A sub-group; without policy it is the default one of the job, for all pods that no policy takes."""

    key: str
    group: str
    """All sub-groups of a policy share it."""
    policy: SubGroupPolicy | None
    min_available: int
    match_index: int = 0


class Sorter:
    """The policies of one job, parsed once."""

    def __init__(self, job: Job):
        self._job = job
        self._policies = [(one, _selector(one)) for one in job.group.spec.sub_group_policy]
        minimum = 1 if self._policies else job.min_available
        self._default = SubGroup(job.key, job.key, None, minimum)
        self._known: dict[str, SubGroup] = {}

    def sub_group(self, task: Task) -> SubGroup:
        """The first policy that selects the pod and whose labels it all has; else the default."""
        for policy, selector in self._policies:
            values = [task.labels.get(key, "") for key in policy.match_label_keys]
            if values and all(values) and selector.matches(task.labels):
                return self._of(policy, values)
        return self._default

    def _of(self, policy: SubGroupPolicy, values: Sequence[str]) -> SubGroup:
        group = f"{self._job.key}/{policy.name}"
        key = f"{group}-{_joined(values)}"
        if key not in self._known:
            size = 1 if policy.sub_group_size is None else policy.sub_group_size
            self._known[key] = SubGroup(key, group, policy, size, _number(values[0]))
        return self._known[key]


def min_sub_groups(job: Job) -> dict[str, int]:
    """How many sub-groups of each policy must be complete; a name used twice keeps the last number."""
    return {f"{job.key}/{one.name}": one.min_sub_groups or 0 for one in job.group.spec.sub_group_policy}


def _selector(policy: SubGroupPolicy) -> Selector:
    if policy.label_selector is None:
        return EVERYTHING
    try:
        return label_selector(policy.label_selector)
    except SelectorError:
        return NOTHING


def _number(text: str) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _LONGEST:
        return 0
    number = int(text)
    return number if -(2**63) <= number < 2**63 else 0


def _joined(values: Sequence[str]) -> str:
    text = "-".join(values)
    if len(text) <= _LONGEST:
        return text
    # As upstream shortens it: FNV-1a of 32 bits, its decimal digits written in letters that form no words.
    digest = 0x811C9DC5
    for byte in text.encode():
        digest = (digest ^ byte) * 0x01000193 & 0xFFFFFFFF
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in str(digest).encode())
