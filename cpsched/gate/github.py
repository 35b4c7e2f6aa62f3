"""The report as GitHub annotations: a line per fault, which the runner shows beside the file."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.errors import one_line
from cpsched.gate.report import CheckedCases

_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def workflow_commands(report: CheckedCases) -> Iterator[str]:
    """Errors for faults, notices for cases that are gone."""
    for one in report.bad:
        for fault in one.faults:
            properties = {
                "file": one.case.file,
                "line": str(one.case.line or 1),
                "title": f"cpsched: {fault.key or fault.kind} ({one.case.id})",
            }
            stated = ",".join(f"{name}={_escaped(text, _IN_PROPERTY)}" for name, text in properties.items())
            text = "; ".join(filter(None, [fault.message, fault.names]))
            command = report.reproduce(one)
            text += f"; reproduce with {command}" if command else ""
            yield f"::error {stated}::{_escaped(text, _IN_MESSAGE)}"
    for case in report.removed:
        yield f"::notice title=cpsched%3A case removed::{_escaped(case, _IN_MESSAGE)} is in the baseline only"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(character, character) for character in one_line(text))
