"""The programs of the test bed: built once from released modules into a cache outside the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "v1.36.3"
PROGRAMS = ("apiserver", "controllers", "scheduler", "kubectl")
BED = Path(__file__).with_name("bed")
_VERSION = "k8s.io/component-base/version"


def folder() -> Path:
    """Where the programs are, or will be."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "cpsched-live" / VERSION


def missing() -> list[str]:
    """What has to be installed or built before the tests can run."""
    tools = {"etcd": "apt-get install etcd-server", "openssl": "apt-get install openssl"}
    found = [f"{tool} is not installed ({how})" for tool, how in tools.items() if shutil.which(tool) is None]
    return found + [f"{name} is not built" for name in PROGRAMS if not (folder() / name).is_file()]


def build() -> str | None:
    """Build what is not there; why it is not possible, if it is not."""
    if all((folder() / name).is_file() for name in PROGRAMS):
        return None
    if shutil.which("go") is None:
        return "Go is not installed, so the control plane cannot be built"
    print(f"Building Kubernetes {VERSION} into {folder()}: about 10 minutes of CPU time, once.", flush=True)
    folder().mkdir(parents=True, exist_ok=True)
    major, minor, _ = VERSION.removeprefix("v").split(".")
    stamps = {"gitVersion": VERSION, "gitMajor": major, "gitMinor": minor}
    flags = " ".join(["-s", "-w", *(f"-X {_VERSION}.{name}={value}" for name, value in stamps.items())])
    command = [
        "go",
        "build",
        "-p",
        "1",
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        flags,
        "-o",
        f"{folder()}/",
        "./...",
    ]
    ended = subprocess.run(command, cwd=BED, check=False)
    return None if ended.returncode == 0 else "the control plane cannot be built; what go says is above"


def main() -> int:
    """Build, and say what is still missing."""
    wrong = build()
    reasons = [wrong] if wrong else missing()
    for reason in reasons:
        print(f"tests/live did not run: {reason}", file=sys.stderr)
    return 2 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
