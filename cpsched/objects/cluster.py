"""Namespaces, and the owners whose selectors give pods their default spread."""

from __future__ import annotations

from cpsched.objects.base import LabelSelector, Object, Shape


class Namespace(Object):
    """A Namespace; only its labels matter."""


class ServiceSpec(Shape):
    """The pods a service selects; none if empty."""

    selector: dict[str, str] = {}


class Service(Object):
    """A Service."""

    spec: ServiceSpec = ServiceSpec()


class ReplicationController(Object):
    """A ReplicationController."""

    spec: ServiceSpec = ServiceSpec()


class ControllerSpec(Shape):
    """The pods a set owns."""

    selector: LabelSelector | None = None


class ControllerStatus(Shape):
    """How many pods the cluster counts in the set."""

    replicas: int = 0


class ReplicaSet(Object):
    """A ReplicaSet."""

    spec: ControllerSpec = ControllerSpec()
    status: ControllerStatus = ControllerStatus()


class StatefulSet(Object):
    """A StatefulSet."""

    spec: ControllerSpec = ControllerSpec()
    status: ControllerStatus = ControllerStatus()
