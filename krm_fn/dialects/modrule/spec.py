"""A ModRule's fields, decoded as Go decodes them: wrong types are errors, null is absent.

Source: KubeMod api/v1beta1/modrule_types.go; the ModRule specification, section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from krm_fn.config.fields import describe
from krm_fn.errors import did_you_mean
from krm_fn.values import get

PATCH: Final = "Patch"
REJECT: Final = "Reject"
DEFAULT_OPERATIONS: Final = ("CREATE", "UPDATE")
GO_TEMPLATES: Final = "go"
JINJA2: Final = "jinja2"
ENGINE_ANNOTATION: Final = "krm-fn.dev/template-engine"
_INT16: Final = range(-(2**15), 2**15)

Decoded = TypeVar("Decoded")


class DecodeError(Exception):
    """A field has a type that the rule cannot have; in a cluster nothing else is looked at."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")
        self.field = field
        self.message = message


class MatchItem(NamedTuple):
    """One criterion of `spec.match`. What is None was absent or null."""

    select: str = ""
    match_value: str | None = None
    match_values: tuple[str, ...] = ()
    match_regex: str | None = None
    match_for: str = "Any"
    negate: bool = False


class PatchItem(NamedTuple):
    """One operation of `spec.patch`."""

    op: str = ""
    path: str = ""
    select: str | None = None
    value: str | None = None


class ModRuleSpec(NamedTuple):
    """The spec of a ModRule, with the defaults that KubeMod's webhook fills in."""

    type: str = ""
    match: tuple[MatchItem, ...] | None = None
    patch: tuple[PatchItem, ...] = ()
    reject_message: str | None = None
    execution_tier: int = 0
    target_namespace_regex: str | None = None
    admission_operations: tuple[str, ...] = DEFAULT_OPERATIONS
    template_engine: str = GO_TEMPLATES
    """The language of `value` and `rejectMessage`, which an annotation chooses."""


def template_engine(manifest: Mapping[str, Any]) -> str:
    """What a manifest's annotation says its templates are in. Raises DecodeError."""
    annotations = get(manifest, ("metadata", "annotations"))
    if type(annotations) is not dict or ENGINE_ANNOTATION not in annotations:
        return GO_TEMPLATES
    engine = annotations[ENGINE_ANNOTATION]
    if engine == JINJA2:
        return JINJA2
    hint = did_you_mean(engine, (JINJA2,)) if type(engine) is str else ""
    raise DecodeError(
        "metadata.annotations",
        f"has {ENGINE_ANNOTATION}: {engine}{hint or f'; there is only {JINJA2}'}"
        " (without it, templates are Go's)",
    )


def decode(value: Any) -> ModRuleSpec:
    """The spec of a manifest. Raises DecodeError for the first field of a wrong type."""
    spec = _Fields(value, "spec")
    match = spec.list("match", _match_item)
    operations = spec.list("admissionOperations", _text) or list(DEFAULT_OPERATIONS)
    return ModRuleSpec(
        type=spec.text("type") or "",
        match=None if match is None else tuple(match),
        patch=tuple(spec.list("patch", _patch_item) or ()),
        reject_message=spec.text("rejectMessage"),
        execution_tier=spec.tier("executionTier"),
        target_namespace_regex=spec.text("targetNamespaceRegex"),
        admission_operations=tuple(operations),
    )


def _match_item(value: Any, field: str) -> MatchItem:
    item = _Fields(value, field)
    return MatchItem(
        select=item.text("select") or "",
        match_value=item.text("matchValue"),
        match_values=tuple(item.list("matchValues", _text) or ()),
        match_regex=item.text("matchRegex"),
        match_for=item.text("matchFor") or "Any",
        negate=item.boolean("negate"),
    )


def _patch_item(value: Any, field: str) -> PatchItem:
    item = _Fields(value, field)
    return PatchItem(
        op=item.text("op") or "",
        path=item.text("path") or "",
        select=item.text("select"),
        value=item.text("value"),
    )


def _text(value: Any, field: str) -> str:
    if value is None:
        return ""
    if type(value) is not str:
        raise DecodeError(field, f"is {describe(value)}; it must be a string: {_quoted(value)}")
    return value


def _quoted(value: Any) -> str:
    if type(value) in (bool, int, float):
        text = str(value).lower() if type(value) is bool else str(value)
        return f"write '{text}' with the quotes"
    return "quote it, or write it as a block after `|-`"


class _Fields:
    """The members of a map, by type; the names are those of the JSON tags."""

    def __init__(self, value: Any, field: str) -> None:
        if value is None:
            value = {}
        if type(value) is not dict:
            raise DecodeError(field, f"is {describe(value)}; it must be a map")
        self._value: dict[str, Any] = value
        self._field = field

    def text(self, name: str) -> str | None:
        value = self._value.get(name)
        return None if value is None else _text(value, f"{self._field}.{name}")

    def boolean(self, name: str) -> bool:
        value = self._value.get(name)
        if value is None or type(value) is bool:
            return bool(value)
        field = f"{self._field}.{name}"
        raise DecodeError(field, f"is {describe(value)}; it must be true or false, unquoted")

    def tier(self, name: str) -> int:
        value = self._value.get(name)
        if value is None:
            return 0
        field = f"{self._field}.{name}"
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise DecodeError(field, f"is {describe(value)}; it must be an integer, unquoted")
        if value not in _INT16:
            raise DecodeError(field, f"is {value}; it must be an integer between -32767 and 32766")
        return value

    def list(self, name: str, decode_one: Callable[[Any, str], Decoded]) -> list[Decoded] | None:
        value = self._value.get(name)
        if value is None:
            return None
        field = f"{self._field}.{name}"
        if type(value) is not list:
            raise DecodeError(field, f"is {describe(value)}; it must be a list")
        return [decode_one(member, f"{field}[{n}]") for n, member in enumerate(value)]


_KNOWN: Final = {
    "spec": (
        "type",
        "match",
        "patch",
        "rejectMessage",
        "executionTier",
        "targetNamespaceRegex",
        "admissionOperations",
    ),
    "match": ("select", "matchValue", "matchValues", "matchRegex", "matchFor", "negate"),
    "patch": ("op", "path", "select", "value"),
}


def unknown_fields(value: Any) -> Iterator[tuple[str, str]]:
    """Fields that a ModRule does not have, which a cluster drops silently: (field, hint)."""
    if type(value) is not dict:
        return
    yield from _unknown(value, "spec", "spec")
    for part in ("match", "patch"):
        members = value.get(part)
        for n, member in enumerate(members if type(members) is list else ()):
            if type(member) is dict:
                yield from _unknown(member, part, f"spec.{part}[{n}]")


def _unknown(value: dict[str, Any], known: str, field: str) -> Iterator[tuple[str, str]]:
    for name in value:
        if name not in _KNOWN[known]:
            yield f"{field}.{name}", did_you_mean(name, _KNOWN[known])
