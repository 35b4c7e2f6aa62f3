"""The examples of docs/python.md run and give what the page shows."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.docs.blocks import blocks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"


def test_examples_give_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = "\n".join(blocks(PAGE, "pycon"))
    examples = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", str(PAGE), 0)
    assert len(examples.examples) > 25
    stated: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    runner.run(examples, out=stated.append)
    assert "".join(stated) == ""
