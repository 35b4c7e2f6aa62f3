"""The pytest plugin, run in a project of its own."""

from __future__ import annotations

import shutil
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytest_plugins = "pytester"

ROOT = Path(__file__).parents[2]
TINY = ROOT / "instances" / "tiny"
TEST = """
import pytest

def decide(instance):
    return {"binds": {%s}}

def test_my_scheduler(cpsched_case):
    assert cpsched_case.instance.tasks
    cpsched_case.check(decide(cpsched_case.instance.to_dict()))
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project whose corpus holds two cases; the plugin is named, as it may or may not be installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "cpsched.pytest_plugin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    corpus = pytester.mkdir("corpus")
    for name in ("gang-all-or-nothing.json", "taint.json", "expected.json"):
        shutil.copy(TINY / name, corpus)
    pytester.makeini("[pytest]\ncpsched_corpus = corpus\ncpsched_cache = cache\n")
    return pytester


def test_one_run_per_case_and_a_rules_key_in_the_failure(project: pytest.Pytester) -> None:
    project.makepyfile(TEST % "'gang/task-0': 'n1'")
    ended = project.runpytest_subprocess()
    ended.assert_outcomes(failed=2)
    ended.stdout.fnmatch_lines(
        [
            "*test_my_scheduler?gang-all-or-nothing.json?*",
            "E*AssertionError: gang-all-or-nothing.json does not pass:",
            "E*gang: default/gang gets 1 tasks, fewer than its minimum of 3 needs",
            "*taint.json does not pass:",
            "E*assignment: gang/task-0*",
        ]
    )


def test_what_is_accepted_passes_and_what_is_worse_does_not(project: pytest.Pytester) -> None:
    project.makepyfile(TEST % "'single/task-0': 'n1'" + "\n")
    update = ("--cpsched-baseline", "baseline.json", "--cpsched-update")
    project.runpytest_subprocess(*update).assert_outcomes(passed=2)
    written = (project.path / "baseline.json").read_text()
    assert '"gang-all-or-nothing.json": {"instance"' in written
    project.runpytest_subprocess(*update, "-k", "taint").assert_outcomes(passed=1, deselected=1)
    assert (project.path / "baseline.json").read_text() == written
    project.runpytest_subprocess("--cpsched-baseline", "baseline.json").assert_outcomes(passed=2)
    project.makepyfile(TEST % "")
    ended = project.runpytest_subprocess("--cpsched-baseline", "baseline.json", "-k", "gang")
    ended.assert_outcomes(failed=1, deselected=1)
    ended.stdout.fnmatch_lines(["E*jobs_admitted?10? is 0, 1 in the baseline; job default/single is not placed*"])


def test_the_marker_overrules_and_the_optimum_is_at_hand(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.cpsched(corpus="corpus/taint.json")
        def test_optimum(cpsched_case):
            verdict = cpsched_case.check(cpsched_case.optimum)
            assert cpsched_case.optimum.status == "optimal"
            assert verdict.case.distance.gap is None
            assert cpsched_case.policy.name == "volcano"
        """
    )
    project.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("ini", "arguments", "wrong"),
    [
        ("", [], "cpsched_case needs cpsched_corpus or --cpsched-corpus"),
        ("cpsched_corpus = corpus", ["--cpsched-baseline", "gone.json"], "gone.json: no such file"),
    ],
)
def test_wrong_settings_end_the_run_with_a_line(
    project: pytest.Pytester, ini: str, arguments: list[str], wrong: str
) -> None:
    project.makeini(f"[pytest]\n{ini}\n")
    project.makepyfile(TEST % "")
    ended = project.runpytest_subprocess(*arguments)
    assert ended.ret != 0
    assert wrong in ended.stdout.str() + ended.stderr.str()


def test_the_entry_point_names_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name = project["entry-points"]["pytest11"]["cpsched"]
    assert callable(import_module(name).cpsched_case)
