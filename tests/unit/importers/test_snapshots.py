"""Snapshots of other programs become the cluster they show, and say what they could not carry over."""

from __future__ import annotations

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched import InputError, load
from cpsched.importers.formats import FORMATS
from cpsched.importers.kubernetes import ReadReport
from cpsched.importers.load import load as load_with_report
from cpsched.instance import Instance, Status

DATA = Path(__file__).parents[2] / "snapshots"
TRACES = Path(__file__).parents[2] / "traces"
DUMP, QUEUES, KAI, SIMULATOR = (
    DATA / name for name in ("volcano-dump.json", "queues.json", "kai-snapshot.json", "simulator-export.json")
)


def parts(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def whole(path: Path) -> Any:
    return json.loads(path.read_text())


def statuses(instance: Instance) -> dict[str, tuple[Status, str]]:
    return {key: (task.status, task.node) for key, task in instance.tasks.items()}


@pytest.mark.parametrize("path", [DUMP, KAI, SIMULATOR, TRACES / "openb", TRACES / "dlrm"], ids=lambda path: path.stem)
def test_a_snapshot_loads_as_the_instance_it_is_imported_to(path: Path) -> None:
    queues = QUEUES if path == DUMP else None
    instance = load(path, queues=queues)
    assert load(instance.to_dict()).sha256 == instance.sha256
    report = ReadReport()
    load_with_report(path, queues=queues, report=report)
    assert report.format in FORMATS
    assert report.format != "kubernetes"
    assert load(path, queues=queues, format=report.format).sha256 == instance.sha256


class TestVolcanoDump:
    def test_pods_are_where_the_cache_has_them(self) -> None:
        instance = load(DUMP, queues=QUEUES)
        assert not instance.warnings
        assert statuses(instance) == {
            "kube-system/agent": (Status.RUNNING, "worker-a"),
            "ml/old-0": (Status.RELEASING, "worker-b"),
            "ml/train-0": (Status.RUNNING, "worker-a"),
            "ml/train-1": (Status.BOUND, "worker-b"),
            "ml/wait-0": (Status.PENDING, ""),
            "ml/wait-1": (Status.PENDING, ""),
        }
        assert instance.tasks["kube-system/agent"].group is None, "another scheduler's pod only takes room"

    def test_jobs_have_the_priority_that_was_looked_up(self) -> None:
        jobs = load(DUMP, queues=QUEUES).jobs
        assert {key: (job.priority, job.queue, job.min_available) for key, job in jobs.items()} == {
            "ml/old": (10, "research", 1),
            "ml/train": (1000, "research", 2),
            "ml/wait": (5, "default", 2),
        }

    def test_given_priority_classes_take_the_place_of_made_ones(self) -> None:
        beside = whole(QUEUES)
        given = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 7,
        }
        beside["items"].append(given)
        assert load(DUMP, queues=beside).jobs["ml/train"].priority == 7

    def test_queues_may_lie_beside_it_in_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "snapshot.json").write_text(DUMP.read_text())
        (tmp_path / "queues.json").write_text(QUEUES.read_text())
        instance = load(tmp_path)
        assert instance.queues["research"].weight == 3
        assert instance.sha256 == load(DUMP, queues=QUEUES).sha256

    def test_order_is_by_age(self) -> None:
        instance = load(DUMP, queues=QUEUES)
        assert list(instance.nodes) == ["worker-b", "worker-a"]
        assert list(instance.jobs) == ["ml/old", "ml/train", "ml/wait"]

    def test_without_queues_it_says_how_to_get_them(self) -> None:
        with pytest.raises(InputError) as error:
            load(DUMP)
        assert "a cache dump holds no queues, and its jobs name research; kubectl get queues" in str(error.value)
        assert "--queues queues.json" in str(error.value)
        instance = load(DUMP, lenient=True)
        assert instance.queues["research"].weight == 1
        assert instance.warnings == (f"{DUMP}: queues are not dumped: research taken to be of weight 1",)

    def test_other_releases_and_arrays_are_understood(self) -> None:
        nodes, *_, jobs = parts(DUMP)
        expected = load(DUMP, queues=QUEUES).sha256
        assert load([nodes, jobs], queues=QUEUES).sha256 == expected, "without hypernodes, as releases before 1.11"
        assert load([{}, jobs], queues=QUEUES, lenient=True).jobs.keys() == {"ml/old", "ml/train", "ml/wait"}

    def test_the_report_counts_what_was_left_aside(self) -> None:
        report = ReadReport()
        load_with_report(DUMP, queues=QUEUES, report=report)
        assert report.other_kinds == {"hypernode table": 3}
        assert report.unread == {"NodeInfo.OversubscriptionNode": 1}

    @pytest.mark.parametrize(
        ("path", "value", "output"),
        [
            ((0, "zz"), 1, "zz: no NodeInfo or JobInfo"),
            ((0, "worker-b", "Tasks"), [], "worker-b: Tasks is no mapping"),
            ((0, "worker-b", "Tasks", "ml/old-0"), 3, "worker-b.Tasks.ml/old-0: no TaskInfo"),
            ((5, "ml/wait", "PodGroup", "spec"), "x", "ml/wait: spec is no mapping"),
            ((2,), 3, "no map of nodes or jobs; give the file that kill -USR1 wrote"),
        ],
    )
    def test_what_is_wrong_is_one_line(self, path: tuple[Any, ...], value: Any, output: str) -> None:
        data: Any = parts(DUMP)
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        with pytest.raises(InputError) as error:
            load(data, queues=QUEUES, format="volcano-dump")
        assert output in str(error.value)


