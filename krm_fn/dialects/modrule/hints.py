"""What in a rule is valid and surely not meant, told when the rule is loaded.

Only what is almost certainly a mistake is told on every run: a rule that decides in the cluster as
its author meant stays without a word. Reads compiled rules; evaluates nothing.
Source: the ModRule specification, sections 2 and 9; KubeMod's own README has some of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from krm_fn.dialects.modrule.criteria import MatchCriterion
from krm_fn.dialects.modrule.keyparts import expand_key_parts
from krm_fn.dialects.modrule.rule import CompiledOperation, CompiledRule
from krm_fn.dialects.modrule.spec import ENGINE_ANNOTATION, JINJA2, MatchItem
from krm_fn.dialects.modrule.value import boolean_words, read_value
from krm_fn.errors import did_you_mean
from krm_fn.kube.schema import field_names
from krm_fn.lang.select import FanOut, Select
from krm_fn.lang.select.lint import lint
from krm_fn.lang.select.nodes import Call, Constant, Node
from krm_fn.lang.select.operators import Binary, Prefix
from krm_fn.lang.select.paths import Child, Path
from krm_fn.lang.select.tree import walk


class Hint(NamedTuple):
    """A field of the rule and a sentence about it."""

    field: str
    message: str


def hints(rule: CompiledRule, every: bool = False) -> Iterator[Hint]:
    """What there is to say about a rule, in the order of its fields.

    With `every` also what is right in some rules and a trap in others, as a lint asks for.
    """
    if every and rule.spec.template_engine == JINJA2:
        message = f"{ENGINE_ANNOTATION} is not KubeMod's, which reads the templates as Go's"
        yield Hint("metadata.annotations", message)
    for n, criterion in enumerate(rule.criteria):
        field = f"spec.match[{n}]"
        yield from (Hint(field, message) for message in _criterion(criterion))
        yield from (Hint(f"{field}.select", m) for m in _select(criterion.select, every))
    for n, operation in enumerate(rule.operations):
        field = f"spec.patch[{n}]"
        if operation.fan_out is not None:
            yield from (Hint(f"{field}.select", m) for m in _select(operation.fan_out, every))
        yield from (Hint(f"{field}.path", message) for message in _path(operation))
        if rule.spec.template_engine != JINJA2:
            yield from (Hint(f"{field}.value", message) for message in _key_part(operation))
        yield from (Hint(f"{field}.value", message) for message in _boolean_words(operation))
    if set(rule.spec.admission_operations) == {"DELETE"}:
        yield Hint("spec.admissionOperations", "nothing is deleted here; the rule is never asked")
    elif every and "DELETE" in rule.spec.admission_operations and rule.operations:
        message = "a patch on DELETE fails the request in a cluster: there is no object to change"
        yield Hint("spec.admissionOperations", message)


# ------------------------------------------------------------------------------------------ match


def _criterion(criterion: MatchCriterion) -> Iterator[str]:
    given = _given(criterion.item)
    if given and _is_boolean(criterion.select.node):
        yield f"the select gives true or false, which alone decides; {given[0]} is ignored"
        return
    if len(given) > 1:
        verb = "is" if len(given) == 2 else "are"
        yield f"only {given[0]} counts; {' and '.join(given[1:])} {verb} ignored"
    yield from _quoted_text(criterion.item)


def _given(item: MatchItem) -> list[str]:
    there = {
        "matchValue": item.match_value is not None,
        "matchValues": bool(item.match_values),
        "matchRegex": item.match_regex is not None,
    }
    return [name for name, is_there in there.items() if is_there]


def _is_boolean(node: Node) -> bool:
    if isinstance(node, Binary):
        return node.operator in _DECIDING
    if isinstance(node, Call):
        return node.name.startswith("is")
    return isinstance(node, Prefix) and node.operator == "!"


_DECIDING: Final = frozenset(("==", "!=", "<", "<=", ">", ">=", "=~", "!~", "in", "&&", "||"))


def _quoted_text(item: MatchItem) -> Iterator[str]:
    """`matchValue: '"true"'` is compared quotes and all; only a patch's value needs them."""
    values = item.match_values if item.match_value is None else (item.match_value,)
    for value in values:
        if len(value) > 1 and value[0] == value[-1] == '"':
            yield (
                f"the text is compared with its quotes, so it never matches {value[1:-1]}; "
                f"write '{value[1:-1]}'"
            )


