"""The study of openb: its page says what its tables say, its proofs hold for the trace, and its commands run."""

from __future__ import annotations

import csv
import gzip
import importlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from cpsched.importers.load import load
from tests.docs.blocks import blocks
from tests.docs.test_commands import run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "studies" / "openb.md"
STUDY = ROOT / "docs" / "studies" / "openb"
TRACE = ROOT / "tests" / "benchmark" / "data"
MODULES = ("tables", "figures", "page", "workload", "bound", "pack")


@pytest.fixture(scope="module")
def study() -> Iterator[Any]:
    """The study's own scripts, which lie beside its tables and are no package."""
    sys.path.insert(0, str(STUDY))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})
    finally:
        sys.path.remove(str(STUDY))
        for name in MODULES:
            del sys.modules[name]


def rows(name: str) -> list[dict[str, str]]:
    with (STUDY / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_page_is_made_from_its_tables(study: Any) -> None:
    assert PAGE.read_text(encoding="utf-8") == study.page.page()
    assert not re.search(r"\{\w+\}", PAGE.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)#:]+)[)#]", PAGE.read_text(encoding="utf-8")):
        assert (PAGE.parent / link).exists(), link


def test_the_tables_fit_together() -> None:
    cells, instances = rows("cells.csv"), rows("instances.csv")
    assert Counter((row["model"], row["engine"]) for row in cells) == {
        (model, engine): len(instances) for model in ("volcano", "kube") for engine in ("volcano", "kube", "optimal")
    }
    assert {row["status"] for row in cells} == {"ok"}
    optima = [row for row in cells if row["engine"] == "optimal"]
    assert all(row["findings"] == "0" for row in optima)
    unproved = sum(int(row["levels"]) - int(row["proved"]) for row in optima)
    assert unproved == len(rows("open.csv"))
    assert "ahead" not in {row["compared"] for row in cells}


def test_the_summary_counts_what_the_table_counts() -> None:
    text, cells = PAGE.read_text(encoding="utf-8"), rows("cells.csv")
    stated = re.search(
        r"as good in (\d+) of (\d+) sessions,\s+behind in (\d+),\s+and breaks a rule\s+of its own policy in (\d+)", text
    )
    assert stated
    own = [row for row in cells if row["model"] == row["engine"] == "volcano"]
    broken = sum(row["findings"] != "0" for row in own)
    same = sum(row["findings"] == "0" and row["compared"] == "same" for row in own)
    assert tuple(map(int, stated.groups())) == (same, len(own), len(own) - same - broken, broken)


def prices(study: Any) -> dict[Any, Any]:
    found = {}
    for row in rows("prices.csv"):
        node = study.workload.Node(int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpus"]), row["model"])
        parts = {int(name.removeprefix("price_")): int(row[name]) for name in row if re.fullmatch(r"price_\d+", name)}
        found[node] = study.bound.Prices(int(row["price_cpu"]), int(row["price_memory"]), parts)
    return found


def placement(study: Any) -> list[tuple[Any, list[tuple[Any, tuple[int, ...]]]]]:
    with gzip.open(STUDY / "placement.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        found = list(csv.DictReader(stream))
    node, pod = ("node_cpu", "node_memory", "node_gpus"), ("cpu_milli", "memory_mib", "gpus", "gpu_milli")
    placed = []
    for _, some in groupby(found, key=lambda row: row["node"]):
        held = list(some)
        size = study.workload.Node(*(int(held[0][name]) for name in node), held[0]["model"])
        where = [tuple(int(device) for device in row["devices"].split("+") if device) for row in held]
        pods = [study.workload.Pod(*(int(row[name]) for name in pod)) for row in held]
        placed.append((size, list(zip(pods, where, strict=True))))
    return placed


def test_the_bound_and_the_placement_hold_for_the_trace(study: Any) -> None:
    nodes, pods = study.workload.gpu_nodes(TRACE), Counter(study.workload.tallied(STUDY / "pods.csv"))
    stated = rows("allocation.csv")[0]
    placed = placement(study)
    assert study.pack.faults(placed, pods) == []
    assert Counter(node for node, _ in placed) <= Counter(nodes)
    assert sum(pod.gain for _, held in placed for pod, _ in held) == int(stated["placed"])
    assert study.bound.bound(pods, nodes, prices(study)) == int(stated["bound"]) >= int(stated["placed"])
    assert int(stated["gpu_milli"]) == 1000 * sum(node.gpus * count for node, count in nodes.items())
    best = max(float(row["98"]) for row in rows("published.csv"))
    assert best < 100 * int(stated["placed"]) / int(stated["gpu_milli"])


def test_the_pods_are_those_of_the_trace(study: Any) -> None:
    tallied: Counter[tuple[int, ...]] = Counter()
    for pod, count in study.workload.tallied(STUDY / "pods.csv").items():
        tallied[pod.cpu, pod.memory, pod.gpus] += count
    trace = study.workload.rows(TRACE, "openb_pod_list_default.csv")
    assert tallied == Counter(tuple(int(row[name]) for name in ("cpu_milli", "memory_mib", "num_gpu")) for row in trace)


def test_no_prices_make_a_bound_below_what_can_be_placed(study: Any) -> None:
    nodes, pods = study.workload.gpu_nodes(TRACE), Counter(study.workload.tallied(STUDY / "pods.csv"))
    sizes, draw, unit = sorted({pod.milli for pod in pods if pod.is_part}), Random(1), study.bound.UNIT
    reached = int(rows("allocation.csv")[0]["placed"])
    for scale in (0, 0.2, 0.5, 1):
        parts = {size: int(scale * draw.random() * 2 * size * unit) for size in sizes}
        cpu, memory = (int(scale * draw.random() * unit / per) for per in (50, 200))
        some = study.bound.Prices(cpu, memory, parts)
        assert study.bound.bound(pods, nodes, dict.fromkeys(nodes, some)) >= reached


def test_a_placement_is_checked(study: Any) -> None:
    node, pod = study.workload.Node(8000, 1000, 2, "T4"), study.workload.Pod(1000, 100, 1, 600)
    assert study.pack.faults([(node, [(pod, (0,)), (pod, (1,))])], {pod: 2}) == []
    for held, demand in (
        ([(pod, (0,)), (pod, (0,))], 2),
        ([(pod, (2,))], 1),
        ([(pod, ())], 1),
        ([(pod, (0,)), (pod, (1,))], 1),
    ):
        assert study.pack.faults([(node, held)], {pod: demand})
    large = study.workload.Pod(9000, 100, 0, 0)
    assert study.pack.faults([(node, [(large, ())])], {large: 1})


def test_the_commands_shown_are_those_of_the_makefile_and_run(tmp_path: Path) -> None:
    commands = [line for block in blocks(PAGE, "sh") for line in block.splitlines() if line.startswith("cpsched ")]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(STUDY)", "build/study-openb")
    makefile = makefile.replace("$(TRACE)", "TRACE").replace(" --workers $(WORKERS)", "")
    made = [line.strip().removeprefix("$(BIN)/") for line in makefile.splitlines() if "study-openb/" in line]
    made_by_both = [line for line in commands if " report " not in line]
    assert made_by_both == [line for line in made if line.startswith("cpsched ")]
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    recipes = [yaml.safe_load((STUDY / f"{model}.yaml").read_text(encoding="utf-8")) for model in ("volcano", "kube")]
    assert [recipe.pop("models") for recipe in recipes] == [["volcano"], ["kube"]]
    assert recipes[0] == recipes[1]
    for command in made_by_both[:3]:
        short = re.sub(r"nodes=\S+ --set fill=\S+ --count \d", "nodes=10 --set fill=95 --count 2", command)
        whole = short.replace("TRACE", str(TRACE))
        if " study " in whole:
            whole += " --instances build/study-openb/instances --engines volcano,kube --workers 1"
        ended = run(whole, tmp_path)
        assert ended.returncode == 0, (command, ended.stderr)
    hashes = {row["sha256"] for row in rows("instances.csv") if (row["nodes"], row["fill"]) == ("10", "95")}
    for file in (tmp_path / "build" / "study-openb" / "instances").iterdir():
        assert load(file).sha256 in hashes