class TestKai:
    def test_groups_queues_and_bindings_are_carried_over(self) -> None:
        instance = load(KAI)
        jobs = {key: (job.queue, job.min_available, job.priority, job.phase) for key, job in instance.jobs.items()}
        assert jobs == {
            "team/build": ("team-a", 1, 100, "Running"),
            "team/train": ("team-b", 2, 50, "Running"),
            "team/new": ("team-a", 2, 50, "Inqueue"),
            "team/soon": ("team-a", 1, 50, "Running"),
            "team/share": ("team-b", 1, 50, "Running"),
        }
        assert statuses(instance)["team/soon-0"] == (Status.BOUND, "gpu-1"), "its bind request is under way"
        assert statuses(instance)["team/new-0"] == (Status.PENDING, ""), "its bind request has failed"
        queue = instance.queues["team-a"]
        assert (queue.weight, queue.priority, queue.parent) == (3, 200, "org")
        assert queue.deserved == {"nvidia.com/gpu": 12_000, "memory": 64_000_500_000}
        assert queue.capability == {"nvidia.com/gpu": 16_000}
        assert instance.queues["team-b"].capability is None, "-1 is no limit"

    def test_who_is_not_preemptible_is_no_victim(self) -> None:
        tasks = load(KAI).tasks
        assert {key for key, task in tasks.items() if not task.preemptable} == {"team/build-0", "team/soon-0"}

    def test_the_report_tells_what_changed_and_what_was_left(self) -> None:
        report = ReadReport()
        instance = load_with_report(KAI, report=report)
        assert report.notes == [
            "1 pod asks for a part of a GPU, which is read as none",
            "1 PodGroup has sub-groups, which are read as one",
        ]
        assert instance.warnings == tuple(f"{KAI}: {note}" for note in report.notes)
        assert report.other_kinds == {"rawObjects.configMaps": 1, "rawObjects.topologies": 1}
        left = ("config", "schedulerParams", "discovery", "PodGroup.spec.subGroups", "Queue.spec.reclaimMinRuntime")
        assert report.unread == dict.fromkeys(left, 1)

    def test_pods_that_have_ended_are_not_at_work(self) -> None:
        data = whole(KAI)
        data["rawObjects"]["pods"][1]["status"]["phase"] = "Succeeded"
        assert load(data).jobs["team/train"].phase == "Inqueue"

    def test_the_zip_is_known_by_its_bytes(self, tmp_path: Path) -> None:
        path = tmp_path / "snapshot.gzip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(KAI, "snapshot.json")
        assert load(path).sha256 == load(KAI).sha256

    def test_every_engine_decides_it(self) -> None:
        instance = load(KAI)
        for engine in ("volcano", "optimal"):
            solution = cpsched.solve(instance, engine=engine, workers=1)
            assert solution.binds.keys() == {"team/new-0", "team/new-1"}

    @pytest.mark.parametrize(
        ("key", "value", "output"),
        [
            ("pods", {}, "rawObjects: pods is no list"),
            ("pods", [3], "rawObjects.pods[0]: no object"),
            ("queues", [{"metadata": {"name": "q"}, "spec": []}], "rawObjects.queues[0]: spec is no mapping"),
            ("podGroups", [{"metadata": 1}], "rawObjects.podGroups[0]: metadata is no mapping"),
        ],
    )
    def test_what_is_wrong_is_one_line(self, key: str, value: Any, output: str) -> None:
        data = whole(KAI)
        data["rawObjects"][key] = value
        with pytest.raises(InputError) as error:
            load(data)
        assert output in str(error.value)


