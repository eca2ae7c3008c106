"""CEL expressions: vectors/policies/README-cel.md.

Compared: the value, the static type, the phase of an error and its text (of syntax errors and
panics the phase only), and what the patcher makes of a mutation's value.
"""

from __future__ import annotations

import base64
import json
import math
from functools import cache
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.kube.cel import (
    STORED,
    Pool,
    Variables,
    authz,
    environment,
    evaluate,
    json_patch,
    object_patch,
    parse_version,
    views,
)
from krm_fn.kube.cel.evaluation import CONDITIONS_COST, POLICY_COST
from krm_fn.kube.cel.formats import Format
from krm_fn.kube.cel.net import Address, Network
from krm_fn.kube.cel.objects import JSON_PATCH, OBJECT, ObjectValue, PatchValue
from krm_fn.kube.cel.patches import MarshalError, merged_json
from krm_fn.kube.cel.quantity import QuantityValue
from krm_fn.kube.cel.semver import Semver
from krm_fn.kube.cel.urls import UrlValue
from krm_fn.kube.quantity import Quantity
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.lang.cel import Duration, Environment, Optional, Timestamp, UInt, types
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.times import format_timestamp
from krm_fn.lang.go.strconv import format_float

RETURNS: dict[str, list[types.Type]] = {
    "Object": [OBJECT],
    "list(JSONPatch)": [types.list_of(JSON_PATCH)],
    "bool": [types.BOOL],
    "string": [types.STRING],
    "string|null": [types.STRING, types.NULL],
}

CONDITIONS = [
    Condition(
        when="an optional index into a typed list is of the wrong type",
        why="upstream puts the error into an optional value, from where it comes out later",
        applies=lambda case: "error" in ((case["result"].get("value") or {}).get("optional") or {}),
        holds=lambda case, actual: (
            actual.get("error")
            == {"phase": "runtime", "text": case["result"]["value"]["optional"]["error"]}
        ),
    )
]


# Inputs


def _numbers(value: Any) -> Any:
    """JSON's integers beyond int64 are doubles."""
    if type(value) is int and not v.INT_MIN <= value <= v.INT_MAX:
        return float(value)
    if isinstance(value, list):
        return [_numbers(element) for element in value]
    if isinstance(value, dict):
        return {key: _numbers(element) for key, element in value.items()}
    return value


@cache
def _served() -> Served:
    return Served(Schemas())


@cache
def _typed(text: str) -> Any:
    return _served().typed(json.loads(text))


def _as_text(value: Any) -> Any:
    """A custom params object has been through JSON's text, where 2.0 is 2."""
    if isinstance(value, float) and value == int(value) and abs(value) < 1e21:
        return int(value)
    if isinstance(value, list):
        return [_as_text(element) for element in value]
    if isinstance(value, dict):
        return {key: _as_text(element) for key, element in value.items()}
    return value


def _object(value: Any, typed: bool) -> Any:
    if value is None or not typed:
        return _numbers(value)
    return _typed(json.dumps(value))


def _request(value: Any) -> Any:
    """The request as its Go struct has it: without the empty fields that may be left out."""
    if value is None:
        return None
    value = dict(value)
    kept = {key: part for key, part in value.items() if part not in ("", None, {}, [])}
    made: dict[str, Any] = {
        "kind": {"group": "", "version": "", "kind": ""},
        "resource": {"group": "", "version": "", "resource": ""},
        "operation": "",
        "userInfo": {},
        "uid": "",
        "object": None,
        "oldObject": None,
        "options": None,
    }
    for key, part in kept.items():
        made[key] = {**made[key], **part} if isinstance(made.get(key), dict) else part
    for name, blank in (("requestKind", "kind"), ("requestResource", "resource")):
        if name in made:
            made[name] = {"group": "", "version": "", blank: "", **made[name]}
    user = made["userInfo"]
    made["userInfo"] = {key: part for key, part in user.items() if part not in ("", None, {}, [])}
    return views.request(made)


