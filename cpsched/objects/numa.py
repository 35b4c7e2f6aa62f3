"""Numatopology of nodeinfo.volcano.sh: the CPUs of a node, which are free, and how its kubelet hands them out."""

from __future__ import annotations

from pydantic import Field

from cpsched.objects.base import INT32_MAX, Object, Quantities, Shape


class CpuPlace(Shape):
    """Where one CPU sits."""

    numa: int = Field(0, ge=0, le=63)
    socket: int = Field(0, ge=0, le=INT32_MAX)
    core: int = Field(0, ge=0, le=INT32_MAX)


class NumaResource(Shape):
    """What is free of a resource: for cpu a list such as `0-3,8`."""

    allocatable: str = ""
    capacity: int = 0


class NumaPolicies(Shape):
    """The kubelet's policies."""

    cpu_manager: str = Field("", alias="CPUManagerPolicy")
    topology_manager: str = Field("", alias="TopologyManagerPolicy")


class NumatopologySpec(Shape):
    """The node as its kubelet sees it."""

    policies: NumaPolicies = NumaPolicies()
    numares: dict[str, NumaResource] = {}
    cpu_detail: dict[str, CpuPlace] = {}
    res_reserved: Quantities = {}


class Numatopology(Object):
    """Named like its node."""

    spec: NumatopologySpec = NumatopologySpec()
