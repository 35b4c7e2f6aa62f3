"""What Volcano knows by name: flags, actions, plugins and their arguments (commit ed72c7c81)."""

from __future__ import annotations

from cpsched.policy import nested
from cpsched.policy.arguments import Argument, Table

# Value of a flag that the file does not mention (conf/scheduler_conf.go, plugins/defaults.go).
FLAGS: dict[str, bool] = {
    "enableJobOrder": True,
    "enableHierarchy": False,
    "enableJobReady": True,
    "enableJobPipelined": True,
    "enableTaskOrder": True,
    "enablePreemptable": True,
    "enableReclaimable": True,
    "enablePreemptive": True,
    "enableQueueOrder": True,
    "enabledClusterOrder": False,
    "enablePredicate": True,
    "enableBestNode": True,
    "enableNodeOrder": True,
    "enableTargetJob": True,
    "enableReservedNodes": True,
    "enableJobEnqueued": True,
    "enabledVictim": True,
    "enableJobStarving": True,
    "enabledOverused": True,
    "enabledAllocatable": True,
    "enabledHyperNodeOrder": True,
    "enabledSubJobReady": True,
    "enabledSubJobPipelined": True,
    "enabledSubJobOrder": True,
    "enabledHyperNodeGradient": True,
}

_ERROR_CACHE: Table = {"predicateErrorCacheEnable": Argument("boolean", True)}

_GANG_EVICTION: Table = {
    "maxDomains": Argument("integer", 8, least=1),
    "allowWholeBundle": Argument("boolean", True),
}

ACTIONS: dict[str, Table] = {
    "enqueue": {},
    "allocate": _ERROR_CACHE,
    "backfill": _ERROR_CACHE,
    "reclaim": _ERROR_CACHE,
    "preempt": {
        **_ERROR_CACHE,
        "enableTopologyAwarePreemption": Argument("boolean", False),
        "topologyAwarePreemptWorkerNum": Argument("integer", 16),
        "minCandidateNodesPercentage": Argument("integer", 10),
        "minCandidateNodesAbsolute": Argument("integer", 1),
        "maxCandidateNodesAbsolute": Argument("integer", 100),
    },
    "gangpreempt": _GANG_EVICTION,
    "gangreclaim": _GANG_EVICTION,
    "shuffle": {},
}

