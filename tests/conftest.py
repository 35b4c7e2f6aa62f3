"""For all tests: disagreements of solver, model and checker are raised, and children hear of Ctrl-C."""

from __future__ import annotations

import signal

from cpsched.optimum import disagreement

disagreement.LOUD = True

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs so, and every child would inherit it: one that a test interrupts would never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
