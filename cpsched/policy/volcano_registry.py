"""What Volcano knows by name: flags, actions, plugins and their arguments (commit ed72c7c81)."""

from __future__ import annotations

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
}

UNSUPPORTED_ACTIONS = frozenset({"gangpreempt", "gangreclaim", "shuffle"})

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
    "conformance": {},
    "drf": {},
    "gang": {},
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
    "sla": {"sla-waiting-time": Argument("duration")},
    "tdm": {"tdm.revocable-zone.*": Argument("window"), "tdm.evict.period": Argument("unread")},
}

UNSUPPORTED_PLUGINS = frozenset(
    {
        "cdp",
        "deviceshare",
        "extender",
        "network-topology-aware",
        "nodegroup",
        "numa-aware",
        "rescheduling",
        "resource-strategy-fit",
        "resourcequota",
        "task-topology",
        "usage",
    }
)

# The two plugins that give queues their shares, and so their limits.
SHARE_PLUGINS = ("proportion", "capacity")
