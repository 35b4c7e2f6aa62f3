"""The real schedulers as `exec:` engines, where `make adapters` has built them, decide what was recorded."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from cpsched import engines
from cpsched.checker import stamped
from cpsched.comparison.session import CaseOptions, Session, open_session
from cpsched.importers.corpus import cases
from cpsched.options import Options
from cpsched.solution import Solution
from tests.go import adapters
from tests.go.toolchain import MODULES

RECORDED = Path(__file__).parents[1] / "conformance" / "data"
OPTIONS = Options(time_limit=120)


def needs(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(adapters.missing(module) is not None, reason=str(adapters.missing(module)))


def sessions(name: str, every: int) -> Iterator[Session]:
    """Every so-manieth recorded session of which one decision alone was seen."""
    found = islice(cases(str(RECORDED / f"{name}-recorded.jsonl.gz")), 0, None, every)
    opened = (open_session(case, CaseOptions()) for case in found)
    return (session for session in opened if len(session.outcomes) == 1)


def decided(module: str, session: Session) -> Solution:
    name = f"exec:{adapters.engine(module)}"
    return stamped(session.instance, engines.run(name, session.instance, session.policy, OPTIONS))


@needs("kube")
def test_kube_scheduler_decides_what_was_recorded() -> None:
    """Which pods start and which are evicted; nodes of equal score are drawn. Rows of one pod are no whole session."""
    same = []
    for session in sessions("kube", 20):
        if session.only is None:
            now, then = decided("kube", session), session.outcomes[0].solution
            same.append((set(now.binds), now.evicted) == (set(then.binds), then.evicted))
    assert len(same) > 10
    assert sum(same) > 0.85 * len(same), same


@needs("volcano")
def test_volcano_decides_as_its_release_did() -> None:
    """Release 1.14.1 is not the commit that was recorded: most sessions are the same."""
    same = [
        decided("volcano", session).evicted == session.outcomes[0].solution.evicted
        for session in sessions("volcano", 40)
    ]
    assert sum(same) > 0.9 * len(same)


def test_versions_are_those_that_the_page_states() -> None:
    page = (MODULES.parent / "gate-your-fork.md").read_text()
    for module, wanted in (("kube", "k8s.io/kubernetes"), ("volcano", "volcano.sh/volcano")):
        lines = (MODULES / module / "go.mod").read_text().splitlines()
        version = next(line.split()[1] for line in lines if line.strip().startswith(f"{wanted} "))
        assert f"{wanted} {version}" in page.replace("`", "")


@pytest.mark.parametrize("module", adapters.ENGINES)
@pytest.mark.parametrize("text", ["", "[]", '{"objects": [{"kind": "Node", "status": 3}]}', '{"conf": "nonsense"}'])
def test_what_is_no_instance_is_one_line(module: str, text: str) -> None:
    if (why := adapters.missing(module)) is not None:
        pytest.skip(why)
    ended = subprocess.run([adapters.engine(module)], input=text, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
