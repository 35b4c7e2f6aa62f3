"""resourcequota: jobs enter while their namespace's quotas have room; mirrors `plugins/resourcequota`."""

from __future__ import annotations

from collections import Counter

from cpsched.greedy.volcano.hooks import PERMIT, REJECT, Hooks
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.objects.quota import ResourceQuota
from cpsched.policy import PluginConf
from cpsched.quantity import nano


def resourcequota(session: Session, conf: PluginConf) -> Hooks:
    """Count what is used and what entered in this session; what entered before and has no pods yet is overlooked."""
    quotas: dict[str, list[ResourceQuota]] = {}
    for quota in session.instance.of_kind(ResourceQuota):
        quotas.setdefault(quota.metadata.namespace, []).append(quota)
    entered: dict[str, Counter[str]] = {}

    def enqueueable(job: JobState) -> int:
        minimum, namespace = _minimum(job), job.job.group.metadata.namespace
        before = entered.get(namespace, Counter())
        for quota in quotas.get(namespace, ()):
            hard, used = quota.status.hard, quota.status.used
            short = [
                name
                for name, amount in minimum.items()
                if name in hard and nano(used.get(name, "0")) + before[name] + amount > nano(hard[name])
            ]
            if short:
                job.enqueue_refusal = f"ResourceQuota {quota.metadata.name} has too little {', '.join(sorted(short))}"
                return REJECT
        return PERMIT

    def enqueued(job: JobState) -> None:
        entered.setdefault(job.job.group.metadata.namespace, Counter()).update(_minimum(job))

    return Hooks(job_enqueueable=enqueueable, job_enqueued=enqueued)


def _minimum(job: JobState) -> dict[str, int]:
    """What its PodGroup asks for, exactly as it is written: under any name, not only such as nodes have."""
    return {name: nano(amount) for name, amount in (job.job.group.spec.min_resources or {}).items()}
