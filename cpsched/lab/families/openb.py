"""Sessions sampled from the openb trace: gangs of equal pods in queues, some running, the rest waiting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from cpsched.errors import InputError
from cpsched.importers.openb import TraceNode, TracePod, node_list, pod_list
from cpsched.importers.trace_objects import MODEL, model_affinity
from cpsched.lab.draw import Draw
from cpsched.lab.families import pieces, shared_cards
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, NodesLeft, Placement, frame, node, quantities, stamp
from cpsched.lab.families.racks import EVICTING, PLACING, configuration, demand, hyper_nodes
from cpsched.lab.families.shared_cards import WHOLE, CardsLeft
from cpsched.lab.families.trace_time import Moment, at_moment

OF_QOS = {"LS": "high", "Guaranteed": "high", "Burstable": "mid", "BE": "low"}
_PODS_PER_NODE, _RACKS_PER_BLOCK = 110, 4
_SHARING = "enqueue, allocate, backfill, preempt, reclaim"
_WAITING, _RUNNING = ["low", "mid", "high"], ["low", "low", "mid"]


class Openb(Parameters):
    """What is sampled, and by which rules the trace's gaps are filled: it has no queues, gangs or priorities."""

    nodes: int = Field(20, ge=1, le=5000)
    """nodes drawn from the node list"""
    pods: int = Field(0, ge=0, le=100_000)
    """pods drawn from the pod list; 0: the same share of the pods as of the nodes"""
    running: Literal["share", "time"] = "share"
    """who runs: a share of the gangs, or who ran at a moment of the trace"""
    fill: int = Field(60, ge=0, le=100)
    """percent of the gangs that run, if they have room (running=share)"""
    time: int = Field(11_000_000, ge=0, le=20_000_000)
    """the moment, in seconds of the trace (running=time); times need nodes and pods undiminished to be busy"""
    window: int = Field(86_400, ge=0, le=20_000_000)
    """seconds: who was created so long after the moment waits (running=time)"""
    placement: Placement = "first-fit"
    """how the running pods were placed"""
    gangs: Literal["shape", "none"] = "shape"
    """pods of equal requests form gangs of 1, 2, 4 or 8; or every pod is a job"""
    together: int = Field(60, ge=0, le=100)
    """percent of the gangs that start only as a whole; the others start with one pod"""
    priorities: Literal["random", "qos"] = "random"
    """low, mid or high by chance (running ones lower), or by quality of service: LS high, Burstable mid, BE low"""
    queues: int = Field(4, ge=1, le=100)
    """queues q0, q1, ... of weight 1, 2, ..., drawn evenly"""
    cards: Literal["whole", "shared"] = "whole"
    """a fraction of a GPU counts as a whole one, or cards are shared as deviceshare shares virtual GPUs"""
    rack: int = Field(0, ge=0, le=1000)
    """nodes of a rack, a HyperNode of tier 1; four racks are a block of tier 2; 0: no HyperNodes"""
    hard: int = Field(60, ge=0, le=100)
    """percent of the waiting gangs of two pods and more that must stay in one rack or block (rack > 0)"""
    soft: int = Field(50, ge=0, le=100)
    """percent of the others that would rather be near each other (rack > 0)"""
    evict: Literal["none", "gangs"] = "none"
    """no evictions, or those that gangpreempt and gangreclaim choose: the configuration's actions (rack > 0)"""
    node_list: Literal["all_node", "gpu_node"] = "all_node"
    """openb_node_list_....csv"""
    pod_list: str = Field("default", pattern="^[a-z0-9]{1,40}$")
    """openb_pod_list_....csv"""


class Trace(NamedTuple):
    """Both tables."""

    nodes: list[TraceNode]
    pods: list[TracePod]


Gang = list[TracePod]


def read(folder: Path, given: Openb) -> Trace:
    """The two lists that the parameters name."""
    return Trace(node_list(folder, given.node_list), pod_list(folder, given.pod_list))


def openb(given: Openb, draw: Draw, trace: Trace) -> Raw:
    """Nodes and pods are drawn, then gangs, then for each gang its priority, its queue and its minimum."""
    _enough(given.nodes, trace.nodes, "nodes")
    nodes = draw.sample(trace.nodes, given.nodes)
    count = given.pods or len(trace.pods) * given.nodes // len(trace.nodes)
    _enough(count, trace.pods, "pods")
    pods = draw.sample(trace.pods, count)
    if given.running == "time":
        old, new = at_moment(pods, Moment(given.time, given.window))
        ran = _gangs(given, draw, old)
        gangs = ran + _gangs(given, draw, new)
        running = len(ran)
    else:
        gangs = _gangs(given, draw, pods)
        running = len(gangs) * given.fill // 100
    queues = ({"name": f"q{i}", "weight": i + 1, "creationTimestamp": stamp(i)} for i in range(given.queues))
    instance = frame((_node(given, one) for one in nodes), queues, CLASSES)
    if given.rack:
        instance["hyperNodes"] = hyper_nodes([one.name for one in nodes], given.rack, _RACKS_PER_BLOCK)
        instance["conf"] = configuration(EVICTING if given.evict == "gangs" else PLACING)
    if given.cards == "shared":
        conf = instance.setdefault("conf", pieces.configuration(_SHARING))
        conf["tiers"][0]["plugins"].append(shared_cards.deviceshare())
    room = _Room(given, nodes)
    for number, gang in enumerate(gangs):
        instance["jobs"].append(_job(given, draw, number, gang, room if number < running else None))
    return instance


