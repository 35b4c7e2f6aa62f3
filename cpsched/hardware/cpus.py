"""The CPUs of one node, and which of them containers get; mirrors `plugins/numaaware/{policy,provider}`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from cpsched.errors import InputError
from cpsched.instance import Task
from cpsched.objects.numa import CpuPlace, Numatopology
from cpsched.quantity import milli, nano

POLICY = "volcano.sh/numa-topology-policy"
_CORE = 10**9
Cpus = frozenset[int]
MOST_NODES = 8
"""More NUMA nodes no kubelet's topology manager starts with."""
SINGLE, RESTRICTED = "single-numa-node", "restricted"


class Hint(NamedTuple):
    """NUMA nodes that could hold a container, and whether no fewer could."""

    nodes: frozenset[int]
    preferred: bool


class NodeCpus:
    """What is free on a node in the session."""

    def __init__(self, topology: Numatopology):
        spec = topology.spec
        self.static = spec.policies.cpu_manager == "static"
        self.policy = spec.policies.topology_manager
        self._place = {int(key): place for key, place in spec.cpu_detail.items() if key.isdecimal()}
        self.free = _listed(spec.numares["cpu"].allocatable) if "cpu" in spec.numares else frozenset()
        count = -(-milli(spec.res_reserved["cpu"]) // 1000) if "cpu" in spec.res_reserved else 0
        self._reserved = self._take(frozenset(self._place), count)
        self._sets = _node_sets(sorted({place.numa for place in self._place.values()}))

    @property
    def tests_all(self) -> bool:
        """Whether Guaranteed pods that ask for no policy are tested too."""
        return self.static and self.policy not in ("", "none")

    @property
    def aligns(self) -> bool:
        """Whether it turns containers away that it cannot align; other policies only prefer."""
        return self.policy in (SINGLE, RESTRICTED)

    @cached_property
    def available(self) -> dict[int, int]:
        """Per NUMA node how many CPUs are free when the session opens."""
        return dict(Counter(self._place[cpu].numa for cpu in self.free - self._reserved if cpu in self._place))

    def smallest_sets(self, request: int) -> list[frozenset[int]]:
        """The NUMA nodes that could hold so many CPUs if all were free, with none to spare; one, if it must be one."""
        sizes = Counter(place.numa for place in self._place.values())
        enough = [nodes for nodes in self._sets if sum(sizes[node] for node in nodes) >= request]
        fewest = min(map(len, enough), default=0)
        return [] if self.policy == SINGLE and fewest > 1 else [nodes for nodes in enough if len(nodes) == fewest]

    def assign(self, requests: Iterable[tuple[str, int | None]]) -> tuple[Cpus, str | None]:
        """CPUs for the containers one by one, and the first that cannot be admitted."""
        taken: Cpus = frozenset()
        for name, request in requests:
            if request is None:
                # A fraction of a CPU is served from the rest, wherever it is.
                continue
            available = self.free - self._reserved - taken
            best = self._best(self._hints(request, available))
            if self.policy in (SINGLE, RESTRICTED) and not best.preferred:
                return frozenset(), name
            taken |= self._for(request, available, best)
        return taken, None

    def numa_nodes(self, cpus: Cpus) -> int:
        """How many NUMA nodes the CPUs are of."""
        return len({self._place[cpu].numa for cpu in cpus if cpu in self._place})

    def _hints(self, request: int, available: Cpus) -> list[Hint]:
        def held(nodes: frozenset[int], cpus: Iterable[int]) -> int:
            return sum(cpu in self._place and self._place[cpu].numa in nodes for cpu in cpus)

        enough = (len(nodes) for nodes in self._sets if held(nodes, self._place) >= request)
        fewest = min(enough, default=len(self._sets[-1]) if self._sets else 0)
        return [Hint(nodes, len(nodes) == fewest) for nodes in self._sets if held(nodes, available) >= request]

    def _best(self, hints: list[Hint]) -> Hint:
        best = Hint(self._sets[-1] if self._sets else frozenset(), preferred=False)
        for hint in hints:
            if self.policy == SINGLE and not (hint.preferred and len(hint.nodes) == 1):
                continue
            narrower = (len(hint.nodes), _mask(hint.nodes)) < (len(best.nodes), _mask(best.nodes))
            if hint.preferred > best.preferred or (hint.preferred == best.preferred and narrower):
                best = hint
        return best

    def _for(self, request: int, available: Cpus, hint: Hint) -> Cpus:
        """From the hint's nodes first; nothing if there are too few at all."""
        near = frozenset(cpu for cpu in available if cpu in self._place and self._place[cpu].numa in hint.nodes)
        taken = self._take(near, min(request, len(near)))
        rest = request - len(taken)
        if rest <= 0:
            return taken
        return taken | self._take(available - taken, rest) if len(available - taken) >= rest else frozenset()

    def _take(self, cpus: Cpus, count: int) -> Cpus:
        """Whole sockets, whole cores, then single CPUs.

        Whether a socket or core is free is asked by its own number among the CPUs, as upstream does, so whole ones are
        passed over, or split.
        """
        if count <= 0 or not self._place:
            return frozenset()
        work = _Taking(self._place, {cpu for cpu in cpus if cpu in self._place}, count)
        work.whole(work.sockets(), lambda place: place.socket, work.per_socket)
        work.whole(work.cores(), lambda place: place.core, work.per_core)
        work.single()
        return frozenset(work.taken) if work.left <= 0 else frozenset()


class _Taking:
    """One search for CPUs, under way."""

    def __init__(self, place: dict[int, CpuPlace], free: set[int], count: int):
        self._place, self._free, self.left, self.taken = place, free, count, set[int]()
        places = place.values()
        self.per_socket = len(place) // len({one.socket for one in places})
        self.per_core = len(place) // len({(one.socket, one.core) for one in places})

    def whole(self, numbers: list[int], number: Callable[[CpuPlace], int], each: int) -> None:
        """Sockets or cores, as long as at least one is still needed."""
        for wanted in numbers:
            if self.left < max(each, 1):
                return
            self._get(cpu for cpu in sorted(self._free) if number(self._place[cpu]) == wanted)

    def sockets(self) -> list[int]:
        """Sockets whose number is that of a free CPU."""
        return sorted({self._place[cpu].socket for cpu in self._free} & self._free)

    def cores(self) -> list[int]:
        """Cores whose number is that of a free CPU; those of the socket with the fewest first."""
        found: dict[int, set[int]] = {}
        for cpu in self._free:
            core = self._place[cpu].core
            found.setdefault(self._place[cpu].socket, set()).update({core} & self._free)
        return [core for socket in _by_fewest(found) for core in sorted(found[socket])]

    def single(self) -> None:
        """CPUs one by one, in the order of their cores."""
        cores = sorted({self._place[cpu].core for cpu in self._free})
        for core in _inserted(cores, self._goes_before):
            for cpu in sorted(self._free):
                if self.left > 0 and self._place[cpu].core == core:
                    self._get([cpu])

    def _goes_before(self, left: int, right: int) -> bool:
        """Upstream's comparison, which is no order: any one of five reasons is enough."""
        mine, theirs = self._rank(left), self._rank(right)
        return any(a < b for a, b in zip(mine, theirs, strict=True))

    def _rank(self, core: int) -> tuple[int, int, int, int, int]:
        first = min(cpu for cpu, place in self._place.items() if place.core == core)
        socket = self._place[first].socket
        near = sum(self._place[cpu].socket == socket for cpu in self.taken)
        free = sum(self._place[cpu].socket == socket for cpu in self._free)
        own = sum(self._place[cpu].core == core for cpu in self._free)
        return -near, free, own, socket, core

    def _get(self, cpus: Iterable[int]) -> None:
        for cpu in list(cpus):
            self._free.remove(cpu)
            self.taken.add(cpu)
            self.left -= 1


def _inserted(items: list[int], before: Callable[[int, int], bool]) -> list[int]:
    """Go's sort of up to twelve items, which a comparison that is no order makes visible."""
    found = list(items)
    for end in range(1, len(found)):
        at = end
        while at > 0 and before(found[at], found[at - 1]):
            found[at], found[at - 1] = found[at - 1], found[at]
            at -= 1
    return found


def _by_fewest(found: dict[int, set[int]]) -> list[int]:
    def before(left: int, right: int) -> bool:
        return len(found[left]) < len(found[right]) or left < right

    return _inserted(sorted(found), before)


def _node_sets(nodes: list[int]) -> list[frozenset[int]]:
    """Every set of NUMA nodes; the whole comes last."""
    if len(nodes) > MOST_NODES:
        wrong = f"a node with {len(nodes)} NUMA nodes, where a kubelet aligns at most {MOST_NODES}"
        raise InputError(wrong, place="Numatopology", right="correct spec.cpuDetail")
    return [frozenset(some) for size in range(1, len(nodes) + 1) for some in combinations(nodes, size)]


def _mask(nodes: frozenset[int]) -> int:
    return sum(1 << node for node in nodes)


def _listed(text: str) -> Cpus:
    """The CPUs of a list such as `0-3,8`."""
    found: set[int] = set()
    for part in dict.fromkeys(text.split(",")):
        match = re.fullmatch(r"\s*(\d{1,4})(?:-(\d{1,4}))?\s*", part, re.ASCII)
        if match is not None:
            found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(found)


def policy_of(task: Task) -> str:
    """The policy that the pod asks for, empty for none."""
    stated = task.pod.metadata.annotations.get(POLICY, "")
    return "" if stated == "none" else stated


def unfit(policy: str, cpus: NodeCpus | None) -> str | None:
    """Why the node is not one of the pod's policy."""
    if cpus is None:
        return "numa info is empty"
    if policy and not cpus.static:
        return "cpu manager policy isn't static"
    if policy and policy != cpus.policy:
        return f"task topology policy[{policy}] is different with node[{cpus.policy}]"
    return None if cpus.free else "cpu allocatable map is empty"


def whole_cpus(task: Task) -> list[tuple[str, int | None]]:
    """Containers with the whole CPUs they ask for; None for a fraction, or nothing."""
    found: list[tuple[str, int | None]] = []
    for container in task.spec.containers:
        amount = nano(container.resources.requests.get("cpu", "0"))
        found.append((container.name, amount // _CORE if amount and amount % _CORE == 0 else None))
    return found
