"""NodePorts: host ports must be free; mirrors `plugins/nodeports` and `HostPortInfo`."""

from __future__ import annotations

from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, PreFilterResult
from cpsched.filters.facts import ANY_IP, HostPort
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, unschedulable
from cpsched.instance import Task

NAME = "NodePorts"
TAKEN = unschedulable(NAME, "node(s) didn't have free ports for the requested pod ports")


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Skip a pod without host ports."""
    ports = cluster.facts(task).ports
    return PreFilterResult(state=ports) if ports else SKIPPED


def check(state: tuple[HostPort, ...], task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node where a wanted port is taken; ports of one pod are not held against each other."""
    return TAKEN if node.ports and any(_taken(port, node.ports) for port in state) else SUCCESS


def _taken(wanted: HostPort, used: set[HostPort]) -> bool:
    if wanted.ip == ANY_IP:
        return any(port.protocol == wanted.protocol and port.port == wanted.port for port in used)
    return wanted in used or HostPort(ANY_IP, wanted.protocol, wanted.port) in used


FILTER = Filter(NAME, prefilter, check)
