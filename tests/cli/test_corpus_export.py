"""`cpsched corpus export`: one file with optima, baseline, tags and numbers, which is a corpus itself."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from cpsched.rules import RULES
from tests.cli import hostile
from tests.cli.conftest import ROOT, Command
from tests.cli.hostile import obeyed

ISSUES = ROOT / "instances" / "issues"
CASE = "volcano-evicts-more-than-needed.json"


def exported(cli: Command, source: object, *options: object) -> list[dict[str, Any]]:
    ended = cli("corpus", "export", source, "--cache", "none", *options)
    assert (ended.code, ended.err) == (0, "")
    return [json.loads(line) for line in ended.out.splitlines()]


def test_the_header_names_rules_and_levels_and_holds_a_hash(cli: Command) -> None:
    ended = cli("corpus", "export", ISSUES / CASE, "--no-optimum")
    head, _, rest = ended.out.partition("\n")
    header = json.loads(head)
    assert header["sha256"] == hashlib.sha256(rest.encode()).hexdigest()
    assert (header["kind"], header["cases"], list(header["rules"])) == ("Corpus", 1, list(RULES))
    assert header["levels"]["victim_count"] == "min"
    assert all(header["rules"].values())


def test_a_case_has_optimum_baseline_tags_and_a_sentence(cli: Command, tmp_path: Path) -> None:
    row = exported(cli, ISSUES / CASE)[1]
    assert row["optimum"]["status"] == "optimal"
    assert row["optimum"]["levels"]["victim_count"] == {"value": 1, "bound": 1, "proved": True}
    assert row["baseline"]["levels"]["victim_count"] == 2
    assert row["baseline"]["optimum"]["level"] == "victim_priority_sum"
    assert "victims" in row["tags"]["feature"]
    assert "gang" in row["tags"]["plugin"]
    assert "preempt" in row["tags"]["action"]
    assert row["sentence"].startswith("1 node, 2 pods running, 1 pending: volcano is behind at victim_priority_sum")
    certificate = tmp_path / "c.json"
    cli("solve", ISSUES / CASE, "--certificate", certificate)
    assert row["optimum"]["certificate_sha256"] == json.loads(certificate.read_text())["sha256"]


@pytest.mark.parametrize("case", [CASE, "k8s-70622.json", "volcano-3161.json"])
def test_it_is_the_same_question_when_it_is_read_again(cli: Command, tmp_path: Path, case: str) -> None:
    file, first, second = tmp_path / "one.jsonl", tmp_path / "a.json", tmp_path / "b.json"
    assert cli("corpus", "export", ISSUES / case, "--no-optimum", "-o", file).code == 0
    for corpus, baseline in ((ISSUES / case, first), (file, second)):
        cli("check", corpus, "--no-optimum", "--baseline", baseline, "--update")
    entries = [list(json.loads(path.read_text())["cases"].values()) for path in (first, second)]
    assert entries[0] == entries[1]
    assert entries[0] == [{**exported(cli, file, "--no-optimum")[1]["baseline"]}]


def test_packed_and_plain_hold_the_same_bytes_each_time(cli: Command, tmp_path: Path) -> None:
    plain, packed, again = (tmp_path / name for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.gz"))
    for file in (plain, packed, again):
        ended = cli("corpus", "export", ISSUES / CASE, "--deterministic", "--cache", "none", "-o", file)
        assert (ended.code, ended.out, ended.err) == (0, "", f"{file}: 1 case.\n")
    assert packed.read_bytes() == again.read_bytes()
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


def test_nothing_is_written_if_a_case_cannot_be_read(cli: Command, tmp_path: Path) -> None:
    folder, file = tmp_path / "corpus", tmp_path / "out.jsonl"
    folder.mkdir()
    (folder / "good.json").write_text((ISSUES / CASE).read_text())
    (folder / "bad.json").write_text('{"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": 3}')
    code, out, err = cli("corpus", "export", folder, "--no-optimum", "-o", file)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "bad.json" in err
    assert not file.exists()


def test_two_cases_of_one_name_are_refused(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = json.dumps({"id": "a", "instance": json.loads((ISSUES / CASE).read_text())})
    file.write_text(f"{row}\n{row}\n")
    code, _, err = cli("corpus", "export", file, "--no-optimum")
    assert (code, err.count("\n")) == (2, 1)
    assert "two cases are called rows.jsonl#a" in err


def test_a_model_of_a_file_is_refused(cli: Command, tmp_path: Path) -> None:
    """A row names shipped models alone, so it could not say what it is checked by."""
    model = tmp_path / "mine.yaml"
    model.write_text((ROOT / "models" / "volcano.yaml").read_text().replace("name: volcano", "name: mine", 1))
    code, _, err = cli("corpus", "export", ISSUES / CASE, "--no-optimum", "--model", model)
    assert (code, err.count("\n")) == (2, 1)
    assert "is not a shipped model" in err


def test_only_proved_leaves_the_others_out_and_counts_them(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    hard = tmp_path / "hard.json"
    assert cli("generate", "contended", "--set", "nodes=12", "-o", hard).code == 0
    options = ("--only-proved", "--time-limit", "0.000001", "--cache", "none", "-o", file)
    ended = cli("corpus", "export", hard, *options)
    assert (ended.code, ended.err) == (
        0,
        f"cpsched: warning: 1 case left out: the optimum is not proved\n{file}: no cases.\n",
    )
    assert json.loads(file.read_text())["cases"] == 0


def test_hostile_names_print_nothing_that_a_terminal_obeys(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "evil.json"
    file.write_text(json.dumps(hostile.CLUSTER))
    ended = cli("corpus", "export", file, "--no-optimum")
    assert ended.code == 0
    assert obeyed(ended.out + ended.err) == []


def test_a_header_is_no_case(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    cli("corpus", "export", ISSUES / CASE, "--no-optimum", "-o", file)
    found = json.loads(cli("check", file, "--no-optimum", "--json").out)
    assert [one["id"] for one in found["cases"]] == [f"one.jsonl#{CASE}"]
