"""A capture with pseudonyms for names, namespaces, labels and annotations, which leads to the same decisions.

A field whose name is not listed here gets a pseudonym, so a field that is read tomorrow is not given away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cpsched.capture.amounts import amounts, plain
from cpsched.capture.annotations import FORMS, unless_number
from cpsched.capture.fields import Raw, normalized
from cpsched.capture.members import by_exact_names
from cpsched.capture.pseudonyms import Pseudonyms

Word = Callable[[str], str]

_DEVICES = frozenset({"attributes", "consumesCounters", "disruptionMode", "sharedCounters"})
"""What a driver says of its devices stays, as selectors read it; so do mappings from resources to amounts."""
_PLAIN = frozenset({
    "CPUManagerPolicy", "TopologyManagerPolicy", "accessModes", "allocatable", "allocationMode", "apiGroup",
    "apiVersion", "attacher", "bindingConditions", "completionMode", "deviceClassName", "distinctAttribute", "driver",
    "effect", "expression", "extendedResourceName", "kind", "matchAttribute", "maxUnavailable", "minAvailable",
    "mode", "nodeAffinityPolicy", "nodeTaintsPolicy", "operator", "podManagementPolicy", "protocol", "provisioner",
    "reason", "resource", "resourceVersion", "restartPolicy", "schedulerName", "startupPolicyOrder", "state",
    "status", "type", "volumeBindingMode", "volumeMode", "whenUnsatisfiable",
})  # fmt: skip
"""Fields whose texts are words of the API or names of software; they stay, as amounts and times do."""
_NAMED_AFTER_SOFTWARE = frozenset({"CSIDriver", "DeviceClass"})
"""Kinds whose objects' names are those of drivers, or parts of the names of resources."""
_HANDLES = frozenset({"diskURI", "pdName", "volumeHandle", "volumeID"})
_HANDLE_WORDS = frozenset({"aws:", "disks", "projects", "regions", "zones"})
_KNOWN_KEY = re.compile(r"(?:[^/]*\.)?(?:kubernetes\.io|k8s\.io|volcano\.sh|gke\.io|aws\.com|openstack\.org)/.*")
_MARKS = frozenset({"kubernetes.io/arch", "kubernetes.io/os", "volcano.sh/preemptable"})
"""Labels and annotations whose values are words, not names."""
_NUMBERS = frozenset({"volcano.sh/cooldown-time"})
"""Labels whose values are times where they are read."""
_EXCLUSIVE = "deviceshare.GPUExclusiveRules"
_ANY_ADDRESS = frozenset({"0.0.0.0", "::"})


def redacted(document: Raw, items: list[Raw]) -> tuple[Raw, list[Raw], dict[str, str]]:
    """The description and the objects with pseudonyms, and which pseudonym stands for what."""
    items = by_exact_names(items)
    found: set[str] = set()
    resources: set[str] = set()
    made = dict(_ephemeral_claims(items))
    compared = frozenset(_compared_keys([items, document.get("configurations")]))

    def note(text: str) -> str:
        found.add(text)
        return text

    _Walk(note, resources, compared, {}).whole(document, items)
    spaces = {place for item in items for place in _namespaces(item)}
    pods = {str(item["metadata"].get("name")) for item in items if item.get("kind") == "Pod"}
    names = Pseudonyms(found, namespaces=spaces, pods=pods)
    walk = _Walk(names.__getitem__, resources, compared, made)
    described, objects = walk.whole(document, items)
    return described, objects, dict(sorted(walk.names.items()))