# ---------------------------------------------------------------------------------------- selects


def _select(select: Select | FanOut, every: bool) -> Iterator[str]:
    tree = select.node if isinstance(select, Select) else select.path
    for trap in lint(select.text, tree):
        if every or trap.code in _MISTAKES:
            yield f"{trap.line}:{trap.column}: {trap.message}"
    yield from _misspelt(tree)


_MISTAKES: Final = frozenset(
    ("bad-regex", "bare-filter", "empty-range", "length-in-list", "negative-index")
)
"""Traps that nobody walks into on purpose."""


def _misspelt(tree: Node) -> Iterator[str]:
    """A member that Kubernetes does not know, one letter from one that it does."""
    absent_is_true = any(
        isinstance(part, Call) and part.name in ("isEmpty", "isUndefined") for part in walk(tree)
    )
    effect = ", and what is missing counts as empty: everything is selected"
    for name in dict.fromkeys(_members(tree)):
        near = _near(name)
        if near:
            hint = did_you_mean(name, near).rstrip("?")
            yield f"no field is called {name}{hint}{effect if absent_is_true else ''}"


def _members(tree: Node) -> Iterator[str]:
    """The names of members on the way of every path, but not the keys of maps of texts."""
    for part in walk(tree):
        if not isinstance(part, Path):
            continue
        for selector in part.selectors:
            if isinstance(selector, Child) and isinstance(selector.key, Constant):
                name = selector.key.value
                if type(name) is str:
                    yield name
                    if name in _MAPS_OF_TEXTS:
                        break


_MAPS_OF_TEXTS: Final = frozenset(
    ("labels", "annotations", "matchLabels", "nodeSelector", "data", "stringData", "binaryData")
)
_TOO_SHORT: Final = 6
"""Shorter names have neighbours by chance."""


_MORE_NAMES: Final = frozenset(
    (
        "memory",
        "overprovisioning",
        "podInfo",
        "podTemplate",
        "provider",
        "scheduler",
        "syntheticRefs",
        "verifiedBy",
    )
)
"""Names of resources, of KubeMod's own and of custom resources that stand next to a field's."""


def _near(name: str) -> list[str]:
    if len(name) < _TOO_SHORT or name in _MORE_NAMES or name in field_names():
        return []
    return [
        known
        for known in sorted(field_names() | _MORE_NAMES)
        if _one_edit_apart(name, known) and name.rstrip("s") != known.rstrip("s")
    ]


def _one_edit_apart(a: str, b: str) -> bool:
    """Whether one letter is missing, too many or another one."""
    if abs(len(a) - len(b)) > 1:
        return False
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    rests = (a[same:], b[same:])
    return rests[0][1:] == rests[1][1:] or rests[0] == rests[1][1:] or rests[0][1:] == rests[1]


# ------------------------------------------------------------------------------------------ patch


def _path(operation: CompiledOperation) -> Iterator[str]:
    item = operation.item
    if item.op == "add" and item.path.endswith("/-"):
        yield (
            "a list that is missing becomes a map with the key `-`; "
            "write /-1, which makes the list and appends"
        )
    if operation.fan_out is None and re.search(r"/#[0-9]", item.path):
        yield "without a select, #0 and the like are taken as they stand"


def _key_part(operation: CompiledOperation) -> Iterator[str]:
    outside = _ACTION.sub("", operation.item.value or "")
    if expand_key_parts(outside) != outside:
        yield "outside of {{ }}, .#0 becomes the text (index .SelectKeyParts 0)"


_ACTION: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def _boolean_words(operation: CompiledOperation) -> Iterator[str]:
    value = operation.item.value
    if operation.is_constant and value is not None:
        for word in dict.fromkeys(boolean_words(value)):
            yield f"{word} is the boolean {str(read_value(word)).lower()}; quote it for a text"
