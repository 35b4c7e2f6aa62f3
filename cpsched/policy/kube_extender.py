"""Extenders of kube-scheduler: who is asked over HTTP, for what, in which order."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cpsched.doubts import Doubt
from cpsched.errors import InputError
from cpsched.objects.base import Items
from cpsched.policy import durations
from cpsched.policy.notes import Notes, short
from cpsched.policy.shapes import ClosedShape

DEFAULT_TIMEOUT = 5 * durations.SECOND


def _timeout(text: object) -> int:
    return durations.nanoseconds(text) or DEFAULT_TIMEOUT


def _extended(name: str) -> str:
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        raise ValueError(f"{name} is not an extended resource; write one such as example.com/gpu")
    return name


class ManagedResource(ClosedShape):
    """An extended resource that the extender looks after."""

    name: Annotated[str, AfterValidator(_extended)]
    ignored_by_scheduler: bool = False


class TlsConfig(ClosedShape):
    """How the connection to the extender is secured."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: str = ""
    key_data: str = ""
    ca_data: str = ""


class Extender(ClosedShape):
    """One extender; an empty verb means that it is not asked for that. The timeout is in nanoseconds."""

    url_prefix: str = Field(min_length=1)
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    enable_https: bool = Field(False, alias="enableHTTPS")
    tls_config: TlsConfig | None = None
    http_timeout: Annotated[int, BeforeValidator(_timeout)] = DEFAULT_TIMEOUT
    node_cache_capable: bool = False
    managed_resources: Items[ManagedResource] = ()
    ignorable: bool = False

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        if self.prioritize_verb and self.weight <= 0:
            raise ValueError("an extender with a prioritizeVerb needs a weight above 0")
        return self


def checked_extenders(extenders: tuple[Extender, ...], notes: Notes) -> tuple[Extender, ...]:
    """The extenders in the order in which they are asked: those that may fail come last."""
    if sum(bool(extender.bind_verb) for extender in extenders) > 1:
        raise notes.error("several extenders have a bindVerb", place="extenders", right="only one may bind")
    names = [resource.name for extender in extenders for resource in extender.managed_resources]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise notes.error(f"{repeated} is managed twice", place="extenders", right="one extender manages a resource")
    return tuple(sorted(extenders, key=lambda extender: extender.ignorable))


def not_asked(extender: Extender) -> Doubt:
    """The doubt that remains if an extender is left out."""
    needed = "" if extender.ignorable else ", though the scheduler would place no task without its answer"
    made = f"the extender {extender.url_prefix[:200]} is not asked, the decision is made without it{needed}"
    wrong = f"an input opens no connection: {made}"
    right = "name its configuration by --conf, or add --allow-extenders"
    return _doubt(extender, wrong, right)


def not_searched(extender: Extender) -> Doubt:
    """The doubt about a proof: the search asks no extender, whatever the mirror does."""
    return _doubt(extender, f"the search for the optimum does not ask the extender {extender.url_prefix[:200]}")


def _doubt(extender: Extender, wrong: str, right: str | None = None) -> Doubt:
    text = str(InputError(wrong, place="extenders", right=right))
    return Doubt(kind="extender", name=short(extender.url_prefix), decides=_decides(extender), text=text)


def _decides(extender: Extender) -> str:
    verbs = {
        "which nodes fit": extender.filter_verb,
        "node choice": extender.prioritize_verb,
        "victims": extender.preempt_verb,
        "binding": extender.bind_verb,
    }
    return ", ".join(what for what, verb in verbs.items() if verb) or "nothing"


def ignored_resources(extenders: tuple[Extender, ...]) -> tuple[str, ...]:
    """Resources that the scheduler does not check itself because an extender does."""
    managed = (resource for extender in extenders for resource in extender.managed_resources)
    return tuple(resource.name for resource in managed if resource.ignored_by_scheduler)