PLUGINS: dict[str, Table] = {
    "binpack": {
        "binpack.weight": Argument("integer", 1),
        "binpack.cpu": Argument("integer", 1, least=0),
        "binpack.memory": Argument("integer", 1, least=0),
        "binpack.resources": Argument("text", ""),
        "binpack.resources.*": Argument("integer", 1, least=0),
    },
    "capacity": {
        "ancestorReclaimLevel": Argument("integer", 0, least=0),
        "capacity.DynamicResourceAllocationEnable": Argument("boolean", True),
        "capacity.DRAConsumableCapacityEnable": Argument("boolean", True),
    },
    "cdp": {},
    "conformance": {},
    "deviceshare": {
        "deviceshare.GPUSharingEnable": Argument("boolean", False),
        "deviceshare.GPUNumberEnable": Argument("boolean", False),
        "deviceshare.VGPUEnable": Argument("boolean", False),
        "deviceshare.AscendMindClusterVNPUEnable": Argument("boolean", False),
        "deviceshare.AscendHAMiVNPUEnable": Argument("boolean", False),
        "deviceshare.NodeLockEnable": Argument("unread"),
        "deviceshare.SchedulePolicy": Argument("text", ""),
        "deviceshare.ScheduleWeight": Argument("integer", 0),
        "deviceshare.KnownGeometriesCMName": Argument("unread"),
        "deviceshare.KnownGeometriesCMNamespace": Argument("unread"),
        "deviceshare.GPUExclusiveRules": Argument("form", read=nested.exclusive_rules),
    },
    "drf": {},
    "gang": {},
    "network-topology-aware": {
        "weight": Argument("integer", 1, least=0),
        "hypernode.binpack.cpu": Argument("integer", 1, least=0),
        "hypernode.binpack.memory": Argument("integer", 1, least=0),
        "hypernode.binpack.resources": Argument("text", ""),
        "hypernode.binpack.resources.*": Argument("integer", 1, least=0),
        "hypernode.binpack.normal-pod.enable": Argument("boolean", True),
        "hypernode.binpack.normal-pod.fading": Argument("number", 0.8, least=0),
        "hypernode.gradient.evict.max-hypernodes": Argument("integer", 8, least=1),
    },
    "nodegroup": {
        "strict": Argument("boolean", True),
        "enablePreferredOrder": Argument("boolean", False),
    },
    "nodeorder": {
        "leastrequested.weight": Argument("integer", 1),
        "mostrequested.weight": Argument("integer", 0),
        "nodeaffinity.weight": Argument("integer", 2),
        "podaffinity.weight": Argument("integer", 2),
        "balancedresource.weight": Argument("integer", 1),
        "tainttoleration.weight": Argument("integer", 3),
        "imagelocality.weight": Argument("integer", 1),
        "podtopologyspread.weight": Argument("integer", 2),
    },
    "numa-aware": {"weight": Argument("integer", 1)},
    "overcommit": {"overcommit-factor": Argument("number", 1.2, least=1.0)},
    "pdb": {},
    "predicates": {
        "predicate.NodeAffinityEnable": Argument("boolean", True),
        "predicate.NodePortsEnable": Argument("boolean", True),
        "predicate.TaintTolerationEnable": Argument("boolean", True),
        "predicate.PodAffinityEnable": Argument("boolean", True),
        "predicate.NodeVolumeLimitsEnable": Argument("boolean", True),
        "predicate.VolumeZoneEnable": Argument("boolean", True),
        "predicate.PodTopologySpreadEnable": Argument("boolean", True),
        "predicate.VolumeBindingEnable": Argument("boolean", True),
        "predicate.CacheEnable": Argument("boolean", False),
        "predicate.DynamicResourceAllocationEnable": Argument("unread"),
        "volumebinding.weight": Argument("strict", 1),
        "volumebinding.bindTimeoutSeconds": Argument("strict", 600),
        "volumebinding.shape": Argument("unread"),
        "dynamicresources.filterTimeoutSeconds": Argument("strict", 10, least=0),
    },
    "priority": {},
    "proportion": {},
    "rescheduling": {
        "interval": Argument("form", read=nested.period),
        "metricsPeriod": Argument("form", read=nested.period),
        "strategies": Argument("form", read=nested.strategies),
        "queueSelector": Argument("unread"),
        "labelSelector": Argument("unread"),
    },
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": Argument("strict", 10, least=0),
        "resources": Argument("form", read=nested.fit_table),
        "sra": Argument("form", read=nested.scarce),
        "proportional": Argument("form", read=nested.proportions),
    },
    "resourcequota": {},
    "sla": {"sla-waiting-time": Argument("duration")},
    "task-topology": {"task-topology.weight": Argument("integer", 1)},
    "tdm": {"tdm.revocable-zone.*": Argument("window"), "tdm.evict.period": Argument("window")},
    "usage": {
        "usage.weight": Argument("integer", 5, least=0),
        "cpu.weight": Argument("integer", 1, least=0),
        "memory.weight": Argument("integer", 1, least=0),
        "thresholds": Argument("form", read=nested.thresholds),
        "estimator": Argument("form", read=nested.estimator),
        "usageType": Argument("unread"),
    },
}

_NODES = ("enablePredicate", "enableNodeOrder")

UNMIRRORED_PLUGINS: dict[str, tuple[str, ...]] = {
    "extender": (
        *_NODES,
        "enablePreemptable",
        "enableReclaimable",
        "enableJobEnqueued",
        "enabledOverused",
        "enableJobReady",
    ),
}
"""Plugins that Volcano has and this package does not run, with the flags of their extension points."""

UNSEARCHED_PLUGINS: dict[str, tuple[str, ...]] = {
    "drf": ("enablePreemptable", "enableReclaimable"),
    "resource-strategy-fit": ("enablePredicate",),
    "tdm": ("enablePredicate", "enablePreemptable"),
}
"""Plugins that the mirror runs and that forbid what the search does not know of, with the flags that let them."""

DECIDES: dict[str, str] = {
    "enablePredicate": "which nodes fit",
    "enableNodeOrder": "node choice",
    "enabledHyperNodeGradient": "which topology domains fit",
    "enabledHyperNodeOrder": "choice of the topology domain",
    "enableTaskOrder": "order of tasks",
    "enablePreemptable": "victims of preempt",
    "enableReclaimable": "victims of reclaim",
    "enabledVictim": "victims of shuffle",
    "enableJobEnqueued": "admission of jobs",
    "enabledOverused": "which queues may get more",
    "enableJobReady": "when a gang may start",
}
"""What is decided at the extension point behind a flag."""

ASKED_BY: dict[str, str] = {
    "enablePreemptable": "preempt",
    "enableReclaimable": "reclaim",
    "enabledVictim": "shuffle",
    "enableJobEnqueued": "enqueue",
}
"""The only action that asks at an extension point; without the action nothing is decided there."""

# The two plugins that give queues their shares, and so their limits.
SHARE_PLUGINS = ("proportion", "capacity")
