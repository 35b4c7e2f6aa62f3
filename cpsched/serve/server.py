"""HTTP on loopback: one page, one form. It writes no file and opens no connection; strangers' pages cannot use it.

A request counts only if it names this server as its Host, which a page elsewhere cannot make a browser do for a name
that points here; a form counts only if its Origin is this server too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl

from cpsched.errors import InputError
from cpsched.report.html import LIVE_POLICY
from cpsched.serve.change_request import FIELDS, ChangeRequest

MOST_BYTES = 2**20
SECONDS = 30
"""A client that sends nothing for so long is let go."""


class Server(ThreadingHTTPServer):
    """Answers with a page; one request at a time is decided."""

    daemon_threads = True

    def __init__(self, host: str, port: int, page: Callable[[ChangeRequest], str]):
        self.page, self.busy = page, Lock()
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            wrong, right = f"{host}:{port} cannot be used ({error.strerror or error})", "give another --port"
            raise InputError(wrong, right=right) from None
        shown = f"[{host}]" if ":" in host else host
        names = {shown, "localhost"} if is_loopback(host) else {shown}
        self.hosts = {f"{name}:{self.server_port}" for name in names}
        self.address = f"http://{shown}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error; anything else is a bug and keeps its traceback."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def is_loopback(host: str) -> bool:
    """Whether no other machine reaches the address; a name other than localhost may be anything."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = SECONDS
    server_version, sys_version = "cpsched", ""

    def do_GET(self) -> None:
        if self._is_for_us() and self._is_known_path():
            self._decide(ChangeRequest())

    def do_POST(self) -> None:
        if not self._is_for_us() or not self._is_known_path():
            return
        if self.headers.get("Origin", "").removeprefix("http://") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN, "This form was sent from another page.")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            # A client that is still sending would not hear the answer.
            self.rfile.read(min(int(length), 8 * MOST_BYTES) if length.isdecimal() else 0)
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A form has at most {MOST_BYTES} bytes.")
            return
        try:
            text = self.rfile.read(int(length)).decode()
            pairs = dict(parse_qsl(text, keep_blank_values=False, max_num_fields=len(FIELDS)))
            request = ChangeRequest(pairs)
        except (ValueError, InputError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, f"This is not the page's form: {error}")
            return
        self._decide(request)

    def _is_for_us(self) -> bool:
        if self.headers.get("Host", "") in self.server.hosts:
            return True
        self._refuse(HTTPStatus.FORBIDDEN, "This server answers only under its own address.")
        return False

    def _is_known_path(self) -> bool:
        if self.path == "/":
            return True
        self._refuse(HTTPStatus.NOT_FOUND, "There is one page: /")
        return False

    def _decide(self, request: ChangeRequest) -> None:
        if not self.server.busy.acquire(blocking=False):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "Another request is being decided; try again.")
            return
        try:
            page = self.server.page(request)
        except InputError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        finally:
            self.server.busy.release()
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", page)

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        self.close_connection = True
        self._send(status, "text/plain; charset=utf-8", f"{text}\n")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": LIVE_POLICY,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing that a client sends reaches the terminal."""