_METADATA = {
    *("name", "generateName", "namespace", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers"),
    "uid",
}


def _namespace(value: Any) -> Any:
    if value is None:
        return None
    empty: tuple[Any, ...] = ("", None, {}, [], 0)
    given = value.get("metadata") or {}
    metadata = {k: part for k, part in given.items() if k in _METADATA and part not in empty}
    made: dict[str, Any] = {"metadata": metadata, "spec": {}, "status": {}}
    for part in ("spec", "status"):
        fields = value.get(part) or {}
        made[part] = {key: field for key, field in fields.items() if field not in empty}
    for condition in made["status"].get("conditions", ()):
        condition.setdefault("lastTransitionTime", None)
    return views.namespace(made)


def _answer(question: authz.Question) -> authz.Decision:
    return authz.Decision(allowed=False)


# Outputs


def _double(value: float) -> str:
    return "-0" if value == 0 and math.copysign(1, value) < 0 else format_float(value)


def _duration(nanos: int) -> str:
    """Go's text of a duration, as `time.Duration.String`."""
    if nanos == 0:
        return "0s"
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    if nanos < 1_000_000_000:
        for unit, size in (("ms", 1_000_000), ("µs", 1_000), ("ns", 1)):
            if nanos >= size:
                return f"{sign}{_decimal(nanos, size)}{unit}"
    minutes, rest = divmod(nanos, 60_000_000_000)
    text = f"{_decimal(rest, 1_000_000_000)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
    return sign + text


def _decimal(number: int, unit: int) -> str:
    whole, rest = divmod(number, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).rjust(len(str(unit)) - 1, '0').rstrip('0')}"


def encode(value: Any) -> Any:
    """A value as the vectors have it."""
    kind = type(value)
    if value is None:
        return {"null": True}
    if kind is bool:
        return {"bool": value}
    if kind is int:
        return {"int": str(value)}
    if kind is UInt:
        return {"uint": str(value.value)}
    if kind is float:
        return {"double": _double(value)}
    if kind is str:
        return {"string": value}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if v.is_list(value):
        return {"list": [encode(element) for element in value]}
    if v.is_map(value):
        pairs = [[encode(k), encode(v.map_find(value, k)[0])] for k in v.map_keys(value)]
        return {"map": sorted(pairs, key=_sort_key)}
    if kind is Timestamp:
        return {"timestamp": format_timestamp(value, utc=True)}
    if kind is Duration:
        return {"duration": _duration(value.nanos)}
    if kind is Optional:
        return {"optional": encode(value.value) if value.present else None}
    if kind is types.Type:
        return {"type": value.name}
    return _encode_library(value)


def _sort_key(pair: Any) -> str:
    return json.dumps(pair[0], ensure_ascii=False)


def _encode_library(value: Any) -> Any:
    if isinstance(value, ObjectValue):
        fields = {key: encode(field) for key, field in value.fields.items()}
        return {"object": {"type": value.name, "fields": fields}}
    if isinstance(value, PatchValue):
        made = {name: encode(value.text(name)) for name in ("op", "path", "from")}
        if "value" in value.fields:
            made["value"] = encode(value.fields["value"])
        return {"jsonpatch": made}
    if isinstance(value, QuantityValue):
        return {"decimal": _decimal_text(value.quantity)}
    for kind, name in ((Address, "ip"), (Network, "cidr"), (UrlValue, "url"), (Semver, "semver")):
        if isinstance(value, kind):
            return {name: str(value)}
    if isinstance(value, Format):
        return {"format": value.name}
    return {"opaque": value.type.name}


def _normal(value: Any) -> Any:
    """Answers that are compared more loosely than as text."""
    if isinstance(value, list):
        return [_normal(element) for element in value]
    if not isinstance(value, dict):
        return value
    if "decimal" in value:
        return {"decimal": _plain(value["decimal"])}
    if "map" in value:
        return {"map": sorted([_normal(pair) for pair in value["map"]], key=_sort_key)}
    if "jsonpatch" in value:
        return {"jsonpatch": {key: _normal(part) for key, part in value["jsonpatch"].items()}}
    if "opaque" in value:
        return {"opaque": True}
    return {key: _normal(field) for key, field in value.items()}


def _decimal_text(quantity: Quantity) -> str:
    """The exact number as decimal text."""
    digits = str(abs(quantity.number))
    if quantity.scale >= 0 or not quantity.number:
        digits += "0" * (quantity.scale if quantity.number else 0)
    else:
        digits = digits.rjust(1 - quantity.scale, "0")
        digits = f"{digits[: quantity.scale]}.{digits[quantity.scale :]}"
    return f"-{digits}" if quantity.number < 0 else digits


def _plain(decimal: str) -> str:
    whole, _, fraction = decimal.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


# Running


