"""Annotations for GitHub, Code Quality for GitLab."""

from __future__ import annotations

import json
from typing import Any

import pytest

from krm_fn.config.options import Options
from krm_fn.report import ci
from krm_fn.report.model import Report
from krm_fn.run.admit import admit, stages_of
from krm_fn.wire import read_stream

RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: refuse, namespace: default}
spec:
  type: Reject
  rejectMessage: %s
  match: [{select: $.kind, matchValue: Service}]
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
"""


def report(message: str, manifests: str = SERVICE, file: str = "d/web.yaml") -> Report:
    rules = read_stream((RULE % json.dumps(message)).encode(), "rules.yaml")
    streams = [rules, read_stream(manifests.encode(), file)]
    return admit(streams, stages_of(Options(), streams))


def gitlab(message: str, manifests: str = SERVICE, file: str = "d/web.yaml") -> list[Any]:
    found: list[Any] = json.loads(ci.gitlab(report(message, manifests, file)))
    return found


def test_a_denial_is_an_error_on_the_objects_line() -> None:
    first, last = ci.github(report("no", "# a comment\n---\n" + SERVICE)).splitlines()
    title = "v1/Service web (ModRule default/refuse)"
    assert first == f"::error file=d/web.yaml,line=3,title={title}::no"
    assert last.startswith("::notice title=krm-fn::1 object, ")


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("100%", "100%25"),
        ("a, b: c", "a, b: c"),
        ("::error::gone", "::error::gone"),
        ("two\nlines", "two lines"),
        ("\r\n::error::x", "::error::x"),
        ("\x1b[31m \u202e", "\\x1b[31m \\u202e"),
        ("##[error]gone", "\\x23#[error]gone"),
    ],
)
def test_a_message_is_one_command_whatever_it_holds(message: str, shown: str) -> None:
    first, _ = ci.github(report(message)).split("\n", 1)
    assert first.endswith(f"::{shown}")


def test_a_file_is_one_property_whatever_its_name_holds() -> None:
    (first, _) = ci.github(report("no", file="a,line=1::b.yaml")).splitlines()
    assert first.startswith("::error file=a%2Cline=1%3A%3Ab.yaml,line=1,title=")


def test_what_is_admitted_has_no_error() -> None:
    said = ci.github(report("no", SERVICE.replace("Service", "Endpoints")))
    assert "::error" not in said
    assert said.splitlines()[-1].startswith("::notice ")


def test_a_finding_of_code_quality_has_its_place() -> None:
    (entry,) = gitlab("no")
    assert entry["severity"] == "blocker"
    assert entry["location"] == {"path": "d/web.yaml", "lines": {"begin": 1}}
    assert entry["description"] == "v1/Service web (ModRule default/refuse): no"


def test_a_finding_keeps_its_fingerprint_when_its_line_moves() -> None:
    (before,) = gitlab("no")
    (after,) = gitlab("no", "# a line more\n" + SERVICE)
    assert before["location"] != after["location"]
    assert before["fingerprint"] == after["fingerprint"]


def test_two_findings_have_two_fingerprints() -> None:
    found = gitlab("no", f"{SERVICE}---\n{SERVICE}")
    assert len({entry["fingerprint"] for entry in found}) == 2
