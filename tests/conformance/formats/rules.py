"""Whole rules on an object: the object after all patches, or the rejections.

Runs with `onRuleError: AsCluster` and with the rules in the order of the case, as KubeMod's store
has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from formats import Verdict
from formats.numbers import same
from krm_fn.admission import RuleRef, Trace
from krm_fn.config.admission import OnRuleError
from krm_fn.dialects.modrule.engine import Engine, Outcome
from krm_fn.dialects.modrule.rule import CompiledRule, compile_rule, decisions
from krm_fn.dialects.modrule.scope import Scope
from krm_fn.dialects.modrule.spec import DecodeError, decode
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import EvaluationError


def _load(text: str) -> CompiledRule | str:
    """A rule as KubeMod's store loads it, without its webhook's validation."""
    try:
        manifest = read_value(text)
        spec = decode(manifest.get("spec"))
    except (DecodeError, EvaluationError) as error:
        return str(error)
    metadata = manifest.get("metadata") or {}
    ref = RuleRef("modrule", "ModRule", metadata.get("namespace", ""), metadata.get("name", ""))
    made = compile_rule(ref, spec)
    return made if isinstance(made, CompiledRule) else str(made[0])


def _ordered(rules: list[CompiledRule], scope: Scope) -> list[CompiledRule]:
    """The list of kubemod-system comes first; inside a list, the order of loading."""
    return sorted(rules, key=lambda rule: not scope.is_cluster_rule(rule))


def run(case: dict[str, Any], scope: Scope) -> tuple[list[int], Outcome]:
    """The indexes of the rules that do not load, and what the others make of the object."""
    loaded = [_load(text) for text in case["rules"]]
    errors = [n for n, rule in enumerate(loaded) if isinstance(rule, str)]
    namespace = case["namespace"]
    candidates = [
        rule
        for rule in _ordered([r for r in loaded if isinstance(r, CompiledRule)], scope)
        if scope.sees(rule, namespace) and case["operation"] in rule.spec.admission_operations
    ]
    engine = Engine(candidates, OnRuleError.AS_CLUSTER, Trace())
    return errors, engine.run(case["object"], namespace)


def _fits(expected: dict[str, Any], case: dict[str, Any], outcome: Outcome) -> bool:
    if "object" not in expected:  # it failed or crashed: the object passes as it came
        return bool(outcome.untouched) and outcome.document is case["object"]
    return (
        not outcome.untouched
        and same(expected["object"], outcome.document)
        and expected["rejections"] == outcome.rejections
    )


CONDITIONS: list[tuple[str, Callable[[dict[str, Any]], bool], Callable[[Outcome], bool]]] = []


def check(case: dict[str, Any]) -> Verdict:
    result = case["result"]
    errors, outcome = run(case, Scope())
    actual = {
        "load_errors": errors,
        "object": outcome.document,
        "rejections": outcome.rejections,
        "untouched": outcome.untouched,
        "findings": [f.message for f in outcome.findings],
    }
    outcomes = result.get("outcomes", [result])
    if errors != sorted(error["index"] for error in outcomes[0]["load_errors"]):
        return Verdict.failed(result, actual)
    return Verdict(any(_fits(o, case, outcome) for o in outcomes), result, actual)


__all__ = ["check", "decisions", "run"]
