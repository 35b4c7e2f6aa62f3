"""`python -m cpsched`."""

from __future__ import annotations

from cpsched.cli.main import run

run()
