"""Rules to plugins: each dialect of which there are rules is loaded and compiles its own."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from krm_fn.admission import Finding, Plugin, Rule
from krm_fn.admission.diagnostics import Diagnostics
from krm_fn.config.dialect import CompileContext, Dialect
from krm_fn.config.dialects import DIALECTS, DialectEntry
from krm_fn.config.fields import Section
from krm_fn.config.options import Options, PodTemplates
from krm_fn.config.sources import Stage
from krm_fn.run.knowledge import Knowledge
from krm_fn.system import progress


class SharedPlugins:
    """The plugins of rules for several runs, which differ in objects and in what they are told.

    Rules are shared that are the very same objects in both runs, of dialects that hold nothing of
    the cluster, where no custom kind is defined.
    """

    def __init__(self) -> None:
        self._known: dict[object, tuple[object, Sequence[Plugin], list[Finding]]] = {}

    def compiled(
        self,
        entry: DialectEntry,
        rules: Sequence[Rule],
        context: CompileContext,
        known: Knowledge,
        options: Options,
    ) -> Sequence[Plugin]:
        """The plugins of a dialect's rules, compiled where they are not known."""
        if not entry.shareable or known.definitions:
            plugins = _load(entry).compile(rules, context)
            context.section.done()
            return plugins
        used = (*rules, *context.bindings, options.sections.get(entry.section))
        key = (
            entry.name,
            tuple(map(id, used)),
            repr(options.context.user),
            options.object_form,
            options.context.default_namespace,
            options.context.kubernetes_version,
            (options.on_rule_error, options.strict, options.base),
            (context.lint, context.complete, context.is_last),
        )
        if key not in self._known:
            before = len(context.diagnostics.findings)
            plugins = _load(entry).compile(rules, context)
            context.section.done()
            # What has its id in the key is kept, so that nothing else gets it.
            self._known[key] = used, plugins, context.diagnostics.findings[before:]
            return plugins
        _, plugins, findings = self._known[key]
        context.diagnostics.findings += findings
        return plugins


def compile_rules(
    stages: Sequence[Stage],
    known: Knowledge,
    *,
    lint: bool = False,
    shared: SharedPlugins | None = None,
) -> tuple[list[Plugin], list[Finding]]:
    """The plugins of the first stage's rules, and what there is to say of the rules.

    `known` is what `knowledge_of` says of these stages.
    Raises ConfigError for a section of the options, RuleError for all that is wrong with rules.
    """
    options, rules = stages[0].options, stages[0].rules
    complete = frozenset(kind for stage in stages for kind in stage.options.context.complete)
    progress.begin("compiling rules")
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
            [rule for rule in rules.bindings if rule.ref.dialect == entry.name],
            known.served,
            options.context.kubernetes_version,
            options.on_rule_error,
            options.strict,
            lint,
            options.base,
            complete,
            has_templates_as_pods=options.pod_templates is not PodTemplates.IGNORE,
            is_last=len(stages) == 1,
        )
        if shared is not None:
            plugins += shared.compiled(entry, own, context, known, options)
        else:
            plugins += _load(entry).compile(own, context)
            section.done()
    diagnostics.raise_errors()
    return plugins, diagnostics.findings


def _load(entry: DialectEntry) -> Dialect:
    module, _, name = entry.target.partition(":")
    dialect: Dialect = getattr(importlib.import_module(module), name)
    return dialect
