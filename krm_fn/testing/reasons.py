"""Why a case failed: the explanation of the rules that the failure is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from krm_fn.report.explaintext import rule_lines
from krm_fn.report.explanation import ExplainedRule, Explanation, RuleOutcome, key_of
from krm_fn.testing.compare import Failure
from krm_fn.testing.suite import Case

_RULES: Final = 3
"""How many rules are explained; `krm-fn explain` tells the rest."""
_WIDTH: Final = 88


def reasons(case: Case, failure: Failure, explained: Explanation) -> Iterator[str]:
    """The explanation of the rules that made what came, else of those that were expected to act,
    else of those that were asked."""
    about = [one for one in explained.objects if failure.head in (None, one.entry.head)]
    rules = [rule for one in about for rule in one.rules]
    made = {key_of(ref) for ref in failure.rules}
    named = set(case.expect.rules or ()) | {m.rule for m in case.expect.messages or () if m.rule}
    concerned = [rule for rule in rules if key_of(rule.ref) in made]
    missing = {line[1:] for line in failure.came if line.startswith("-")}
    concerned += [rule for rule in rules if _is_named(rule, missing) and rule not in concerned]
    if not concerned:
        concerned = [rule for rule in rules if _is_named(rule, named)]
    if not concerned:
        concerned = [rule for rule in rules if rule.outcome is not RuleOutcome.NOT_ASKED]
    for rule in concerned[:_RULES]:
        for line in rule_lines(rule, _WIDTH, verbose=False):
            yield line.removeprefix("  ")
    if len(concerned) > _RULES:
        yield f"... and {len(concerned) - _RULES} more; krm-fn explain tells all"


def _is_named(rule: ExplainedRule, names: set[str]) -> bool:
    return bool(names & {rule.ref.name, f"{rule.ref.kind}/{rule.ref.name}"})
