"""The commands of the documentation run, and print what the documentation shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import cpsched
from tests.docs.blocks import blocks
from tests.kubectl import stand_in

ROOT = Path(__file__).parents[2]
GUIDES = ("cli", "compare", "explain", "gate", "issues", "python", "what-if")
PAGES = (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in GUIDES))
SHOWN = [(page.name, block) for page in PAGES for block in blocks(page, "console")]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(command)
    assert program == "cpsched"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("COLUMNS", None)
    whole = [sys.executable, "-m", "cpsched", *arguments]
    return subprocess.run(whole, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def pattern(shown: str) -> str:
    """What was pasted, with any prover and time, and with ... for any lines."""
    lines = (r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in shown.splitlines())
    return re.sub(r"proved\\ \\\([^)]*\\\)", r"proved \\([-a-z]+, [0-9.]+ s\\)", "".join(lines))


@pytest.mark.parametrize(("page", "block"), SHOWN, ids=[f"{page}: {block.splitlines()[0]}" for page, block in SHOWN])
def test_what_is_shown_is_what_is_printed(page: str, block: str) -> None:
    command, _, shown = block.partition("\n")
    ended = run(command.removeprefix("$ "), ROOT)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.fullmatch(pattern(shown), ended.stdout), f"{page} shows something else than:\n{ended.stdout}"


def test_the_readmes_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubectl = stand_in(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(kubectl.parent))
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    data = ROOT / "tests" / "fuzz" / "data"
    shutil.copy(data / "volcano-list.json", tmp_path / "cluster.json")
    shutil.copy(data / "volcano-scheduler.conf", tmp_path / "volcano-scheduler.conf")
    lines = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("cpsched ")]
    assert len(commands) >= 4
    for command in commands:
        ended = run(command, tmp_path)
        # Of the captured cluster, every answer says whose it is, and what it leaves out.
        usual = ("cpsched: Model ", "plugin extender is not mirrored", "no part of this decision")
        output = [line for line in ended.stderr.splitlines() if not any(one in line for one in usual)]
        assert (ended.returncode, output) == (0, []), command


def test_the_quick_start_is_two_targets_of_the_makefile() -> None:
    first = next(one for one in blocks(ROOT / "README.md", "sh") if one.startswith("make "))
    assert first == "make demo\nmake test\n"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    demo = re.search(r"^DEMO \?= (\S+)$", makefile, re.MULTILINE)
    assert demo
    assert f"$ cpsched solve {demo[1]}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    for line in first.splitlines():
        assert re.search(rf"^{line.removeprefix('make ')}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/explain.md"])
def test_the_python_shown_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [program] = blocks(ROOT / page, "python")
    exec(compile(program, page, "exec"), {})


def test_the_compact_example_loads() -> None:
    path = ROOT / "docs" / "instance.md"
    [example] = blocks(path, "yaml")
    instance = cpsched.load(yaml.safe_load(example))
    assert set(instance.nodes) == {"gpu-0", "gpu-1", "cpu"}
    assert instance.tasks["notebook/kernel-1"].node == "gpu-0"
    assert not instance.warnings
    assert cpsched.solve(instance, workers=1).status == "optimal"


@pytest.mark.parametrize(
    "page",
    [
        *PAGES,
        *(ROOT / "docs" / name for name in ("capture.md", "instance.md", "import.md", "generate.md", "report.md")),
    ],
    ids=lambda page: page.name,
)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert link.startswith("https://") or (page.parent / link).exists(), link
