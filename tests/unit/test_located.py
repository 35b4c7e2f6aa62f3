"""Shipped instances by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import cpsched
from cpsched.errors import InputError
from cpsched.importers.corpus import cases
from cpsched.located import instances_folder, located


def test_a_name_is_the_shipped_file() -> None:
    assert located("@tiny/gated") == str(instances_folder() / "tiny" / "gated.json")
    assert cpsched.load("@tiny/gated").sha256 == cpsched.load(instances_folder() / "tiny" / "gated.json").sha256


def test_a_folder_is_a_corpus() -> None:
    assert {case.id for case in cases("@tiny")} >= {"gated.json"}


def test_a_file_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "@tiny").mkdir()
    assert located("@tiny") == "@tiny"


@pytest.mark.parametrize("name", ["@tiny/gate", "@../pyproject", "@tiny/../../README", "@"])
def test_any_other_name_is_one_line_with_what_is_near(name: str) -> None:
    with pytest.raises(InputError, match="no such shipped instance; @"):
        located(name)
