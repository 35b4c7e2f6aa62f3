"""Amounts of resources in all that a person reads: in a manifest's units, and different where they differ.

`data/amounts.json` is the input of the defect report: a node of 1Gi memory, 20Gi ephemeral-storage and 2 GPUs, and
three jobs that ask for one byte, 10Gi and one GPU more.
"""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import ROOT, Command

AMOUNTS = ROOT / "tests" / "cli" / "data" / "amounts.json"
USUAL = ("--workers", 1)

ONE_MORE = "1073741825 (about 1.00Gi)"


@pytest.mark.parametrize(
    ("job", "texts"),
    [
        (
            "one-byte-more",
            [
                f"Insufficient memory (needs {ONE_MORE}, no node has more than 1Gi)",
                f"queue: default holds 0 memory of its deserved share of 1Gi, {ONE_MORE} more is requested",
                "queue default holds 0 of its deserved share of 1Gi",
                "+1 memory on node n",
            ],
        ),
        (
            "storage",
            [
                "Insufficient ephemeral-storage (needs 30Gi, no node has more than 20Gi)",
                "queue: default holds 0 ephemeral-storage of its deserved share of 20Gi, 30Gi more is requested",
                "+10Gi ephemeral-storage on node n",
            ],
        ),
        (
            "gpus",
            [
                "Insufficient nvidia.com/gpu (needs 3, no node has more than 2)",
                "queue: default holds 0 nvidia.com/gpu of its deserved share of 2, 3 more is requested",
                "+1 nvidia.com/gpu on node n",
            ],
        ),
    ],
)
def test_explain(cli: Command, job: str, texts: list[str]) -> None:
    ended = cli("explain", AMOUNTS, "--job", f"default/{job}", *USUAL)
    assert ended.code == 0
    assert [text for text in texts if text not in ended.out] == []


REFUSALS = ["nvidia.com/gpu 3 of 2", f"memory {ONE_MORE} of 1Gi", "ephemeral-storage 30Gi of 20Gi"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", AMOUNTS, "--engine", "volcano", "--trace"),
        ("solve", AMOUNTS, "--engine", "volcano", "--json"),
        ("report", AMOUNTS, "--engines", "volcano", "--format", "text"),
        ("report", AMOUNTS, "--engines", "volcano", "--format", "markdown"),
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_the_mirrors_refusals(cli: Command, arguments: tuple[object, ...]) -> None:
    ended = cli(*arguments)
    assert ended.code == 0
    printed = re.sub(r"\s+", " ", ended.out + ended.err)
    assert [text for text in REFUSALS if f"share ({text})" not in printed] == []


def test_the_report_has_one_text_for_one_amount(cli: Command) -> None:
    ended = cli("report", AMOUNTS, "--engines", "volcano", "--format", "text")
    rows = [line.split(maxsplit=2) for line in ended.out.splitlines()]
    asked = {row[1]: row[2] for row in rows if row[0:1] == ["default"]}
    assert re.fullmatch(rf"1Gi +1Gi +{re.escape(ONE_MORE)} +0 +0", asked["memory"])
    assert re.fullmatch(r"20Gi +20Gi +30Gi +0 +0", asked["ephemeral-storage"])
    assert re.fullmatch(r"2 +2 +3 +0 +0", asked["gpu"])


@pytest.mark.parametrize("command", ["solve", "report", "explain"])
def test_units_of_computation_are_not_shown(cli: Command, command: str) -> None:
    """Neither bytes where a suffix is exact, nor thousandths of bytes and GPUs."""
    options = {
        "solve": ("--trace",),
        "report": ("--format", "text"),
        "explain": ("--job", "default/gpus"),
    }
    engine = "--engines" if command == "report" else "--engine"
    ended = cli(command, AMOUNTS, engine, "volcano", *options[command])
    raw = r"\b(?:[23]000|1073741824(?:000)?|21474836480(?:000)?|32212254720(?:000)?)\b"
    assert re.findall(raw, ended.out + ended.err) == []
