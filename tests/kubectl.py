"""A stand-in for kubectl that prints what a real one printed; the cluster itself is in tests/live.

data: tests/cli/data/kubectl.json.gz, printed by kubectl 1.36.3 of the test bed in tests/live about its team.yaml,
volcano.yaml and gang.yaml; the names of the entries say what was asked.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

RECORDED = json.loads(gzip.decompress((Path(__file__).parent / "cli" / "data" / "kubectl.json.gz").read_bytes()))
USUAL = {"api-resources": "api-resources", "get": "get", "version": "version", "configmap": "configmap"}
_PROGRAM = """#!{python}
import json, sys, time
answers = json.loads(open({answers!r}).read())
words = [word for word in sys.argv[1:] if not word.startswith("--")]
open({log!r}, "a").write(json.dumps(sys.argv[1:]) + "\\n")
found = answers["configmap" if words[:2] == ["get", "configmap"] else words[0]]
time.sleep(found.get("sleep", 0))
sys.stdout.write(found["out"])
sys.stderr.write(found["err"])
sys.exit(found["code"])
"""


def stand_in(folder: Path, sleep: float = 0, **replaced: str | dict[str, Any]) -> Path:
    """A kubectl in this folder that prints the usual answers, or for some questions other ones."""
    entries = {**USUAL, **{name.replace("_", "-"): entry for name, entry in replaced.items()}}
    found = {name: RECORDED[entry] if isinstance(entry, str) else entry for name, entry in entries.items()}
    answers = {name: {**entry, "sleep": sleep} for name, entry in found.items()}
    folder.mkdir(exist_ok=True)
    program, file, log = folder / "kubectl", folder / "answers.json", folder / "asked.jsonl"
    file.write_text(json.dumps(answers))
    program.write_text(_PROGRAM.format(python=sys.executable, answers=str(file), log=str(log)))
    program.chmod(0o755)
    return program


def asked(program: Path) -> list[list[str]]:
    """The arguments of every call."""
    return [json.loads(line) for line in (program.parent / "asked.jsonl").read_text().splitlines()]
