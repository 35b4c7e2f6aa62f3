"""Vector packing with tiers: which items fit on the nodes, as many of the first tier as possible, then of the next.

The package knows nothing of pods: rows (a request, a tier, a demand) and node classes (a capacity, a number of nodes)
come in; the counts per node and an upper bound per tier come out.
"""

from __future__ import annotations
