"""What a run has to say, ready to be said: the one place between findings and those who show them.

Names, messages and places are texts of one line each, without control characters and without values
of Secrets. Every form of a report (lines, results, JSON, annotations) is made of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from krm_fn.admission import Change, Finding, RuleRef
from krm_fn.printable import one_line
from krm_fn.report.model import ObjectReport, Report, severity_of
from krm_fn.report.redact import is_secret, redact_value
from krm_fn.sdk import Severity
from krm_fn.values import MISSING, Path, compact, format_path, get
from krm_fn.wire import Head, Item, Origin

_SCALARS: Final = (str, int, float, bool)
_ASKING: Final = frozenset(("policies", "kubewarden"))
"""Dialects whose rules can look at other objects than the one that they admit."""
_BREAK: Final = re.compile(r"\s*[\r\n]\s*")


class Statement(NamedTuple):
    """One thing to say. `head` is None for what concerns the run as a whole.

    `value` is what the object has at `field`, and `new` what it gets; MISSING for none.
    """

    severity: Severity
    message: str
    head: Head | None = None
    field: str = ""
    value: Any = MISSING
    new: Any = MISSING
    rules: str = ""
    dialect: str = ""
    source: str = ""
    """Where the rule is written."""
    origin: Origin | None = None
    """Where the object is written, with the line of the object."""
    item: Item | None = None
    path: Path = ()
    rule_origin: Origin | None = None

    @property
    def name(self) -> str:
        """`web/api`, or `api` without a namespace."""
        assert self.head is not None
        return "/".join(part for part in (self.head.namespace, self.head.name) if part)

    @property
    def place(self) -> str:
        """Where to look: the object's place, else the rule's."""
        return str(self.origin) if self.origin is not None else self.source

    def line(self) -> tuple[str, int]:
        """The file and the line, from 1, of the field, or of the rule; ("", 1) for neither."""
        if self.item is not None and self.origin is not None:
            # A path that an annotation names is of another text than the one at hand.
            here = self.origin.line is not None
            return self.origin.file, self.item.line(self.path) if here else 1
        if self.rule_origin is not None and self.rule_origin.file:
            return self.rule_origin.file, self.rule_origin.line or 1
        return "", 1


def statements(report: Report, *severities: Severity) -> Iterator[Statement]:
    """What is found, errors first; only of these severities where any are named."""
    for severity in severities or Severity:
        for entry, finding in report.all_findings():
            if severity_of(finding) is severity:
                yield _of_finding(entry, finding, report)


def changes(report: Report) -> Iterator[Statement]:
    """What is changed, in the objects' order."""
    for entry in report.objects:
        for change in entry.changes:
            yield _of_change(entry, change, report)


def shown(text: str, entry: ObjectReport, report: Report) -> str:
    """A text about an object as it may be shown: on one line, without values of Secrets."""
    if not report.show_secrets:
        text = report.redactor.message(text, entry.item, asks=True)
    return one_line(" ".join(text.split()))


def _of_finding(entry: ObjectReport | None, finding: Finding, report: Report) -> Statement:
    message, asks = finding.message, _asks(finding.rules)
    if not report.show_secrets:
        message = report.redactor.message(message, entry.item if entry else None, asks=asks)
    statement = Statement(severity_of(finding), _sentence(message))
    if entry is not None and finding.field:
        value = get(entry.item.original, finding.field, MISSING)
        if not report.show_secrets:
            value = report.redactor.value(finding.field, value, entry.item, asks=asks)
        statement = statement._replace(value=value if type(value) in _SCALARS else MISSING)
    return _about(statement, entry, finding.field or (), finding.rules)


def _of_change(entry: ObjectReport, change: Change, report: Report) -> Statement:
    old, new, default = change.old, change.new, change.default
    if not report.show_secrets:
        hide, asks = report.redactor.value, _asks(change.rules)
        old, new = (hide(change.path, value, entry.item, asks=asks) for value in (old, new))
        default = redact_value(change.path, default) if is_secret(entry.head) else default
    verb = "added" if old is MISSING else "removed" if new is MISSING else "changed"
    message = f"{one_line(format_path(change.path))} {verb}"
    by = _names(change.rules)
    message += f" by {by}" if by else ""
    if type(default) in _SCALARS:
        message += f"; before, {compact(default)} (default)"
    statement = Statement(Severity.INFO, _sentence(message), value=old, new=new)
    return _about(statement, entry, change.path, change.rules)


def _about(
    statement: Statement, entry: ObjectReport | None, path: Path, rules: tuple[RuleRef, ...]
) -> Statement:
    """The statement with its object, its field and its rules."""
    if entry is not None:
        written = entry.head
        head = Head(
            *(one_line(text) for text in (written.api_version, written.kind)),
            *(one_line(text) for text in (written.namespace, written.name)),
        )
        origin = _shown(entry.item.origin)
        field = one_line(format_path(path))
        statement = statement._replace(
            head=head, field=field, origin=origin, item=entry.item, path=path
        )
    if rules:
        source = _shown(rules[0].origin) if rules[0].origin else None
        statement = statement._replace(
            rules=_names(rules),
            dialect=rules[0].dialect,
            source=str(source or ""),
            rule_origin=source,
        )
    return statement


def _asks(rules: tuple[RuleRef, ...]) -> bool:
    return any(rule.dialect in _ASKING for rule in rules)


def _names(rules: tuple[RuleRef, ...]) -> str:
    return one_line(", ".join(dict.fromkeys(map(str, rules))))


def _shown(origin: Origin) -> Origin:
    return Origin(one_line(origin.file), origin.index, origin.line, origin.place)


def _sentence(message: str) -> str:
    """A message on one line: that of a rule may be written on several."""
    return one_line(_BREAK.sub(" ", message.strip()))
