"""All kubelets of the test bed: bound pods run, deleted pods end."""

from __future__ import annotations

import threading
import time
import urllib.error
from contextlib import suppress

from tests.live.api import Api, Raw

PERIOD = 0.3


class Kubelets(threading.Thread):
    """A loop over the pods that sit on a node."""

    def __init__(self, api: Api):
        super().__init__(daemon=True)
        self._api, self._ended = api, threading.Event()

    def run(self) -> None:
        """Until it is ended."""
        while not self._ended.wait(PERIOD):
            with suppress(OSError):
                for pod in self._api.items("/api/v1/pods?fieldSelector=spec.nodeName!="):
                    with suppress(urllib.error.HTTPError):
                        self._serve(pod)

    def end(self) -> None:
        """End the loop."""
        self._ended.set()
        self.join()

    def _serve(self, pod: Raw) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        if metadata.get("deletionTimestamp"):
            self._api.ask(path, "DELETE", {"gracePeriodSeconds": 0})
        elif pod["status"].get("phase") == "Pending":
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            conditions = [*pod["status"].get("conditions", ()), {"type": "Ready", "status": "True"}]
            status = {"phase": "Running", "startTime": now, "conditions": conditions}
            self._api.ask(f"{path}/status", "PATCH", {"status": status})