def _environments(case: dict[str, Any]) -> tuple[Environment, Environment]:
    env = case["env"]
    version = STORED if env["version"] == "stored" else parse_version(env["version"])
    kind = env["kind"]
    common = {"params": env["params"], "authorizer": kind != "messageExpression"}
    mutation = environment(version, **common, mutation=kind == "mutation")
    return environment(version, **common), mutation


def _bindings(case: dict[str, Any]) -> dict[str, Any]:
    env, given = case["env"], case["vars"]
    typed = env.get("typed", False)
    lazily = typed and env["kind"] != "mutation"
    bindings: dict[str, Any] = {}
    for name in ("object", "oldObject", "params"):
        value = _object(given.get(name), typed)
        if name == "params" and not typed:
            value = _numbers(_as_text(value))
        bindings[name] = v.view(value) if lazily or (typed and name == "params") else value
    bindings["request"] = _request(given.get("request"))
    namespace = None if env["kind"] == "matchCondition" else given.get("namespaceObject")
    bindings["namespaceObject"] = _namespace(namespace)
    bindings["authorizer"] = authz.authorizer(_answer)
    bindings["authorizer.requestResource"] = authz.request_resource(_answer, authz.Question(""))
    return bindings


def _failure(phase: str, text: str) -> dict[str, Any]:
    return {"phase": phase, "text": text}


def run(case: dict[str, Any]) -> dict[str, Any]:
    """What this project answers, in the form of the vectors."""
    env = case["env"]
    plain, mutation = _environments(case)
    variables = Variables(plain)
    for variable in env.get("variables", ()):
        variables.add(variable["name"], variable["expression"])
    try:
        program = variables.extend(mutation).compile(
            case["expr"], RETURNS.get(env.get("returns"), [])
        )
    except CompileError as error:
        text = error.message.removeprefix("compilation failed: ")
        return {"error": _failure("compile", text)}
    answer: dict[str, Any] = {"type": str(program.type)}
    if env.get("checkOnly"):
        return answer
    bindings = _bindings(case)
    pool = Pool(CONDITIONS_COST if env["kind"] == "matchCondition" else POLICY_COST)
    try:
        value, joined = evaluate(program, variables.bind(bindings, pool), pool)
    except EvaluationError as error:
        phase = "cost" if isinstance(error, LimitError) or "cost limit" in str(error) else "runtime"
        return {**answer, "error": _failure(phase, error.message)}
    answer["value"] = encode(value)
    if env.get("returns") in ("Object", "list(JSONPatch)"):
        answer["patch"] = _patch(env["returns"], value, list(bindings.values()), joined)
    return answer


def _patch(returns: str, value: Any, live: list[Any], joined: list[Any]) -> dict[str, Any]:
    try:
        if returns == "Object":
            return {"object": merged_json(object_patch(value, live, joined))}
        return {"ops": json_patch(value, live, joined)}
    except MarshalError as error:
        return {"notJSON": error.message}
    except EvaluationError as error:
        return {"error": error.message}


def _fits(expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    if "error" in expected:
        error = expected["error"]
        if "error" not in actual or error["phase"] != actual["error"]["phase"]:
            return False
        if error.get("panic") or "Syntax error" in error["text"]:
            return True
        if expected.get("type") != actual.get("type"):
            return False
        return bool(error["text"] == actual["error"]["text"])
    if expected.get("type") != actual.get("type") or "error" in actual:
        return False
    if "value" not in expected:
        return True
    wanted, given = _normal(expected["value"]), _normal(actual["value"])
    if expected.get("unordered"):
        given = {"list": sorted(given["list"], key=lambda e: json.dumps(e, ensure_ascii=False))}
        wanted = {"list": sorted(wanted["list"], key=lambda e: json.dumps(e, ensure_ascii=False))}
    return bool(wanted == given) and _patch_fits(expected.get("patch"), actual.get("patch"))


def _patch_fits(expected: Any, actual: Any) -> bool:
    if expected is None:
        return True
    if "error" in expected:
        return actual is not None and expected["error"] == actual.get("error")
    return bool(expected == actual)


def check(case: dict[str, Any]) -> Verdict:
    expected = case["result"]
    actual = run(case)
    outcomes = expected.get("outcomes", [expected])
    fits = any(_fits(outcome, actual) for outcome in outcomes)
    return decide(CONDITIONS, case, fits, expected, actual)
