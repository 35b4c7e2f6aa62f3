"""ResourceQuota: what a namespace may use of the cluster, as far as schedulers read it."""

from __future__ import annotations

from cpsched.objects.base import Object, Quantities, Shape


class QuotaStatus(Shape):
    """The limits in force, and what is used of them."""

    hard: Quantities = {}
    used: Quantities = {}


class ResourceQuota(Object):
    """A quota; its spec and scopes are the quota controller's business."""

    status: QuotaStatus = QuotaStatus()
