"""cpsched compare: one instance, many, every form of output."""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Command

DATA = ROOT / "tests" / "conformance" / "data"
PYTHON = shlex.quote(sys.executable)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def test_one_instance_shows_levels_and_reasons(cli: Command, tiny: Path) -> None:
    code, out, err = cli("compare", tiny)
    assert (code, err) == (0, "")
    assert out.startswith("preempt-one-is-enough.json, model volcano\n1 node, 3 pods running, 1 pending; ")
    assert "scheduler volcano\nvolcano: worse than the proved optimum at victim_priority_sum" in out
    assert "first difference" in out
    assert "it was not needed" in out


def test_json_is_a_comparison_and_goes_to_a_file_too(cli: Command, tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "comparison.json"
    code, out, _ = cli("compare", tiny, "--json", "-o", file)
    assert code == 0
    assert json.loads(out)["kind"] == "Comparison"
    assert file.read_text() == out


def test_markdown_is_a_table(cli: Command, tiny: Path) -> None:
    assert "| victim_count | less | 3 | 1 | differs |" in cli("compare", tiny, "--markdown").out


def test_many_are_counted(cli: Command) -> None:
    code, out, err = cli("compare", ROOT / "instances" / "issues", "--engines", "mirror", "--json")
    assert (code, err) == (1, "")
    data = json.loads(out)
    summary = data["summary"]["engines"]["mirror"]
    assert data["kind"] == "Comparisons"
    assert len(data["cases"]) == data["summary"]["cases"] == 66
    assert (summary["findings"], summary["unproved"]) == (17, 49)
    assert summary["rules"]["gang"] == 2
    assert len(summary["worst"]) == 10


def test_many_as_tables_and_in_several_processes(process: Command, tmp_path: Path) -> None:
    for name in ("gang-all-or-nothing.json", "nodes-used.json", "victim-count.json", "expected.json"):
        shutil.copy(ROOT / "instances" / "tiny" / name, tmp_path)
    inputs = (tmp_path, ROOT / "tests" / "cli" / "data" / "two-equal-nodes.json")
    alone = process("compare", *inputs, "--engines", "mirror")
    assert alone.err == ""
    assert alone.out.startswith("4 cases\n")
    assert "Rules broken" in alone.out
    assert "gang-all-or-nothing.json  breaks gang" in alone.out
    assert process("compare", *inputs, "--engines", "mirror", "--jobs", "2") == alone


def test_recorded_decisions_contend(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    with gzip.open(DATA / "volcano-recorded.jsonl.gz", "rb") as stream:
        lines = [next(stream) for _ in range(12)]
    file.write_bytes(b"".join(lines))
    code, out, err = cli("compare", file, "--engines", "recorded,mirror,optimal", "--json")
    assert (code, err) == (1, "")
    data = json.loads(out)
    assert data["summary"]["cases"] == 12
    several = [one for case in data["cases"] for one in case["engines"] if "note" in one]
    assert several
    assert all("the worst of" in one["note"] for one in several)


def test_a_program_contends_and_takes_the_rest_of_the_list(cli: Command, tiny: Path) -> None:
    engines = f"volcano,exec:{PYTHON} -c 'print(dict(), end=str())' a,b"
    code, out, _ = cli("compare", tiny, "--engines", engines, "--engines", "optimal", "--json")
    assert code == 0
    assert [one["engine"][:5] for one in json.loads(out)["engines"]] == ["volca", "exec:", "optim"]


def test_one_bad_case_does_not_keep_the_others_from_it(cli: Command, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    code, out, err = cli("compare", tmp_path / "bad.json", tiny, "--json")
    assert code == 2
    assert json.loads(out)["summary"]["cases"] == 1
    assert err.startswith(f"cpsched: warning: {tmp_path / 'bad.json'}: line 1 column 2: not valid JSON")
    code, out, err = cli("compare", tmp_path / "bad.json")
    assert (code, out) == (2, "")
    assert err.startswith("cpsched: error: ")


def test_no_answer_in_time_is_exit_code_three(cli: Command, tiny: Path) -> None:
    code, out, _ = cli("compare", tiny, "--engines", "volcano,exec:sleep 60", "--time-limit", "0.2")
    assert code == 3
    assert "exec:sleep 60: no decision (unknown)." in out


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--engines", "volcano,volcano"], "engine volcano is named twice"),
        (["--engines", "nosuch"], "unknown engine nosuch"),
        (["--jobs", "0"], "see cpsched compare --help"),
        (["--engines", "recorded"], "no decision is recorded"),
    ],
)
def test_wrong_usage_is_one_line(cli: Command, tiny: Path, arguments: list[str], wrong: str) -> None:
    code, out, err = cli("compare", tiny, *arguments)
    assert (code, out) == (2, "")
    assert wrong in err
    assert err.count("\n") == 1
