"""deviceshare: nodes by their shared cards; mirrors `plugins/deviceshare`. Booking is up to predicates."""

from __future__ import annotations

import math

from cpsched.filters.status import unschedulable
from cpsched.greedy.volcano.devices.contract import Books, CardKind
from cpsched.greedy.volcano.devices.gpu_share import GpuShare
from cpsched.greedy.volcano.devices.vgpu import VGpu
from cpsched.greedy.volcano.fast.plugin_bulk import CardBulk
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf

NAME = "deviceshare"


def deviceshare(session: Session, conf: PluginConf) -> Hooks:
    """Filter and score by the cards of the one kind that is switched on."""
    kind = _kind(conf)
    if kind is None:
        return Hooks()
    books = session.devices = Books(kind, {node.name: node.node for node in session.node_list})
    for node in session.node_list:
        for task in node.tasks.values():
            books.open(task.task, releasing=task.status is Status.RELEASING)
    weight = conf.arguments.integer("deviceshare.ScheduleWeight")

    def refusal(node: str) -> FitError:
        return FitError((unschedulable(NAME, kind.refusal(node)),))

    def predicate(task: TaskState, node: NodeAccount) -> FitError | None:
        return refusal(node.name) if books.lacking(task.task, node.name) else None

    def score(task: TaskState, node: NodeAccount) -> float:
        cards = books.of(task.task, node.name)
        return 0.0 if cards is None else float(math.floor(cards.score() + 0.5) * weight)

    return Hooks(
        predicate=predicate,
        node_order=score if weight > 0 else None,
        on_allocate=books.moved,
        on_deallocate=books.moved,
        # A score is that of the task that was last asked about, so all must be asked in turn.
        bulk=CardBulk(books, refusal) if weight <= 0 else None,
    )


def _kind(conf: PluginConf) -> CardKind | None:
    arguments = conf.arguments
    if arguments.boolean("deviceshare.VGPUEnable"):
        return VGpu(arguments.text("deviceshare.SchedulePolicy"), arguments.form("deviceshare.GPUExclusiveRules"))
    if arguments.boolean("deviceshare.GPUSharingEnable"):
        return GpuShare(by_memory=True)
    return GpuShare(by_memory=False) if arguments.boolean("deviceshare.GPUNumberEnable") else None
