"""What Kubernetes says of names, keys and values that it does not take: its own sentences.

Each function returns the complaints about a string, none where it is good. Knows no field.
Source: apimachinery pkg/util/validation/validation.go, of Kubernetes 1.32 and 1.37.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

_QUALIFIED: Final = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE: Final = rf"({_QUALIFIED})?"
_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035: Final = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_VARIABLE: Final = r"[-._a-zA-Z][-._a-zA-Z0-9]*"
_CONFIG_KEY: Final = r"[-._a-zA-Z0-9]+"
_HEADER: Final = r"[-A-Za-z0-9]+"

_QUALIFIED_SIGNS: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)
_LOWER: Final = "must consist of lower case alphanumeric characters"
_ENDS: Final = "and must start and end with an alphanumeric character"


class Wording(NamedTuple):
    """How a release words what differs between them."""

    unit: str
    """What long keys and values are counted in."""
    key: str
    """What a qualified name is called."""


KUBERNETES_1_32: Final = Wording("characters", "a qualified name")
KUBERNETES_1_37: Final = Wording("bytes", "a valid label key")


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def fits(pattern: str, text: str) -> bool:
    return _pattern(pattern).fullmatch(text) is not None


def regex_error(message: str, pattern: str, *examples: str) -> str:
    """A complaint with examples of what is good and the pattern that says so."""
    if not examples:
        return f"{message} (regex used for validation is '{pattern}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{message} (e.g. {shown}regex used for validation is '{pattern}')"


def too_long(most: int, unit: str = "characters") -> str:
    return f"must be no more than {most} {unit}"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def qualified_name(text: str, wording: Wording = KUBERNETES_1_32) -> list[str]:
    """A label's or an annotation's key."""
    prefix, slash, name = text.partition("/")
    problems: list[str] = []
    if not slash:
        name = text
    elif "/" in name:
        message = f"{wording.key} {_QUALIFIED_SIGNS}"
        whole = regex_error(message, _QUALIFIED, "MyName", "my.name", "123-abc")
        return [
            f"{whole} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    elif not prefix:
        problems.append("prefix part must be non-empty")
    else:
        problems += (f"prefix part {problem}" for problem in dns_subdomain(prefix, wording.unit))
    if not name:
        problems.append("name part must be non-empty")
    elif _size(name) > 63:
        problems.append(f"name part {too_long(63, wording.unit)}")
    if not fits(_QUALIFIED, name):
        message = f"name part {_QUALIFIED_SIGNS}"
        problems.append(regex_error(message, _QUALIFIED, "MyName", "my.name", "123-abc"))
    return problems


def label_value(text: str, wording: Wording = KUBERNETES_1_32) -> list[str]:
    problems = [too_long(63, wording.unit)] if _size(text) > 63 else []
    if not fits(_LABEL_VALUE, text):
        message = (
            f"a valid label must be an empty string or {_QUALIFIED_SIGNS.removeprefix('must ')}"
        )
        problems.append(regex_error(message, _LABEL_VALUE, "MyValue", "my_value", "12345"))
    return problems


def dns_label(text: str) -> list[str]:
    """A label of a name in the DNS by RFC 1123."""
    problems = [too_long(63)] if _size(text) > 63 else []
    if not fits(_LABEL, text):
        if fits(_SUBDOMAIN, text):
            return [*problems, "must not contain dots"]
        message = f"a lowercase RFC 1123 label {_LOWER} or '-', {_ENDS}"
        problems.append(regex_error(message, _LABEL, "my-name", "123-abc"))
    return problems


def dns_1035_label(text: str) -> list[str]:
    """A label of a name in the DNS by RFC 1035, which starts with a letter."""
    problems = [too_long(63)] if _size(text) > 63 else []
    if not fits(_LABEL_1035, text):
        message = (
            f"a DNS-1035 label {_LOWER} or '-', start with an alphabetic character, and end with "
            "an alphanumeric character"
        )
        problems.append(regex_error(message, _LABEL_1035, "my-name", "abc-123"))
    return problems


def dns_subdomain(text: str, unit: str = "characters") -> list[str]:
    """A name in the DNS by RFC 1123."""
    problems = [too_long(253, unit)] if _size(text) > 253 else []
    if not fits(_SUBDOMAIN, text):
        message = f"a lowercase RFC 1123 subdomain {_LOWER}, '-' or '.', {_ENDS}"
        problems.append(regex_error(message, _SUBDOMAIN, "example.com"))
    return problems


def variable_name(text: str) -> list[str]:
    problems = []
    if not fits(_VARIABLE, text):
        message = (
            "a valid environment variable name must consist of alphabetic characters, digits, "
            "'_', '-', or '.', and must not start with a digit"
        )
        examples = ("my.env-name", "MY_ENV.NAME", "MyEnvName1")
        problems.append(regex_error(message, _VARIABLE, *examples))
    return problems + _dots(text, "'.'", "'..'")


def config_key(text: str) -> list[str]:
    """A key of a ConfigMap or a Secret."""
    problems = [too_long(253)] if _size(text) > 253 else []
    if not fits(_CONFIG_KEY, text):
        message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        examples = ("key.name", "KEY_NAME", "key-name")
        problems.append(regex_error(message, _CONFIG_KEY, *examples))
    return problems + _dots(text, "'.'", "'..'")


def _dots(text: str, one: str, two: str) -> list[str]:
    if text == ".":
        return [f"must not be {one}"]
    if text == "..":
        return [f"must not be {two}"]
    return [f"must not start with {two}"] if text.startswith("..") else []


def port_name(text: str) -> list[str]:
    problems = []
    if _size(text) > 15:
        problems.append(too_long(15))
    if not fits("[-a-z0-9]+", text):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        problems.append("must contain at least one letter (a-z)")
    if "--" in text:
        problems.append("must not contain consecutive hyphens")
    if text and (text[0] == "-" or text[-1] == "-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def port_number(number: int) -> list[str]:
    return [] if 1 <= number <= 65535 else ["must be between 1 and 65535, inclusive"]


def header_name(text: str) -> list[str]:
    if fits(_HEADER, text):
        return []
    message = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return [regex_error(message, _HEADER, "X-Header-Name")]
