from __future__ import annotations

from typing import Any

import pytest

from krm_fn.admission import RuleRef
from krm_fn.dialects.modrule.rule import (
    CompiledRule,
    compile_rule,
    decisions,
    load_problems,
    validate,
)
from krm_fn.dialects.modrule.spec import decode

REF = RuleRef("modrule", "ModRule", "web", "r")
PATCH: dict[str, Any] = {
    "type": "Patch",
    "match": [{"select": "$.kind"}],
    "patch": [{"op": "add", "path": "/a", "value": "1"}],
}
REJECT: dict[str, Any] = {"type": "Reject", "match": [{"select": "$.kind"}]}


def patch(**members: Any) -> dict[str, Any]:
    return {**PATCH, "patch": [{"op": "add", "path": "/a", **members}]}


def match(**members: Any) -> dict[str, Any]:
    return {**PATCH, "match": [{"select": "$.kind", **members}]}


@pytest.mark.parametrize(
    "spec",
    [
        PATCH,
        REJECT,
        {**REJECT, "rejectMessage": "no {{ .Target.kind }}"},
        {**PATCH, "executionTier": -32767},
        {**PATCH, "executionTier": 32766},
        {**PATCH, "admissionOperations": ["DELETE"]},
        patch(op="remove"),
        patch(select="$.a[*]", value="{{ .#0 }}"),
        match(matchFor="All", matchValues=["x"]),
    ],
)
def test_a_rule_that_a_cluster_takes_has_no_problems(spec: dict[str, Any]) -> None:
    decoded = decode(spec)
    assert validate(decoded) == load_problems(decoded) == decisions(decoded) == []
    assert isinstance(compile_rule(REF, decoded), CompiledRule)


@pytest.mark.parametrize(
    ("spec", "field", "kind", "message"),
    [
        (
            {**REJECT, "type": "Frob"},
            "spec.type",
            "FieldValueInvalid",
            "unrecognized ModRule type 'Frob'; use Patch or Reject",
        ),
        (
            {**PATCH, "type": "Reject"},
            "spec.patch",
            "FieldValueInvalid",
            "field 'patch' should be present only for ModRules of type Patch",
        ),
        (
            {**PATCH, "patch": []},
            "spec.patch",
            "FieldValueRequired",
            "field 'patch' cannot be empty for ModRules of type Patch",
        ),
        (
            {**PATCH, "rejectMessage": ""},
            "spec.rejectMessage",
            "FieldValueInvalid",
            "field 'rejectMessage' should be present only for ModRules of type Reject",
        ),
        (
            {**PATCH, "executionTier": 32767},
            "spec.executionTier",
            "FieldValueInvalid",
            "field 'executionTier' should be an integer value between -32767 and 32766",
        ),
        (
            {**PATCH, "executionTier": -32768},
            "spec.executionTier",
            "FieldValueInvalid",
            "field 'executionTier' should be an integer value between -32767 and 32766",
        ),
        (
            match(select=""),
            "spec.match[0].select",
            "FieldValueInvalid",
            "spec.match[].select in body must be non-empty string",
        ),
        (
            match(select="$.a ==isEmpty(@)"),
            "spec.match[0].select",
            "FieldValueInvalid",
            "select expression, 1:5: unknown operator ==i: put a space after ==",
        ),
        (
            match(matchRegex="("),
            "spec.match[0].matchRegex",
            "FieldValueInvalid",
            "error parsing regexp: missing closing ): `(`",
        ),
        (
            match(matchFor="Every"),
            "spec.match[0].matchFor",
            "FieldValueInvalid",
            "unrecognized matchFor value 'Every'; use Any or All",
        ),
        (
            patch(value="{{ .#0 "),
            "spec.patch[0].value",
            "FieldValueInvalid",
            "template: /a:1: unclosed action",
        ),
        (
            patch(value="{{ toYaml .Target }}"),
            "spec.patch[0].value",
            "FieldValueInvalid",
            'template: /a:1: function "toYaml" not defined (only Helm has it; write toJson, which '
            "is YAML too)",
        ),
        (
            {**REJECT, "rejectMessage": "{{ if }}"},
            "spec.rejectMessage",
            "FieldValueInvalid",
            "template: rejectMessage:1: missing value for if",
        ),
        (
            {"type": "Reject"},
            "spec.match",
            "type",
            "Required value: a list of criteria",
        ),
        (
            {**REJECT, "match": []},
            "spec.match",
            "too_few_items",
            "spec.match in body should have at least 1 items",
        ),
        (
            patch(op="test"),
            "spec.patch[0].op",
            "enum",
            'Unsupported value: "test": supported values: "add", "remove", "replace"',
        ),
        (
            {**PATCH, "admissionOperations": ["CONNECT"]},
            "spec.admissionOperations[0]",
            "enum",
            'Unsupported value: "CONNECT": supported values: "CREATE", "DELETE", "UPDATE"',
        ),
    ],
)
def test_validation_names_field_kind_and_reason(
    spec: dict[str, Any], field: str, kind: str, message: str
) -> None:
    problem = validate(decode(spec))[0]
    assert (problem.field, problem.kind, problem.message) == (field, kind, message)
    assert str(problem) == f"{field}: {message}"


