"""PDB-heavy: the cheapest victims are protected by budgets without a disruption to spare, dearer ones are not."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import frame, gang, node, quantities, workers

CLASSES = {"cheap": 10, "dear": 50, "urgent": 1000}
_SLOTS = 8


class PdbHeavy(Parameters):
    """How much is protected, and how much must go."""

    nodes: int = Field(4, ge=1, le=2000)
    """nodes of eight slots, all taken: half by cheap apps, half by dear ones"""
    apps: int = Field(3, ge=1, le=500)
    """cheap apps, spread over all nodes"""
    protected: int = Field(100, ge=0, le=100)
    """percent of the cheap apps that have a budget"""
    disruptions: int = Field(0, ge=0, le=100)
    """disruptions that each budget still allows"""
    urgent: int = Field(3, ge=1, le=2000)
    """waiting pods of high priority"""
    largest: int = Field(2, ge=1, le=4)
    """slots of the largest waiting pod"""


def pdb_heavy(given: PdbHeavy, draw: Draw) -> Raw:
    """Made for kube-scheduler, which counts budget violations before it looks at priorities."""
    request = quantities(1000, 2)
    names = [f"n{number}" for number in range(given.nodes)]
    nodes = (node(name, quantities(_SLOTS * 1000, _SLOTS * 4)) for name in names)
    instance = frame(nodes, [{"name": "default", "weight": 1}], CLASSES)
    slots = [name for name in names for _ in range(_SLOTS // 2)]
    draw.shuffle(slots)
    jobs: list[Raw] = instance["jobs"]
    for number in range(given.apps):
        homes = slots[number :: given.apps]
        if homes:
            app = f"cheap{number}"
            task = workers(len(homes), request, homes, start=600 + draw.below(600)) | {"labels": {"app": app}}
            jobs.append(gang(app, "default", "cheap", 0, task))
    for number, name in enumerate(names):
        task = workers(_SLOTS // 2, request, [name] * (_SLOTS // 2), start=draw.below(600))
        jobs.append(gang(f"dear{number}", "default", "dear", 0, task | {"labels": {"app": f"dear{number}"}}))
    covered = [job["name"] for job in jobs if job["priorityClassName"] == "cheap"]
    covered = draw.sample(covered, (len(covered) * given.protected + 99) // 100)
    instance["budgets"] = [
        {"name": app, "selector": {"matchLabels": {"app": app}}, "disruptionsAllowed": given.disruptions}
        for app in sorted(covered)
    ]
    for number in range(given.urgent):
        slots_wanted = draw.between(1, given.largest)
        task = workers(1, quantities(1000 * slots_wanted, 2 * slots_wanted))
        jobs.append(gang(f"urgent{number}", "default", "urgent", 1, task))
    return instance