class _Walk:
    """Goes through objects and replaces every name by what `word` makes of it; the first time it only looks."""

    def __init__(self, word: Word, resources: set[str], compared: frozenset[str], made: Mapping[str, tuple[str, str]]):
        self._word, self._resources, self._compared, self._made = word, resources, compared, made
        self.names: dict[str, str] = {}
        """What each pseudonym stands for."""

    def whole(self, document: Raw, items: list[Raw]) -> tuple[Raw, list[Raw]]:
        """The description and the objects; resources come first, because keys of labels may be their names."""
        for item in items:
            self._resources |= set(_resource_names(item))
        return self._document(document), [self._object(item) for item in items]

    def _document(self, document: Raw) -> Raw:
        found = [
            {**one, "from": self.text(one["from"]), "conf": self._conf(one["conf"], "")}
            for one in document.get("configurations", ())
        ]
        missing = [re.sub(r"^ConfigMap [^:]*", "a scheduler's ConfigMap", one) for one in document.get("missing", ())]
        return {**document, "configurations": found, "missing": missing}

    def _object(self, item: Raw) -> Raw:
        walked = self._fields(item)
        if item.get("kind") in _NAMED_AFTER_SOFTWARE:
            walked["metadata"]["name"] = item["metadata"]["name"]
        return walked

    def _fields(self, raw: Mapping[str, Any]) -> Raw:
        content: Raw = {}
        for name, value in raw.items():
            if name != "message":
                content[name] = self._field(name, value, raw)
        return content

    def _field(self, name: str, value: Any, within: Mapping[str, Any]) -> Any:
        if isinstance(value, Mapping):
            if _is_amounts(name):
                return value
            if name == "labels" or _is_equal_labels(name, value):
                return self._labels(value)
            if name == "annotations":
                return {key: self._annotation(key, text) for key, text in value.items()}
            if name in ("minTaskMember", "disruptedPods"):
                return {self.text(key): item for key, item in value.items()}
            return self._fields(value)
        if isinstance(value, list):
            if name in _DEVICES:
                return value
            if name == "drivers":
                return [{**self._fields(item), "name": item.get("name")} for item in value]
            if name == "matchFields":
                return [{**self._fields(item), "key": item.get("key")} for item in value]
            return [self._field(name, item, within) for item in value]
        return self._scalar(name, value, within) if isinstance(value, str) else value

    def _scalar(self, name: str, text: str, within: Mapping[str, Any]) -> str:
        if name in _PLAIN or name in plain() or (name == "hostIP" and text in _ANY_ADDRESS):
            return text
        if name in ("key", "topologyKey", "topologyKeys", "matchLabelKeys", "mismatchLabelKeys"):
            return self.key(text)
        if name in ("value", "values"):
            return str(self.value(str(within.get("key") or ""), text))
        if name == "image" or (name == "names" and "sizeBytes" in within):
            image = normalized(text)
            return self._noted(f"{self._word(image)}:tag", image)
        return self._handle(text) if name in _HANDLES else self.text(text)

    def _labels(self, labels: Mapping[str, Any]) -> Raw:
        return {self.key(str(key)): self.value(str(key), text) for key, text in labels.items()}

    def key(self, key: str) -> str:
        """The key of a label or taint; those of Kubernetes and of clouds stay, and so do names of resources."""
        return key if key in self._resources or _KNOWN_KEY.fullmatch(key) else self.text(key)

    def value(self, key: str, value: Any) -> Any:
        """The value of a label; numbers stay where some selector compares them."""
        if not isinstance(value, str) or key in _MARKS:
            return value
        return unless_number(value, self.text) if key in _NUMBERS or key in self._compared else self.text(value)

    def text(self, text: str) -> str:
        """A name, or several with / or two underscores between them."""
        if text in self._made:
            pod, volume = self._made[text]
            return self._noted(f"{self.text(pod)}-{self.text(volume)}", text)
        parts = (part.split("__") for part in text.split("/"))
        return self._noted("/".join("__".join(map(self._word, part)) for part in parts), text)

    def _handle(self, text: str) -> str:
        """The name of a disk with its place; AWS knows its volumes by how their names begin."""
        parts = text.split("/")
        return "/".join(
            part if part in _HANDLE_WORDS else f"vol-{self.text(part[4:])}" if part[:4] == "vol-" else self.text(part)
            for part in parts
        )

    def _noted(self, pseudonym: str, text: str) -> str:
        if pseudonym != text:
            self.names[pseudonym] = text
        return pseudonym

    def _annotation(self, key: str, text: Any) -> Any:
        return FORMS.get(key, unless_number)(text, self.text) if isinstance(text, str) else text

    def _conf(self, value: Any, name: str) -> Any:
        """A configuration: names of plugins and resources stay; labels and zones get pseudonyms, addresses go."""
        if name == "addedAffinity" and isinstance(value, Mapping):
            return self._fields(value)
        if isinstance(value, Mapping):
            return {self._conf_key(str(key)): self._conf(item, str(key)) for key, item in value.items()}
        if isinstance(value, list):
            if name == _EXCLUSIVE and all(isinstance(item, Mapping) for item in value):
                return list(map(self._labels, value))
            return [self._conf(item, name) for item in value]
        if name == "topologyKey" and isinstance(value, str):
            return self.key(value)
        return "http://redacted.invalid" if name == "urlPrefix" else value

    def _conf_key(self, key: str) -> str:
        zones = "tdm.revocable-zone."
        return f"{zones}{self.text(key.removeprefix(zones))}" if key.startswith(zones) else key


def _is_amounts(name: str) -> bool:
    return name in _DEVICES or name in amounts()


def _is_equal_labels(name: str, value: Mapping[str, Any]) -> bool:
    """Whether these are labels to be equal to, and not a selector that has parts."""
    return name in ("matchLabels", "nodeSelector", "selector") and all(isinstance(item, str) for item in value.values())


def _resource_names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if _is_amounts(name) and isinstance(item, Mapping):
                yield from map(str, item)
            else:
                yield from _resource_names(item)
    elif isinstance(value, list):
        for item in value:
            yield from _resource_names(item)


def _compared_keys(value: Any) -> Iterator[str]:
    """Keys whose values some expression, or the order of sub-groups, compares as numbers."""
    if isinstance(value, Mapping):
        for policy in value.get("subGroupPolicy") or ():
            yield from map(str, policy.get("matchLabelKeys") or ())
        key = value.get("key")
        if value.get("operator") in ("Gt", "Lt") and isinstance(key, str):
            yield key
        for item in value.values():
            yield from _compared_keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _compared_keys(item)


def _ephemeral_claims(items: list[Raw]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The name of the claim of an ephemeral volume is made of the pod's and the volume's."""
    for item in items:
        if item.get("kind") == "Pod":
            pod = item["metadata"].get("name")
            for volume in item.get("spec", {}).get("volumes") or ():
                if volume.get("ephemeral") is not None:
                    yield f"{pod}-{volume.get('name')}", (str(pod), str(volume.get("name")))


def _namespaces(item: Raw) -> Iterator[str]:
    metadata = item["metadata"]
    if item.get("kind") == "Namespace":
        yield str(metadata.get("name"))
    if metadata.get("namespace"):
        yield str(metadata["namespace"])
