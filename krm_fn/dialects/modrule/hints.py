"""What in a rule is valid and surely not meant, told when the rule is loaded.

Only what is almost certainly a mistake is told on every run.
Source: the ModRule specification, sections 2 and 9; KubeMod's own README has some of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from krm_fn.config.fields import did_you_mean
from krm_fn.dialects.modrule.rule import CompiledRule
from krm_fn.dialects.modrule.spec import MatchItem, PatchItem
from krm_fn.kube.fieldnames import FIELD_NAMES

_MEMBER: Final = re.compile(r"\.\s*([A-Za-z_][A-Za-z0-9_]*)")
_ABSENT_IS_TRUE: Final = re.compile(r"\b(isEmpty|isUndefined)\s*\(")


def hints(rule: CompiledRule) -> Iterator[tuple[str, str]]:
    """(part of the rule, sentence) for each."""
    for n, item in enumerate(rule.spec.match or ()):
        part = f"spec.match[{n}]"
        for message in (*_quoted_text(item), *_ignored_criterion(item)):
            yield part, f"{part}: {message}"
        for message in _misspelt(item.select):
            yield part, f"{part}.select: {message}"
    for n, patch in enumerate(rule.spec.patch):
        part = f"spec.patch[{n}]"
        for message in _misspelt(patch.select or ""):
            yield part, f"{part}.select: {message}"
        for message in _path(patch):
            yield part, f"{part}.path: {message}"


def _quoted_text(item: MatchItem) -> Iterator[str]:
    """`matchValue: '"true"'` is compared quotes and all; only a patch's value needs them."""
    values = item.match_values if item.match_value is None else (item.match_value,)
    for value in values:
        if len(value) > 1 and value[0] == value[-1] == '"':
            yield (
                f"the text is compared with its quotes, so it never matches {value[1:-1]}; "
                f"write '{value[1:-1]}'"
            )


def _ignored_criterion(item: MatchItem) -> Iterator[str]:
    given = [
        name
        for name, there in (
            ("matchValue", item.match_value is not None),
            ("matchValues", bool(item.match_values)),
            ("matchRegex", item.match_regex is not None),
        )
        if there
    ]
    if len(given) > 1:
        yield f"only {given[0]} counts; {' and '.join(given[1:])} is ignored"


def _misspelt(select: str) -> Iterator[str]:
    """A member that Kubernetes does not know, one letter from one that it does."""
    for name in dict.fromkeys(_MEMBER.findall(select)):
        if name in FIELD_NAMES or len(name) < 5:
            continue
        near = [known for known in FIELD_NAMES if _one_edit_apart(name, known)]
        if not near:
            continue
        effect = ""
        if _ABSENT_IS_TRUE.search(select):
            effect = ", and what is missing counts as empty: everything is selected"
        yield f"no field is called {name}{did_you_mean(name, near).rstrip('?')}{effect}"


def _one_edit_apart(a: str, b: str) -> bool:
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    short, long = sorted((a, b), key=len)
    for n, (x, y) in enumerate(zip(short, long, strict=False)):
        if x != y:
            return short[n:] == long[n + 1 :] or (
                len(a) == len(b) and short[n + 1 :] == long[n + 1 :]
            )
    return True


def _path(item: PatchItem) -> Iterator[str]:
    if item.op == "add" and item.path.endswith("/-"):
        yield (
            "a list that is missing becomes a map with the key `-`; "
            "write /-1, which makes the list and appends"
        )
    if item.select is None and re.search(r"/#[0-9]", item.path):
        yield "without a select, #0 and the like are taken as they stand"
