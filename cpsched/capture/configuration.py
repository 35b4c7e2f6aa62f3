"""The configurations of the cluster's schedulers: what decides, of the ConfigMaps that their pods mount."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from cpsched.capture.kubectl import Kubectl
from cpsched.errors import InputError
from cpsched.importers.captured import FORBIDDEN
from cpsched.policy import PluginArgs, SchedulerConf, recognise
from cpsched.policy.volcano_registry import PLUGINS

Raw = dict[str, Any]

USUAL = (("volcano-system", "volcano-scheduler-configmap"),)
"""Where Volcano's manifests put it, if no pod shows where it is."""
MOST = 8
"""ConfigMaps that are asked for; a cluster has one or two schedulers."""

_KUBE_FIELDS = frozenset(
    {
        "apiVersion",
        "kind",
        "algorithmSource",
        "disablePreemption",
        "extenders",
        "parallelism",
        "percentageOfNodesToScore",
        "podInitialBackoffSeconds",
        "podMaxBackoffSeconds",
        "profiles",
        "schedulerName",
    }
)
_VOLCANO_FIELDS = frozenset({"actions", "configurations", "tiers"})


def mounted_by_schedulers(pods: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """(namespace, name) of the ConfigMaps of pods whose name or program is a scheduler's."""
    found = dict.fromkeys(place for pod in pods if _is_scheduler(pod) for place in _config_maps(pod))
    return sorted(found)[:MOST]


def _is_scheduler(pod: Mapping[str, Any]) -> bool:
    texts = [_mapping(pod.get("metadata")).get("name")]
    for container in _list(_mapping(pod.get("spec")).get("containers")):
        texts += [container.get("image"), *_texts(container.get("command"))[:1]]
    return any(isinstance(text, str) and "scheduler" in text for text in texts)


def _config_maps(pod: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    namespace = str(_mapping(pod.get("metadata")).get("namespace") or "default")
    for volume in _list(_mapping(pod.get("spec")).get("volumes")):
        sources = [volume, *_list(_mapping(volume.get("projected")).get("sources"))]
        for source in sources:
            name = _mapping(source.get("configMap")).get("name")
            if isinstance(name, str) and name != "kube-root-ca.crt":
                yield namespace, name


def configurations(
    kubectl: Kubectl, pods: Iterable[Mapping[str, Any]], has_volcano: bool
) -> tuple[list[Raw], list[str]]:
    """The configurations with the ConfigMap of each, and what was found but could not be read."""
    places = mounted_by_schedulers(pods)
    if has_volcano:
        places += [place for place in USUAL if place not in places]
    found: list[Raw] = []
    missed: list[str] = []
    for namespace, name in places:
        reading = kubectl.read("get", "configmap", f"--namespace={namespace}", "--output=json", "--", name)
        if reading.failed:
            text = "\n".join(reading.complaints)
            if "(Forbidden)" in text:
                missed.append(f"ConfigMap {namespace}/{name}{FORBIDDEN}")
            elif "(NotFound)" not in text:
                missed.append(f"ConfigMap {namespace}/{name}: {reading.error().wrong}")
            continue
        try:
            own = recognise(reading.value())
        except InputError as error:
            if (namespace, name) in USUAL:
                missed.append(f"ConfigMap {namespace}/{name}: {error.wrong}")
            continue
        found.append({"scheduler": own.scheduler, "from": f"{namespace}/{name}", "conf": read_fields(own)})
    return found, missed


def read_fields(own: SchedulerConf) -> Raw:
    """The configuration without what no decision reads: addresses, files, credentials, arguments of foreign plugins."""
    if own.scheduler == "volcano":
        conf = {key: value for key, value in own.conf.items() if key in _VOLCANO_FIELDS}
        conf["tiers"] = [_tier(tier) for tier in _list(conf.get("tiers"))]
        # How old a measured load may be; where it is measured stays out.
        interval = _mapping(own.conf.get("metrics")).get("interval")
        return conf if interval is None else {**conf, "metrics": {"interval": interval}}
    conf = {key: value for key, value in own.conf.items() if key in _KUBE_FIELDS}
    if "profiles" in conf:
        conf["profiles"] = [_profile(profile) for profile in _list(conf["profiles"])]
    if "extenders" in conf:
        extenders = _list(conf["extenders"])
        conf["extenders"] = [{k: v for k, v in one.items() if k != "tlsConfig"} for one in extenders]
    return conf


def _tier(tier: Raw) -> Raw:
    return {**tier, "plugins": [_plugin(plugin) for plugin in _list(tier.get("plugins"))]}


def _plugin(plugin: Raw) -> Raw:
    """The plugin with the arguments that it reads; another one may hold the password of a metrics server."""
    known = PLUGINS.get(str(plugin.get("name")))
    if known is None or "arguments" not in plugin:
        return {key: value for key, value in plugin.items() if key != "arguments"}
    stated = plugin["arguments"] if isinstance(plugin["arguments"], dict) else {}
    read = {key: value for key, value in stated.items() if any(fnmatchcase(str(key), name) for name in known)}
    return {**plugin, "arguments": read} if read else {k: v for k, v in plugin.items() if k != "arguments"}


def _profile(profile: Raw) -> Raw:
    read = {info.alias or name for name, info in PluginArgs.model_fields.items()}
    entries = _list(profile.get("pluginConfig"))
    return {**profile, "pluginConfig": [one for one in entries if one.get("name") in read]}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Raw]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
