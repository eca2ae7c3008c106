"""ModRules, from manifests to the plugin. Collects everything that is wrong and says it at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from krm_fn.admission import Cause, Cluster, Compiled, Finding, Rule
from krm_fn.config.fields import Section
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.modrule.chance import read_chance
from krm_fn.dialects.modrule.hints import hints
from krm_fn.dialects.modrule.plugin import KubeMod, in_order
from krm_fn.dialects.modrule.rule import (
    CompiledRule,
    Problem,
    compile_rule,
    decisions,
    validate,
)
from krm_fn.dialects.modrule.scope import Scope
from krm_fn.dialects.modrule.spec import (
    DecodeError,
    ModRuleSpec,
    decode,
    template_engine,
    unknown_fields,
)
from krm_fn.errors import RuleError
from krm_fn.values import Path

API_VERSION = "api.kubemod.io/v1beta1"


class ModRules:
    """The dialect of KubeMod."""

    def compile(
        self, rules: Sequence[Rule], options: Mapping[str, Any], cluster: Cluster
    ) -> Compiled:
        """Compile all rules. Options: `modRules` (a Section or None), `onRuleError`, and `lint`
        (say everything that may be a mistake).

        Raises RuleError with a line for everything that is wrong.
        """
        scope = read_scope(options.get("modRules"), cluster.default_namespace)
        problems: list[str] = []
        findings: list[Finding] = []
        compiled: list[CompiledRule] = []
        for rule in rules:
            made = self._compile_one(rule, findings, bool(options.get("lint")))
            if isinstance(made, CompiledRule):
                compiled.append(made)
            else:
                problems += made
        if problems:
            raise RuleError.of(problems)
        on_error = options.get("onRuleError", OnRuleError.FAIL)
        plugins = (KubeMod(in_order(compiled, scope), scope, on_error),) if compiled else ()
        return Compiled(plugins, tuple(findings))

    def _compile_one(
        self, rule: Rule, findings: list[Finding], lint: bool
    ) -> CompiledRule | list[str]:
        """A compiled rule with findings about it, or everything that is wrong with it."""
        ref = rule.ref
        api_version = rule.value.get("apiVersion")
        if api_version != API_VERSION:
            return [_problem(rule, "apiVersion", f" is {api_version}; use {API_VERSION}")]
        if not ref.name:
            return [_problem(rule, "metadata.name", " is required")]
        raw = rule.value.get("spec")
        try:
            spec = decode(raw)._replace(template_engine=template_engine(rule.value))
        except DecodeError as error:
            return [_problem(rule, error.field, f" {error.message}")]
        made = compile_rule(ref, spec)
        problems = _problems(spec, [] if isinstance(made, CompiledRule) else made)
        unknown = list(unknown_fields(raw))
        if problems or not isinstance(made, CompiledRule):
            texts = [_problem(rule, p.field, f": {p.message}") for p in problems]
            texts += [_problem(rule, field, f": unknown field{hint}") for field, hint in unknown]
            return texts
        findings += (
            _warning(rule, field, f": unknown field, which a cluster drops without a word{hint}")
            for field, hint in unknown
        )
        findings += (_warning(rule, hint.field, f": {hint.message}") for hint in hints(made, lint))
        return made


def _problems(spec: ModRuleSpec, loading: Iterable[Problem]) -> list[Problem]:
    """What a rule is refused for, one problem a field: webhook and schema often say the same."""
    refused = validate(spec)
    if not refused:
        never = " (a cluster would store the rule and never use it)"
        loading = [problem._replace(message=problem.message + never) for problem in loading]
    first: dict[str, Problem] = {}
    for problem in (*refused, *loading, *decisions(spec)):
        first.setdefault(problem.field, problem)
    return list(first.values())


def _problem(rule: Rule, field: str, text: str) -> str:
    place = rule.place(_path(field))
    return f"{place}: {rule.ref}: {field}{text}" if place else f"{rule.ref}: {field}{text}"


def _warning(rule: Rule, field: str, text: str) -> Finding:
    ref = rule.ref
    if ref.origin is not None and ref.origin.line is not None and rule.line is not None:
        ref = replace(ref, origin=replace(ref.origin, line=rule.line(_path(field))))
    return Finding(Cause.WARNING, False, f"{field}{text}", (replace(ref, part=field),))


_STEP: Final = re.compile(r"\[([0-9]+)\]|([^.\[\]]+)")


def _path(field: str) -> Path:
    """The path of a field that is given as text: `spec.match[1].select`."""
    return tuple(int(index) if index else name for index, name in _STEP.findall(field))


def read_scope(section: Section | None, default_namespace: str) -> Scope:
    """The section `modRules`. Raises ConfigError."""
    if section is None:
        return Scope(default_namespace=default_namespace)
    usual = Scope()
    scope = Scope(
        section.string("clusterRulesNamespace") or usual.cluster_rules_namespace,
        default_namespace,
        frozenset(name.lower() for name in section.strings("targetResources")),
        frozenset(section.strings("ignoredNamespaces", tuple(sorted(usual.ignored_namespaces)))),
        read_chance(section),
    )
    section.done()
    return scope


DIALECT = ModRules()
