"""A real control plane on loopback: etcd, kube-apiserver, kube-controller-manager, kube-scheduler of one release."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live.api import Api, Raw
from tests.live.build import folder
from tests.live.kubelets import Kubelets

SECONDS = 120
ADMIN, READER = "admin", "reader"
_WITHOUT = (
    "pod-garbage-collector-controller",
    "node-ipam-controller",
    "node-route-controller",
    "cloud-node-lifecycle-controller",
    "service-lb-controller",
)


class Plane:
    """The processes and the folder that they work in."""

    def __init__(self, place: Path):
        self._place = place
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._port = _free_port()
        self.kubeconfig = place / "kubeconfig"
        self.readers_kubeconfig = place / "reader.kubeconfig"
        self.url = f"https://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start everything and wait until pods can be created."""
        self._write_files()
        client, peer = (f"http://127.0.0.1:{_free_port()}" for _ in range(2))
        self._run(
            "etcd",
            "etcd",
            *("--unsafe-no-fsync", f"--data-dir={self._place}/etcd", f"--listen-client-urls={client}"),
            *(f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}"),
            *(f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"),
        )
        keys = self._place / "accounts.key"
        self._run(
            "apiserver",
            str(folder() / "apiserver"),
            *(f"--etcd-servers={client}", "--bind-address=127.0.0.1", f"--secure-port={self._port}"),
            *(f"--cert-dir={self._place}/certificates", f"--token-auth-file={self._place}/tokens.csv"),
            *("--authorization-mode=RBAC", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.9.0.0/24"),
            *("--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={keys}"),
            f"--service-account-signing-key-file={keys}",
        )
        certificate = self._place / "certificates" / "apiserver.crt"
        self.wait_for("the API server's certificate", certificate.exists)
        self.api = Api(self.url, ADMIN, str(certificate))
        self.wait_for("the API server", self.api.ready)
        self._run(
            "controllers",
            str(folder() / "controllers"),
            *(f"--kubeconfig={self.kubeconfig}", "--leader-elect=false", "--bind-address=127.0.0.1"),
            *(f"--secure-port={_free_port()}", f"--service-account-private-key-file={keys}"),
            *(f"--cert-dir={self._place}/controllers", "--node-monitor-grace-period=24h"),
            f"--controllers={','.join(['*', *(f'-{name}' for name in _WITHOUT)])}",
        )
        self._run(
            "scheduler",
            str(folder() / "scheduler"),
            *(f"--kubeconfig={self.kubeconfig}", "--leader-elect=false", "--bind-address=127.0.0.1"),
            *(f"--secure-port={_free_port()}", f"--cert-dir={self._place}/scheduler"),
        )
        self.kubelets = Kubelets(self.api)
        self.kubelets.start()
        self.wait_for("the default service account", lambda: self.has_account("default"))

    @contextmanager
    def paused_scheduler(self) -> Iterator[None]:
        """Meanwhile the scheduler does nothing; afterwards it hears of what happened, in order."""
        self._running["scheduler"].send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._running["scheduler"].send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End all processes, the last one first."""
        if hasattr(self, "kubelets"):
            self.kubelets.end()
        for name in reversed(list(self._running)):
            self._end(name)

    def kubectl(self, *arguments: str, text: str = "") -> str:
        """What kubectl prints, as the administrator; RuntimeError if it fails."""
        command = [str(folder() / "kubectl"), f"--kubeconfig={self.kubeconfig}", *arguments]
        ended = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=SECONDS)
        if ended.returncode:
            raise RuntimeError(f"{' '.join(arguments)}: {ended.stderr}")
        return ended.stdout

    def apply(self, *objects: Raw) -> None:
        """`kubectl apply` of these objects."""
        content = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "--server-side", "-f", "-", text=json.dumps(content))

    def add_node(self, name: str, labels: Raw, allocatable: Raw, taints: list[Raw] | None = None) -> None:
        """A node as its kubelet registers it: the object, then its status."""
        labels = {"kubernetes.io/hostname": name, **labels}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        self.api.ask("/api/v1/nodes", "POST", {**node, "spec": {"taints": taints or []}})
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        status = {"capacity": allocatable, "allocatable": allocatable, "conditions": [ready]}
        self.api.ask(f"/api/v1/nodes/{name}/status", "PATCH", {"status": status})
        # The API server itself taints a new node, and a controller takes the taint away.
        self.wait_for(f"node {name}", lambda: len(self._taints(name)) == len(taints or []))

    def has_account(self, namespace: str) -> bool:
        """Whether pods can be created in the namespace."""
        accounts = self.api.items(f"/api/v1/namespaces/{namespace}/serviceaccounts")
        return any(one["metadata"]["name"] == "default" for one in accounts)

    def wait_for(self, what: str, is_so: Callable[[], bool]) -> None:
        """Look until it is so; a process that ends meanwhile is named with the end of its log."""
        until = time.monotonic() + SECONDS
        while not is_so():
            for name, process in self._running.items():
                if process.poll() is not None:
                    log = (self._place / f"{name}.log").read_text(errors="replace")
                    raise RuntimeError(f"{name} ended while waiting for {what}:\n{log[-2000:]}")
            if time.monotonic() > until:
                raise TimeoutError(f"{what} is not there after {SECONDS} s")
            time.sleep(0.1)

    def _taints(self, name: str) -> list[Raw]:
        found: list[Raw] = self.api.ask(f"/api/v1/nodes/{name}")["spec"].get("taints") or []
        return found

    def _write_files(self) -> None:
        subprocess.run(
            ["openssl", "genrsa", "-out", self._place / "accounts.key", "2048"], check=True, capture_output=True
        )
        tokens = f'{ADMIN},{ADMIN},1,"system:masters"\n{READER},{READER},2\n'
        (self._place / "tokens.csv").write_text(tokens)
        for user, file in ((ADMIN, self.kubeconfig), (READER, self.readers_kubeconfig)):
            cluster = {"server": self.url, "certificate-authority": f"{self._place}/certificates/apiserver.crt"}
            content = {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "bed", "cluster": cluster}],
                "users": [{"name": user, "user": {"token": user}}],
                "contexts": [{"name": "live-bed", "context": {"cluster": "bed", "user": user}}],
                "current-context": "live-bed",
            }
            file.write_text(json.dumps(content))

    def _run(self, name: str, *command: str) -> None:
        with (self._place / f"{name}.log").open("wb") as log:
            environment = {**os.environ, "GOMAXPROCS": "2"}
            self._running[name] = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=self._place)

    def _end(self, name: str) -> None:
        process = self._running.pop(name)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port
