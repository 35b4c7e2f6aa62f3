"""Engines that are programs: what they are asked, what they may answer, and what becomes of those that misbehave."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cpsched
from cpsched import external
from tests.judge import cluster, conf, job, pending

ROOT = Path(__file__).parents[2]
PROGRAM = "exec:" + shlex.join([sys.executable, str(ROOT / "docs" / "examples" / "first_fit.py")])


@pytest.fixture
def instance(monkeypatch: pytest.MonkeyPatch) -> cpsched.Instance:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return cpsched.load(cluster(job("a", pending(1)), nodes={"n1": 4}))


def python(code: str) -> str:
    return "exec:" + shlex.join([sys.executable, "-c", code])


def test_the_example_of_the_documentation_decides(instance: cpsched.Instance) -> None:
    solution = cpsched.solve(instance, engine=PROGRAM)
    assert (solution.engine, solution.binds) == (PROGRAM, {"a/task-0": "n1"})
    assert solution.findings == ()
    assert solution.instance_sha256 == instance.sha256
    assert solution.levels[0].value == 1


def test_the_example_keeps_gangs_and_rooms() -> None:
    for name in ("gang-all-or-nothing", "preempt-one-is-enough", "capacity-hierarchy"):
        instance = cpsched.load(ROOT / "instances" / "tiny" / f"{name}.json")
        rules = {finding.rule for finding in cpsched.solve(instance, engine=PROGRAM).findings}
        assert rules.isdisjoint({"gang", "capacity", "assignment"})


def test_the_program_sees_instance_configuration_and_environment(instance: cpsched.Instance, tmp_path: Path) -> None:
    file = tmp_path / "asked.json"
    code = (
        "import json, os, sys; asked = json.load(sys.stdin); "
        "stated = {k: v for k, v in os.environ.items() if k.startswith('CPSCHED')}; "
        f"json.dump([asked, stated], open({str(file)!r}, 'w')); "
        "print('{}')"
    )
    mine = conf("allocate", "gang")
    cpsched.solve(instance, engine=python(code), model="volcano-fair", conf=mine, time_limit=9, seed=3)
    asked, environment = json.loads(file.read_text())
    assert asked["conf"]["actions"] == "allocate"
    assert cpsched.load({key: value for key, value in asked.items() if key != "conf"}).sha256 == instance.sha256
    assert environment == {"CPSCHED_MODEL": "volcano-fair", "CPSCHED_SEED": "3", "CPSCHED_TIME_LIMIT": "9"}


def test_pods_are_called_as_in_the_instance_or_by_their_keys(instance: cpsched.Instance) -> None:
    code = (
        "import json, sys; pods = [one for one in json.load(sys.stdin)['objects'] if one['kind'] == 'Pod']; "
        "name = pods[0]['metadata']['namespace'] + '/' + pods[0]['metadata']['name']; "
        "json.dump({'binds': {name: 'n1'}, 'unplaced': {'nosuch': ['why']}}, sys.stdout)"
    )
    by_pod = cpsched.solve(instance, engine=python(code))
    assert (by_pod.binds, by_pod.findings, list(by_pod.unplaced)) == ({"a/task-0": "n1"}, (), ["nosuch"])
    victims = json.dumps({"evictions": [{"task": "default/a-task-0"}]})
    assert cpsched.solve(instance, engine=python(f"print({victims!r})")).evictions[0].task == "a/task-0"


def test_one_task_by_both_names_is_refused(instance: cpsched.Instance) -> None:
    both = json.dumps({"binds": {"a/task-0": "n1", "default/a-task-0": "n1"}})
    with pytest.raises(cpsched.InputError, match="names a task twice, as a pod and by its key"):
        cpsched.solve(instance, engine=python(f"print({both!r})"))


def test_objects_have_the_versions_that_upstream_has() -> None:
    data = cluster(job("a", pending(1)), nodes={"n1": 4})
    versions = {(one["kind"], one["apiVersion"]) for one in cpsched.load(data).to_dict()["objects"]}
    assert ("PodGroup", "scheduling.volcano.sh/v1beta1") in versions
    assert ("Pod", "v1") in versions


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        ({"binds": {"a/task-0": "nowhere"}}, "assignment"),
        ({"binds": {"a/nosuch": "n1"}}, "assignment"),
        ({"evictions": [{"task": "a/task-0"}]}, "eviction"),
        ({"levels": [{"name": "jobs_admitted", "priority": 0, "sense": "max", "value": 9}]}, "levels"),
    ],
)
def test_a_wrong_decision_is_refused_with_the_rules_key(instance: cpsched.Instance, answer: object, rule: str) -> None:
    solution = cpsched.solve(instance, engine=python(f"print({json.dumps(answer)!r})"))
    assert rule in {finding.rule for finding in solution.findings}


def test_what_it_says_about_its_own_findings_does_not_count(instance: cpsched.Instance) -> None:
    answer = {"engine": "the best there is", "findings": [{"rule": "gang", "message": "none of yours"}]}
    solution = cpsched.solve(instance, engine=python(f"print({json.dumps(answer)!r})"))
    assert solution.findings == ()
    assert solution.engine.startswith("exec:")


@pytest.mark.parametrize(
    ("engine", "wrong"),
    [
        ("exec:", "engine exec: names no program; write exec:CMD"),
        ("exec:'", "not a command: No closing quotation"),
        ("exec:/no/such/program", "cannot be started: No such file or directory"),
        (python("import sys; sys.exit('oh no')"), "ended with exit code 1: oh no; a decision needs exit code 0"),
        (python("import os; os.kill(os.getpid(), 9)"), "was ended by SIGKILL and printed nothing"),
        (python(""), "printed 0 documents; one Solution is needed on stdout"),
        (python("print('{}{}')"), "printed 2 documents"),
        (python("print('{')"), "not valid JSON"),
        (python("print('[]')"), "a Solution is a mapping"),
        (python('print(\'{"kind": "Pod"}\')'), "kind is 'Pod'; give a Solution"),
        (python("print('{\"binds\": 1}')"), "binds: 1 should be a mapping"),
        (python('print(\'{"instance_sha256": "1"}\')'), "answers for another instance"),
    ],
)
def test_misbehaviour_is_one_line(instance: cpsched.Instance, engine: str, wrong: str) -> None:
    with pytest.raises(cpsched.InputError) as error:
        cpsched.solve(instance, engine=engine)
    assert wrong in str(error.value)
    assert "\n" not in str(error.value)


def test_too_much_output_ends_the_program(instance: cpsched.Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "MOST_OUTPUT", 2**20)
    with pytest.raises(cpsched.InputError, match="printed more than 1 MiB"):
        cpsched.solve(instance, engine="exec:yes")


def test_nothing_in_time_is_no_decision_and_no_task_is_left_running(instance: cpsched.Instance, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    code = (
        "import subprocess, time; "
        f"open({str(file)!r}, 'w').write(str(subprocess.Popen(['sleep', '7200']).pid)); time.sleep(7200)"
    )
    limit = 1
    while not file.exists():  # a busy machine may need longer to come so far
        solution = cpsched.solve(instance, engine=python(code), time_limit=limit)
        assert (solution.status, solution.levels) == ("unknown", ())
        limit *= 3
    child = int(file.read_text())
    while _runs(child):  # it has been killed; the limit of the test ends the waiting
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Whether the process exists and has not ended; one that no task has waited for yet counts as ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_large_instance_does_not_clog_the_pipes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that answers before it has read, and one that complains at length, both get through."""
    large = cpsched.load(cluster(*(job(f"j{n}", pending(1)) for n in range(2000)), nodes={"n1": 4}))
    assert cpsched.solve(large, engine=python("print('{}')")).binds == {}
    noisy = "import sys; sys.stderr.write('x' * 5_000_000); sys.stdin.read(); print('{}')"
    assert cpsched.solve(large, engine=python(noisy)).binds == {}


