"""Texts, and what Go's YAML readers make of them: the value as go-yaml v3 decodes it, or an error.

This project reads as go-yaml v3 does where it decodes into JSON-like values; the exceptions are the
conditions below, each with its reason and with the answer that this project gives instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml.cyaml import CParser

from formats import Verdict
from krm_fn.errors import KrmFnError
from krm_fn.wire.compose import compose

ERROR = "ERR"


def _first_root(text: str) -> Any:
    roots = compose(text.removeprefix("\ufeff")).roots
    return roots[0].value if roots else None


def _shape(value: Any) -> Any:
    """A value in the notation of the vectors: scalars as `type:text`."""
    if isinstance(value, dict):
        return {k: _shape(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_shape(v) for v in value]
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"bool:{str(value).lower()}"
    if isinstance(value, int):
        return f"int:{value}"
    if isinstance(value, float):
        if math.isnan(value):
            return "float:NaN"
        if math.isinf(value):
            return "float:+Inf" if value > 0 else "float:-Inf"
        return f"float:{value!r}"
    return f"str:{value}"


def _normal(expected: Any) -> Any:
    """The vector's answer with keys as JSON has them (the vectors append a key's type) and with
    what go-yaml calls a timestamp as the text it is."""
    if isinstance(expected, dict):
        return {_key(k): _normal(v) for k, v in expected.items()}
    if isinstance(expected, list):
        return [_normal(v) for v in expected]
    return expected


def _key(key: str) -> str:
    for kind in (":int", ":float64", ":bool", ":uint64", ":string"):
        if key.endswith(kind):
            return key.removesuffix(kind)
    return key


def _reads_as_error(case: dict[str, Any]) -> bool:
    return isinstance(case["go_yaml_v3"], str) and case["go_yaml_v3"].startswith(ERROR)


def _is_timestamp(case: dict[str, Any]) -> bool:
    return "time.Time:" in str(case["go_yaml_v3"])


def _has_null_key(case: dict[str, Any]) -> bool:
    return "<nil>:" in str(case["go_yaml_v3"])


def _tag_is_no_uri(case: dict[str, Any]) -> bool:
    return re.match(r"a: !\S*['\[\]?]", case["text"]) is not None and not _reads_as_error(case)


CONDITIONS: list[tuple[str, Callable[[dict[str, Any]], bool], Callable[[dict[str, Any]], Any]]] = [
    (
        "a timestamp stays the text that was written: JSON has no dates, and the API server's "
        "reader gives back the text",
        _is_timestamp,
        lambda case: {"a": "str:" + case["text"].removeprefix("a: ").strip()},
    ),
    (
        "a null key is refused: the API server's reader refuses it, and JSON has no such key",
        _has_null_key,
        lambda case: ERROR,
    ),
    (
        "a tag with characters that no URI has is refused: libyaml refuses it, go-yaml does not",
        _tag_is_no_uri,
        lambda case: {"a": "str:"} if _libyaml_takes(case["text"]) else ERROR,
    ),
]


def _libyaml_takes(text: str) -> bool:
    try:
        list(yaml.parse(text, Loader=CParser))
    except yaml.YAMLError:
        return False
    return True


def check(case: dict[str, Any]) -> Verdict:
    try:
        actual = _shape(_first_root(case["text"]))
    except KrmFnError as error:
        actual = f"{ERROR} {error}"
    for _, applies, instead in CONDITIONS:
        if applies(case):
            answer = instead(case)
            failed = isinstance(actual, str) and actual.startswith(ERROR)
            matches = failed if answer == ERROR else actual == answer
            return Verdict(matches, answer, actual)
    if _reads_as_error(case):
        failed = isinstance(actual, str) and actual.startswith(ERROR)
        return Verdict(failed, case["go_yaml_v3"], actual)
    return Verdict.compare(_normal(case["go_yaml_v3"]), actual)
