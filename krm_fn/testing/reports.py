"""Results for programs: JUnit's XML, TAP version 14, JSON. No times, so that runs can be compared.

Source: https://testanything.org/tap-version-14-specification.html; Jenkins' junit.xsd (the xunit
plugin's), which GitLab's reader takes, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree

from krm_fn.printable import json_text, one_line
from krm_fn.testing.run import CaseResult
from krm_fn.testing.suite import Suite
from krm_fn.testing.text import case_lines

Results = Sequence[tuple[Suite, Sequence[CaseResult]]]


def status_of(result: CaseResult) -> str:
    """`passed`, `failed`, `error` (could not be run) or `skipped`."""
    if result.skipped:
        return "skipped"
    if result.error:
        return "error"
    return "failed" if result.failures else "passed"


def junit(results: Results) -> str:
    """JUnit's XML: a testsuite a suite, a testcase a case."""
    root = ElementTree.Element("testsuites", name="krm-fn test")
    for suite, cases in results:
        states = [status_of(case) for case in cases]
        element = ElementTree.SubElement(
            root,
            "testsuite",
            name=one_line(suite.name),
            file=one_line(suite.file),
            tests=str(len(cases)),
            failures=str(states.count("failed")),
            errors=str(states.count("error")),
            skipped=str(states.count("skipped")),
        )
        for result, state in zip(cases, states, strict=True):
            _testcase(element, suite, result, state)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _testcase(parent: ElementTree.Element, suite: Suite, result: CaseResult, state: str) -> None:
    line = result.place.rpartition(":")[2]
    case = ElementTree.SubElement(
        parent,
        "testcase",
        classname=one_line(suite.name),
        name=one_line(result.case.name),
        file=one_line(suite.file),
        line=line,
    )
    if state == "skipped":
        ElementTree.SubElement(case, "skipped", message=one_line(result.case.skip or ""))
    elif state != "passed":
        tag = "error" if state == "error" else "failure"
        said = ElementTree.SubElement(case, tag, message=_first(result), type=state)
        said.text = "\n".join(case_lines(result))


def _first(result: CaseResult) -> str:
    """What is wrong, in one line."""
    if result.error:
        return one_line(result.error.splitlines()[0])
    return one_line(f"expected {result.failures[0].expected}")


def tap(results: Results) -> str:
    """TAP version 14: a test point a case, with a YAML block where it failed."""
    points = [result for _, cases in results for result in cases]
    lines = ["TAP version 14", f"1..{len(points)}"]
    for n, result in enumerate(points, 1):
        state = status_of(result)
        word = "ok" if state in ("passed", "skipped") else "not ok"
        name = _description(f"{result.suite.name}/{result.case.name}")
        skip = f" # SKIP {_description(result.case.skip or '')}" if state == "skipped" else ""
        lines.append(f"{word} {n} - {name}{skip}".rstrip())
        if word == "not ok":
            lines += ["  ---", f"  message: {json.dumps(_first(result))}"]
            lines += [f"  at: {json.dumps(one_line(result.place))}", "  details: |"]
            lines += [f"    {line}".rstrip() for line in case_lines(result)]
            lines.append("  ...")
    return "".join(f"{line}\n" for line in lines)


def _description(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("#", "\\#")


def as_json(results: Results) -> str:
    """`kind: TestReport`: suites, cases, failures."""
    document = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "TestReport",
        "summary": _summary(results),
        "suites": [
            {
                "name": one_line(suite.name),
                "file": one_line(suite.file),
                "cases": [_case(result) for result in cases],
            }
            for suite, cases in results
        ],
    }
    return json_text(document)


def _summary(results: Results) -> dict[str, int]:
    states = [status_of(result) for _, cases in results for result in cases]
    return {name: states.count(name) for name in ("passed", "failed", "error", "skipped")}


def _case(result: CaseResult) -> dict[str, Any]:
    value: dict[str, Any] = {
        "name": one_line(result.case.name),
        "place": one_line(result.place),
        "status": status_of(result),
    }
    if result.case.skip is not None:
        value["reason"] = one_line(result.case.skip)
    if result.error:
        value["error"] = one_line(result.error)
    if result.failures:
        value["failures"] = [
            {
                "expected": one_line(failure.expected),
                "came": [one_line(line) for line in failure.came],
                "why": [one_line(line) for line in failure.why],
                "place": one_line(result.suite.place((*result.case.path, *failure.field))),
                "rules": [one_line(str(ref)) for ref in failure.rules],
            }
            for failure in result.failures
        ]
    return value


REPORTS: Final[Mapping[str, Callable[[Results], str]]] = {
    "junit": junit,
    "tap": tap,
    "json": as_json,
}
