"""The command `cpsched`: made ready for Ctrl-C before anything slow is imported, and where the program ends."""

from __future__ import annotations

import atexit
import gc
import signal
import sys

from cpsched.interrupts import INTERRUPTED, LINE, Interrupts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def run() -> NoReturn:
    """Run the command line and end the program."""
    with Interrupts() as interrupts:
        try:
            from cpsched.cli.commands import exit_code

            code = exit_code()
        except KeyboardInterrupt:
            code = INTERRUPTED
        interrupts.ignore()
        # A library may have swallowed the exception.
        code = INTERRUPTED if interrupts.came else code
        if code == INTERRUPTED and sys.stderr is not None:
            sys.stderr.write(f"{LINE}\n")
    # All of it goes at the end; to look for garbage in a large instance first would take a good part of a second.
    atexit.register(gc.freeze)
    # The answer is out: Ctrl-C while Python tidies up changes nothing.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
