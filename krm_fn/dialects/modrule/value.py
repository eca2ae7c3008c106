"""The value of a patch: from the text that a template rendered to JSON, as KubeMod reads it.

KubeMod hands the text to sigs.k8s.io/yaml: the first document counts, `y` and `on` are booleans
(as keys, too), dates stay texts, the last of equal keys wins.
Source: sigs.k8s.io/yaml YAMLToJSON over yaml.v2 v2.3.0; the ModRule specification, section 3.4.
"""

from __future__ import annotations

import math
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.wire import YamlError
from krm_fn.wire.compose import Reader, compose_first
from krm_fn.wire.scalars import resolve_sigs

_SIGS: Final = Reader(resolve=resolve_sigs, duplicate_keys=True)


def read_value(text: str) -> Any:
    """The JSON value of a rendered text. Raises EvaluationError."""
    try:
        node = compose_first(text, _SIGS)
    except YamlError as error:
        raise EvaluationError(f"the value is not valid YAML: {error.message}") from None
    return None if node is None else _as_json(node.value)


def _as_json(value: Any) -> Any:
    """Floats that JSON prints without a fraction become integers; NaN and infinity are errors."""
    kind = type(value)
    if kind is float:
        if math.isnan(value) or math.isinf(value):
            raise EvaluationError("the value has a .nan or .inf, which JSON does not have")
        if value.is_integer() and abs(value) < 1e21 and not (value == 0 and str(value)[0] == "-"):
            return int(value)
        return value
    if kind is dict:
        return {key: _as_json(member) for key, member in value.items()}
    if kind is list:
        return [_as_json(member) for member in value]
    return value
