"""Kubewarden policies on a request: what the policy server's evaluator answered.

Modules are looked for in `KRM_FN_WASM`, or in `kubewarden/policies/wasm` beside the vectors, where
`kubewarden/policies/build.sh` puts them. A case whose module is not there is skipped; where
`KRM_FN_REQUIRE` names its toolchain (go, asc, opa, wat, rust) that is a failure.
Compared are the decision, the object, code, warnings, audit annotations, and word for word what
policies and the policy server itself say. Texts that quote serde_json, wasmtime or Rust are the
libraries' own; of these only the decision is compared.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from krm_fn import limits
from krm_fn.admission import Cluster
from krm_fn.values import MISSING, equal
from krm_fn.wire.stream import head_of

HERE = Path(__file__).resolve().parents[1] / "kubewarden" / "policies"
_TOOLCHAINS = {"go": "go", "as": "asc", "rego": "opa", "wat": "wat", "rust": "rust"}


@dataclass(frozen=True)
class Refused:
    """The policy is not loaded, or its settings are not valid."""

    message: str | None
    by_policy: bool


@dataclass(frozen=True)
class PolicyAnswer:
    """What this project makes of a case."""

    outcomes: tuple[Any, ...]
    """Decisions, one a request, or one Refused."""

    def __str__(self) -> str:
        return "; ".join(map(str, self.outcomes))


# -------------------------------------------------------------------------------------- modules


def module_path(policy: str) -> Path:
    """Where the module of a policy's source is, once it is built."""
    folder = Path(os.environ.get("KRM_FN_WASM") or HERE / "wasm")
    kind, _, rest = policy.partition("/")
    stem = Path(rest).stem
    if policy == "rust/guard":
        return folder / "rs-guard.wasm"
    return folder / (f"{stem}.wasm" if kind in ("wat", "rego") else f"{kind}-{stem}.wasm")


@functools.cache
def engine() -> Any:
    """One engine for all cases. Our own modules are compiled here, and cached beside them."""
    from krm_fn.dialects.kubewarden.runtime.engine import Engine, Limits
    from krm_fn.dialects.kubewarden.store.cache import Cache

    folder = Path(os.environ.get("KRM_FN_WASM") or HERE / "wasm")
    cache = Cache(str(folder / "compiled")) if os.access(folder, os.W_OK) else None
    return Engine(Limits(), cache, isolated=False)


@functools.cache
def load(wasm: bytes, mode: str) -> Any:
    from krm_fn.dialects.kubewarden.policy.policy import ExecutionMode, LoadedPolicy

    return LoadedPolicy(engine(), wasm, ExecutionMode(mode), limits.WASM_SECONDS)


def missing(case: dict[str, Any]) -> str:
    """Why a case cannot be run here, "" where it can."""
    try:
        import wasmtime  # noqa: F401
    except ImportError:
        return "wasmtime is not installed"
    members = case.get("members") or {"": case}
    for member in members.values():
        policy = member.get("policy")
        if not policy or "bytesBase64" in case:
            continue
        path = module_path(policy) if "members" in case else _own(case)
        if not path.exists():
            tool = _TOOLCHAINS[policy.partition("/")[0]]
            return f"{path.name} is not built (it needs {tool}; see policies/build.sh)"
    return ""


def required(reason: str) -> bool:
    tools = re.split(r"[\s,]+", os.environ.get("KRM_FN_REQUIRE", ""))
    match = re.search(r"it needs (\w+)", reason)
    return (match[1] if match else "wasmtime") in tools


def _own(case: dict[str, Any]) -> Path:
    return module_path(case["policy"]).with_name(case.get("module", ""))


def _wasm(case: dict[str, Any]) -> bytes:
    if "bytesBase64" in case:
        return base64.b64decode(case["bytesBase64"])
    return _own(case).read_bytes()


# -------------------------------------------------------------------------------------- requests


def _value(text: str) -> Any:
    from krm_fn.dialects.kubewarden.codec import jsontext

    return jsontext.loads(text)


