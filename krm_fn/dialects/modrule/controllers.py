"""What rules ask of labels that only a Pod's controller sets, which no template has.

A select is any expression, so that a label is found by its quoted name in the text. Whether a rule
holds is the engine's to say; here is only which rules to be careful with.
Source: the specification of Pods at render time, P2.
"""

from __future__ import annotations

from dataclasses import dataclass

from krm_fn.dialects.modrule.criteria import MatchCriterion
from krm_fn.dialects.modrule.rule import CompiledRule
from krm_fn.errors import LimitError
from krm_fn.kube.podtemplates import CONTROLLER_LABELS
from krm_fn.values import Json, get


@dataclass(frozen=True, slots=True)
class Asking:
    """The labels that a rule's selects name, and those of its criteria that name none."""

    labels: tuple[str, ...]
    others: tuple[MatchCriterion, ...]

    def unknown(self, document: Json) -> tuple[str, ...]:
        """The labels that a template lacks, where the rule hangs on them alone."""
        labels = get(document, ("metadata", "labels"))
        missing = tuple(key for key in self.labels if get(labels, (key,)) is None)
        try:
            alone = all(criterion.holds(document) for criterion in self.others)
        except LimitError:  # which the engine tells
            alone = False
        return missing if alone else ()


def asking(rule: CompiledRule) -> Asking | None:
    """What a rule asks of such labels; None where it asks nothing."""
    selects = [criterion.item.select for criterion in rule.criteria]
    selects += [item.select for item in rule.spec.patch if item.select]
    labels = sorted({label for select in selects for label in _named(select)})
    if not labels:
        return None
    others = [criterion for criterion in rule.criteria if not _named(criterion.item.select)]
    return Asking(tuple(labels), tuple(others))


def _named(select: str) -> list[str]:
    return [key for key in CONTROLLER_LABELS if f'"{key}"' in select or f"`{key}`" in select]
