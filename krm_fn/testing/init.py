"""A first suite for rules that have none: what they do to samples, as a person would write it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from krm_fn.admission import RuleRef
from krm_fn.config.options import API_VERSION, Options
from krm_fn.config.sources import Stage, collect
from krm_fn.errors import ConfigError
from krm_fn.report.model import ObjectReport, severity_of
from krm_fn.report.redact import Redactor
from krm_fn.run.admit import admit
from krm_fn.sdk import Severity
from krm_fn.sdk.object import yaml_of
from krm_fn.testing.compare import Admitted, outcome_of
from krm_fn.testing.suite import ExpectedOutcome
from krm_fn.values import MISSING, Json, Path, get
from krm_fn.wire import Stream


def first_suite(name: str, folder: str, rules: Sequence[str], streams: Sequence[Stream]) -> str:
    """The text of a suite in `folder`: a case for each rule and object that it touches.

    `rules` and the names of the streams are paths as this process opens them. Raises KrmFnError.
    """
    stage = Stage(Options(), collect(Options(), (), None, rules))
    items = [item for stream in streams for item in stream.items]
    before = {item: item.original for item in items}
    report = admit(streams, [stage])
    admitted = Admitted(items, before, report)
    cases = [case for e in admitted.entries() for case in _cases(e, folder, report.redactor)]
    if not cases:
        raise ConfigError("no object that rules may see; name some with -f")
    spec = {"rules": [os.path.relpath(path, folder) for path in rules], "cases": cases}
    document = {
        "apiVersion": API_VERSION,
        "kind": "Suite",
        "metadata": {"name": name},
        "spec": spec,
    }
    return yaml_of(document)


def _cases(entry: ObjectReport, folder: str, redactor: Redactor) -> Iterator[Json]:
    item = entry.item
    shown = f"{entry.head.kind} {entry.head.name}"
    path = os.path.relpath(item.stream.name, folder)
    source: Any = path
    if len(item.stream.items) > 1:
        source = {"file": path, "name": f"{entry.head.kind}/{entry.head.name}"}
    outcome = outcome_of([entry])
    said = [f for f in entry.findings if severity_of(f) is not Severity.INFO]
    messages: list[Json] = []
    for finding in said:
        if redactor.message(finding.message, item, asks=True) != finding.message:
            continue
        one: Json = {"contains": finding.message}
        if finding.rules:
            one["rule"] = finding.rules[0].name
        if one not in messages:
            messages.append(one)
    common: Json = {"messages": messages} if messages else {}
    if outcome is not ExpectedOutcome.CHANGED:
        verb = {"Denied": "is refused", "Warned": "is warned of"}.get(outcome, "is left alone")
        yield {
            "name": f"{shown} {verb}",
            "object": source,
            "expect": {"outcome": str(outcome), **common},
        }
        return
    for rule in dict.fromkeys(ref for change in entry.changes for ref in change.rules):
        fields = dict(_fields(entry, rule, redactor))
        expect: Json = {"outcome": str(outcome), **({"fields": fields} if fields else {}), **common}
        yield {"name": f"{rule.name} changes {shown}", "object": source, "expect": expect}


def _fields(entry: ObjectReport, rule: RuleRef, redactor: Redactor) -> Iterator[tuple[str, Any]]:
    """What a rule changed, by JSONPath; nothing that is a Secret's, or made of one."""
    for change in entry.changes:
        path = json_path(change.path)
        if rule in change.rules and path:
            value = get(entry.object, change.path, MISSING)
            if redactor.value(change.path, value, entry.item, asks=True) == value:
                yield path, {"absent": True} if value is MISSING else value


_PLAIN: Final = re.compile(r"[A-Za-z_]\w*")


def json_path(path: Path) -> str:
    """A path as jsonpath-ng reads it; "" for one with a quote in a key."""
    text = "$"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}"
        elif '"' in step or "\\" in step:
            return ""
        else:
            text += f'."{step}"'
    return text
