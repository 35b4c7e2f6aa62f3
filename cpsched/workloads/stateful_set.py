"""StatefulSet: pods with numbers, each with claims of its own; mirrors `pkg/controller/statefulset`."""

from __future__ import annotations

from pydantic import Field

from cpsched.importers.sizes import MOST_MADE
from cpsched.objects.base import INT32_MAX, Items, Object, Shape
from cpsched.objects.pod import Pod
from cpsched.objects.storage import PersistentVolumeClaim
from cpsched.objects.volumes import ClaimVolume, PodVolume
from cpsched.workloads.admission import admitted, unknown_class
from cpsched.workloads.groups import grouped
from cpsched.workloads.plan import Owner, Plan, Pods, Surroundings, Template, pod


class Ordinals(Shape):
    """Where its numbers begin."""

    start: int = Field(0, ge=0, le=INT32_MAX)


class SetSpec(Shape):
    """How many pods, and of what."""

    replicas: int | None = Field(None, ge=0, le=INT32_MAX)
    template: Template = Template()
    volume_claim_templates: Items[PersistentVolumeClaim] = ()
    ordinals: Ordinals = Ordinals()
    pod_management_policy: str = ""


class SetStatus(Shape):
    """What its controller counts."""

    replicas: int = 0


class StatefulSet(Object):
    """An apps StatefulSet."""

    spec: SetSpec = SetSpec()
    status: SetStatus = SetStatus()

    @property
    def counted(self) -> int:
        """How many pods its status says there are."""
        return self.status.replicas

    @property
    def ended(self) -> bool:
        """It has no end."""
        return False


def plan(owned: StatefulSet, around: Surroundings) -> Plan:
    """All its pods, also those that its controller makes only once the ones before them are ready."""
    spec, owner = owned.spec, Owner.of("StatefulSet", owned.metadata)
    count = 1 if spec.replicas is None else spec.replicas
    template, groups = grouped(owner, admitted(spec.template, around), around)
    first, claimed = spec.ordinals.start, {one.metadata.name for one in spec.volume_claim_templates}
    others = tuple(one for one in template.spec.volumes if one.name not in claimed)

    def make(number: int) -> Pod:
        ordinal = first + number
        name = f"{owner.name}-{ordinal}"
        marks = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(ordinal)}
        made = pod(owner, template, name, around=around, labels=marks)
        if not claimed:
            return made
        own = tuple(
            PodVolume(name=one, persistentVolumeClaim=ClaimVolume(claimName=f"{one}-{name}")) for one in sorted(claimed)
        )
        return made.model_copy(update={"spec": made.spec.model_copy(update={"volumes": (*own, *others)})})

    notes = [note for note in [unknown_class(spec.template.spec.priority_class_name, around)] if note]
    if count > 1 and spec.pod_management_policy != "Parallel":
        notes.append("its pods are made one after the other, each once the one before it is ready; here all at once")
    claims = tuple(_claims(owned, count, around)) if count <= MOST_MADE else ()
    return Plan((Pods(count, template, make),), (*(groups if count else ()), *claims), tuple(notes))


def _claims(owned: StatefulSet, count: int, around: Surroundings) -> list[PersistentVolumeClaim]:
    """The claims that do not exist yet: those of a set that was here before stay."""
    found = []
    namespace, first = owned.metadata.namespace, owned.spec.ordinals.start
    for template in owned.spec.volume_claim_templates:
        for number in range(first, first + count):
            name = f"{template.metadata.name}-{owned.metadata.name}-{number}"
            if f"{namespace}/{name}" not in around.claims:
                metadata = template.metadata.model_copy(update={"name": name, "namespace": namespace, "uid": ""})
                found.append(template.model_copy(update={"metadata": metadata}))
    return found