class TestSimulator:
    def test_objects_get_their_kinds_and_the_configuration_comes_along(self) -> None:
        instance = load(SIMULATOR)
        assert statuses(instance)["default/c"] == (Status.PENDING, "")
        assert instance.tasks["default/c"].pod_priority == 1000
        assert instance.conf
        assert instance.conf["kind"] == "KubeSchedulerConfiguration"
        solution = cpsched.solve(instance, model="kube", engine="kube")
        assert [one.task for one in solution.evictions] == ["default/a"]

    def test_results_noted_on_pods_are_left_aside_and_counted(self) -> None:
        report = ReadReport()
        instance = load_with_report(SIMULATOR, report=report)
        assert instance.tasks["default/a"].pod.metadata.annotations == {"kept": "yes"}
        assert report.unread == {"Pod.metadata.annotations.kube-scheduler-simulator.sigs.k8s.io/*": 2}
        data = whole(SIMULATOR) | {"novelty": [1]}
        load_with_report(data, report=report)
        assert report.unread["novelty"] == 1

    def test_what_looks_alike_is_not_taken_for_it(self) -> None:
        data = whole(SIMULATOR)
        listed = {"kind": "List", "apiVersion": "v1", "items": [], **data}
        report = ReadReport()
        load_with_report(listed, report=report)
        assert report.format == "kubernetes"
        with pytest.raises(InputError, match="an object without a kind"):
            load({"pods": [], "nodes": []})


