"""Which shipped model an input asks for: whose configuration it brings, whose pods wait, whose objects it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cpsched.instance import PENDING, Instance, Task
from cpsched.objects.groups import PodGroup, Queue
from cpsched.policy import Policy, recognise
from cpsched.topology.notes import unkept_topology

TITLES = {"volcano": "Volcano", "kube": "kube-scheduler"}
"""The schedulers that are mirrored, by the shipped model for each."""
DEFAULT = "volcano"
VOLCANO, DEFAULT_SCHEDULER = "volcano", "default-scheduler"
_MODELS = {VOLCANO: "volcano", DEFAULT_SCHEDULER: "kube"}
_KUEUE = "kueue.x-k8s.io/"
_MOST_NAMES = 3
BY_DEFAULT = "the default"


class Choice(NamedTuple):
    """A shipped model, and why it is the input's; no reason where nothing in the input speaks for any."""

    model: str
    reason: str = ""
    by: str = ""
    """The kind of reason: what of the input decided; empty where the user did."""


BY_PENDING, _BY_OBJECTS = "the pending pods", "the objects"
_BY_DEFAULT = Choice(DEFAULT, by=BY_DEFAULT)


def grouped(choices: Iterable[tuple[str, str]], one: str, many: str) -> str:
    """How many got which model by what, as a line; empty where the user named it, or nothing in any input speaks.

    Args:
        choices: model and kind of reason of each, as a Choice has them.
        one: what one of them is called.
        many: what several of them are called.
    """
    counts = Counter((model, by) for model, by in choices if by)
    if all(by == BY_DEFAULT for _, by in counts):
        return ""
    parts = (
        f"{count} {one if count == 1 else many}: model {model} ({f'by {by}' if by != BY_DEFAULT else by})"
        for (model, by), count in counts.most_common()
    )
    return "; ".join(parts)


def choose(
    instance: Instance | None, conf: Mapping[str, Any] | None, file: str = "", subject: str | None = None
) -> Choice:
    """The scheduler whose configuration this is, else the one whose pods wait, else the one whose cluster it is.

    Args:
        instance: the cluster; None if only the configuration is known.
        conf: a scheduler's configuration that was named or comes with the input.
        file: where the configuration comes from, for its errors.
        subject: the one pod or job that is asked about, whose scheduler counts before that of all others.
    """
    if conf is not None:
        scheduler = recognise(conf, file=file).scheduler
        found = Choice(scheduler, f"the configuration is {TITLES[scheduler]}'s", "the configuration")
    else:
        found = _BY_DEFAULT if instance is None else _of_subject(instance, subject) or _of_cluster(instance)
    # Where no pod says whose it is, the input was made by hand, and the default is what its author expects.
    is_stated = instance is not None and any(task.spec.scheduler_name for task in instance.tasks.values())
    return found if is_stated or found.model != DEFAULT else _BY_DEFAULT


def _of_subject(instance: Instance, subject: str | None) -> Choice | None:
    """The model of everything that has this name, if it is one."""
    named = [task for key, task in instance.tasks.items() if subject in (key, key.rpartition("/")[2])]
    models = {_mirrored(instance, task) for task in named}
    if _has_groups(instance) and any(subject in (key, key.rpartition("/")[2]) for key in instance.jobs):
        models.add("volcano")
    model = models.pop() if len(models) == 1 else None
    return Choice(model, f"{subject} is {TITLES[model]}'s", "what is asked about") if model else None


def _of_cluster(instance: Instance) -> Choice:
    pending = Counter(_mirrored(instance, task) for task in instance.tasks.values() if _waits(task))
    held = sum(job.is_pending and not job.tasks for job in instance.jobs.values())
    kube = f"{_pods(pending['kube'])} of kube-scheduler" if pending["kube"] else ""
    parts = [f"{_pods(pending['volcano'])} of Volcano"] if pending["volcano"] else []
    parts += [f"{held} PodGroup{'s' * (held != 1)} without pods"] if held else []
    if parts:
        return Choice("volcano", f"{', '.join([*parts, kube] if kube else parts)} pending", BY_PENDING)
    if kube:
        return Choice("kube", f"{kube} pending, none of Volcano", BY_PENDING)
    if not instance.tasks:
        return _BY_DEFAULT
    if _has_volcano(instance):
        return Choice("volcano", "no pod is pending, and the input has objects of Volcano", _BY_OBJECTS)
    return Choice("kube", "no pod is pending, and the input has no objects of Volcano", _BY_OBJECTS)