def request_of(case: dict[str, Any]) -> tuple[Any, Any]:
    """The request, and the object in it that a mutation would change."""
    if case.get("raw"):
        request = _value(case["request"])
        return request, request
    value = _value(case["object"])
    head = head_of(value)
    version = head.api_version.rpartition("/")[2]
    plural = "ingresses" if head.kind == "Ingress" else head.kind.lower() + "s"
    kind = {"group": head.group, "version": version, "kind": head.kind}
    resource = {"group": head.group, "version": version, "resource": plural}
    request = {
        "uid": "1299d386-525b-4032-98ae-1949f69f9cfc",
        "kind": kind,
        "requestKind": kind,
        "resource": resource,
        "requestResource": resource,
        "operation": case["operation"],
        "userInfo": {
            "username": "kubernetes-admin",
            "groups": ["system:masters", "system:authenticated"],
        },
        "dryRun": False,
    }
    metadata = value.get("metadata") or {}
    for name in ("name", "namespace"):
        if name in metadata:
            request[name] = metadata[name]
    if case["operation"] != "DELETE":
        request["object"] = value
    if case["operation"] != "CREATE":
        request["oldObject"] = value
    return request, request.get("object")


def host_of(case: dict[str, Any]) -> Any:
    from krm_fn.dialects.kubewarden.host.answers import Answers
    from krm_fn.dialects.kubewarden.host.policyhost import Capabilities, PolicyHost
    from krm_fn.dialects.kubewarden.host.reads import Reads
    from krm_fn.dialects.kubewarden.host.requests import read_recorded

    objects = {}
    for value in case.get("context") or ():
        head = head_of(value)
        objects[head.group, head.kind, head.namespace, head.name] = _constant(value)
    spaces = {
        name: load() for (group, kind, _, name), load in objects.items() if kind == "Namespace"
    }
    known = []
    for entry in case.get("recorded") or ():
        answer = entry.get("text")
        if "response" in entry:
            from krm_fn.dialects.kubewarden.codec import jsontext

            answer = jsontext.dumps(entry["response"])
        known.append((read_recorded(entry["request"]), answer, entry.get("error", "")))
    resources = [(r["apiVersion"], r["kind"]) for r in case.get("contextAwareResources") or ()]
    capabilities = case.get("hostCapabilities")
    return PolicyHost(
        Reads(Cluster(objects, spaces)),
        Answers(known),
        Capabilities(["*"] if capabilities is None else capabilities),
        resources,
    )


def _constant(value: Any) -> Any:
    return lambda: value


# ------------------------------------------------------------------------------------------ runs


def run(case: dict[str, Any]) -> PolicyAnswer:
    """The decisions on a case's requests, or why there are none."""
    from krm_fn.dialects.kubewarden.faults import Fault
    from krm_fn.dialects.kubewarden.host.policyhost import PatternError

    try:
        with limits.deep_stack():
            outcomes = _group(case) if "members" in case else _policy(case)
    except (Fault, PatternError) as error:
        outcomes = (Refused(str(error), False),)
    return PolicyAnswer(outcomes)


def _settings(value: Any) -> Any:
    if value is None:
        return {}
    if type(value) is not dict:
        return Refused("settings are no object", False)
    return value


_WAPC = "kubewarden-wapc"


def _policy(case: dict[str, Any]) -> tuple[Any, ...]:
    from krm_fn.dialects.kubewarden.policy.decision import Terms
    from krm_fn.dialects.kubewarden.policy.decision import decide as decision_on

    policy, host = load(_wasm(case), case["mode"]), host_of(case)
    settings = _settings(case["settings"])
    if isinstance(settings, Refused):
        return (settings,)
    one = policy.open(host) if case.get("host") == "kwctl" and case["mode"] == _WAPC else None
    checked = one.check_settings(settings) if one else policy.check_settings(settings, host)
    if not checked.valid:
        return (Refused(checked.message, checked.fault is None),)
    raw = bool(case.get("raw"))
    request, subject = request_of(case)
    terms = Terms(
        "policy", case["mutating"], case.get("policyMode") == "monitor", case.get("ownMessage")
    )
    if one is not None:
        answers = [one.validate(settings, request)]
    elif case["mode"] != _WAPC or "repeat" not in case:
        count = case.get("repeat", 1)
        answers = [policy.validate(settings, request, host, raw=raw) for _ in range(count)]
    else:
        answers = list(_repeated(case["repeat"], policy, settings, request, host))
    return tuple(decision_on(answer, subject, terms, raw=raw) for answer in answers)


def _repeated(count: int, policy: Any, settings: Any, request: Any, host: Any) -> Iterator[Any]:
    """Several requests to one guest; one whose time is up is replaced."""
    guest = policy.open(host)
    for _ in range(count):
        answer = guest.validate(settings, request)
        yield answer
        if answer.fault is not None and answer.fault.kind in ("out-of-fuel", "timeout"):
            guest = policy.open(host)


