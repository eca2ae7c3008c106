"""Rules to plugins: each dialect of which there are rules is loaded and compiles its own."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from krm_fn.admission import Finding, Plugin
from krm_fn.admission.diagnostics import Diagnostics
from krm_fn.config.dialect import CompileContext, Dialect
from krm_fn.config.dialects import DIALECTS, DialectEntry
from krm_fn.config.fields import Section
from krm_fn.config.sources import Stage
from krm_fn.run.knowledge import Knowledge


def compile_rules(
    stages: Sequence[Stage], known: Knowledge, *, lint: bool = False
) -> tuple[list[Plugin], list[Finding]]:
    """The plugins of the first stage's rules, and what there is to say of the rules.

    `known` is what `knowledge_of` says of these stages.
    Raises ConfigError for a section of the options, RuleError for all that is wrong with rules.
    """
    options, rules = stages[0].options, stages[0].rules
    complete = frozenset(kind for stage in stages for kind in stage.options.context.complete)
    diagnostics = Diagnostics()
    plugins: list[Plugin] = []
    for entry in DIALECTS:
        own = [rule for rule in rules.rules if rule.ref.dialect == entry.name]
        section = options.sections.get(entry.section) if entry.has_rules else known.built_in
        if not own and section is None:
            continue
        section = section if section is not None else Section({}, entry.section)
        context = CompileContext(
            diagnostics,
            section,
            known.cluster,
            [rule for rule in rules.readable if rule.ref.dialect == entry.name],
            known.served,
            options.context.kubernetes_version,
            options.on_rule_error,
            options.strict,
            lint,
            options.base,
            complete,
            is_last=len(stages) == 1,
        )
        plugins += _load(entry).compile(own, context)
        section.done()
    diagnostics.raise_errors()
    return plugins, diagnostics.findings


def _load(entry: DialectEntry) -> Dialect:
    module, _, name = entry.target.partition(":")
    dialect: Dialect = getattr(importlib.import_module(module), name)
    return dialect
