"""ModRules, from manifests to the plugin. Collects everything that is wrong and says it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from krm_fn.admission import Cause, Cluster, Compiled, Finding, Rule, RuleRef
from krm_fn.config.admission import OnRuleError
from krm_fn.config.fields import Section
from krm_fn.dialects.modrule.hints import hints
from krm_fn.dialects.modrule.plugin import KubeMod, in_order
from krm_fn.dialects.modrule.rule import CompiledRule, compile_rule, decisions, validate
from krm_fn.dialects.modrule.scope import Scope
from krm_fn.dialects.modrule.spec import DecodeError, decode, unknown_fields
from krm_fn.errors import RuleError

API_VERSION = "api.kubemod.io/v1beta1"


class ModRules:
    """The dialect of KubeMod."""

    def compile(
        self, rules: Sequence[Rule], options: Mapping[str, Any], cluster: Cluster
    ) -> Compiled:
        """Compile all rules. Options: `modRules` (a Section or None) and `onRuleError`.

        Raises RuleError with a line for everything that is wrong.
        """
        scope = read_scope(options.get("modRules"), cluster.default_namespace)
        problems: list[str] = []
        findings: list[Finding] = []
        compiled: list[CompiledRule] = []
        for rule in rules:
            made = self._compile_one(rule, findings)
            if isinstance(made, CompiledRule):
                compiled.append(made)
            else:
                problems += made
        if problems:
            raise RuleError("\n".join(problems))
        on_error = options.get("onRuleError", OnRuleError.FAIL)
        plugins = (KubeMod(in_order(compiled, scope), scope, on_error),) if compiled else ()
        return Compiled(plugins, tuple(findings))

    def check_options(self, section: Section) -> None:
        """Refuse what is wrong in the section `modRules`, also where no ModRule uses it."""
        read_scope(section, "default")

    def _compile_one(self, rule: Rule, findings: list[Finding]) -> CompiledRule | list[str]:
        ref = rule.ref
        value = rule.value
        if value.get("apiVersion") != API_VERSION:
            return [_problem(ref, f"apiVersion is {value.get('apiVersion')}; use {API_VERSION}")]
        if not ref.name:
            return [_problem(ref, "metadata.name is required")]
        raw = value.get("spec")
        unknown = [f"unknown field {field}{hint}" for field, hint in unknown_fields(raw)]
        try:
            spec = decode(raw)
        except DecodeError as error:
            return [_problem(ref, str(error))]
        problems = [str(problem) for problem in _once(validate(spec))]
        made = None if problems else compile_rule(ref, spec)
        if isinstance(made, list):
            problems = [
                f"{problem} (a cluster would store the rule and never use it)" for problem in made
            ]
        problems += [str(problem) for problem in decisions(spec)]
        if problems:
            return [_problem(ref, text) for text in problems + unknown]
        assert isinstance(made, CompiledRule)
        findings += (
            Finding(Cause.WARNING, False, f"{text}; a cluster drops it without a word", (ref,))
            for text in unknown
        )
        findings += (
            Finding(Cause.WARNING, False, message, (replace(ref, part=part),))
            for part, message in hints(made)
        )
        return made


def _once(problems: Sequence[Any]) -> Iterator[Any]:
    """One problem a field: the webhook and the schema often say the same."""
    seen: set[str] = set()
    for problem in problems:
        if problem.field not in seen:
            seen.add(problem.field)
            yield problem


def _problem(ref: RuleRef, text: str) -> str:
    place = f"{ref.origin}: " if ref.origin else ""
    return f"{place}{ref}: {text}"


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
    )
    for name in ("clock", "seed"):
        if section.string(name):
            raise section.error(name, " is not available in this version")
    section.done()
    return scope


DIALECT = ModRules()
