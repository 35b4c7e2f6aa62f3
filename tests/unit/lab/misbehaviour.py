"""Work that ends badly, each piece in its own way; imported by the processes that carry it out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from cpsched.errors import InputError


@dataclass(frozen=True)
class Misbehave:
    how: str
    stated: Any = None

    def perform(self) -> tuple[dict[str, Any], bytes]:
        os.write(2, f"about to {self.how}\n".encode())
        result: dict[str, Any] = getattr(self, self.how)() or {}
        return result, b"file"

    def behave(self) -> dict[str, Any]:
        return {"pid": os.getpid(), "parent": os.getppid(), "modules": sorted(sys.modules)}

    def segfault(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def be_killed(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def exit(self) -> None:
        os._exit(7)

    def stumble(self) -> None:
        raise ZeroDivisionError("a bug\nof two lines")

    def refuse(self) -> None:
        raise InputError("not good", file="case.json", right="make it better")

    def sleep(self) -> None:
        time.sleep(7200)

    def sleep_with_a_child(self) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(7200)"], start_new_session=True)
        with open(self.stated, "w", encoding="ascii") as file:
            file.write(str(child.pid))
        time.sleep(7200)

    def leave_a_child(self) -> dict[str, Any]:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(7200)"], start_new_session=True)
        return {"child": child.pid}

    def grow(self) -> None:
        held = []
        while True:
            held.append(b"x" * (8 << 20))
            time.sleep(0.005)

    def grow_in_a_child(self) -> None:
        code = "import time\nheld = []\nwhile True:\n    held.append(b'x' * (8 << 20))\n    time.sleep(0.005)"
        subprocess.run([sys.executable, "-c", code], check=False)

    def say_much(self) -> dict[str, Any]:
        sys.stdout.write("x" * (1 << 20))
        return {"text": "y" * (1 << 22)}
