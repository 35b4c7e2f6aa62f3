"""Volcano's scheduling session, replayed (commit ed72c7c81)."""

from __future__ import annotations

from cpsched.greedy.volcano.engine import Options, Replay, decide, outcomes, replay

__all__ = ["Options", "Replay", "decide", "outcomes", "replay"]
