"""A few requests to the API server, for what no user does with kubectl: what kubelets report."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from typing import Any

Raw = dict[str, Any]


class Api:
    """The API server on this machine, as an administrator."""

    def __init__(self, url: str, token: str, certificate: str):
        self._url, self._token = url, token
        self._tls = ssl.create_default_context(cafile=certificate)

    def ask(self, path: str, method: str = "GET", content: Raw | None = None) -> Raw:
        """The answer; HTTPError for a refusal."""
        kinds = {"PATCH": "application/merge-patch+json"}
        request = urllib.request.Request(
            self._url + path,
            method=method,
            data=None if content is None else json.dumps(content).encode(),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": kinds.get(method, "application/json"),
            },
        )
        with urllib.request.urlopen(request, context=self._tls, timeout=20) as answer:
            found: Raw = json.loads(answer.read() or b"{}")
        return found

    def items(self, path: str) -> list[Raw]:
        """The objects of a list."""
        found: list[Raw] = self.ask(path).get("items") or []
        return found

    def ready(self) -> bool:
        """Whether the API server serves."""
        request = urllib.request.Request(f"{self._url}/readyz", headers={"Authorization": f"Bearer {self._token}"})
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False
