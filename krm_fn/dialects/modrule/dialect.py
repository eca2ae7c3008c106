"""ModRules, from manifests to the plugin. Collects everything that is wrong and says it at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from krm_fn.admission import Plugin, Rule
from krm_fn.config.dialect import CompileContext
from krm_fn.config.fields import Section
from krm_fn.dialects.modrule.chance import read_chance
from krm_fn.dialects.modrule.hints import hints
from krm_fn.dialects.modrule.plugin import KubeMod, in_order
from krm_fn.dialects.modrule.rule import (
    CompiledRule,
    RuleProblem,
    compile_rule,
    decisions,
    validate,
)
from krm_fn.dialects.modrule.scope import ModRuleScope
from krm_fn.dialects.modrule.spec import (
    DecodeError,
    ModRuleSpec,
    decode,
    template_engine,
    unknown_fields,
)
from krm_fn.values import Path

API_VERSION = "api.kubemod.io/v1beta1"


class ModRules:
    """The dialect of KubeMod."""

    def compile(self, rules: Sequence[Rule], context: CompileContext) -> Sequence[Plugin]:
        """All ModRules as one plugin; none where there is no rule. Raises ConfigError."""
        scope = read_scope(context.section, context.cluster.default_namespace)
        compiled = [rule for rule in (_compile_one(rule, context) for rule in rules) if rule]
        if not compiled:
            return ()
        return (KubeMod(in_order(compiled, scope), scope, context.on_rule_error),)


def _compile_one(rule: Rule, context: CompileContext) -> CompiledRule | None:
    """A compiled rule; None where it cannot be used, which the diagnostics then say."""
    report = context.diagnostics
    api_version = rule.value.get("apiVersion")
    if api_version != API_VERSION:
        message = f"apiVersion is {api_version}; use {API_VERSION}"
        report.error(rule, message, ("apiVersion",))
        return None
    if not rule.ref.name:
        report.error(rule, "metadata.name is required", ("metadata", "name"))
        return None
    raw = rule.value.get("spec")
    try:
        spec = decode(raw)._replace(template_engine=template_engine(rule.value))
    except DecodeError as error:
        report.error(rule, f"{error.field} {error.message}", _path(error.field))
        return None
    compiled = compile_rule(rule.ref, spec)
    problems = _problems(spec, [] if isinstance(compiled, CompiledRule) else compiled)
    unknown = list(unknown_fields(raw))
    if problems or not isinstance(compiled, CompiledRule):
        for problem in problems:
            report.error(rule, f"{problem.field}: {problem.message}", _path(problem.field))
        for field, suggestion in unknown:
            report.error(rule, f"{field}: unknown field{suggestion}", _path(field))
        return None
    for field, suggestion in unknown:
        message = f"{field}: unknown field, which a cluster drops without a word{suggestion}"
        report.warning(rule, message, _path(field))
    for hint in hints(compiled, context.lint):
        report.warning(rule, f"{hint.field}: {hint.message}", _path(hint.field))
    return compiled


def _problems(spec: ModRuleSpec, loading: Iterable[RuleProblem]) -> list[RuleProblem]:
    """What a rule is refused for, one problem a field: webhook and schema often say the same."""
    refused = validate(spec)
    if not refused:
        never = " (a cluster would store the rule and never use it)"
        loading = [problem._replace(message=problem.message + never) for problem in loading]
    first: dict[str, RuleProblem] = {}
    for problem in (*refused, *loading, *decisions(spec)):
        first.setdefault(problem.field, problem)
    return list(first.values())


_STEP: Final = re.compile(r"\[([0-9]+)\]|([^.\[\]]+)")


def _path(field: str) -> Path:
    """The path of a field that is given as text: `spec.match[1].select`."""
    return tuple(int(index) if index else name for index, name in _STEP.findall(field))


def read_scope(section: Section, default_namespace: str) -> ModRuleScope:
    """The section `modRules`. Raises ConfigError."""
    usual = ModRuleScope()
    return ModRuleScope(
        section.string("clusterRulesNamespace") or usual.cluster_rules_namespace,
        default_namespace,
        frozenset(name.lower() for name in section.strings("targetResources")),
        frozenset(section.strings("ignoredNamespaces", tuple(sorted(usual.ignored_namespaces)))),
        read_chance(section),
    )


DIALECT = ModRules()
