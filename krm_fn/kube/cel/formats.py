"""Named formats, and what they say about a string.

Source: apiserver v0.37, pkg/cel/library/format.go; apimachinery v0.37, pkg/util/validation;
kube-openapi, pkg/validation/strfmt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.kube.validation import names
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload
from krm_fn.lang.cel.regexes import compile_pattern
from krm_fn.lang.cel.times import parse_timestamp
from krm_fn.lang.cel.values import NO_OVERLOAD, NONE, Optional, Value
from krm_fn.lang.go.release import Release
from krm_fn.lang.go.url import UrlError, check_request_uri

FORMAT: Final = t.struct("kubernetes.NamedFormat")

Check = Callable[[str], list[str]]
"""From a string to what is wrong with it."""


class Format(Value):
    """A format; `size` is how long a regular expression for it would be, for costs."""

    __slots__ = ("check", "name", "size")
    type = FORMAT
    go_type = "cel.Format"

    def __init__(self, name: str, check: Check, size: int) -> None:
        self.name = name
        self.check = check
        self.size = size

    def equal(self, other: Any) -> bool:
        if not isinstance(other, Format):
            raise EvaluationError(NO_OVERLOAD)
        return self.name == other.name


def _as_prefix(check: Check) -> Check:
    """A name to which something will be added may end in a dash."""

    def run(text: str) -> list[str]:
        return check(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)

    return run


def _qualified_name(text: str) -> list[str]:
    return names.qualified_name(text, names.KUBERNETES_1_37)


def _label_value(text: str) -> list[str]:
    return names.label_value(text, names.KUBERNETES_1_37)


def _uri(text: str) -> list[str]:
    try:
        check_request_uri(text, Release.GO_1_26)
    except UrlError as error:
        return [str(error)]
    return []


def _by_pattern(pattern: str, message: str) -> Check:
    return lambda text: [] if compile_pattern(pattern).search(text) else [message]


_UUID: Final = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"
_BASE64: Final = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$"
_TIME: Final = "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"


def _is_date(text: str) -> bool:
    if len(text) != 10 or not compile_pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$").search(text):
        return False
    try:
        return parse_timestamp(f"{text}T00:00:00Z") is not None
    except EvaluationError:
        # Year 0: a date, though no timestamp.
        return True


def _date(text: str) -> list[str]:
    return [] if _is_date(text) else ["invalid date"]


def _datetime(text: str) -> list[str]:
    parts = text.lower().split("t")
    if len(parts) > 1 and _is_date(parts[0]) and compile_pattern(_TIME).search(parts[1]):
        hour, minute, second = parts[1][:2], parts[1][3:5], parts[1][6:8]
        if hour <= "23" and minute <= "59" and second <= "59":
            return []
    return ["invalid datetime"]


FORMATS: Final[dict[str, Format]] = {
    "dns1123Label": Format("DNS1123Label", names.dns_label, 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", names.dns_subdomain, 60),
    "dns1035Label": Format("DNS1035Label", names.dns_1035_label, 30),
    "qualifiedName": Format("QualifiedName", _qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _as_prefix(names.dns_label), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _as_prefix(names.dns_subdomain), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _as_prefix(names.dns_1035_label), 30),
    "labelValue": Format("LabelValue", _label_value, 40),
    "uri": Format("URI", _uri, 1103),
    "uuid": Format("uuid", _by_pattern(_UUID, "does not match the UUID format"), len(_UUID)),
    "byte": Format("byte", _by_pattern(_BASE64, "invalid base64"), 84),
    "date": Format("date", _date, len(_TIME)),
    "datetime": Format("datetime", _datetime, len(_TIME)),
}
"""The formats by the names that `format.named` takes."""


def _named(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


def _validate(known: Format, text: str) -> Optional:
    wrong = known.check(text)
    return Optional(wrong) if wrong else NONE


def _work(known: Format, text: str) -> int:
    return 20 + len(text)


def library() -> Library:
    """The functions on formats."""
    wrong = t.optional_of(t.list_of(t.STRING))
    named = t.optional_of(FORMAT)
    return Library(
        [
            Function(
                "validate",
                [
                    Overload(
                        "format-validate", (FORMAT, t.STRING), wrong, _validate,
                        member=True, work=_work,
                    )
                ],
            ),
            Function("format.named", [Overload("format-named", (t.STRING,), named, _named)]),
            *[_constant(name, value) for name, value in FORMATS.items()],
        ]
    )  # fmt: skip


def _constant(name: str, value: Format) -> Function:
    return Function(f"format.{name}", [Overload(f"format.{name}", (), FORMAT, lambda: value)])
