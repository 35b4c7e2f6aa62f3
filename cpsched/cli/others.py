"""What waits for the other scheduler of a cluster that has both, and the command that decides about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cpsched.instance import Instance
    from cpsched.policy import Policy


def for_others(instance: Instance, policy: Policy, input_: str, command: str) -> Iterator[str]:
    """A sentence for each scheduler whose pods wait too and can be decided here under another model."""
    from cpsched.importers.chosen import others
    from cpsched.policy import recognise

    for one in others(instance, policy):
        if one.model is None:
            continue
        # The input's own configuration comes before a model's, and this one is the other scheduler's.
        is_foreign = instance.conf is not None and recognise(instance.conf).scheduler != one.model
        conf = " --conf FILE, with its configuration" if is_foreign else ""
        yield f"{one}, not decided here: cpsched {command} {shlex.quote(input_)} --model {one.model}{conf}"
