"""docs/gate-your-fork.md, followed from top to bottom, with Go and cpsched at hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.docs.blocks import blocks
from tests.go.toolchain import needs_go

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gate-your-fork.md"
ADAPTERS = ("go/volcano", "go/kube", "-engine", "docs/ci")
"""What a command names that takes a scheduler or a CI: other tests run these."""
CASES = ("volcano-evicts-more-than-needed.json", "k8s-70622.json")
"""Few, since every decision with rules that Go leaves open is put to `cpsched verify`."""
FITS = {
    "apiVersion": "cpsched/v1",
    "kind": "Instance",
    "nodes": [{"name": "n1", "allocatable": {"cpu": 8, "pods": 10}}],
    "jobs": [{"name": "a", "minMember": 2, "phase": "Inqueue", "tasks": [{"replicas": 2, "requests": {"cpu": 1}}]}],
}


def follow(folder: Path) -> list[subprocess.CompletedProcess[str]]:
    """Every command of the page but those, in order, in a Go module of one's own."""
    cpsched = folder / "bin" / "cpsched"
    cpsched.parent.mkdir()
    cpsched.write_text(f'#!/bin/sh\nexec {sys.executable} -m cpsched "$@"\n')
    cpsched.chmod(0o755)
    few = folder / "cpsched" / "instances" / "issues"
    few.mkdir(parents=True)
    for name in (*CASES, "expected.json"):
        (few / name).write_text((ROOT / "instances" / "issues" / name).read_text())
    (few / "fits.json").write_text(json.dumps(FITS))
    (folder / "cpsched" / "docs").symlink_to(ROOT / "docs")
    (folder / "go.mod").write_text("module example.com/fork\n\ngo 1.22\n")
    (code,) = blocks(PAGE, "go")
    (folder / "decisions_test.go").write_text(code)
    environment = {
        **os.environ,
        "PATH": f"{cpsched.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "GOCACHE": os.environ.get("GOCACHE") or str(Path.home() / ".cache" / "go-build"),
        "GOFLAGS": "-buildvcs=false",
        "GOPROXY": "off",
    }
    lines = [line for block in blocks(PAGE, "sh") for line in block.splitlines() if line]
    return [
        subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        for line in lines
        if not any(name in line for name in ADAPTERS)
    ]


@needs_go
def test_the_page_can_be_followed(tmp_path: Path) -> None:
    ended = follow(tmp_path)
    for one in ended:
        assert one.returncode == 0, f"{one.args[2]}\n{one.stdout[-2000:]}{one.stderr[-2000:]}"
    table = next(one.stdout for one in ended if one.args[2].endswith("TestDecisions -v ."))
    assert "volcano-evicts-more-than-needed.json" in table
    assert "0 better than the baseline" in table
    assert (tmp_path / "testdata" / "baseline.json").is_file()
    assert "same" in (tmp_path / "diff.html").read_text()


@needs_go
def test_a_change_for_the_worse_is_red_and_named(tmp_path: Path) -> None:
    follow(tmp_path)
    test = tmp_path / "decisions_test.go"
    test.write_text(test.read_text().replace("decided.Binds[pod.Key()] = c.Nodes()[0].Name", "break"))
    words = ["go", "test", "-run", "TestDecisions", "."]
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false", "GOPROXY": "off"}
    ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "job default/a is not placed (a/task-0, a/task-1 in the baseline)" in ended.stdout
    assert "reproduce with go test -run '^TestDecisions$/^fits\\.json$'" in ended.stdout
