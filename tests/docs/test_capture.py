"""docs/capture.md and the README's own line name the kinds that decisions read, and the role allows no more."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import yaml

from cpsched.capture.kinds import TAKEN
from cpsched.importers.stripped import kind_of
from cpsched.objects import KINDS
from tests.cli.conftest import ROOT
from tests.docs.blocks import blocks
from tests.docs.test_commands import run
from tests.kubectl import stand_in

PAGE = ROOT / "docs" / "capture.md"
VOLCANO = (".volcano.sh",)
CUSTOM = (*VOLCANO, "kubeflow.org", ".x-k8s.io")
"""Groups of custom resources, which few clusters have."""
BEHIND_A_GATE = ("scheduling.k8s.io", "PodGroup")
"""Not served unless a task turns it on: kubectl refuses a line that names a kind that is not there."""


def plural(kind: tuple[str, str]) -> str:
    name = kind[1].lower()
    return name if name == "endpoints" else f"{name}es" if name.endswith("s") else re.sub(r"y$", "ie", name) + "s"


def test_plurals_are_those_that_files_are_called_by() -> None:
    raw = {"metadata": {"name": "x"}}
    assert all(
        kind_of(raw, f"{plural(kind)}.{kind[0]}.json" if kind[0] else f"{plural(kind)}.json")
        for kind in TAKEN
        if kind in KINDS
    )


def test_the_role_allows_what_is_asked_for_and_nothing_else() -> None:
    [text] = blocks(PAGE, "yaml")
    role = yaml.safe_load(text)
    allowed = set()
    for rule in role["rules"]:
        if "resourceNames" in rule:
            assert (rule["apiGroups"], rule["resources"], rule["verbs"]) == ([""], ["configmaps"], ["get"])
        else:
            assert rule["verbs"] == ["list"]
            allowed |= {(group, name) for group in rule["apiGroups"] for name in rule["resources"]}
    assert allowed == {(group, plural((group, kind))) for group, kind in TAKEN}


def test_the_readme_s_line_names_every_kind() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    [line] = [one for one in blocks(ROOT / "README.md", "sh") if one.startswith("kubectl get")]
    words = shlex.split(line.partition(">")[0].replace("\\\n", ""))
    named = words[-1].split(",")
    assert len(named) == len(set(named))
    plain = {plural(kind) for kind in TAKEN if not kind[0].endswith(CUSTOM) and kind != BEHIND_A_GATE}
    assert set(named) == plain
    added = {f"{plural(kind)}.{kind[0]}" for kind in TAKEN if kind[0].endswith(VOLCANO)}
    [with_volcano] = re.findall(r"`,([a-z.,]+volcano\.sh)`", page)
    assert set(with_volcano.split(",")) == added


def test_the_page_names_every_kind() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [kind for kind in TAKEN if plural(kind) not in text] == []


def test_the_commands_run(tmp_path: Path, monkeypatch) -> None:
    program = stand_in(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(program.parent))
    commands = [line for block in blocks(PAGE, "sh") for line in block.splitlines()]
    assert len(commands) >= 4
    for command in commands:
        ended = run(command, tmp_path)
        assert ended.returncode == 0, ended.stderr
