"""HTTP extenders: asked to filter, to score and to choose victims; mirrors `extender.go` and `extender/v1/types.go`."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from cpsched.filters import NodeState
from cpsched.greedy.kube.victims import Victims
from cpsched.instance import Task
from cpsched.policy.kube_extender import Extender

_LARGEST_ANSWER = 256 * 2**20
_SCORE_SCALE = 10


class ExtenderError(Exception):
    """The extender could not be asked, or its answer makes no sense."""


@dataclass(frozen=True)
class Filtered:
    """Nodes that remain, and why others do not; `bare` nodes come back without what the scheduler knows about them."""

    nodes: list[str]
    failed: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)
    bare: bool = False


@dataclass(frozen=True)
class HttpExtender:
    """One configured extender."""

    conf: Extender

    def is_interested(self, task: Task) -> bool:
        """Whether it manages nothing in particular, or something that a container names."""
        managed = {resource.name for resource in self.conf.managed_resources}
        containers = (*task.pod.spec.containers, *task.pod.spec.init_containers)
        named = (name for c in containers for name in (*c.resources.requests, *c.resources.limits))
        return not managed or any(name in managed for name in named)

    def filter(self, task: Task, nodes: list[NodeState]) -> Filtered:
        """Which of the nodes it lets through; without a filter verb all."""
        names = [node.name for node in nodes]
        if not self.conf.filter_verb:
            return Filtered(names)
        answer = self._ask(self.conf.filter_verb, self._arguments(task, nodes))
        if text := _field(answer, "Error"):
            raise ExtenderError(str(text))
        failed = dict(_field(answer, "FailedNodes") or {})
        unresolvable = dict(_field(answer, "FailedAndUnresolvableNodes") or {})
        kept = _field(answer, "NodeNames")
        if self.conf.node_cache_capable and kept is not None:
            for name in kept:
                if name not in names:
                    wrong = f'"{name}" which is not found in the input node list'
                    raise ExtenderError(f'extender "{self.conf.url_prefix}" claims a filtered node {wrong}')
            return Filtered(list(kept), failed, unresolvable)
        listed = _field(answer, "Nodes")
        items = _field(listed, "items") or () if isinstance(listed, Mapping) else ()
        kept = [_field(_field(item, "metadata") or {}, "name") for item in items]
        return Filtered([name for name in kept if name in names], failed, unresolvable, bare=bool(kept))

    def prioritize(self, task: Task, nodes: list[NodeState]) -> dict[str, int]:
        """Weighted scores by node on the scheduler's scale; an extender that fails has no say."""
        if not self.conf.prioritize_verb:
            return {}
        try:
            answer = self._ask(self.conf.prioritize_verb, self._arguments(task, nodes))
            factor = self.conf.weight * _SCORE_SCALE
            return {str(_field(item, "Host")): int(_field(item, "Score") or 0) * factor for item in answer or ()}
        except (ExtenderError, TypeError, ValueError, AttributeError):
            return {}

    def process_preemption(
        self, task: Task, victims: Mapping[str, Victims], nodes: Mapping[str, NodeState]
    ) -> dict[str, Victims]:
        """The candidates as the extender leaves them: it may drop nodes, change victims and count violations again."""
        meta = self.conf.node_cache_capable
        arguments = {
            "Pod": _json(task),
            "NodeNameToVictims": None if meta else {name: _full(one) for name, one in victims.items()},
            "NodeNameToMetaVictims": {name: _meta(one) for name, one in victims.items()} if meta else None,
        }
        answer = self._ask(self.conf.preempt_verb, arguments)
        given = _field(answer, "NodeNameToMetaVictims") or {}
        return {name: self._victims(name, one, nodes) for name, one in given.items()}

    def _victims(self, name: str, given: Any, nodes: Mapping[str, NodeState]) -> Victims:
        if name not in nodes:
            raise ExtenderError(f'nodeinfo not found for node name "{name}"')
        by_uid = {task.uid: task for task in nodes[name].tasks}
        tasks = []
        for pod in _field(given, "Pods") or ():
            uid = str(_field(pod, "UID") or "")
            if uid not in by_uid:
                wrong = f"claims to preempt pod (UID: {uid}) on node: {name}, but the pod is not found on that node"
                raise ExtenderError(f"extender: {self.conf.url_prefix} {wrong}")
            tasks.append(by_uid[uid])
        return Victims(tuple(tasks), int(_field(given, "NumPDBViolations") or 0))

    def _arguments(self, task: Task, nodes: Iterable[NodeState]) -> dict[str, Any]:
        if self.conf.node_cache_capable:
            return {"Pod": _json(task), "Nodes": None, "NodeNames": [node.name for node in nodes]}
        items = [node.node.node.model_dump(mode="json", exclude_defaults=True) for node in nodes]
        return {"Pod": _json(task), "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}

    def _ask(self, verb: str, arguments: Mapping[str, Any]) -> Any:
        """POST and read the answer; anything but 200 and JSON is an error."""
        url = f"{self.conf.url_prefix.rstrip('/')}/{verb}"
        try:
            status, body = self._post(url, json.dumps(arguments).encode())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ExtenderError(f'Post "{url}": {error}') from error
        if status != http.HTTPStatus.OK:
            raise ExtenderError(f"failed {verb} with extender at URL {url}, code {status}")
        try:
            return json.loads(body)
        except ValueError as error:
            raise ExtenderError(f"the answer of {url} is not JSON: {error}") from error

    def _post(self, url: str, body: bytes) -> tuple[int, bytes]:
        parts = urlsplit(url)
        seconds = self.conf.http_timeout / 10**9
        place = parts.hostname or "", parts.port
        if parts.scheme == "https":
            secure = http.client.HTTPSConnection(*place, timeout=seconds, context=self._tls())
            connection: http.client.HTTPConnection = secure
        elif parts.scheme == "http":
            connection = http.client.HTTPConnection(*place, timeout=seconds)
        else:
            raise ValueError(f'unsupported protocol scheme "{parts.scheme}"')
        try:
            connection.request("POST", parts.path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read(_LARGEST_ANSWER)
        finally:
            connection.close()

    def _tls(self) -> ssl.SSLContext:
        """Certificates of the configuration; HTTPS without any authority is not verified, as upstream has it."""
        conf = self.conf.tls_config
        authority = conf is not None and (conf.ca_file or conf.ca_data)
        context = ssl.create_default_context(cafile=(conf.ca_file or None) if conf else None)
        if not authority or (conf is not None and conf.insecure):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if conf is not None and conf.cert_file:
            context.load_cert_chain(conf.cert_file, conf.key_file or None)
        return context


def _json(task: Task) -> dict[str, Any]:
    return task.pod.model_dump(mode="json", exclude_defaults=True)


def _full(victims: Victims) -> dict[str, Any]:
    return {"Pods": [_json(task) for task in victims.tasks], "NumPDBViolations": victims.violations}


def _meta(victims: Victims) -> dict[str, Any]:
    return {"Pods": [{"UID": task.uid} for task in victims.tasks], "NumPDBViolations": victims.violations}


def _field(mapping: Any, name: str) -> Any:
    """A field whatever its case: Go's decoder does not mind it."""
    if not isinstance(mapping, Mapping):
        raise ExtenderError(f"an object was expected, not {type(mapping).__name__}")
    if name in mapping:
        return mapping[name]
    return next((value for key, value in mapping.items() if str(key).lower() == name.lower()), None)
