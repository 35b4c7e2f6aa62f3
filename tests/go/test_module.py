"""docs/go/cpschedtest by itself: formatted, vetted, its own tests green, nothing but the standard library."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

from cpsched.gate.exported import exported
from cpsched.gate.measure import CaseQuestion
from cpsched.importers.corpus import cases
from cpsched.options import Options
from tests.go.toolchain import MODULES, go, needs_go

ROOT = Path(__file__).parents[2]
CORPUS = MODULES / "cpschedtest" / "testdata" / "corpus.jsonl.gz"


@needs_go
def test_the_module_is_green() -> None:
    for words in (("vet", "./..."), ("test", "-count=1", "./...")):
        ended = go("cpschedtest", *words)
        assert ended.returncode == 0, ended.stdout + ended.stderr


@needs_go
def test_every_module_is_formatted() -> None:
    folders = [str(folder) for folder in sorted(MODULES.iterdir()) if folder.is_dir()]
    ended = subprocess.run(["gofmt", "-l", *folders], capture_output=True, text=True, check=True)
    assert (len(folders) >= 1, ended.stdout) == (True, "")


def test_it_needs_the_standard_library_alone() -> None:
    assert "require" not in (MODULES / "cpschedtest" / "go.mod").read_text()


def test_no_file_names_a_proxy_or_carries_a_program() -> None:
    files = [path for path in MODULES.rglob("*") if path.is_file() and path != CORPUS]
    assert {path.suffix for path in files} <= {".go", ".mod", ".sum", ".md"}
    assert [path for path in files if "proxy." in path.read_text()] == []


def test_its_corpus_is_what_an_export_gives_now() -> None:
    """But for the version in its header, so that a release changes nothing here."""
    rows = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()[1:]]
    assert len(rows) == 6
    question = CaseQuestion("mirror", options=Options(deterministic=True), cache="none")
    wanted = {row["id"] for row in rows}
    found = [exported(case, question).row for case in cases(str(ROOT / "instances" / "issues")) if case.id in wanted]
    assert json.loads(json.dumps(found)) == rows


@needs_go
def test_a_rule_that_is_left_open_is_put_to_verify(tmp_path: Path) -> None:
    """With cpsched on the PATH nothing stays open; without it the table says what was not checked."""
    module = tmp_path / "cpschedtest"
    shutil.copytree(MODULES / "cpschedtest", module)
    (module / "open_test.go").write_text(OPEN)
    for path, left in (("", "charge"), (str(Path(sys.executable).parent), "nothing")):
        ended = go(str(module), "test", "-count=1", "-v", "-run", "TestOpen", ".", EXTRA_PATH=path)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert f"open: {left}\n" in ended.stdout, ended.stdout


OPEN = """package cpschedtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	t.Setenv("PATH", os.Getenv("EXTRA_PATH"))
	one := find(t, "volcano-evicts-more-than-needed.json")
	found, err := Check(one, one.Optimum.Decision)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verify(one, one.Optimum.Decision, found); err != nil {
		t.Fatal(err)
	}
	if len(found.Findings) > 0 {
		t.Error(found.Findings)
	}
	left := strings.Join(found.Open, " ")
	if left == "" {
		left = "nothing"
	}
	fmt.Println("open:", left)
}
"""
