"""Interpreters that this package starts: none of them imports code from the current folder."""

from __future__ import annotations

import sys


def python_command(*arguments: str) -> list[str]:
    """The command line of a Python child: this interpreter, which looks for modules where an installed program does.

    Without -P both `-m` and `-c` put the current folder in front of the module path, so that a file beside a user's
    clusters would be imported in the place of a library. PYTHONPATH, which the user sets, stays in force.
    """
    return [sys.executable, "-P", *arguments]