HOLDS_THE_PIPES = "import subprocess; held = subprocess.Popen(['sleep', '7200'], start_new_session=True)"
"""The child is in a session of its own, so that it outlives the program, and has the program's pipes."""


@pytest.mark.parametrize(
    ("then", "limit", "status"),
    [
        ("print('{}')", 300, "heuristic"),
        ("import time; time.sleep(7200)", 1, "unknown"),
        ("import os, time; os.close(1); os.close(2); time.sleep(7200)", 1, "unknown"),
    ],
    ids=["it has answered", "it goes on", "it goes on with its pipes closed"],
)
def test_a_detached_child_that_holds_the_pipes_is_not_waited_for(
    tmp_path: Path, then: str, limit: int, status: str
) -> None:
    """In a process of its own with a generous limit, so that a pipe that is waited for ends the test, not the run."""
    pid = tmp_path / "pid"
    engine = python(f"{HOLDS_THE_PIPES}; open({str(pid)!r}, 'w').write(str(held.pid)); {then}")
    code = (
        "import sys, cpsched\n"
        "instance = cpsched.load(sys.argv[1])\n"
        "print(cpsched.solve(instance, engine=sys.argv[2], time_limit=float(sys.argv[3])).status)\n"
    )
    file = ROOT / "instances" / "tiny" / "preempt-one-is-enough.json"
    while not pid.exists():  # a busy machine may need longer to come so far
        command = [sys.executable, "-c", code, str(file), engine, str(limit)]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        finally:
            if pid.exists():
                os.kill(int(pid.read_text()), signal.SIGKILL)
        assert ended.stdout == f"{status}\n"
        limit *= 3


def test_ctrl_c_ends_the_program_too(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    engine = python(f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(7200)")
    input_ = ROOT / "instances" / "tiny" / "preempt-one-is-enough.json"
    command = [sys.executable, "-m", "cpsched", "solve", str(input_), "--engine", engine]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as solving:
        while not (file.exists() and file.read_text()):
            assert solving.poll() is None
            time.sleep(0.01)
        solving.send_signal(signal.SIGINT)
        out, err = solving.communicate()
    assert (solving.returncode, out, err) == (130, b"", b"cpsched: interrupted\n")
    assert not _runs(int(file.read_text()))


def test_a_complaint_is_kept_from_its_end(instance: cpsched.Instance) -> None:
    """However much is printed before it, also while no task reads stdout."""
    code = "import sys; sys.stderr.write('x\\n' * 500_000 + 'too hot'); sys.exit(7)"
    with pytest.raises(cpsched.InputError, match="ended with exit code 7: too hot;"):
        cpsched.solve(instance, engine=python(code))


def test_all_that_is_printed_before_the_end_counts(instance: cpsched.Instance) -> None:
    """More than a pipe holds, and something in the pipe when the program ends."""
    answer = json.dumps({"binds": {"a/task-0": "n1"}})
    code = f"import sys; sys.stdout.write(' ' * 3_000_000 + {answer!r})"
    assert cpsched.solve(instance, engine=python(code)).binds == {"a/task-0": "n1"}
