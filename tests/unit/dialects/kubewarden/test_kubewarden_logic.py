"""Decisions, groups and their expressions, texts in JSON and YAML, grafting."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from kw_support import POD, host, policy, wapc

from krm_fn.dialects.kubewarden.codec import jsontext, yamltext
from krm_fn.dialects.kubewarden.codec.graft import graft
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.policy.answer import PolicyAnswer, read_gatekeeper
from krm_fn.dialects.kubewarden.policy.decision import Terms, decide
from krm_fn.dialects.kubewarden.policy.expression import Expression
from krm_fn.dialects.kubewarden.policy.group import Member, ask
from krm_fn.dialects.kubewarden.runtime.builtins import BUILTINS, BuiltinError
from krm_fn.values import MISSING, Json, equal

CHANGED = {**POD, "metadata": {**POD["metadata"], "labels": {"app": "api"}}}
MAY = Terms("p", mutating=True)

# -------------------------------------------------------------------------------------- decisions


def test_a_mutation_where_it_is_allowed_changes_the_object() -> None:
    before = json.dumps(POD)
    decision = decide(PolicyAnswer(True, mutated=CHANGED), POD, MAY)
    assert equal(decision.object, CHANGED)
    assert json.dumps(POD) == before


def test_a_mutation_where_it_is_not_allowed_rejects_in_the_servers_words() -> None:
    decision = decide(PolicyAnswer(True, mutated=CHANGED, code=409), POD, Terms("p"))
    assert not decision.allowed
    assert decision.code is None
    assert decision.message == (
        "Request rejected by policy p. The policy attempted to mutate the request, but it is "
        "currently configured to not allow mutations."
    )


def test_an_equal_object_is_no_mutation() -> None:
    decision = decide(PolicyAnswer(True, mutated=json.loads(json.dumps(POD))), POD, Terms("p"))
    assert decision.allowed
    assert decision.object is MISSING


@pytest.mark.parametrize(("old", "new"), [(True, 1), (1, 1.0), (0, False)])
def test_values_that_python_holds_for_equal_are_mutations(old: Any, new: Any) -> None:
    subject, mutated = {**POD, "spec": {"x": old}}, {**POD, "spec": {"x": new}}
    assert not decide(PolicyAnswer(True, mutated=mutated), subject, Terms("p")).allowed


IDENTITIES: dict[str, Any] = {
    "kind": {**POD, "kind": "Secret"},
    "apiVersion": {**POD, "apiVersion": "v2"},
    "name": {**POD, "metadata": {**POD["metadata"], "name": "other"}},
    "namespace": {**POD, "metadata": {**POD["metadata"], "namespace": "other"}},
    "no object": "text",
}


@pytest.mark.parametrize("mutated", IDENTITIES.values(), ids=IDENTITIES)
def test_a_mutation_of_the_identity_is_denied(mutated: Any) -> None:
    decision = decide(PolicyAnswer(True, mutated=mutated), POD, MAY)
    assert not decision.allowed
    assert decision.fault is not None
    assert decision.fault.kind is FaultKind.BAD_RESPONSE


def test_mode_monitor_allows_and_changes_nothing() -> None:
    answer = PolicyAnswer(False, "no", 409, mutated=CHANGED, warnings=("w",))
    decision = decide(answer, POD, Terms("p", mutating=True, monitor=True))
    assert decision.allowed
    assert decision.object is MISSING
    assert (decision.message, decision.code, decision.warnings) == (None, None, ("w",))
    assert decision.would_reject == "no"


@pytest.mark.parametrize("own", ["own text", ""])
def test_a_message_of_the_resource_replaces_the_policys(own: str) -> None:
    decision = decide(PolicyAnswer(False, "no", 409), POD, Terms("p", message=own))
    assert (decision.message, decision.code) == (own, 409)
    assert decision.causes == ({"message": "no"},)


def test_nothing_can_be_mutated_in_a_deletion() -> None:
    decision = decide(PolicyAnswer(True, mutated=POD, warnings=("w",)), None, MAY)
    assert not decision.allowed
    assert (decision.code, decision.warnings) == (None, None)


def patch(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_a_patch_of_a_rego_policy_is_applied() -> None:
    text = '[{"op": "replace", "path": "/metadata/labels/app", "value": "api"}]'
    decision = decide(PolicyAnswer(True, patch=patch(text)), POD, MAY)
    assert equal(decision.object, CHANGED)


BAD_PATCHES = ["%", patch("{"), patch('[{"op":"remove","path":"/nope"}]'), patch('{"a":1}')]


@pytest.mark.parametrize("text", BAD_PATCHES)
def test_a_patch_that_cannot_be_applied_is_denied(text: str) -> None:
    decision = decide(PolicyAnswer(True, patch=text), POD, MAY)
    assert not decision.allowed
    assert decision.fault is not None


WRONG_SHAPES: dict[str, Any] = {
    "an answer of mode opa": [{"result": {"response": {"allowed": True}}}],
    "text": [{"result": "x"}],
    "true": [{"result": True}],
    "texts": [{"result": ["x"]}],
    "a number as message": [{"result": [{"msg": "m"}, {"msg": 1}]}],
}


@pytest.mark.parametrize("found", WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_a_result_of_the_wrong_shape_denies_in_mode_gatekeeper(found: Any) -> None:
    answer = read_gatekeeper(found)
    assert not answer.accepted
    assert answer.fault is not None


# --------------------------------------------------------------------------------------- grafting


def test_a_graft_keeps_equal_parts_and_the_order_of_keys() -> None:
    old: Any = {"z": {"k": [1, 2]}, "a": [{"name": "x", "v": 1}, {"name": "y"}], "gone": 1}
    new: Any = {
        "a": [{"v": 2, "name": "x"}, {"name": "y"}, {"name": "n"}],
        "b": 1,
        "z": {"k": [1, 2]},
    }
    result = graft(old, new)
    assert equal(result, new)
    assert list(result) == ["z", "a", "b"]
    assert result["z"] is old["z"]
    assert result["a"][1] is old["a"][1]
    assert list(result["a"][0]) == ["name", "v"]


# ----------------------------------------------------------------------------------------- groups

YES, NO = '{"accepted":true}', '{"accepted":false,"message":"no"}'
MUTATES = json.dumps({"accepted": True, "mutated_object": CHANGED})


def members(**answers: str) -> dict[str, Member]:
    return {name: Member(policy(wapc(text)), {}, host()) for name, text in answers.items()}


def asked(expression: str, **answers: str) -> PolicyAnswer:
    known = members(**answers)
    parsed = Expression(expression, frozenset(known))
    return ask(known, parsed, "the group says no", {}, POD)


GROUPS = {
    "or stops at the first": ("a() || b()", {"a": YES, "b": NO}, True, []),
    "or tells all": ("a() || b()", {"a": NO, "b": NO}, False, ["a", "b"]),
    "and stops at the first": ("a() && b()", {"a": NO, "b": NO}, False, ["a"]),
    "negation": ("!a()", {"a": NO}, True, []),
    "mutation is a no": ("a()", {"a": MUTATES}, False, ["a"]),
    "and so can be negated": ("!a()", {"a": MUTATES}, True, []),
    "a fault is a no": ("a()", {"a": "{"}, False, ["a"]),
    "parentheses": ("(a() || b()) && !(a() && b())", {"a": YES, "b": NO}, True, []),
    "equality": ("a() == b()", {"a": NO, "b": NO}, True, []),
    "if": ("if a() { b() } else { true }", {"a": YES, "b": NO}, False, ["b"]),
    "comments": ("a() /* or /* not */ */ // at all\n || b()", {"a": NO, "b": YES}, True, []),
    "numbers": ("1 < 2 && a()", {"a": YES}, True, []),
    "arithmetic": ("-7 / 2 == -3 && -7 % 2 == -1 && 1 + 2 * 3 == 7", {"a": YES}, True, []),
}


@pytest.mark.parametrize(
    ("expression", "answers", "accepted", "causes"), GROUPS.values(), ids=GROUPS
)
def test_a_group_asks_members_as_its_expression_needs_them(
    expression: str, answers: dict[str, str], accepted: bool, causes: list[str]
) -> None:
    answer = asked(expression, **answers)
    assert answer.accepted is accepted
    assert [cause["field"] for cause in answer.causes or ()] == [
        f"spec.policies.{name}" for name in causes
    ]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"accepted":false,"message":"no"}', {"message": "no"}),
        ('{"accepted":false,"message":""}', {"message": ""}),
        ('{"accepted":false}', {}),
        ('{"accepted":false,"code":403}', {}),
        (MUTATES, {"message": "mutation is not allowed inside of policy group"}),
    ],
)
def test_a_cause_has_the_message_of_the_member_and_none_where_it_has_none(
    text: str, cause: Json
) -> None:
    (found,) = asked("a()", a=text).causes or ()
    assert found == {"field": "spec.policies.a", **cause}


BAD_EXPRESSIONS = [
    "",
    "a",
    "x()",
    "a(1)",
    "a() + a()",
    "a();",
    "a() &&",
    "a() ? a() : a()",
    "let x = a()",
    "1",
    '"true"',
    "a() and a()",
    "{ a() }",
    "while a() { }",
    "(a()",
    "if a() { true }  else",
    "!1",
    "1 / 0 == 1",
    "9223372036854775807 + 1 > 0",
    "(" * 5_000 + "a()" + ")" * 5_000,
    "!" * 5_000 + "a()",
]


@pytest.mark.parametrize("text", BAD_EXPRESSIONS, ids=lambda text: text[:20] or "empty")
def test_a_bad_expression_is_found_when_it_is_loaded(text: str) -> None:
    with pytest.raises(Fault) as caught:
        Expression(text, frozenset({"a"}))
    assert caught.value.kind is FaultKind.BAD_EXPRESSION


# ------------------------------------------------------------------------------------------ texts

NUMBERS = {
    1.0: "1.0",
    1e16: "1e+16",
    1e-7: "1e-7",
    0.00001: "0.00001",
    1.5e-5: "0.000015",
    1e15: "1000000000000000.0",
    -0.0: "-0.0",
    2**64: "1.8446744073709552e+19",
    2**64 - 1: "18446744073709551615",
    float("nan"): "null",
}


@pytest.mark.parametrize(("number", "text"), NUMBERS.items(), ids=str)
def test_numbers_are_spelled_as_rust_spells_them(number: float, text: str) -> None:
    assert jsontext.dumps({"b": number, "a": "ü"}) == f'{{"a":"ü","b":{text}}}'


READ = {
    "-0": -0.0,
    "18446744073709551615": 18446744073709551615,
    "18446744073709551616": 18446744073709551616.0,
    "9" * 5_000: float("inf"),
    '"\\ud83d\\ude80"': "🚀",
}


@pytest.mark.parametrize(("text", "value"), READ.items(), ids=lambda v: str(v)[:20])
def test_numbers_and_texts_are_read_as_serde_reads_them(text: str, value: Any) -> None:
    assert equal(jsontext.loads(text), value)


@pytest.mark.parametrize("text", ["", "\ufeff1", "1 2", "[1,]", "NaN", "01", ".5", '"\n"', "{a:1}"])
def test_what_serde_refuses_is_refused(text: str) -> None:
    with pytest.raises(jsontext.JsonError):
        jsontext.loads(text)


def test_depth_is_bounded_in_what_is_used_and_not_in_what_is_not() -> None:
    deep = jsontext.loads("[" * 1_500 + "]" * 1_500)
    with pytest.raises(jsontext.JsonError, match="recursion limit"):
        jsontext.value(deep)
    with pytest.raises(jsontext.JsonError, match="nested deeper"):
        jsontext.loads("[" * 100_000)


YAML = {
    "a: yes\nb: 0o17\nc: 017\nd: 0x1f\n": {"a": "yes", "b": 15, "c": "017", "d": 31},
    "a: &x [1]\nb: *x\n": {"a": [1], "b": [1]},
    "a: 1\na: 2\n": {"a": 2},
    "'1': ~\n": {"1": None},
    "": None,
}


@pytest.mark.parametrize(("text", "value"), YAML.items())
def test_yaml_has_the_rules_of_1_2(text: str, value: Any) -> None:
    assert equal(yamltext.loads(text), value)


BOMB = "a0: &a0 [x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize("text", ["a: [1", "a: 1\n---\nb: 2\n", BOMB, "[" * 5_000, "{{a: 1}: 2}"])
def test_yaml_that_is_none_or_too_much_is_an_error(text: str) -> None:
    with pytest.raises(yamltext.YamlTextError):
        yamltext.loads(text)


MARSHALLED = {
    "a\nb\n": "|\n  a\n  b\n",
    "123": "'123'\n",
    "yes": "'yes'\n",
    "plain": "plain\n",
    "": "''\n",
}


@pytest.mark.parametrize(("text", "shown"), MARSHALLED.items())
def test_yaml_texts_are_quoted_where_they_would_be_something_else(text: str, shown: str) -> None:
    assert yamltext.dumps(text) == shown


CALLS: list[tuple[str, list[Any], Any]] = [
    ("sprintf", ["%s=%d %v", ["a", 3, True]], "a=3 true"),
    ("sprintf", ["%5.2f|%-4s|%04d", [1.5, "a", 7]], " 1.50|a   |0007"),
    ("regex.split", ["/", "a/b/c"], ["a", "b", "c"]),
    ("regex.find_n", ["[oa]", "foobar", 2], ["o", "o"]),
    ("regex.template_match", ["urn:{[a-z]+}", "urn:x", "{", "}"], True),
    ("urlquery.encode", ["a b&c=ü"], "a%20b&c=%C3%BC"),
    ("urlquery.decode_object", ["a=1&b=2&a=3&c"], {"a": "3", "b": "2", "c": ""}),
    ("semver.compare", ["1.10.0", "1.9.0"], 1),
    ("semver.compare", ["1.0.0-rc.1", "1.0.0"], -1),
    ("semver.is_valid", ["1.2"], False),
    ("json.patch", [{"a": 1}, [{"op": "add", "path": "/b", "value": 2}]], {"a": 1, "b": 2}),
    ("json.is_valid", ["{"], False),
    ("hex.decode", ["61c3bc"], "aü"),
    ("glob.quote_meta", ["*.{a}"], "\\*.\\{a\\}"),
    ("base64url.encode_no_pad", ["a?>ü"], "YT8-w7w"),
]


@pytest.mark.parametrize(("name", "arguments", "result"), CALLS)
def test_functions_that_rego_leaves_to_its_host(
    name: str, arguments: list[Any], result: Any
) -> None:
    count, function = BUILTINS[name]
    assert count == len(arguments)
    assert equal(function(*arguments), result)


FAILING: list[tuple[str, list[Any]]] = [
    ("hex.decode", ["zz"]),
    ("json.patch", [{}, [{"op": "remove", "path": "/x"}]]),
    ("regex.split", ["[", "a"]),
    ("semver.compare", ["x", "1.0.0"]),
    ("urlquery.encode_object", [{"a": 1}]),
    ("yaml.unmarshal", ["a: [1"]),
    ("sprintf", [1, []]),
]


@pytest.mark.parametrize(("name", "arguments"), FAILING)
def test_functions_fail_with_a_sentence(name: str, arguments: list[Any]) -> None:
    with pytest.raises(BuiltinError):
        BUILTINS[name][1](*arguments)
