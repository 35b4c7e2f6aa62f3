"""Records of a study's journals as tests need them."""

from __future__ import annotations

from typing import Any

KEY = "0123456789abcdef" * 4


def cell_record(**fields: Any) -> dict[str, Any]:
    level = {"name": "victim_count", "priority": None, "sense": "min", "value": 1, "bound": None, "proved": False}
    return {
        "key": KEY,
        "instance": KEY,
        "model": "volcano",
        "engine": "volcano",
        "seed": 1,
        "status": "ok",
        "error": None,
        "detail": None,
        "solution": "heuristic",
        "findings": {},
        "levels": [{**level, "prover": "", "seconds": 0.0}],
        "counts": dict.fromkeys(("binds", "allocated", "pipelined", "evictions", "unplaced"), 0),
        "wall_seconds": 0.5,
        "cpu_seconds": 0.5,
        "peak_rss_bytes": 1000,
        "started": "2026-01-01T00:00:00Z",
        "host": "here",
        "versions": {"cpsched": "0.1.0", "ortools": "9", "python": "3"},
        **fields,
    }
