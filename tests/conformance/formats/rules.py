"""Whole rules on an object: the object after all patches, or the rejections.

Runs with `onRuleError: AsCluster` and with the rules in the order of the case, as KubeMod's store
has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from formats.numbers import same
from krm_fn.admission import RuleRef
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.modrule.engine import EngineOutcome, RuleEngine
from krm_fn.dialects.modrule.rule import (
    CompiledRule,
    compile_rule,
    decisions,
    load_problems,
    validate,
)
from krm_fn.dialects.modrule.scope import ModRuleScope
from krm_fn.dialects.modrule.spec import DecodeError, decode
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import EvaluationError
from krm_fn.values import get

NOT_BUILT = re.compile(r"function \S+ is not available yet")


@dataclass(frozen=True)
class Answer:
    """What this project makes of a case."""

    load_errors: list[int]
    """The rules that KubeMod's store would not load either."""
    refused: dict[int, str]
    """The rules that load there and are an error here, each with the reason."""
    outcome: EngineOutcome
    not_built: str = ""

    def __str__(self) -> str:
        outcome = self.outcome
        said = [finding.message for finding in outcome.findings]
        return (
            f"load_errors {self.load_errors}, refused {self.refused}, object {outcome.document}, "
            f"rejections {outcome.rejections}, untouched {outcome.untouched!r}, findings {said}"
        )


def _load(text: str) -> tuple[CompiledRule | None, str, str]:
    """A rule as KubeMod's store loads it (or the problem), and why this project refuses it."""
    try:
        manifest = read_value(text)
        spec = decode(manifest.get("spec"))
    except (DecodeError, EvaluationError) as error:
        return None, str(error), ""
    metadata = manifest.get("metadata") or {}
    ref = RuleRef("modrule", "ModRule", metadata.get("namespace", ""), metadata.get("name", ""))
    made = compile_rule(ref, spec)
    if not isinstance(made, CompiledRule):
        return None, str(made[0]), ""
    refused = [*validate(spec), *decisions(spec)]
    return made, "", str(refused[0]) if refused else ""


def _ordered(rules: list[CompiledRule], scope: ModRuleScope) -> list[CompiledRule]:
    """The list of kubemod-system comes first; inside a list, the order of loading."""
    return sorted(rules, key=lambda rule: not scope.is_cluster_rule(rule))


def run(case: dict[str, Any]) -> Answer:
    """The rules that do not load, and what the others make of the object."""
    scope = ModRuleScope()
    loaded = [_load(text) for text in case["rules"]]
    namespace = case["namespace"]
    candidates = [
        rule
        for rule in _ordered([rule for rule, _, _ in loaded if rule is not None], scope)
        if scope.sees(rule, namespace) and case["operation"] in rule.spec.admission_operations
    ]
    engine = RuleEngine(candidates, OnRuleError.AS_CLUSTER)
    return Answer(
        [n for n, (rule, _, _) in enumerate(loaded) if rule is None],
        {n: reason for n, (_, _, reason) in enumerate(loaded) if reason},
        engine.run(case["object"], namespace),
        next((problem for _, problem, _ in loaded if NOT_BUILT.search(problem)), ""),
    )


def _fits(expected: dict[str, Any], case: dict[str, Any], answer: Answer) -> bool:
    outcome = answer.outcome
    if answer.refused or answer.load_errors != sorted(e["index"] for e in expected["load_errors"]):
        return False
    if "object" not in expected:  # it failed or crashed: the object passes as it came
        return bool(outcome.untouched) and outcome.document is case["object"]
    return (
        not outcome.untouched
        and same(expected["object"], outcome.document)
        and expected["rejections"] == outcome.rejections
    )


# ------------------------------------------------------------------------------------- conditions


