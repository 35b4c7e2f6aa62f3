"""The families of instances that can be generated; FAMILIES is the one registry."""

from __future__ import annotations

from cpsched.lab.families import dlrm, openb
from cpsched.lab.families.contended import Contended, contended
from cpsched.lab.families.family import Family, Parameters
from cpsched.lab.families.fragmentation import Fragmentation, fragmentation
from cpsched.lab.families.gang_evict import GangEvict, gang_evict
from cpsched.lab.families.gang_heavy import GangHeavy, gang_heavy
from cpsched.lab.families.gpu_pool import GpuPool, gpu_pool
from cpsched.lab.families.gpu_share import SharedGpus, gpu_share
from cpsched.lab.families.kai_reclaim import KaiReclaim, kai_reclaim
from cpsched.lab.families.node_groups import GroupedNodes, node_groups
from cpsched.lab.families.numa import Numa, numa
from cpsched.lab.families.pdb_heavy import PdbHeavy, pdb_heavy
from cpsched.lab.families.priority_inversion import PriorityInversion, priority_inversion
from cpsched.lab.families.priority_matters import PriorityMatters, priority_matters
from cpsched.lab.families.queue_borrowing import QueueBorrowing, queue_borrowing
from cpsched.lab.families.spread_heavy import SpreadHeavy, spread_heavy
from cpsched.lab.families.topology import Racks, topology

FAMILIES: dict[str, Family] = {
    "contended": Family(
        "random clusters full of running pods, and gangs of five priorities that want in", Contended, contended
    ),
    "gpu-pool": Family("identical GPU nodes, jobs of one to all GPUs of a node", GpuPool, gpu_pool),
    "gang-heavy": Family("large all-or-nothing gangs that do not all fit", GangHeavy, gang_heavy),
    "queue-borrowing": Family(
        "one queue beyond its share, the others claim theirs back: reclaim", QueueBorrowing, queue_borrowing
    ),
    "priority-inversion": Family(
        "Volcano gives the last room to low jobs of the queue with the smaller share",
        PriorityInversion,
        priority_inversion,
    ),
    "pdb-heavy": Family("the cheapest victims are protected by budgets", PdbHeavy, pdb_heavy, model="kube"),
    "spread-heavy": Family(
        "services under spread, affinity and anti-affinity over uneven zones", SpreadHeavy, spread_heavy
    ),
    "fragmentation": Family(
        "scattered free GPUs; where small jobs go decides whether large ones fit", Fragmentation, fragmentation
    ),
    "topology": Family("gangs that must stay, or would rather stay, in one rack or block", Racks, topology),
    "gang-evict": Family("full racks, and gangs that gangpreempt and gangreclaim make room for", GangEvict, gang_evict),
    "gpu-share": Family(
        "cards that tasks share: small shares lie on many, others want whole ones", SharedGpus, gpu_share
    ),
    "node-groups": Family(
        "groups of nodes that queues may use, with limits in those they share", GroupedNodes, node_groups
    ),
    "numa": Family("CPUs enough, but not on one NUMA node", Numa, numa),
    "priority-matters": Family(
        "the grid of the paper Priority Matters: ReplicaSets packed onto equal nodes",
        PriorityMatters,
        priority_matters,
        model="kube",
    ),
    "kai-reclaim": Family(
        "KAI's reclaim benchmark: one-GPU jobs of one queue everywhere, another queue's wait", KaiReclaim, kai_reclaim
    ),
    "openb": Family("sampled from the openb trace (--trace)", openb.Openb, openb.openb, trace=openb.read),
    "dlrm": Family("sampled from the dlrm trace (--trace)", dlrm.Dlrm, dlrm.dlrm, model="volcano", trace=dlrm.read),
}

__all__ = ["FAMILIES", "Family", "Parameters"]
