"""Dumps as kubectl and support tools write them, made up: lists, the stream of cluster-info, archives."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Raw = dict[str, Any]


def node(name: str) -> Raw:
    """A Node, as an item of a list that Go wrote: without its kind."""
    status = {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}}
    return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "7"}, "spec": {}, "status": status}


def pod(name: str, host: str = "", namespace: str = "default") -> Raw:
    """A Pod, likewise."""
    containers = [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", "resourceVersion": "9"},
        "spec": {"nodeName": host, "schedulerName": "default-scheduler", "containers": containers},
        "status": {"phase": "Running" if host else "Pending"},
    }


def with_kind(kind: str, item: Raw) -> Raw:
    """The object as the API server gives it out."""
    return {"apiVersion": "v1", "kind": kind, **item}


def list_of(kind: str, *items: Raw) -> str:
    """A typed list as `cluster-info dump` prints it."""
    content = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {"resourceVersion": "12"}, "items": items}
    return json.dumps(content, indent=4) + "\n"


def log(of: str, text: str) -> str:
    """A container's log in the stream; the text may lack its last line end."""
    return f"==== START logs for container {of} ====\n{text}==== END logs for container {of} ====\n"


def cluster_info(logs: Mapping[str, str]) -> str:
    """The stream of a cluster of two nodes, a pod in kube-system and two in default, with these logs."""
    parts = [list_of("Node", node("n1"), node("n2")), list_of("Event"), list_of("ReplicationController")]
    parts += [list_of("Service"), list_of("DaemonSet"), list_of("Pod", pod("dns", "n1", "kube-system"))]
    parts += [log(of, text) for of, text in logs.items() if " kube-system/" in of]
    parts += [list_of("Event"), list_of("Service"), list_of("Pod", pod("web", "n2"), pod("waits"))]
    parts += [log(of, text) for of, text in logs.items() if " default/" in of]
    return "".join(parts)


FOUND = (["n1", "n2"], ["kube-system/dns", "default/web", "default/waits"])
"""Nodes and pods of that stream."""


def tarred(members: Mapping[str, bytes | str], mode: str = "w", form: int = tarfile.GNU_FORMAT) -> bytes:
    """A tar archive; a text that begins with -> is a symbolic link."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, str) and content.startswith("->"):
                info.type, info.linkname = tarfile.SYMTYPE, content[2:]
                archive.addfile(info)
                continue
            data = content.encode() if isinstance(content, str) else content
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    """A ZIP archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def as_folder(folder: Path, members: Mapping[str, bytes | str]) -> Path:
    """The same as files of a folder."""
    for name, content in members.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("->"):
            path.symlink_to(content[2:])
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