def _group(case: dict[str, Any]) -> tuple[Any, ...]:
    from krm_fn.dialects.kubewarden.policy.decision import Terms
    from krm_fn.dialects.kubewarden.policy.decision import decide as decision_on
    from krm_fn.dialects.kubewarden.policy.expression import Expression
    from krm_fn.dialects.kubewarden.policy.group import Member, ask

    members = {}
    for name, member in case["members"].items():
        policy = load(module_path(member["policy"]).read_bytes(), member["mode"])
        one = Member(policy, _settings(member["settings"]), host_of({**case, **member}))
        checked = policy.check_settings(one.settings, one.host)
        if not checked.valid:
            message = f"group/{name}: settings not valid: Policy settings are invalid: "
            said = "no message" if checked.message is None else checked.message
            return (Refused(message + said, checked.fault is None),)
        members[name] = one
    expression = Expression(case["expression"], frozenset(members))
    request, subject = request_of(case)
    answer = ask(members, expression, case["groupMessage"], request, subject)
    monitor = case.get("policyMode") == "monitor"
    return (decision_on(answer, subject, Terms("policy", case["mutating"], monitor)),)


# ------------------------------------------------------------------------------------ comparison

_LIBRARY = re.compile(
    r"at line \d+ column \d+|, line: \d+, column: \d+|wasm backtrace|^panic: "
    r"|^internal server error: (?:missing field|unknown variant|invalid (?:type|value|length))"
    r"|Policy execution interrupted|execution deadline exceeded"
)
"""What serde_json, wasmtime and Rust say."""


def _fits(expected: dict[str, Any], case: dict[str, Any], answer: PolicyAnswer) -> bool:
    wanted = expected.get("each", [expected])
    return len(wanted) == len(answer.outcomes) and all(
        _fits_one(one, case, outcome) for one, outcome in zip(wanted, answer.outcomes, strict=True)
    )


def _fits_one(expected: dict[str, Any], case: dict[str, Any], outcome: Any) -> bool:
    if expected.get("panic"):
        return not isinstance(outcome, Refused) and not outcome.allowed and outcome.code == 500
    if "allowed" not in expected:
        if not isinstance(outcome, Refused):
            return False
        if outcome.message == expected.get("settingsError", MISSING):
            return True
        return not outcome.by_policy and _own_words(expected)
    if isinstance(outcome, Refused) or outcome.allowed != expected["allowed"]:
        return False
    if "mutated" in expected:
        changed = outcome.object is not MISSING
        if changed != bool(expected.get("patch")):
            return False
        if changed and not equal(outcome.object, _value(json.dumps(expected["mutated"]))):
            return False
    elif outcome.object is not MISSING:
        return False
    warnings = None if outcome.warnings is None else list(outcome.warnings)
    return (
        outcome.code == expected.get("code")
        and outcome.reason == expected.get("reason")
        and warnings == expected.get("warnings")
        and outcome.audit == expected.get("auditAnnotations")
        and _same_text(expected, outcome.message)
        and _same_causes(expected.get("causes"), outcome.causes)
    )


def _own_words(expected: dict[str, Any]) -> bool:
    """Whether a refusal may be told in other words: it is the host's, not the policy's."""
    said = str(expected.get("settingsError") or expected.get("error") or "")
    if "settingsError" not in expected or not said or _LIBRARY.search(said):
        return True
    return said.startswith(("group: ", "group/", "cannot find `_start`", "Error invoking"))


def _same_text(expected: dict[str, Any], said: str | None) -> bool:
    wanted = expected.get("message")
    if wanted is None or said is None:
        return wanted == said
    if _LIBRARY.search(wanted):
        return True
    if expected.get("messageMatch") == "prefix":
        return said.startswith(wanted)
    return said in expected.get("messageAnyOf", [wanted])


def _same_causes(expected: Any, causes: Any) -> bool:
    if not expected:
        return True
    found = [(cause.get("field"), cause.get("message")) for cause in causes or ()]
    return [one.get("field") for one in expected] == [field for field, _ in found] and all(
        _LIBRARY.search(one.get("message", "")) or one.get("message") == message
        for one, (_, message) in zip(expected, found, strict=True)
    )


# ------------------------------------------------------------------------------------ conditions


def _decisions(answer: PolicyAnswer) -> list[Any]:
    return [one for one in answer.outcomes if not isinstance(one, Refused)]


def _denied(answer: PolicyAnswer, kind: str = "") -> bool:
    """Whether the request was denied by a fault of the host's own finding."""
    return all(
        not one.allowed and one.fault is not None and kind in ("", one.fault.kind)
        for one in _decisions(answer)
    ) and bool(_decisions(answer))


