"""Real dumps, spoiled: what becomes of one."""

from __future__ import annotations

from pathlib import Path
from random import Random

from cpsched.engines import run
from cpsched.files import read_documents
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.options import Options
from tests.fuzz.clusters import Items, spoiled

DECIDE = 10
"""One of so many is decided on, by the mirror of its scheduler."""


def dumps(folder: Path) -> dict[str, Items]:
    """The items of every dump below the folder."""
    found = {path.name: read_documents(path) for path in sorted(folder.rglob("*.json.gz"))}
    return {name: one[0].data["items"] for name, one in found.items() if one[0].data.get("kind") == "List"}


def end(name: str, items: Items, number: int) -> str:
    """What becomes of one spoiled dump: nothing in it may stop the rest."""
    random = Random(f"{name} {number}")
    try:
        instance = load({"kind": "List", "apiVersion": "v1", "items": spoiled(random, items)})
        assert all(line.isprintable() for line in instance.warnings)
        assert len(instance.warnings) < 20
        if number % DECIDE == 0:
            policy = load_policy(None, instance=instance)
            run(policy.model.scheduler, instance, policy, Options())
            return "decided"
    except Exception as error:
        error.add_note(f"number {number} of {name}")
        raise
    return "loaded"
