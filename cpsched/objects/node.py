"""Node: what it offers and whom it keeps away."""

from __future__ import annotations

from cpsched.objects.base import Condition, Items, Object, Quantities, Shape


class Taint(Shape):
    """A mark that keeps pods without a matching toleration away."""

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Shape):
    """Taints and the cordon."""

    unschedulable: bool = False
    taints: Items[Taint] = ()


class ContainerImage(Shape):
    """An image the node already has."""

    names: Items[str] = ()
    size_bytes: int = 0


class NodeStatus(Shape):
    """What can be allocated."""

    allocatable: Quantities = {}
    capacity: Quantities = {}
    images: Items[ContainerImage] = ()
    conditions: Items[Condition] = ()


class Node(Object):
    """A Kubernetes Node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
