"""What should lie on which size of node: a linear program for the prices, then the same in whole numbers for a plan."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import timedelta

from bound import UNIT, Prices, patterns
from ortools.math_opt.python import mathopt
from pack import Bundle
from workload import DEVICE, Node, Pod


class Pool:
    """The program: pods on sizes of nodes, and patterns of parts on their devices."""

    def __init__(
        self,
        demand: Mapping[Pod, int],
        nodes: Mapping[Node, int],
        ways: Mapping[Node, list[dict[int, int]]],
        share: float,
        whole: bool,
    ):
        self.model = mathopt.Model()
        self.pods = [pod for pod in demand if pod.gpus]
        self.sizes = sorted({pod.milli for pod in self.pods if pod.is_part})
        number = self.model.add_integer_variable if whole else self.model.add_variable
        self.on = {(pod, node): number(lb=0, ub=demand[pod]) for pod in self.pods for node in nodes if node.takes(pod)}
        self.ways = {
            (node, k): number(lb=0, ub=count * node.gpus)
            for node, count in nodes.items()
            for k in range(len(ways[node]))
        }
        for pod in self.pods:
            self.model.add_linear_constraint(
                mathopt.fast_sum(self.on[pod, node] for node in nodes if (pod, node) in self.on) <= demand[pod]
            )
        self.rows: dict[tuple[Node, str | int], mathopt.LinearConstraint] = {}
        for node, count in nodes.items():
            here = [(pod, self.on[pod, node]) for pod in self.pods if (pod, node) in self.on]
            add = self.model.add_linear_constraint
            self.rows[node, "cpu"] = add(
                mathopt.fast_sum(pod.cpu / 1000 * x for pod, x in here) <= share * count * node.cpu / 1000
            )
            self.rows[node, "memory"] = add(
                mathopt.fast_sum(pod.memory / 1024 * x for pod, x in here) <= share * count * node.memory / 1024
            )
            chosen = [(way, self.ways[node, k]) for k, way in enumerate(ways[node])]
            add(
                mathopt.fast_sum([*(y for _, y in chosen), *(pod.gpus * x for pod, x in here if not pod.is_part)])
                <= count * node.gpus
            )
            for size in self.sizes:
                parts = mathopt.fast_sum(x for pod, x in here if pod.is_part and pod.milli == size)
                room = mathopt.fast_sum(way[size] * y for way, y in chosen if size in way)
                self.rows[node, size] = add(parts - room <= 0)
        self.model.maximize(mathopt.fast_sum(pod.gain / DEVICE * x for (pod, _), x in self.on.items()))


def prices(
    demand: Mapping[Pod, int], nodes: Mapping[Node, int]
) -> tuple[dict[Node, Prices], dict[Node, list[dict[int, int]]]]:
    """Prices from the linear program's duals, rounded to whole numbers, and the patterns that it uses."""
    every = list(patterns(sorted({pod.milli for pod in demand if pod.is_part})))
    pool = Pool(demand, nodes, dict.fromkeys(nodes, every), share=1.0, whole=False)
    solved = mathopt.solve(pool.model, mathopt.SolverType.GLOP)
    dual, values = solved.dual_values(), solved.variable_values()

    def price(node: Node, row: str | int, scale: float) -> int:
        return max(0, round(dual[pool.rows[node, row]] * scale * UNIT))

    found = {
        node: Prices(
            price(node, "cpu", 1.0),
            price(node, "memory", 1000 / 1024),
            {size: price(node, size, 1000.0) for size in pool.sizes},
        )
        for node in nodes
    }
    used = {k for (_, k), y in pool.ways.items() if values[y] > 1e-6}
    return found, {node: [every[k] for k in sorted(used)] for node in nodes}


def plan(
    demand: Mapping[Pod, int], nodes: Mapping[Node, int], ways: Mapping[Node, list[dict[int, int]]], share: float
) -> dict[Node, list[Bundle]]:
    """Whole pods on sizes of nodes, bundled by device; nodes are no pool, so it uses a share of cores and memory."""
    pool = Pool(demand, nodes, ways, share=share, whole=True)
    limits = mathopt.SolveParameters(time_limit=timedelta(seconds=30), relative_gap_tolerance=1e-4)
    values = mathopt.solve(pool.model, mathopt.SolverType.HIGHS, params=limits).variable_values()
    bundles: dict[Node, list[Bundle]] = {}
    for node in nodes:
        parts: defaultdict[int, list[Pod]] = defaultdict(list)
        bundles[node] = []
        for pod in sorted(pool.pods):
            count = round(values[pool.on[pod, node]]) if (pod, node) in pool.on else 0
            if pod.is_part:
                parts[pod.milli].extend([pod] * count)
            else:
                bundles[node].extend([(pod,)] * count)
        for k, way in enumerate(ways[node]):
            for _ in range(round(values[pool.ways[node, k]])):
                bundle = tuple(parts[size].pop() for size, count in way.items() for _ in range(count) if parts[size])
                if bundle:
                    bundles[node].append(bundle)
    return bundles


def count(pods: list[Pod]) -> dict[Pod, int]:
    """How many pods ask for each."""
    return dict(sorted(Counter(pods).items()))
