"""The sub-groups that the tasks of a job form: how many each needs, and how many of each policy must be complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cpsched.instance import Job, Task
from cpsched.topology.groups import Sorter, SubGroup, min_sub_groups


class SubGroups(NamedTuple):
    """The sub-groups of one job that has policies; the default one is among them if some task is in it."""

    by_task: Mapping[str, SubGroup]
    minima: Mapping[str, int]
    """Per policy how many of its sub-groups must be complete, where any must."""

    @property
    def groups(self) -> list[SubGroup]:
        """Every sub-group once, in the order of the tasks."""
        return list({group.key: group for group in self.by_task.values()}.values())

    @property
    def exist(self) -> bool:
        """Whether there are as many sub-groups of every policy as must be complete."""
        present = Counter(group.group for group in self.groups)
        return all(present[name] >= least for name, least in self.minima.items())

    def is_complete(self, there: Iterable[Task]) -> bool:
        """Whether these tasks complete enough sub-groups of every policy."""
        complete = Counter(group.group for group in self.complete(there))
        return all(complete[name] >= least for name, least in self.minima.items())

    def complete(self, there: Iterable[Task]) -> list[SubGroup]:
        """The sub-groups of which these tasks are enough."""
        counts = Counter(self.by_task[task.key].key for task in there)
        return [group for group in self.groups if counts[group.key] >= group.min_available]


def sub_groups_of(job: Job, tasks: Iterable[Task]) -> SubGroups | None:
    """The sub-groups of a job, None without policies."""
    if not job.group.spec.sub_group_policy:
        return None
    sorter = Sorter(job)
    minima = {name: least for name, least in min_sub_groups(job).items() if least > 0}
    return SubGroups({task.key: sorter.sub_group(task) for task in tasks}, minima)
