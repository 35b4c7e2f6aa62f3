"""A doubt about the input: every command begins with it, and what is proved is proved for this dump."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import cpsched
from tests.cli.conftest import Command

DUMP = Path(__file__).parents[1] / "snapshots" / "plain.json.gz"
STATED = "the scheduler counted 13 nodes when it last tried batch/too-big, the input has 12: nodes are missing"
LINE = f"Doubt: {STATED}"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """As if the scheduler had counted one node more."""
    path = tmp_path / "few.json"
    path.write_bytes(gzip.decompress(DUMP.read_bytes()).replace(b"0/12 nodes are", b"0/13 nodes are"))
    return path


def test_solve_is_optimal_for_this_dump(cli: Command, dump: Path, tmp_path: Path) -> None:
    certificate = tmp_path / "c.json"
    code, out, err = cli("solve", dump, "--certificate", certificate, "-o", tmp_path / "s.json")
    assert (code, STATED in err) == (0, False)
    assert LINE in out.splitlines()[:3]
    assert "Engine optimal, model kube: optimal: every level proved for this dump\n" in out
    assert "optimal, every level proved" not in out
    written = json.loads((tmp_path / "s.json").read_text())
    assert [(one["kind"], one["name"], one["text"]) for one in written["doubts"]] == [
        ("missing nodes", "nodes counted", STATED)
    ]
    for document in (tmp_path / "s.json", certificate):
        code, out, _ = cli("verify", document, dump)
        assert LINE in out.splitlines()[:3]
        code, out, err = cli("verify", document, dump, "--json")
        assert json.loads(out)["doubts"][0]["text"] == STATED
        assert err.splitlines()[-1] == f"cpsched: warning: {dump}: {STATED}"


def test_json_comes_with_a_warning(cli: Command, dump: Path) -> None:
    _, out, err = cli("solve", dump, "--engine", "kube", "--json")
    assert json.loads(out)["doubts"][0]["text"] == STATED
    assert err.splitlines()[-1] == f"cpsched: warning: {dump}: {STATED}"
    assert (
        cli("import", dump, "-o", dump.with_name("i.json")).err.splitlines()[-1]
        == f"cpsched: warning: {dump}: {STATED}"
    )
    # An Instance has all that was read, so it is in the same doubt.
    assert cli("solve", dump.with_name("i.json"), "--engine", "kube").out.splitlines()[1] == LINE


def test_compare_check_explain_and_report_begin_with_it(cli: Command, dump: Path, tmp_path: Path) -> None:
    _, out, _ = cli("compare", dump, "--engines", "optimal", "-o", tmp_path / "compared.json")
    assert LINE in out.splitlines()[:4]
    assert "proved optimal on every level for this dump" in out
    assert json.loads((tmp_path / "compared.json").read_text())["doubts"][0]["text"] == STATED
    assert STATED in cli("check", dump, "--no-optimum").err
    assert LINE in cli("explain", dump).out.splitlines()[:3]
    assert json.loads(cli("explain", dump, "--json").out)["doubts"][0]["text"] == STATED
    _, out, _ = cli("explain", dump, "--job", "batch/too-big")
    assert LINE in out.splitlines()[:3]
    assert "What is called impossible or best is proved for this dump." in out
    _, out, _ = cli("report", dump, "--engines", "optimal", "--format", "markdown")
    assert f"- **{LINE}**" in out
    assert "optimal: every level proved for this dump" in out


def test_python_warns(dump: Path) -> None:
    instance = cpsched.load(dump)
    with pytest.warns(UserWarning, match="nodes are missing"):
        solution = cpsched.solve(instance, engine="volcano")
    assert [doubt.text for doubt in solution.doubts] == [STATED]
