"""A real Ray cluster of two nodes on this machine: prints its address, and lives until its input ends.

Everything listens on the loopback interface alone, and there is no dashboard.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Else Ray takes 127.0.0.1 for another name of the machine's address in the network, and listens there.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


def main(folder: str) -> None:
    # Ray notes the cluster's address in a folder of its own below this one, and expects to find that there.
    os.environ["RAY_TMPDIR"] = folder
    own = Path(folder, "ray")
    own.mkdir()
    from ray.cluster_utils import Cluster

    node = {
        "num_cpus": 1,
        "node_ip_address": "127.0.0.1",
        "include_dashboard": False,
        "object_store_memory": 80 * 2**20,
        "temp_dir": str(own),
    }
    cluster = Cluster(initialize_head=True, head_node_args=node)
    try:
        cluster.add_node(**{name: value for name, value in node.items() if name != "include_dashboard"})
        sys.stdout.write(f"{cluster.address}\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
