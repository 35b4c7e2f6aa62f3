"""Which devices meet which CEL selectors: each expression once per device content, with a bound for the whole cluster.

A claim that is too expensive for one device is refused by its own bound; this one ends many that are nearly so.
"""

from __future__ import annotations

from cpsched.errors import InputError
from cpsched.filters.cel_budget import CelBudget
from cpsched.filters.cel_errors import CelError
from cpsched.filters.device_cel import matches, shown
from cpsched.instance import Instance
from cpsched.objects.devices import Device, ResourceSlice

STEPS_FOR_ALL = 1_000_000
"""What all selectors of a cluster may take together; the same on every machine, some seconds on most."""
STEPS_PER_DEVICE = 1_000
"""What they may take besides for each device of the cluster; a usual selector takes below a hundred."""
_STEPS_PER_EVALUATION = 50
_STEPS_PER_BYTE = 5
"""What reading an expression costs, once."""


class Selections:
    """What was found out, and the steps that are left."""

    def __init__(self, number_of_devices: int) -> None:
        self._most = self._left = STEPS_FOR_ALL + STEPS_PER_DEVICE * number_of_devices
        self._contents: dict[str, int] = {}
        self._content_of: dict[int, tuple[int, Device]] = {}
        """By identity, with the device, so that no other gets its identity."""
        self._expressions: set[str] = set()
        self._found: dict[tuple[str, str, int], bool | CelError | InputError] = {}

    @classmethod
    def of(cls, instance: Instance) -> Selections:
        """Those of the instance, the same for all tasks."""
        known = instance.found_out.get(__name__)
        if not isinstance(known, cls):
            number = sum(len(one.spec.devices) for one in instance.of_kind(ResourceSlice))
            known = instance.found_out[__name__] = cls(number)
        return known

    def matches(self, expression: str, driver: str, device: Device) -> bool:
        """Whether the device meets the expression."""
        key = (expression, driver, self._content(device))
        if key not in self._found:
            self._found[key] = self._evaluated(expression, driver, device)
        found = self._found[key]
        if isinstance(found, InputError):
            raise found.within()
        if isinstance(found, CelError):
            raise CelError(*found.args)
        return found

    def _evaluated(self, expression: str, driver: str, device: Device) -> bool | CelError | InputError:
        budget = CelBudget()
        self._spend(_STEPS_PER_EVALUATION)
        if expression not in self._expressions:
            self._expressions.add(expression)
            self._spend(_STEPS_PER_BYTE * len(expression))
        if self._left < 0:
            wrong = f"the device selector `{shown(expression)}` is too expensive for so many devices"
            right = f"all selectors together take at most {self._most} steps here; write simpler ones"
            return InputError(wrong, right=right)
        try:
            return matches(expression, driver, device, budget)
        except (CelError, InputError) as failed:
            return failed.with_traceback(None)
        finally:
            self._spend(budget.spent)

    def _spend(self, steps: int) -> None:
        self._left -= steps

    def _content(self, device: Device) -> int:
        """The number of what an expression can see of the device, which leaves out its name."""
        known = self._content_of.get(id(device))
        if known is None:
            seen = {"basic", "attributes", "capacity", "allow_multiple_allocations"}
            text = device.model_dump_json(include=seen)
            known = self._content_of[id(device)] = (self._contents.setdefault(text, len(self._contents)), device)
        return known[0]