def _changed_identity(case: dict[str, Any]) -> bool:
    if case.get("raw") or "mutated" not in case["result"] or not case["result"].get("patch"):
        return False
    before, after = _value(case["object"]), case["result"]["mutated"]
    if type(after) is not dict:
        return True
    then, now = head_of(before), head_of(after)
    return (before.get("apiVersion"), before.get("kind"), then.name, then.namespace) != (
        after.get("apiVersion"), after.get("kind"), now.name, now.namespace,
    )  # fmt: skip


def _sprintf_differs(case: dict[str, Any]) -> bool:
    """Whether upstream's look-alike of a Go template renders otherwise than Go."""
    found = _sprintf(case)
    return found is not None and case["result"].get("message") != found


def _sprintf(case: dict[str, Any]) -> str | None:
    """The message with which the policy shows what Go's sprintf makes of its settings."""
    from krm_fn.dialects.kubewarden.codec import jsontext
    from krm_fn.dialects.kubewarden.runtime.builtins import BUILTINS

    settings = case.get("settings")
    if case.get("module") != "opa_builtins.wasm" or type(settings) is not dict:
        return None
    settings = _value(json.dumps(settings))
    get = settings.get
    match get("what"):
        case "sprintf_any":
            template, values = get("fmt"), get("args")
        case "sprintf_v":
            template, values = "%v", [get("v")]
        case "sprintf":
            template = "%v|%s|%d|%q|%5.2f|%x|%t"
            values = [get("v"), get("s"), get("i"), get("s"), get("f"), get("i"), get("b")]
        case _:
            return None
    return jsontext.dumps(BUILTINS["sprintf"][1](template, values))


def _split(case: dict[str, Any]) -> bool:
    settings = case.get("settings")
    return (
        type(settings) is dict
        and settings.get("what") == "regex.split"
        and ("messageContains" not in case["result"])
    )


def _meant(case: dict[str, Any]) -> Any:
    """The object that a policy was told to answer with, its numbers read exactly."""
    settings = case.get("settings")
    text = settings.get("answer") if type(settings) is dict else None
    if type(text) is not str or "mutated" not in case["result"]:
        return MISSING
    return _value(text)["mutated_object"]


def _inexact(case: dict[str, Any]) -> bool:
    """Whether upstream's object is not the one that was meant, but for the ends of floats."""
    meant = _meant(case)
    if meant is MISSING or not case["result"].get("patch"):
        return False
    observed = _value(json.dumps(case["result"]["mutated"]))
    return not equal(meant, observed) and equal(_rounded(meant), _rounded(observed))


def _rounded(value: Any) -> Any:
    if type(value) is dict:
        return {key: _rounded(member) for key, member in value.items()}
    if type(value) is list:
        return [_rounded(member) for member in value]
    return float(f"{value:.14g}") if type(value) is float else value


def _gatekeeper_shape(case: dict[str, Any]) -> bool:
    """A result in mode gatekeeper that is no list of violations, which upstream takes for none."""
    if case.get("mode") != "gatekeeper" or not case["result"].get("allowed"):
        return False
    if case["id"].startswith("wrongmode"):
        return True
    settings = case["settings"] or {}
    if case["policy"] != "rego/gk_echo.rego" or "violations" not in settings:
        return False
    found = settings["violations"]
    return type(found) is not list or any(
        type(one) is not dict or type(one.get("msg", "")) not in (str, type(None))
        for one in found
        if type(one) is not list
    )


def _time_limited(case: dict[str, Any]) -> bool:
    """A guest that upstream's clock stops; in mode wasi that leaves no text at all."""
    return any(name in case.get("module", "") for name in ("loop", "slow")) or _what(case) == "loop"


def _what(case: dict[str, Any]) -> str:
    """What the policy `go/probe` was told to do."""
    settings = case.get("settings")
    if case.get("policy") != "go/probe" or type(settings) is not dict:
        return ""
    return str(settings.get("what"))


def _stopped(case: dict[str, Any], answer: PolicyAnswer) -> bool:
    expected = case["result"]
    if "allowed" not in expected and "each" not in expected:
        return isinstance(answer.outcomes[0], Refused)
    kinds = {one.fault.kind for one in _decisions(answer) if one.fault is not None}
    return bool(kinds) and kinds <= {"out-of-fuel", "timeout"} and _fits_decisions(case, answer)


def _fits_decisions(case: dict[str, Any], answer: PolicyAnswer) -> bool:
    wanted = case["result"].get("each", [case["result"]])
    return [one["allowed"] for one in wanted] == [one.allowed for one in _decisions(answer)]


