from __future__ import annotations

import pytest

from cpsched.report.amounts import amount, amounts, short


@pytest.mark.parametrize(
    ("resource", "value", "text"),
    [
        ("cpu", 500, "0.5"),
        ("cpu", 64_000, "64"),
        ("cpu", 1_234_500, "1,234.5"),
        ("memory", 0, "0"),
        ("memory", 1023, "1,023"),
        ("memory", 1536 * 2**20, "1.5Gi"),
        ("memory", 300 * 2**30, "300Gi"),
        ("nvidia.com/gpu", 8000, "8"),
        ("nvidia.com/gpu", 250, "0.25"),
        ("pods", 110, "110"),
        ("ephemeral-storage", 1000 * 2**30, "1Gi"),
        ("cpu", -2000, "-2"),
    ],
)
def test_amounts_are_short(resource: str, value: float, text: str) -> None:
    assert amount(resource, value) == text


def test_only_what_there_is() -> None:
    assert amounts({"cpu": 2000, "memory": 0, "nvidia.com/gpu": 1000}) == "2 cpu, 1 gpu"
    assert short("hugepages-2Mi") == "hugepages-2Mi"
