"""A dialect's rules compiled, as a run does it, for tests that need the plugins themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from krm_fn.admission import Cluster, Finding, Plugin, Rule
from krm_fn.admission.diagnostics import Diagnostics
from krm_fn.config.dialect import CompileContext, Dialect
from krm_fn.config.fields import Section


class Compiled(NamedTuple):
    plugins: tuple[Plugin, ...]
    findings: tuple[Finding, ...]


def compile_with(
    dialect: Dialect,
    rules: Sequence[Rule],
    cluster: Cluster | None = None,
    section: Section | Mapping[str, Any] | None = None,
    **context: Any,
) -> Compiled:
    """The plugins and findings of rules. Raises RuleError and ConfigError."""
    if not isinstance(section, Section):
        section = Section(dict(section or {}), "section")
    diagnostics = Diagnostics()
    given = CompileContext(diagnostics, section, cluster or Cluster(), **context)
    plugins = tuple(dialect.compile(rules, given))
    section.done()
    diagnostics.raise_errors()
    return Compiled(plugins, tuple(diagnostics.findings))
