"""Claims of a pod's own, which controllers make of templates: devices and ephemeral volumes.

Mirrors `pkg/controller/{resourceclaim,volume/ephemeral}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpsched.objects.base import Object
from cpsched.objects.devices import ResourceClaim, ResourceClaimTemplate
from cpsched.objects.pod import Pod
from cpsched.objects.storage import PersistentVolumeClaim


def with_claims(pod: Pod, templates: Mapping[str, ResourceClaimTemplate]) -> tuple[Pod, list[Object]]:
    """The pod with its claims; where a template is missing there is none, and a filter says so."""
    if not pod.spec.resource_claims and not any(volume.ephemeral for volume in pod.spec.volumes):
        return pod, []
    meta, claims, statuses = pod.metadata, list[Object](), list[dict[str, str]]()
    owner = {"kind": "Pod", "name": meta.name, "uid": meta.uid, "controller": True}

    def metadata(name: str) -> dict[str, Any]:
        return {"name": name, "namespace": meta.namespace, "ownerReferences": [owner]}

    for one in pod.spec.resource_claims:
        template = templates.get(f"{meta.namespace}/{one.resource_claim_template_name}")
        if template is not None:
            name = f"{meta.name}-{one.name}-0"
            claims.append(ResourceClaim.model_validate({"metadata": metadata(name), "spec": template.spec.spec}))
            statuses.append({"name": one.name, "resourceClaimName": name})
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None:
            stated = {"metadata": metadata(f"{meta.name}-{volume.name}")}
            spec = volume.ephemeral.volume_claim_template.spec
            claims.append(PersistentVolumeClaim.model_validate({**stated, "spec": spec}))
    if statuses:
        status = type(pod.status).model_validate({"phase": pod.status.phase, "resourceClaimStatuses": statuses})
        pod = pod.model_copy(update={"status": status})
    return pod, claims