class Others(NamedTuple):
    """Pending pods of one scheduler, about which a policy decides nothing."""

    scheduler: str
    tasks: tuple[str, ...]
    model: str | None
    """The shipped model that decides about them; None if their scheduler is not mirrored, or the policy is its own."""

    def __str__(self) -> str:
        count = len(self.tasks)
        return f"{_pods(count)} of scheduler {self.scheduler} {_are(count)} pending ({_listed(self.tasks)})"


def others(instance: Instance, policy: Policy, also: Policy | None = None) -> list[Others]:
    """Pending pods that this policy decides nothing about, nor the one beside it, by whose they are."""
    strangers: dict[str, list[str]] = {}
    for task in instance.tasks.values():
        if not _waits(task) or (whose := undecided(task, policy)) is None:
            continue
        if also is None or undecided(task, also) is not None:
            strangers.setdefault(whose, []).append(task.key)
    return [Others(whose, tuple(keys), model_for(whose, policy)) for whose, keys in sorted(strangers.items())]


def of_other(instance: Instance, policy: Policy) -> Choice | None:
    """The model of the other mirrored scheduler, if pods of its own wait too."""
    for one in others(instance, policy):
        if one.model is not None:
            whose = f"{_pods(len(one.tasks))} of {TITLES[one.model]} pending too"
            return Choice(one.model, f"{whose}; each scheduler is decided as if the other did nothing", BY_PENDING)
    return None


def beside(instance: Instance, policy: Policy, also: Policy | None = None) -> Iterator[str]:
    """The same as warnings, the pods that Kueue holds back, and what is asked of topology and not kept."""
    yield from unkept_topology(instance, policy)
    for one in others(instance, policy, also):
        if one.model is not None:
            help_ = f"see --model {one.model}"
        elif _MODELS.get(one.scheduler) is None:
            help_ = "only Volcano and kube-scheduler are mirrored"
        else:
            help_ = "no profile of the configuration has this name"
        yield f"{one}: no part of this decision; {help_}"
    held = [
        task.key
        for task in instance.tasks.values()
        if _waits(task)
        and undecided(task, policy) is None
        and any(gate.name.startswith(_KUEUE) for gate in task.spec.scheduling_gates)
    ]
    if held:
        yield (
            f"{_pods(len(held))} {_are(len(held))} held back by Kueue until it admits {_them(held)} ({_listed(held)})"
        )


def model_for(scheduler: str, policy: Policy) -> str | None:
    """The other shipped model that decides about the pods of this scheduler."""
    model = _MODELS.get(scheduler)
    return None if model == policy.model.scheduler else model


def _waits(task: Task) -> bool:
    return task.status is PENDING and not task.node


def _mirrored(instance: Instance, task: Task) -> str | None:
    """The model for the scheduler of a pod; to a hand-made pod without a scheduler, the cluster's."""
    named = task.spec.scheduler_name
    if not named:
        return "volcano" if _has_groups(instance) else "kube"
    return _MODELS.get(named)


def undecided(task: Task, policy: Policy) -> str | None:
    """The scheduler of a pod that is another's than the policy's."""
    named = task.spec.scheduler_name
    if policy.jobs_are_pods:
        return None if policy.kube.profile(named or DEFAULT_SCHEDULER) is not None else named
    return None if task.group is not None or named in ("", VOLCANO) else named


def _has_groups(instance: Instance) -> bool:
    """Whether the input has a Queue or a PodGroup of its own; jobs made for bare pods are none."""
    return bool(instance.of_kind(Queue) or instance.of_kind(PodGroup))


def _has_volcano(instance: Instance) -> bool:
    return _has_groups(instance) or any(task.spec.scheduler_name == VOLCANO for task in instance.tasks.values())


def _pods(count: int) -> str:
    return f"{count} pod{'s' * (count != 1)}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _them(keys: list[str]) -> str:
    return "it" if len(keys) == 1 else "them"


def _listed(keys: Sequence[str]) -> str:
    more = len(keys) - _MOST_NAMES
    return ", ".join(sorted(keys)[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
