"""`python -m cpsched.lab.runners.zygote`: has imported everything a cell needs, and forks one child after another.

A cell is then a process of its own without paying for a start of Python and the imports of the solver. No thread may
exist here: a fork copies only the one that calls it.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from importlib import import_module

from cpsched.lab.runners.child import Stopped, run_in_child
from cpsched.lab.runners.processes import adopt_orphans, kill_descendants

PRELOADED = ("cpsched.importers.load", "cpsched.importers.policy", "cpsched.judge", "cpsched.lab.runners.work")


def preload() -> None:
    """Import what cells import, engines included, and keep it out of the garbage collector's way."""
    from cpsched.engines import ENGINES, is_built

    engines = (engine.module for name, engine in ENGINES.items() if is_built(name))
    for module in (*PRELOADED, *engines):
        import_module(module)
    gc.collect()
    gc.freeze()


def serve() -> None:
    """Answer (work, limits) from stdin with an Outcome on stdout, one at a time, until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    questions, asker = sys.stdin.buffer, sys.stdin.fileno()
    # Whatever prints by mistake must not end up among the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    preload()
    signal.signal(signal.SIGTERM, _stop)
    try:
        while True:
            work, limits = pickle.load(questions)
            pickle.dump(run_in_child(work, limits, asker), answers)
            answers.flush()
            kill_descendants()
    except (EOFError, BrokenPipeError, Stopped):
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        kill_descendants()


def _stop(*_: object) -> None:
    raise Stopped


if __name__ == "__main__":
    serve()
