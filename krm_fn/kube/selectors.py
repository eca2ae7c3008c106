"""Label selectors, as Kubernetes evaluates them, and as text (`app=web,tier in (a,b)`).

A selector asked about labels that are not known answers None: undecided.
Source: apimachinery pkg/labels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from krm_fn.errors import ConfigError
from krm_fn.lang.go.strconv import quote

Labels = Mapping[str, str]


def texts(value: Any) -> Labels:
    """What a map of labels or annotations holds; what is no text, no API server takes."""
    if type(value) is not dict:
        return {}
    return {key: text for key, text in value.items() if type(text) is str}


class Requirement(NamedTuple):
    """One condition on a label: operator In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Labels) -> bool:
        if self.operator == "In":
            return labels.get(self.key) in self.values
        if self.operator == "NotIn":
            return labels.get(self.key) not in self.values
        return (self.key in labels) == (self.operator == "Exists")


class Selector(NamedTuple):
    """All requirements must hold; without any, everything matches."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)


_KEY: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_TERM: Final = re.compile(
    rf"\s*(?:(?P<absent>!)\s*(?P<nokey>{_KEY})"
    rf"|(?P<key>{_KEY})\s*(?:(?P<op>==|=|!=)\s*(?P<value>[-A-Za-z0-9_.]*)"
    rf"|\s(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?)\s*(?:,|$)"
)


def parse_selector(text: str) -> Selector:
    """A selector from its text form, as kubectl's --selector takes it. Raises ConfigError."""
    requirements: list[Requirement] = []
    at = 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or match.end() == at:
            raise ConfigError(
                f"not a label selector: {text!r} (like: app=web,tier!=front,env in (a,b),!old)"
            )
        requirements.append(_requirement(match))
        at = match.end()
    return Selector(tuple(requirements))


def _requirement(match: re.Match[str]) -> Requirement:
    if match["absent"]:
        return Requirement(match["nokey"], "DoesNotExist")
    if match["set"]:
        values = frozenset(value.strip() for value in match["values"].split(","))
        return Requirement(match["key"], "In" if match["set"] == "in" else "NotIn", values)
    if match["op"]:
        operator = "NotIn" if match["op"] == "!=" else "In"
        return Requirement(match["key"], operator, frozenset((match["value"],)))
    return Requirement(match["key"], "Exists")


def from_labels(labels: Labels) -> Selector:
    """The selector that wants exactly these labels (and allows others)."""
    return Selector(
        tuple(Requirement(key, "In", frozenset((value,))) for key, value in labels.items())
    )


class SelectorError(ConfigError):
    """A label selector of an object that Kubernetes would refuse, in its own words."""


def from_label_selector(value: Mapping[str, Any] | None) -> Selector:
    """The selector that a `LabelSelector` (matchLabels, matchExpressions) stands for.

    Without any requirement it matches everything; None is taken for that, as the APIs default it.
    Raises SelectorError. Source: apimachinery pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector.
    """
    value = value or {}
    requirements = []
    labels = value.get("matchLabels") or {}
    for key in sorted(labels):
        _check(key, "In", [labels[key]])
        requirements.append(Requirement(key, "In", frozenset((labels[key],))))
    for expression in value.get("matchExpressions") or ():
        operator = expression.get("operator", "")
        if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            raise SelectorError(f"{quote(operator)} is not a valid label selector operator")
        key, values = expression.get("key", ""), expression.get("values") or []
        _check(key, operator, values)
        requirements.append(Requirement(key, operator, frozenset(values)))
    return Selector(tuple(requirements))


_PLAIN: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def _check(key: str, operator: str, values: Sequence[str]) -> None:
    """Raise SelectorError for a requirement that cannot be made."""
    wrong = []
    if not _PLAIN.fullmatch(key):
        wrong += _refused("key", key, is_key=True)
    if operator in ("In", "NotIn"):
        if not values:
            text = "for 'in', 'notin' operators, values set can't be empty"
            wrong.append(f"values: Invalid value: null: {text}")
    elif values:
        shown = ",".join(map(quote, values))
        text = "values set must be empty for exists and does not exist"
        wrong.append(f"values: Invalid value: [{shown}]: {text}")
    for n, text in enumerate(values):
        if text and not _PLAIN.fullmatch(text):
            wrong += _refused(f"values[{n}][{key}]", text, is_key=False)
    if wrong:
        raise SelectorError(wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]")


def _refused(field: str, text: str, *, is_key: bool) -> list[str]:
    from krm_fn.kube.validation import names  # few texts are odd

    check = names.qualified_name if is_key else names.label_value
    reasons = check(text, names.KUBERNETES_1_37)
    return [f"{field}: Invalid value: {quote(text)}: {'; '.join(reasons)}"] if reasons else []
