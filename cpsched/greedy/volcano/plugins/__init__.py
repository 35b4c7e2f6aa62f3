"""The plugins Volcano's configuration may name, each a function from session and arguments to hooks."""

from __future__ import annotations

from cpsched.greedy.volcano.plugins.binpack import binpack
from cpsched.greedy.volcano.plugins.capacity import capacity
from cpsched.greedy.volcano.plugins.cdp import cdp
from cpsched.greedy.volcano.plugins.conformance import conformance
from cpsched.greedy.volcano.plugins.deviceshare import deviceshare
from cpsched.greedy.volcano.plugins.drf import drf
from cpsched.greedy.volcano.plugins.gang import gang
from cpsched.greedy.volcano.plugins.network_topology_aware import network_topology_aware
from cpsched.greedy.volcano.plugins.nodegroup import nodegroup
from cpsched.greedy.volcano.plugins.nodeorder import nodeorder
from cpsched.greedy.volcano.plugins.numa_aware import numa_aware
from cpsched.greedy.volcano.plugins.overcommit import overcommit
from cpsched.greedy.volcano.plugins.pdb import pdb
from cpsched.greedy.volcano.plugins.predicates import predicates
from cpsched.greedy.volcano.plugins.priority import priority
from cpsched.greedy.volcano.plugins.proportion import proportion
from cpsched.greedy.volcano.plugins.rescheduling import rescheduling
from cpsched.greedy.volcano.plugins.resource_strategy_fit import resource_strategy_fit
from cpsched.greedy.volcano.plugins.resourcequota import resourcequota
from cpsched.greedy.volcano.plugins.sla import sla
from cpsched.greedy.volcano.plugins.task_topology import task_topology
from cpsched.greedy.volcano.plugins.tdm import tdm
from cpsched.greedy.volcano.plugins.usage import usage
from cpsched.greedy.volcano.session import Plugin

PLUGINS: dict[str, Plugin] = {
    "binpack": binpack,
    "capacity": capacity,
    "cdp": cdp,
    "conformance": conformance,
    "deviceshare": deviceshare,
    "drf": drf,
    "gang": gang,
    "network-topology-aware": network_topology_aware,
    "nodegroup": nodegroup,
    "nodeorder": nodeorder,
    "numa-aware": numa_aware,
    "overcommit": overcommit,
    "pdb": pdb,
    "predicates": predicates,
    "priority": priority,
    "proportion": proportion,
    "rescheduling": rescheduling,
    "resource-strategy-fit": resource_strategy_fit,
    "resourcequota": resourcequota,
    "sla": sla,
    "task-topology": task_topology,
    "tdm": tdm,
    "usage": usage,
}

RULES_OF_PLUGIN: dict[str, tuple[str, ...]] = {
    "capacity": ("deserved", "queue", "eviction"),
    "cdp": ("protect.cooldown",),
    "conformance": ("protect.conformance",),
    "drf": (),
    "gang": ("gang", "protect.gang"),
    "pdb": ("protect.pdb",),
    "priority": ("eviction",),
    "proportion": ("deserved", "queue", "eviction"),
    "tdm": (),
}
"""Plugin that votes on victims → the rules by which the checker and the optimum spare the same victims.

A plugin that spares victims without a rule binds the mirror alone: the optimum then evicts what Volcano never would.
There is none for drf, whose victims follow from fairness
among jobs, and none for tdm, whose follow from time windows.
"""
