"""Runs Go on the modules of docs/go, without a network: what they need is the standard library, or there already."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MODULES = Path(__file__).parents[2] / "docs" / "go"
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed, so docs/go was not tested")


def go(module: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in the module's folder."""
    return subprocess.run(
        ["go", *words],
        cwd=MODULES / module,
        env={**os.environ, "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local", "GOPROXY": "off", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
