"""The forms of a KubeSchedulerConfiguration; an old one is brought to v1 as its own releases understood it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from cpsched.objects.base import Items
from cpsched.policy.kube_extender import Extender
from cpsched.policy.kube_plugins import PluginEntry, PluginSet
from cpsched.policy.kube_profile import PluginConfigEntry, ProfileShape
from cpsched.policy.kube_registry import FORMS, FormName, KubeVersion
from cpsched.policy.notes import Notes, shown
from cpsched.policy.shapes import ClosedShape

KIND = "KubeSchedulerConfiguration"
GROUP = "kubescheduler.config.k8s.io"
LEAST_ALLOCATED = "NodeResourcesLeastAllocated"
STRATEGIES = {
    LEAST_ALLOCATED: "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
"""Score plugins up to v1beta1 that are strategies of NodeResourcesFit today."""


class ConfigurationShape(ClosedShape):
    """The configuration as it is written; what does not touch decisions may be anything."""

    api_version: str
    kind: Literal["KubeSchedulerConfiguration"]
    parallelism: int = Field(16, ge=1)
    percentage_of_nodes_to_score: int = Field(0, ge=0, le=100)
    pod_initial_backoff_seconds: int = Field(1, ge=1)
    pod_max_backoff_seconds: int = 10
    profiles: Items[ProfileShape] = ()
    extenders: Items[Extender] = ()
    leader_election: Any = None
    client_connection: Any = None
    healthz_bind_address: Any = None
    metrics_bind_address: Any = None
    enable_profiling: Any = None
    enable_contention_profiling: Any = None
    delay_cache_until_active: Any = None


class SecondShape(ConfigurationShape):
    """v1alpha2; `bindTimeoutSeconds` decides nothing."""

    disable_preemption: bool = False
    bind_timeout_seconds: Any = None


class FirstShape(SecondShape):
    """v1alpha1: its one profile stands at the top."""

    scheduler_name: str | None = None
    algorithm_source: dict[str, Any] = {}
    hard_pod_affinity_symmetric_weight: int | None = None
    plugins: dict[str, PluginSet] = {}
    plugin_config: Items[PluginConfigEntry] = ()


SHAPES: dict[FormName, type[ConfigurationShape]] = {"v1alpha2": SecondShape, "v1alpha1": FirstShape}
"""Forms with fields of their own."""


def form_of(given: object, version: KubeVersion, notes: Notes) -> FormName:
    """Which version of the configuration this is; an old one is read, though the mirrored release would refuse it."""
    for form, about in FORMS.items():
        if given == f"{GROUP}/{form}":
            if form != "v1":
                wrong = f"releases {about.releases} read {form}: its default weights hold, all else is as in {version}"
                notes.warn(wrong, place="apiVersion")
            return form
    right = f"write {GROUP}/v1; also known: {', '.join(form for form in FORMS if form != 'v1')}"
    wrong = "is missing" if given is None else f"unknown version {shown(given)}"
    raise notes.error(wrong, place="apiVersion", right=right)


def profiles_in_v1(shape: ConfigurationShape, form: FormName, notes: Notes) -> Iterator[ProfileShape]:
    """The profiles as v1 would have them."""
    profiles = shape.profiles or (ProfileShape(),)
    if isinstance(shape, FirstShape):
        profiles = (_first_profile(shape, notes),)
    for profile in profiles:
        if isinstance(shape, SecondShape) and shape.disable_preemption:
            profile = _without_preemption(profile)
        yield _with_strategy(profile) if form in ("v1beta1", "v1alpha2", "v1alpha1") else profile


def _first_profile(shape: FirstShape, notes: Notes) -> ProfileShape:
    """The profile of a v1alpha1; a Policy that it names is not part of it."""
    if "policy" in shape.algorithm_source:
        decides = "which nodes fit, node choice"
        wrong = f"the Policy that is named is not read, so the answer is made without it; it decides: {decides}"
        notes.doubt("argument", "algorithmSource.policy", decides, wrong, place="algorithmSource")
    config = shape.plugin_config
    if shape.hard_pod_affinity_symmetric_weight is not None:
        args = {"hardPodAffinityWeight": shape.hard_pod_affinity_symmetric_weight}
        config = (*config, PluginConfigEntry(name="InterPodAffinity", args=args))
    return ProfileShape(schedulerName=shape.scheduler_name, plugins=shape.plugins, pluginConfig=config)


def _without_preemption(profile: ProfileShape) -> ProfileShape:
    """The profile under `disablePreemption: true`."""
    own = profile.plugins.get("postFilter", PluginSet())
    off = own.model_copy(update={"disabled": (*own.disabled, PluginEntry(name="DefaultPreemption"))})
    return profile.model_copy(update={"plugins": {**profile.plugins, "postFilter": off}})


def _with_strategy(profile: ProfileShape) -> ProfileShape:
    """A profile of v1beta1 or before: its score plugins for allocation become the strategy of NodeResourcesFit.

    There is one strategy; a second such plugin stays, and is left out as one that is not mirrored.
    """
    score = profile.plugins.get("score", PluginSet())
    on = [*_default_strategy(score), *(entry for entry in score.enabled if entry.name in STRATEGIES)]
    others = tuple(entry for entry in score.enabled if entry not in on[:1] and entry.name != "NodeResourcesFit")
    off = tuple(entry for entry in score.disabled if entry.name not in STRATEGIES)
    if on:
        others = (*others, PluginEntry(name="NodeResourcesFit", weight=on[0].weight))
    else:
        off = (*off, PluginEntry(name="NodeResourcesFit"))
    scored = {**profile.plugins, "score": score.model_copy(update={"enabled": others, "disabled": off})}
    config = tuple(_config(profile.plugin_config, on[0].name if on else ""))
    return profile.model_copy(update={"plugins": scored, "plugin_config": config})


def _default_strategy(score: PluginSet) -> list[PluginEntry]:
    named = {entry.name for entry in score.enabled} | score.disabled_names
    return [] if named & {"*", LEAST_ALLOCATED} else [PluginEntry(name=LEAST_ALLOCATED, weight=1)]


def _config(entries: tuple[PluginConfigEntry, ...], strategy: str) -> Iterator[PluginConfigEntry]:
    """The arguments; those of the strategy become NodeResourcesFit's, and listed constraints are marked as a list."""
    by_name = {entry.name: entry.args for entry in entries}
    fit = by_name.get("NodeResourcesFit", {})
    if strategy:
        yield PluginConfigEntry(name="NodeResourcesFit", args={**fit, "scoringStrategy": _strategy(strategy, by_name)})
    for entry in entries:
        if entry.name == "PodTopologySpread" and entry.args.get("defaultConstraints"):
            yield PluginConfigEntry(name=entry.name, args={"defaultingType": "List", **entry.args})
        elif not strategy or entry.name not in ("NodeResourcesFit", strategy):
            yield entry


def _strategy(plugin: str, by_name: dict[str, dict[str, Any]]) -> dict[str, Any]:
    args = by_name.get(plugin, {})
    found: dict[str, Any] = {"type": STRATEGIES[plugin]}
    if "resources" in args:
        found["resources"] = args["resources"]
    if plugin == "RequestedToCapacityRatio":
        found["requestedToCapacityRatio"] = {"shape": args.get("shape", [])}
    return found
