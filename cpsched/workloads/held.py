"""PodGroups that wait for enqueue, without pods and without the Job that would say what they are."""

from __future__ import annotations

from cpsched import resources
from cpsched.amounts import exact
from cpsched.instance import GROUP_ANNOTATION
from cpsched.objects.groups import PodGroup
from cpsched.objects.pod import Pod
from cpsched.workloads.admission import admitted
from cpsched.workloads.groups import VOLCANO
from cpsched.workloads.plan import Owner, Plan, Pods, Surroundings, Template, pod


def plan(group: PodGroup, around: Surroundings) -> Plan:
    """As many tasks as it needs, each with an equal part of minResources, which together are exactly that."""
    least, owner = group.spec.min_member, Owner.of("PodGroup", group.metadata)
    if not least or group.spec.min_resources is None:
        return Plan()
    total = resources.from_quantities(group.spec.min_resources)
    total.pop("pods", None)
    roles = [role for role, count in group.spec.min_task_member.items() for _ in range(count)]
    roles = roles if len(roles) == least else []
    base = {"schedulerName": VOLCANO, "priorityClassName": group.spec.priority_class_name}
    template = admitted(Template.model_validate({"spec": base}), around)

    def make(number: int) -> Pod:
        amounts = {name: amount // least + (number < amount % least) for name, amount in total.items()}
        requests = {name: exact(name, amount) for name, amount in amounts.items()}
        spec = template.spec.model_validate({"containers": [{"name": "assumed", "resources": {"requests": requests}}]})
        spec = template.spec.model_copy(update={"containers": spec.containers})
        marks = {GROUP_ANNOTATION: group.metadata.name}
        if roles:
            marks["volcano.sh/task-spec"] = roles[number]
        assumed = template.model_copy(update={"spec": spec})
        return pod(owner, assumed, f"{group.metadata.name}-{number}", around=around, annotations=marks)

    note = "its tasks are assumed: as many as its minimum, of equal parts of its minResources"
    return Plan((Pods(least, template, make),), (), (note,))
