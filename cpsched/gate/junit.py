"""The report as JUnit XML, as every CI system reads it."""

from __future__ import annotations

from xml.etree import ElementTree

from cpsched.gate.report import CheckedCases
from cpsched.gate.verdict import CaseVerdict
from cpsched.visible import visible


def junit(report: CheckedCases) -> str:
    """One suite, one test case per case; faults are failures, what could not be run is an error."""
    states = report.states
    suite = ElementTree.Element(
        "testsuite",
        name=_text(f"cpsched check {report.corpus}"),
        tests=str(len(report.verdicts)),
        failures=str(states["failed"]),
        errors=str(len(report.verdicts) - states["passed"] - states["failed"]),
        time=f"{sum(one.case.seconds for one in report.verdicts):.3f}",
    )
    if report.models:
        properties = ElementTree.SubElement(suite, "properties")
        ElementTree.SubElement(properties, "property", name="models", value=_text(report.models))
    for one in report.verdicts:
        suite.append(_case(report, one))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _case(report: CheckedCases, one: CaseVerdict) -> ElementTree.Element:
    case = one.case
    attributes = {"classname": report.engine, "name": case.id, "file": case.file, "time": f"{case.seconds:.3f}"}
    shown = ElementTree.Element("testcase", {name: _text(value) for name, value in attributes.items()})
    tag = "failure" if one.state == "failed" else "error"
    for fault in one.faults:
        kind = fault.kind if not fault.key else f"{fault.kind} {fault.key}"
        text = "\n".join(filter(None, [fault.message, fault.names, report.reproduce(one)]))
        ElementTree.SubElement(shown, tag, type=_text(kind), message=_text(fault.message)).text = _text(text)
    lines = [*([case.choice] if case.choice else []), *one.notes]
    if lines:
        ElementTree.SubElement(shown, "system-out").text = _text("\n".join(lines))
    return shown


def _text(text: str) -> str:
    """What does not print is escaped; XML cannot hold most of it."""
    return visible(text, keep="\n\t")