def test_a_patchs_select_is_checked_by_the_webhook_only_beside_a_value() -> None:
    assert [p.field for p in validate(decode(patch(select="$.a ==i", value="1")))] == [
        "spec.patch[0].select"
    ]
    assert validate(decode(patch(select="$.a ==i"))) == []


def test_everything_wrong_is_found_at_once() -> None:
    spec = {**PATCH, "rejectMessage": "x", "match": [{"select": ""}, {"select": "$.", "negate": 0}]}
    spec["match"][1]["negate"] = False
    assert [p.field for p in validate(decode(spec))] == [
        "spec.rejectMessage",
        "spec.match[0].select",
        "spec.match[1].select",
    ]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({**PATCH, "targetNamespaceRegex": "("}, "spec.targetNamespaceRegex"),
        (patch(select=""), "spec.patch[0].select"),
        (patch(select="$.a == 1"), "spec.patch[0].select"),
        (patch(select="$.a[*], #: $.b[*]"), "spec.patch[0].select"),
    ],
)
def test_what_a_cluster_stores_and_never_loads_is_a_problem(
    spec: dict[str, Any], field: str
) -> None:
    decoded = decode(spec)
    assert validate(decoded) == []
    assert [(p.field, p.stage) for p in load_problems(decoded)] == [(field, "load")]
    problems = compile_rule(REF, decoded)
    assert isinstance(problems, list)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"path": "a/b"}, "must start with /"),
        ({"path": ""}, "must start with /"),
        ({"path": '/a"b'}, "a quote or a backslash"),
        ({"path": "/a\\u0062"}, "a quote or a backslash"),
        ({"path": "/a%d", "select": "$.x[*]"}, "a %, which KubeMod takes for a format"),
    ],
)
def test_a_path_that_kubemod_would_mangle_is_refused(members: dict[str, Any], reason: str) -> None:
    problems = decisions(decode(patch(**members)))
    assert [p.field for p in problems] == ["spec.patch[0].path"]
    assert reason in problems[0].message


def test_a_percent_sign_without_a_select_is_a_percent_sign() -> None:
    assert decisions(decode(patch(path="/metadata/annotations/50%"))) == []


def compiled(spec: dict[str, Any]) -> CompiledRule:
    rule = compile_rule(REF, decode(spec))
    assert isinstance(rule, CompiledRule)
    return rule


@pytest.mark.parametrize(
    ("members", "value"),
    [({}, None), ({"value": "null"}, None), ({"value": "a: [1]"}, {"a": [1]})],
)
def test_a_value_without_actions_is_read_once(members: dict[str, Any], value: Any) -> None:
    operation = compiled(patch(**members)).operations[0]
    assert operation.is_constant
    assert operation.constant == value


def test_a_constant_that_is_no_yaml_fails_on_every_object_not_when_it_is_loaded() -> None:
    assert not compiled(patch(value="a: b: c")).operations[0].is_constant


def test_pinned_is_what_all_criteria_allow() -> None:
    spec = {
        **REJECT,
        "match": [
            {"select": "$.kind", "matchValues": ["A", "B"]},
            {"select": "$.kind", "matchValues": ["B", "C"]},
        ],
    }
    assert compiled(spec).pinned("kind") == {"B"}
    assert compiled(spec).pinned("metadata", "name") is None


def test_a_rule_knows_whether_a_template_may_change_what_it_sees() -> None:
    assert compiled(patch(value='{{ set .Target.metadata "a" 1 }}')).mutates
    assert not compiled(patch(value="{{ .Target.kind }}")).mutates
