"""A pytest plugin for projects that test their scheduler in Python: `cpsched_case` runs a test once per case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cpsched.gate.baseline import Baseline
    from cpsched.gate.case import GateCase

FIXTURE = "cpsched_case"
SETTINGS = {
    "corpus": "folder, instance or rows whose cases run tests that use cpsched_case",
    "baseline": "file with what the cases came to when accepted",
    "model": "policy for every case, if not its own",
    "cache": "cache folder for optimal decisions, or none",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Each setting is an option and a line of the configuration file."""
    group = parser.getgroup("cpsched")
    for name, text in SETTINGS.items():
        group.addoption(f"--cpsched-{name}", help=text)
        parser.addini(f"cpsched_{name}", text)
    group.addoption("--cpsched-update", action="store_true", help="accept what the cases come to: write the baseline")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known; refuse what cannot work before any test runs."""
    line = "cpsched(corpus=..., baseline=..., model=...): settings of cpsched_case, paths from the test file's folder"
    config.addinivalue_line("markers", line)
    if config.getoption("cpsched_update"):
        if hasattr(config, "workerinput") or getattr(config.option, "numprocesses", None):
            raise pytest.UsageError("--cpsched-update needs all cases in one process; run it without -n")
        config.stash[_RESULTS] = {}


_RESULTS = pytest.StashKey[dict[str, dict[str, Any]]]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One run of the test per case."""
    if FIXTURE not in metafunc.fixturenames:
        return
    from cpsched.errors import InputError
    from cpsched.importers.corpus import cases

    settings = _settings(metafunc)
    if not settings.get("corpus"):
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {FIXTURE} needs cpsched_corpus or --cpsched-corpus")
    try:
        found = list(cases(settings["corpus"]))
        baseline = _baseline(metafunc.config, settings.get("baseline"))
    except InputError as error:
        raise pytest.UsageError(str(error)) from None
    parameters = [(case, settings, baseline) for case in found]
    metafunc.parametrize(FIXTURE, parameters, ids=[case.id for case in found], indirect=True)


@pytest.fixture
def cpsched_case(request: pytest.FixtureRequest) -> Iterator[GateCase]:
    """A case of the corpus: `.instance` for your scheduler, `.check(decision)` for what it decides."""
    from cpsched.comparison.session import CaseOptions
    from cpsched.gate.case import GateCase
    from cpsched.gate.measure import CaseQuestion
    from cpsched.options import Options

    case, settings, baseline = request.param
    question = CaseQuestion("decision", CaseOptions(settings.get("model")), Options(workers=1), settings.get("cache"))
    update = request.config.getoption("cpsched_update")
    made = GateCase(case, question, baseline, accepts=update)
    yield made
    if update and made.measured is not None and settings.get("baseline"):
        request.config.stash[_RESULTS].setdefault(settings["baseline"], {})[case.id] = made.measured


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With --cpsched-update, write the baselines, unless the run was cut short."""
    if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or _RESULTS not in session.config.stash:
        return
    from cpsched.gate.baseline import Baseline, read_baseline, write_baseline

    for path, results in session.config.stash[_RESULTS].items():
        written = Baseline.of("decision", results.values())
        # A run of some cases (-k) leaves the others' entries alone.
        before = read_baseline(path).cases if Path(path).exists() else {}
        cases = dict(sorted({**before, **written.cases}.items()))
        write_baseline(path, written.model_copy(update={"cases": cases}))


def _settings(metafunc: pytest.Metafunc) -> dict[str, str]:
    """The marker's, else the command line's, else the configuration file's; paths made whole."""
    config, found = metafunc.config, dict[str, str]()
    for name in SETTINGS:
        if value := config.getini(f"cpsched_{name}"):
            found[name] = _whole(name, value, config.rootpath)
        if value := config.getoption(f"cpsched_{name}"):
            found[name] = _whole(name, value, config.invocation_params.dir)
    marker = metafunc.definition.get_closest_marker("cpsched")
    for name, value in (marker.kwargs if marker else {}).items():
        if name not in SETTINGS:
            raise pytest.UsageError(f"{metafunc.definition.nodeid}: marker cpsched has no {name}")
        found[name] = _whole(name, str(value), metafunc.definition.path.parent)
    return found


def _whole(name: str, value: str, folder: Path) -> str:
    return value if name == "model" or value == "none" else str(folder / value)


def _baseline(config: pytest.Config, path: str | None) -> Baseline | None:
    """What is about to be written again is not held against."""
    if path is None:
        return None
    if config.getoption("cpsched_update"):
        from cpsched.files import check_writable

        check_writable(path)
        return None
    from cpsched.gate.baseline import read_baseline

    return read_baseline(path)
