"""A placement, node by node and device by device, that follows a plan for the sizes of nodes; and its check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workload import DEVICE, Node, Pod

Bundle = tuple[Pod, ...]
"""Parts that share one device, or one pod with whole devices."""


@dataclass
class Machine:
    """A node being filled: what each device has left, and what lies where."""

    node: Node
    cpu: int
    memory: int
    left: list[int]
    held: list[tuple[Pod, tuple[int, ...]]] = field(default_factory=list)

    @property
    def free(self) -> list[int]:
        """Devices that no task uses."""
        return [device for device, left in enumerate(self.left) if left == DEVICE]

    def devices(self, pod: Pod) -> tuple[int, ...] | None:
        """Where the pod would lie: a part on the fullest device that has room; None if it does not fit."""
        if pod.cpu > self.cpu or pod.memory > self.memory:
            return None
        if pod.is_part:
            fits = [(left, device) for device, left in enumerate(self.left) if left >= pod.milli]
            return (min(fits)[1],) if fits else None
        free = self.free
        return tuple(free[: pod.gpus]) if len(free) >= pod.gpus else None

    def tightness(self, devices: tuple[int, ...]) -> tuple[int, int]:
        """How little is left there: the smaller, the better a place for a pod that comes last."""
        return (min((self.left[device] for device in devices), default=0), self.cpu)

    def put(self, pod: Pod, devices: tuple[int, ...]) -> None:
        """Place the pod there."""
        self.cpu -= pod.cpu
        self.memory -= pod.memory
        for device in devices:
            self.left[device] -= pod.milli
        self.held.append((pod, devices))


def machines(nodes: Mapping[Node, int]) -> list[Machine]:
    """All nodes, empty."""
    return [
        Machine(node, node.cpu, node.memory, [DEVICE] * node.gpus)
        for node, count in nodes.items()
        for _ in range(count)
    ]


def follow(
    plan: Mapping[Node, Sequence[Bundle]], nodes: Mapping[Node, int], demand: Mapping[Pod, int]
) -> list[Machine]:
    """Put each bundle where most cores are left per free device; then what still fits anywhere, large ones first."""
    found, waiting = machines(nodes), Counter(demand)
    for node, bundles in plan.items():
        own = [machine for machine in found if machine.node == node]
        cores = {bundle: sum(pod.cpu for pod in bundle) for bundle in bundles}
        for bundle in sorted(bundles, key=lambda some: (-some[0].gpus, -cores[some], some)):
            memory, wanted = sum(pod.memory for pod in bundle), bundle[0].gpus
            fits = [
                machine
                for machine in own
                if machine.cpu >= cores[bundle] and machine.memory >= memory and len(machine.free) >= wanted
            ]
            if fits:
                chosen = max(fits, key=lambda machine: machine.cpu / len(machine.free))
                devices = tuple(chosen.free[:wanted])
                for pod in bundle:
                    chosen.put(pod, devices)
                    waiting[pod] -= 1
    for pod in sorted(demand, key=lambda some: (-some.gain, -some.cpu, some)):
        while waiting[pod]:
            places = ((machine, devices) for machine in found if (devices := machine.devices(pod)) is not None)
            place = min(places, key=lambda one: one[0].tightness(one[1]), default=None)
            if place is None:
                break
            place[0].put(pod, place[1])
            waiting[pod] -= 1
    return found


def faults(placed: Iterable[tuple[Node, list[tuple[Pod, tuple[int, ...]]]]], demand: Mapping[Pod, int]) -> list[str]:
    """What is wrong with a placement: too much on a node or a device, or pods that no task asked for."""
    wrong, used = [], Counter[Pod]()
    for place, (node, held) in enumerate(placed):
        load = Counter[int]()
        for pod, devices in held:
            used[pod] += 1
            load.update(dict.fromkeys(devices, pod.milli))
            if len(set(devices)) != pod.gpus or not all(0 <= device < node.gpus for device in devices):
                wrong.append(f"node {place}: {pod} on devices {devices}")
        if sum(pod.cpu for pod, _ in held) > node.cpu or sum(pod.memory for pod, _ in held) > node.memory:
            wrong.append(f"node {place}: more cores or memory than it has")
        if any(amount > DEVICE for amount in load.values()):
            wrong.append(f"node {place}: a device is overfull")
    wrong.extend(f"{pod}: {count} placed" for pod, count in used.items() if count > demand.get(pod, 0))
    return wrong