class TestTables:
    def test_openb_is_every_node_and_every_pod(self) -> None:
        report = ReadReport(count_fields=True)
        instance = load_with_report(TRACES / "openb", report=report)
        assert (len(instance.nodes), len(instance.tasks)) == (61, 204)
        rows = (TRACES / "openb" / "openb_pod_list_default.csv").read_text().splitlines()[1:]
        shares = sum(row.split(",")[3] != "0" and row.split(",")[4] != "1000" for row in rows)
        assert report.notes == [f"{shares} pods ask for a part of a GPU, which is read as a whole one"]
        assert shares > 10
        assert report.unread["openb_pod_list_default.csv deletion_time"] == 204
        first = instance.tasks["openb/openb-pod-0000"]
        assert first.requests == {"cpu": 12_000, "memory": 16_384 * 2**20, "nvidia.com/gpu": 1000, "pods": 1}

    def test_openb_takes_the_one_list_there_is(self, tmp_path: Path) -> None:
        for name in ("openb_node_list_all_node.csv", "openb_pod_list_gpuspec25.csv"):
            (tmp_path / name).write_text((TRACES / "openb" / name).read_text())
        instance = load(tmp_path)
        assert len(instance.tasks) == 51
        assert any(task.pod.spec.affinity.node_affinity.required for task in instance.tasks.values())
        (tmp_path / "openb_pod_list_other.csv").write_text("name\n")
        with pytest.raises(InputError, match=r"2 files openb_pod_list_\*.csv; one file, or openb_pod_list_default.csv"):
            load(tmp_path)
        with pytest.raises(InputError, match="one table of openb; name the folder"):
            load(TRACES / "openb" / "openb_node_list_all_node.csv")

    def test_dlrm_has_pods_and_no_nodes(self) -> None:
        file = TRACES / "dlrm" / "disaggregated_DLRM_trace.csv"
        instance = load(file)
        assert (len(instance.nodes), len(instance.tasks)) == (0, 91)
        assert "the trace names no nodes" in instance.warnings[0]
        nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": 9}}}]
        instance = load(TRACES / "dlrm", queues=nodes)
        assert (len(instance.nodes), instance.warnings) == (1, ())
        limits = [task.pod.spec.topology_spread_constraints for task in instance.tasks.values()]
        assert {one.max_skew for constraints in limits for one in constraints} <= {2, 4}
        assert any(limits)

    @pytest.mark.parametrize(
        ("text", "output"),
        [
            ("sn,cpu_milli,memory_mib,gpu,model\nn,x,1,1,\n", "line 2 cpu_milli: 'x' is no amount; write a number"),
            ("sn,cpu_milli,memory_mib,gpu,model\nn,-1,1,1,\n", "line 2 cpu_milli: '-1' is no amount; write a whole"),
            ("sn,cpu_milli,memory_mib,gpu,model\nn,1e999,1,1,\n", "line 2 cpu_milli: '1e999' is no amount"),
            ("sn,cpu_milli,memory_mib,gpu,model\nn,,1,1,\n", "line 2 cpu_milli: '' is no amount"),
            ("sn,cpu_milli,gpu,gpu\nn,1,2,3\n", "line 1: the column gpu is there twice; keep one of them"),
            ("sn,cpu_milli\nn,1\n", "no column memory_mib, gpu, model; the header has sn, cpu_milli"),
            ('sn,cpu_milli,memory_mib,gpu,model\n"n,1,1,1' + "x" * 200_000, "not valid CSV: field larger than"),
            ("", "no column sn, cpu_milli"),
        ],
    )
    def test_a_wrong_table_is_one_line(self, text: str, output: str, tmp_path: Path) -> None:
        (tmp_path / "openb_node_list_all_node.csv").write_text(text)
        (tmp_path / "openb_pod_list_default.csv").write_text("name,cpu_milli,memory_mib,num_gpu\n")
        with pytest.raises(InputError) as error:
            load(tmp_path)
        assert output in str(error.value)

    def test_a_folder_of_manifests_may_hold_other_tables(self, tmp_path: Path) -> None:
        (tmp_path / "costs.csv").write_bytes(b"\xff\xfe")
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
        (tmp_path / "node.json").write_text(json.dumps(node))
        assert set(load(tmp_path).nodes) == {"n"}


def test_a_format_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="unknown format nonsense; known: kubernetes, volcano-dump, kai"):
        load(KAI, format="nonsense")
    # The objects under its keys are ordinary ones.
    assert load(KAI, format="kubernetes").nodes.keys() == load(KAI).nodes.keys()
    with pytest.raises(InputError, match="6 documents; one snapshot has one"):
        load(DUMP, format="kai")
    for name in ("openb", "dlrm"):
        with pytest.raises(InputError):
            load(KAI, format=name)


def test_the_source_is_not_changed() -> None:
    for path in (KAI, SIMULATOR):
        data = whole(path)
        before = copy.deepcopy(data)
        load(data)
        assert data == before
