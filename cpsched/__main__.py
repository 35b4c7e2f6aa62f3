"""`python -m cpsched`."""

from __future__ import annotations

import os
import sys

# `python -m` looks for modules in the current folder first; nothing beside a user's clusters is to be imported,
# unless the package itself lies there.
if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):
    del sys.path[0]

from cpsched.cli.main import run

run()
