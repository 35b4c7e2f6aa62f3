"""For all tests: disagreements of solver, model and checker are raised, children hear of Ctrl-C, examples are fixed."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

from cpsched.optimum import disagreement

disagreement.LOUD = True

# The same examples in every run; a busy machine makes none of them red.
settings.register_profile(
    "cpsched", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cpsched")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs so, and every child would inherit it: one that a test interrupts would never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
