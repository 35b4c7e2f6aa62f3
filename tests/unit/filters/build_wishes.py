"""Affinity terms, spread constraints and who passes, for tests."""

from __future__ import annotations

from typing import Any

from cpsched.filters import Status

APP = {"app": "a"}


def term(key: str = "zone", **labels: str) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def near(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def away(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def constraint(key: str = "zone", skew: int = 1, **stated: Any) -> dict[str, Any]:
    wanted = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {**wanted, "labelSelector": {"matchLabels": APP}, **stated}


def spread(*constraints: dict[str, Any]) -> dict[str, Any]:
    return {"topologySpreadConstraints": list(constraints)}


def passing(found: dict[str, Status]) -> set[str]:
    return {name for name, status in found.items() if status.is_success}