def _message(answer: PolicyAnswer) -> str:
    return str(_decisions(answer)[0].message) if _decisions(answer) else ""


CONDITIONS = (
    Condition(
        "a text (WAT) where a module is wanted",
        "kwctl and the policy server refuse text before the evaluator sees it: refused",
        lambda case: base64.b64decode(case.get("bytesBase64", "")).lstrip()[:1] == b"(",
        lambda case, answer: isinstance(answer.outcomes[0], Refused),
    ),
    Condition(
        "kwctl as the host, on a module with a start section",
        "this project stands for the policy server, which refuses it",
        lambda case: case.get("host") == "kwctl" and "start" in case["module"],
        lambda case, answer: isinstance(answer.outcomes[0], Refused),
    ),
    Condition(
        "a result in mode gatekeeper that is no list of violations",
        "upstream accepts it, so that a policy in the wrong mode lets everything through: denied",
        _gatekeeper_shape,
        lambda case, answer: _denied(answer, "bad-response"),
    ),
    Condition(
        "a mutation that changes apiVersion, kind, name or namespace",
        "the API server or the next tool would refuse it or make another object: denied",
        _changed_identity,
        lambda case, answer: _denied(answer, "bad-response"),
    ),
    Condition(
        "a patch that cannot be read or applied",
        "upstream passes it on, and the API server's call fails on it: denied",
        lambda case: "patchPassedOn" in case["result"],
        lambda case, answer: _denied(answer, "bad-response"),
    ),
    Condition(
        "no cluster client at all, and a read of Kubernetes",
        "a render always has an answer: what is rendered, here nothing",
        lambda case: case.get("cluster") is False and "not initialized" in str(case["result"]),
        lambda case, answer: "not initialized" not in str(answer) and bool(_decisions(answer)),
    ),
    Condition(
        "a request for which no answer is recorded",
        "the text of the test's host; here a sentence that says how to record one",
        lambda case: "no recorded answer" in str(case["result"]),
        lambda case, answer: "record the answer in kubewarden.answers" in _message(answer),
    ),
    Condition(
        "sprintf where upstream's look-alike is not Go's",
        "floats panic, nested values print Rust, padding ignores its flags: here Go's own text",
        _sprintf_differs,
        lambda case, answer: _message(answer) == _sprintf(case),
    ),
    Condition(
        "regex.split",
        "upstream joins the pieces again: here the list that Rego's documentation promises",
        _split,
        lambda case, answer: _message(answer) == json.dumps(
            re.split(case["settings"]["p"], case["settings"]["s"]), separators=(",", ":"),
            ensure_ascii=False,
        ),
    ),
    Condition(
        "a mutation with a number of more digits than a float has",
        "upstream reads them inexactly: here the nearest float",
        lambda case: _inexact(case),
        lambda case, answer: equal(_decisions(answer)[0].object, _meant(case)),
    ),
    Condition(
        "long decimal fractions",
        "upstream reads them inexactly: here the number that is written",
        lambda case: case["id"] == "payload-floats-random" or "inexactly" in case.get("note", ""),
        lambda case, answer: _value(_message(answer)) == case["settings"],
    ),
    Condition(
        "a guest that does not end",
        "the limit is fuel, not a clock; the sentence names it",
        _time_limited,
        _stopped,
    ),
    Condition(
        "a guest that sleeps for longer than the policy server lets it",
        "sleeping moves the guest's clock and nobody else's: it goes on at once",
        lambda case: _what(case) == "sleeplong",
        lambda case, answer: _message(answer) == "slept" and not answer.outcomes[0].allowed,
    ),
    Condition(
        "a guest that takes more memory than is allowed",
        "upstream has no limit but the 4 GiB of WebAssembly",
        lambda case: "mem-4gib" in case.get("module", "") or _what(case) == "alloc",
        lambda case, answer: _denied(answer, "memory-limit")
        or _denied(answer, "out-of-fuel")
        or isinstance(answer.outcomes[0], Refused),
    ),
)  # fmt: skip


def check(case: dict[str, Any]) -> Verdict:
    reason = missing(case)
    if reason and not required(reason):
        return Verdict(False, skip=reason)
    if reason:
        return Verdict.failed("a module", reason)
    answer = run(case)
    result = case["result"]
    missing_builtin = re.search(r"Missing Rego builtins: (\S+)", str(result.get("error", "")))
    if missing_builtin:
        return Verdict(missing_builtin[1] in str(answer), result, answer)
    return decide(CONDITIONS, case, _fits(result, case, answer), result, answer)
