"""docs/import.md: its table is the registry's, its commands run, its limits are the code's."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

from cpsched import archives, packed
from cpsched.importers.formats import FORMATS
from tests.docs.blocks import blocks
from tests.docs.test_commands import ROOT, run

PAGE = ROOT / "docs" / "import.md"


def test_every_format_is_documented() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| .+ \|$", text, flags=re.MULTILINE)
    assert rows == [(name, one.about) for name, one in FORMATS.items()]
    headings = {name for line in re.findall(r"^## (.+)$", text, flags=re.MULTILINE) for name in line.split(", ")}
    assert set(FORMATS) - headings == {"kubernetes"}


def test_the_limits_are_as_stated() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    read, whole = (size // 2**30 for size in (archives.MAX_TOTAL, archives.MAX_STREAM))
    assert f"more than {archives.MAX_MEMBERS:,} members, more than {read} GiB in those that are read" in text
    assert f"more than {whole} GiB in all, and what unpacks to more than {packed.MAX_RATIO} times its size" in text


def test_the_commands_run(tmp_path: Path) -> None:
    data = ROOT / "tests" / "snapshots"
    shutil.copy(data / "volcano-dump.json", tmp_path / "snapshot-1767225600.json")
    shutil.copy(data / "queues.json", tmp_path)
    shutil.copy(data / "simulator-export.json", tmp_path / "export.json")
    with zipfile.ZipFile(tmp_path / "snapshot.gzip", "w") as archive:
        archive.write(data / "kai-snapshot.json", "snapshot.json")
    [block] = blocks(PAGE, "sh")
    for command in block.splitlines():
        assert run(command, tmp_path).returncode == 0, command
