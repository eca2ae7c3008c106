"""What is wrong with rules, gathered while they are compiled, so that all of it is told at once."""

from __future__ import annotations

from dataclasses import replace

from krm_fn.admission.response import Cause, Finding
from krm_fn.admission.rule import Rule, RuleRef
from krm_fn.errors import RuleError
from krm_fn.values import Path, format_path


class Diagnostics:
    """Errors and findings about rules, in the order in which they are reported."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._errors: list[str] = []

    def error(self, rule: Rule, message: str, path: Path = ()) -> None:
        """A rule cannot be used. `path` is the field that the message is about."""
        place = rule.place(path)
        text = f"{rule.ref}: {message}"
        self._errors.append(f"{place}: {text}" if place else text)

    def warning(self, rule: Rule, message: str, path: Path = ()) -> None:
        """A rule may not do what its author means; reported with the line of the field."""
        ref = rule.ref
        if ref.origin is not None and ref.origin.line is not None and rule.line is not None:
            ref = replace(ref, origin=replace(ref.origin, line=rule.line(path)))
        ref = replace(ref, part=format_path(path))
        self.findings.append(Finding(Cause.WARNING, False, message, (ref,)))

    def report(self, cause: Cause, message: str, *rules: RuleRef) -> None:
        """Something about rules as a whole that denies nothing."""
        self.findings.append(Finding(cause, False, message, rules))

    def raise_errors(self) -> None:
        """Raise RuleError with a line for each error, if there is any."""
        if self._errors:
            raise RuleError.of(self._errors)