class _Room:
    """What is left on nodes and cards while the running pods are placed."""

    def __init__(self, given: Openb, nodes: list[TraceNode]):
        self._placement, self._shared = given.placement, given.cards == "shared"
        self._nodes = NodesLeft({one.name: (*self._amounts(one), _PODS_PER_NODE) for one in nodes})
        self._cards = CardsLeft({one.name: one.gpus for one in nodes})
        self._of_model: dict[str, list[str]] = {}
        for one in nodes:
            self._of_model.setdefault(one.model, []).append(one.name)

    def home(self, draw: Draw, pod: TracePod) -> Raw:
        """The fields of a task that runs; none if there is no room."""
        among: Iterable[str] | None = None
        if pod.models:
            among = [name for model in pod.models for name in self._of_model.get(model, [])]
        if self._shared:
            among = self._cards.having(self._nodes.free if among is None else among, pod.gpus, pod.gpu_milli)
        home = self._nodes.place((*self._amounts(pod), 1), self._placement, draw, among)
        if home is None:
            return {}
        chosen = self._cards.fitting(home, pod.gpu_milli)[: pod.gpus] if self._shared else []
        holds = self._cards.take(home, chosen, pod.gpu_milli)
        return {"running": home} | ({"annotations": holds} if holds else {})

    def _amounts(self, one: TraceNode | TracePod) -> tuple[int, int, int]:
        return one.cpu_milli, one.memory_mib, 0 if self._shared else one.gpus


def _enough(wanted: int, there: Sequence[object], what: str) -> None:
    if wanted > len(there):
        raise InputError(f"{wanted} {what}", place=what, right=f"the trace has {len(there)}")


def _gangs(given: Openb, draw: Draw, pods: list[TracePod]) -> list[Gang]:
    if given.gangs == "none":
        return [[pod] for pod in pods]
    by_shape: dict[tuple[object, ...], list[TracePod]] = {}
    for pod in pods:
        share = pod.gpu_milli if given.cards == "shared" else WHOLE
        by_shape.setdefault((pod.cpu_milli, pod.memory_mib, pod.gpus, share, pod.models), []).append(pod)
    gangs = []
    for alike in by_shape.values():
        start = 0
        while start < len(alike):
            size = draw.choice([1, 2, 4, 8])
            gangs.append(alike[start : start + size])
            start += size
    draw.shuffle(gangs)
    return gangs


def _job(given: Openb, draw: Draw, number: int, gang: Gang, place: _Room | None) -> Raw:
    priority = draw.choice(_WAITING if place is None else _RUNNING)
    if given.priorities == "qos":
        priority = OF_QOS.get(gang[0].qos, "low")
    queue = f"q{draw.below(given.queues)}"
    minimum = len(gang) if draw.chance(given.together) else 1
    tasks = []
    for position, pod in enumerate(gang):
        task: Raw = {
            "name": pod.name,
            "namespace": "ns",
            "uid": pod.name,
            "role": "w",
            "creationTimestamp": stamp(number),
        }
        if given.cards == "shared":
            task["requests"] = quantities(pod.cpu_milli, pod.memory_mib, 0, "Mi")
            task = shared_cards.asking(task, pod.gpus, pod.gpu_milli)
        else:
            task["requests"] = quantities(pod.cpu_milli, pod.memory_mib, pod.gpus, "Mi")
        if pod.models:
            task["affinity"] = model_affinity(pod.models)
        home = {} if place is None else place.home(draw, pod)
        if home:
            task |= home | {"startTime": stamp(3600 + (number * 8 + position) % 3600)}
        tasks.append(task)
    job: Raw = {"name": f"j{number}", "namespace": "ns", "queue": queue, "minMember": minimum}
    if given.rack and place is None and len(gang) > 1:
        wanted = demand(draw, given.hard, given.soft)
        job |= {} if wanted is None else {"networkTopology": wanted}
    return job | {"priorityClassName": priority, "creationTimestamp": stamp(number), "tasks": tasks}


def _node(given: Openb, one: TraceNode) -> Raw:
    labels = {MODEL: one.model or "none"}
    if given.cards == "shared":
        bare = node(one.name, quantities(one.cpu_milli, one.memory_mib, 0, "Mi"), labels)
        return shared_cards.with_cards(bare, one.gpus, one.model)
    return node(one.name, quantities(one.cpu_milli, one.memory_mib, one.gpus, "Mi"), labels)
