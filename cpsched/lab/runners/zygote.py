"""`python -m cpsched.lab.runners.zygote`: has imported everything a cell needs, and forks one child after another.

A cell is then a process of its own without paying for a start of Python and the imports of the solver. No thread may
exist here: a fork copies only the one that calls it.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import sys
from importlib import import_module

from cpsched.lab.runners.child import Stopped, run_in_child
from cpsched.lab.runners.processes import adopt_orphans, kill_descendants

PRELOADED = ("cpsched.importers.load", "cpsched.importers.policy", "cpsched.checker", "cpsched.lab.runners.work")


def preload() -> None:
    """Import what cells import, engines included, and keep it out of the garbage collector's way."""
    from cpsched.engines import ENGINES

    for module in (*PRELOADED, *(engine.module for engine in ENGINES.values())):
        import_module(module)
    gc.collect()
    gc.freeze()


def serve() -> None:
    """Answer (work, limits) on the socket that is stdin with an Outcome, one by one, until the other end hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    try:
        with socket.socket(fileno=os.dup(sys.stdin.fileno())) as asker, asker.makefile("rwb") as stream:
            preload()
            while True:
                work, limits = pickle.load(stream)
                pickle.dump(run_in_child(work, limits, asker.fileno()), stream)
                stream.flush()
                kill_descendants()
    except (EOFError, ConnectionError, Stopped):
        # Closing the stream may be what fails: an answer that no caller waits for is still in it.
        kill_descendants()


if __name__ == "__main__":
    serve()