def _specs(case: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    for n, text in enumerate(case["rules"]):
        try:
            spec = read_value(text).get("spec") or {}
            decode(spec)
        except (DecodeError, EvaluationError):
            continue
        yield n, spec


def _mangled_paths(case: dict[str, Any]) -> set[int]:
    return {
        n
        for n, spec in _specs(case)
        for item in spec.get("patch") or ()
        if re.search(r'^(?!/)|["\\]', item.get("path") or "")
        or ("%" in (item.get("path") or "") and item.get("select"))
    }


def _never_stored(case: dict[str, Any]) -> set[int]:
    """Rules that load and do not validate; the vectors of `validate` hold both to the reference."""
    decoded = {n: decode(spec) for n, spec in _specs(case)}
    return {n for n, spec in decoded.items() if validate(spec) and not load_problems(spec)}


def _wrapped(case: dict[str, Any]) -> set[int]:
    return {
        n
        for n, spec in _specs(case)
        for item in spec.get("patch") or ()
        if re.search(r",\s*#", item.get("select") or "")
    }


def _listed_twice(case: dict[str, Any]) -> bool:
    cluster_rules = ModRuleScope().cluster_rules_namespace
    loaded = [rule for rule, _, _ in map(_load, case["rules"]) if rule is not None]
    return case["namespace"] == cluster_rules and any(
        rule.namespace_regex is not None and rule.namespace_regex.search(cluster_rules)
        for rule in loaded
        if ModRuleScope().is_cluster_rule(rule)
    )


_ALL_OF = re.compile(r"\$((?:\.[a-zA-Z]+)+)\[\*\](?:\.([a-zA-Z]+)\[\*\])?")


def _emptied(case: dict[str, Any], document: Any) -> Iterator[list[Any]]:
    """The lists, as they are in a document, of which a rule removes all elements one by one."""
    for _, spec in _specs(case):
        for item in spec.get("patch") or ():
            lists = _ALL_OF.fullmatch(item.get("select") or "")
            if item.get("op") == "remove" and lists and re.search(r"/#\d$", item["path"]):
                outer = get(document, tuple(lists[1].split(".")[1:]), [])
                yield from [element.get(lists[2], []) for element in outer] if lists[2] else [outer]


def _empties(case: dict[str, Any]) -> bool:
    return any(len(elements) > 1 for elements in _emptied(case, case["object"]))


CONDITIONS = (
    Condition(
        "a patch's path that has a quote or a backslash, that has a % where there is a select, or "
        "that does not start with /",
        "KubeMod mangles such a path (pastes it into JSON text, takes it for a format, drops what "
        "stands before the first slash): the rule is a load error",
        lambda case: bool(_mangled_paths(case)),
        lambda case, answer: set(answer.refused) == _mangled_paths(case),
    ),
    Condition(
        "a rule that loads, but that the API server or the webhook refuses",
        "the case shows what the rule store would do with a rule that cannot get there; here it is "
        "the load error that the cluster would show",
        lambda case: bool(_never_stored(case)),
        lambda case, answer: set(answer.refused) == _never_stored(case),
    ),
    Condition(
        "a patch's select that compiles only between the braces that KubeMod puts around it",
        "several selects in one are no documented feature, and the webhook refuses them where "
        "there is a value: the rule is a load error",
        lambda case: bool(_wrapped(case)),
        lambda case, answer: _wrapped(case) <= set(answer.load_errors),
    ),
    Condition(
        "a rule of kubemod-system whose targetNamespaceRegex finds kubemod-system, for an object "
        "in there",
        "KubeMod lists the rule twice and applies it twice, which nobody wants: it applies once",
        _listed_twice,
        lambda case, answer: same(_once(case), answer.outcome.document),
    ),
    Condition(
        "the removal of several elements of a list by their captured indexes, all of them",
        "KubeMod removes in random order, mostly ascending, so that indexes shift and some "
        "elements stay; here removals go from the end, and all elements go",
        _empties,
        lambda case, answer: not any(_emptied(case, answer.outcome.document)),
    ),
)


def _once(case: dict[str, Any]) -> Any:
    """The object that the same rules make without their regular expression: listed once."""
    plain = [re.sub(r"(?m)^ *targetNamespaceRegex:.*\n", "", text) for text in case["rules"]]
    return run(dict(case, rules=plain)).outcome.document


def check(case: dict[str, Any]) -> Verdict:
    result = case["result"]
    answer = run(case)
    if answer.not_built:
        return Verdict(False, skip=answer.not_built)
    fits = any(_fits(outcome, case, answer) for outcome in result.get("outcomes", [result]))
    return decide(CONDITIONS, case, fits, result, answer)
