"""What a policy or a binding is refused for when it is loaded, as an API server would."""

from __future__ import annotations

from typing import Any

import pytest
from policies_support import (
    EVERYTHING,
    GROUP,
    apply,
    binding,
    cluster_of,
    compiled,
    config_map,
    judge,
    mutating,
    patch,
    validating,
)

from krm_fn.errors import RuleError
from krm_fn.values import Json

FINE = mutating(apply("Object{}"))
JUDGE = validating({"expression": "true"})
ONE = [EVERYTHING]


def changed(policy: Json, **spec: Any) -> Json:
    return {**policy, "spec": {**policy["spec"], **spec}}


def renamed(policy: Json, name: str) -> Json:
    return {**policy, "metadata": {"name": name}}


def rule(**parts: Any) -> Json:
    return {"matchConstraints": {"resourceRules": [{**EVERYTHING, **parts}]}}


def conditions(*of: tuple[str, str]) -> Json:
    return {"matchConditions": [{"name": name, "expression": text} for name, text in of]}


def variables(*of: tuple[str, str]) -> Json:
    return {"variables": [{"name": name, "expression": text} for name, text in of]}


POLICIES: list[tuple[Json, str]] = [
    (renamed(FINE, "Upper"), "metadata.name: a lowercase RFC 1123 subdomain"),
    (renamed(FINE, ""), "metadata.name: is required"),
    (
        changed(FINE, failurePolicy="Maybe"),
        "spec.failurePolicy: 'Maybe' is not one of Fail, Ignore",
    ),
    (changed(FINE, reinvocationPolicy=None), "spec.reinvocationPolicy: is required: Never or"),
    (changed(FINE, reinvocationPolicy="Always"), "spec.reinvocationPolicy: 'Always' is not one of"),
    (changed(FINE, matchConstraints=None), "spec.matchConstraints: is required"),
    (
        changed(FINE, matchConstraints={}),
        "spec.matchConstraints.resourceRules: needs at least one rule",
    ),
    (
        changed(FINE, matchConstraints={"resourceRules": ONE, "matchPolicy": "Fuzzy"}),
        "spec.matchConstraints.matchPolicy: 'Fuzzy' is not one of Exact, Equivalent",
    ),
    (
        changed(
            FINE,
            matchConstraints={
                "resourceRules": ONE,
                "objectSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]},
            },
        ),
        'spec.matchConstraints.objectSelector: "Near" is not a valid label selector operator',
    ),
    (changed(FINE, **rule(operations=[])), "resourceRules[0].operations: is required"),
    (changed(FINE, **rule(operations=["*", "CREATE"])), "operations: * must stand alone"),
    (changed(FINE, **rule(operations=["create"])), "operations[0]: 'create' is not one of"),
    (changed(FINE, **rule(apiGroups=[])), "apiGroups: is required"),
    (changed(FINE, **rule(apiVersions=[""])), "apiVersions[0]: must not be empty"),
    (changed(FINE, **rule(resources=[])), "resources: is required"),
    (changed(FINE, **rule(resources=["*/*", "pods"])), "resources: */* must stand alone"),
    (changed(FINE, **rule(resources=["*", "pods"])), "resources: pods is pointless behind *"),
    (
        changed(FINE, **rule(operations=["CREATE", "DELETE"])),
        "operations[1]: 'DELETE' is not one of *, CREATE, UPDATE, CONNECT",
    ),
    (
        changed(FINE, **rule(resources=["pods/*", "pods/exec"])),
        "resources[1]: pods/exec is pointless beside pods/*",
    ),
    (
        changed(FINE, **rule(resources=["*/scale", "pods/scale"])),
        "resources[1]: pods/scale is pointless beside */scale",
    ),
    (changed(FINE, **rule(scope="Both")), "scope: 'Both' is not one of *, Cluster, Namespaced"),
    (changed(FINE, **rule(resourceNames=["a", "a"])), "resourceNames[1]: 'a' is there twice"),
    (changed(FINE, **rule(resourceNames=["a/b"])), "resourceNames[0]: 'a/b' cannot be a name"),
    (
        changed(FINE, **conditions(*((f"c{n}", "true") for n in range(65)))),
        "spec.matchConditions: has 65 conditions; at most 64 are allowed",
    ),
    (
        changed(FINE, **conditions(("c", "true"), ("c", "true"))),
        "spec.matchConditions[1]: 'c' is there twice",
    ),
    (changed(FINE, **conditions(("c c", "true"))), "spec.matchConditions[0].name: name part"),
    (
        changed(FINE, **conditions(("c", " "))),
        "spec.matchConditions[0].expression: is required",
    ),
    (
        changed(FINE, **conditions(("c", "variables.x")), **variables(("x", "true"))),
        "spec.matchConditions[0].expression: must not use variables",
    ),
    (
        changed(FINE, **conditions(("c", "'text'"))),
        "spec.matchConditions[0].expression: must evaluate to bool but got string",
    ),
    (
        changed(FINE, **variables(("1a", "true"))),
        "spec.variables[0].name: '1a' must be a CEL identifier",
    ),
    (
        changed(FINE, **variables(("namespace", "true"))),
        "spec.variables[0].name: 'namespace' must be a CEL identifier",
    ),
    (changed(FINE, **variables(("in", "true"))), "spec.variables[0].name: 'in' must be a CEL"),
    (
        changed(FINE, **variables(("a", "b"), ("a", "true"))),
        "spec.variables[0].expression: compilation failed",
    ),
    (
        changed(FINE, **variables(("a", "variables.b"), ("b", "1"))),
        "spec.variables[0].expression: compilation failed: ERROR: <input>:1:10: undefined",
    ),
    (
        changed(FINE, paramKind={"apiVersion": "a/b/c", "kind": "K"}),
        "spec.paramKind.apiVersion: 'a/b/c' is no group/version",
    ),
    (
        changed(FINE, paramKind={"apiVersion": "v1"}),
        "spec.paramKind.kind: is required",
    ),
    (
        changed(FINE, paramKind={"apiVersion": "g/1", "kind": "K"}),
        "spec.paramKind.apiVersion: the version '1': a DNS-1035 label",
    ),
    (
        changed(FINE, paramKind={"apiVersion": "a_b/v1", "kind": "K"}),
        "spec.paramKind.apiVersion: the group 'a_b': a lowercase RFC 1123 subdomain",
    ),
    (
        changed(FINE, paramKind={"apiVersion": "g/", "kind": "K"}),
        "spec.paramKind.apiVersion: 'g/' has no version",
    ),
    (
        changed(FINE, paramKind={"apiVersion": "v1", "kind": "config map"}),
        "spec.paramKind.kind: 'config map', in small letters: a DNS-1035 label",
    ),
    (changed(FINE, mutations=[]), "spec.mutations: needs at least one mutation"),
    (
        changed(FINE, mutations=[{"patchType": "Merge"}]),
        "spec.mutations[0].patchType: 'Merge' is not one of ApplyConfiguration, JSONPatch",
    ),
    (
        changed(FINE, mutations=[{**patch("[]"), "patchType": "ApplyConfiguration"}]),
        "spec.mutations[0].applyConfiguration: is required where patchType is ApplyConfiguration",
    ),
    (
        changed(FINE, mutations=[{**apply("Object{}"), **patch("[]")}]),
        "spec.mutations[0].applyConfiguration: must not be set where patchType is JSONPatch",
    ),
    (
        changed(FINE, mutations=[apply("Object{spec: Nothing{}}")]),
        "spec.mutations[0].applyConfiguration.expression: compilation failed",
    ),
    (changed(FINE, mutations="none"), "spec.mutations is the text 'none'"),
    (changed(JUDGE, validations=[]), "spec.validations: needs at least one"),
    (
        changed(JUDGE, validations=[{"expression": "object.a"}]),
        "spec.validations[0].expression: must evaluate to bool but got dyn",
    ),
    (
        changed(JUDGE, validations=[{"expression": "true", "message": "a\nb"}]),
        "spec.validations[0].message: must be one line",
    ),
    (
        changed(JUDGE, validations=[{"expression": "true", "reason": "Because"}]),
        "spec.validations[0].reason: 'Because' is not one of",
    ),
    (
        changed(JUDGE, validations=[{"expression": "true", "reason": "Unauthorized"}]),
        "spec.validations[0].reason: 'Unauthorized' is not one of Forbidden, Invalid,",
    ),
    (
        changed(JUDGE, validations=[{"expression": "true", "message": "a\rb\n"}]),
        "spec.validations[0].message: must be one line",
    ),
    (
        changed(JUDGE, validations=[{"expression": "true", "message": " \u2003\n"}]),
        "spec.validations[0].message: must not be blank",
    ),
    (
        changed(JUDGE, validations=[{"expression": "true", "messageExpression": "1"}]),
        "spec.validations[0].messageExpression: must evaluate to string but got int",
    ),
    (
        changed(
            JUDGE, auditAnnotations=[{"key": f"k{n}", "valueExpression": "''"} for n in range(21)]
        ),
        "spec.auditAnnotations: has 21; at most 20 are allowed",
    ),
    (
        changed(JUDGE, auditAnnotations=[{"key": "k", "valueExpression": "1"}]),
        "spec.auditAnnotations[0].valueExpression: must evaluate to",
    ),
    (
        changed(JUDGE, auditAnnotations=[{"key": "a/b", "valueExpression": "''"}]),
        "spec.auditAnnotations[0].key: a valid label key must consist of",
    ),
    (
        changed(JUDGE, auditAnnotations=[{"key": "k", "valueExpression": f"'{'x' * 5_119}'"}]),
        "spec.auditAnnotations[0].valueExpression: has 5,121 bytes; at most 5,120 are allowed",
    ),
]


@pytest.mark.parametrize(("policy", "message"), POLICIES, ids=[text for _, text in POLICIES])
def test_a_policy_is_refused(policy: Json, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        compiled([policy], None, cluster_of(), validate=True)
    assert message in str(caught.value)


BINDINGS: list[tuple[Json, str]] = [
    (binding(FINE, policyName=""), "spec.policyName: is required"),
    (binding(FINE, policyName="A"), "spec.policyName: a lowercase RFC 1123 subdomain"),
    (binding(FINE, paramRef={}), "spec.paramRef: must have exactly one of name and selector"),
    (
        binding(FINE, paramRef={"name": "a", "selector": {}}),
        "spec.paramRef: must have exactly one of name and selector",
    ),
    (
        binding(FINE, paramRef={"name": "a", "parameterNotFoundAction": "Skip"}),
        "spec.paramRef.parameterNotFoundAction: 'Skip' is not one of Allow, Deny",
    ),
    *(
        (
            binding(FINE, paramRef={"name": name, "parameterNotFoundAction": "Deny"}),
            f"spec.paramRef.name: '{name}' cannot be a name",
        )
        for name in ("a/b", "..", ".", "50%")
    ),
    (
        binding(FINE, matchResources={"resourceRules": [{**EVERYTHING, "operations": ["DELETE"]}]}),
        "spec.matchResources.resourceRules[0].operations[0]: 'DELETE' is not one of",
    ),
    (
        binding(FINE, matchResources={"resourceRules": [{}]}),
        "spec.matchResources.resourceRules[0].operations: is required",
    ),
    (binding(JUDGE, validationActions=[]), "spec.validationActions: is required"),
    (binding(JUDGE, validationActions=["Tell"]), "validationActions[0]: 'Tell' is not one of"),
    (binding(JUDGE, validationActions=["Warn", "Warn"]), "validationActions[1]: Warn is there"),
    (
        binding(JUDGE, validationActions=["Deny", "Warn"]),
        "spec.validationActions: must not have both Deny and Warn",
    ),
]


@pytest.mark.parametrize(("bound", "message"), BINDINGS, ids=[text for _, text in BINDINGS])
def test_a_binding_is_refused(bound: Json, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        compiled([FINE, JUDGE], [bound], cluster_of(), validate=True)
    assert message in str(caught.value)


def test_what_is_fine_is_taken() -> None:
    plugins, findings = compiled([FINE, JUDGE], None, cluster_of(), validate=True)
    assert len(plugins) == 2
    assert findings == ()


def excluding(**parts: Any) -> Json:
    excluded = {"excludeResourceRules": [{**EVERYTHING, **parts}]}
    return {"matchConstraints": {"resourceRules": ONE, **excluded}}


ACCEPTED: dict[str, Json] = {
    "a name in front of *": changed(FINE, **rule(resources=["pods", "*"])),
    "an excluded name in front of *": changed(FINE, **excluding(resources=["pods", "*"])),
    "excluded deletions": changed(FINE, **excluding(operations=["DELETE"])),
    "a subresource in front of all": changed(FINE, **rule(resources=["pods/exec", "pods/*"])),
    "two variables of one name": changed(FINE, **variables(("a", "1"), ("a", "'x' + 'y'"))),
    "variables. within a text": changed(FINE, **conditions(("c", "'variables.x' != ''"))),
    "a field named variables": changed(FINE, **conditions(("c", "has(object.variables.x)"))),
    "a message that ends in a line break": changed(
        JUDGE, validations=[{"expression": "true", "message": "no\n"}]
    ),
    "a reserved word as a part of a name": changed(FINE, **variables(("namespace_", "1"))),
    "a value expression of 5,120 bytes": changed(
        JUDGE, auditAnnotations=[{"key": "k", "valueExpression": f"'{'x' * 5_118}'\n"}]
    ),
    "connections": changed(FINE, **rule(operations=["CONNECT"])),
    "deletions of a validating policy": changed(JUDGE, **rule(operations=["DELETE"])),
    "params of a kind in mixed case": changed(FINE, paramKind={"apiVersion": "v1", "kind": "Ab"}),
}


@pytest.mark.parametrize("policy", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_an_api_server_accepts_is_accepted(policy: Json) -> None:
    compiled([policy], None, cluster_of(), validate=True)


def test_the_later_of_two_variables_of_one_name_counts() -> None:
    twice = variables(("a", "1"), ("a", "2"))
    policy = changed(JUDGE, validations=[{"expression": "variables.a == 2"}], **twice)
    assert judge([policy], config_map()).denial is None


def test_a_binding_may_name_pods_and_everything() -> None:
    resources = {"resourceRules": [{**EVERYTHING, "resources": ["pods", "*"]}]}
    bound = [binding(FINE, matchResources=resources), binding(JUDGE, matchResources=resources)]
    plugins, _ = compiled([FINE, JUDGE], bound, cluster_of(), validate=True)
    assert len(plugins) == 2


def test_everything_that_is_wrong_is_said_at_once() -> None:
    wrong = changed(FINE, failurePolicy="Maybe", mutations=[])
    with pytest.raises(RuleError) as caught:
        compiled([wrong, changed(JUDGE, validations=[])], None, cluster_of(), validate=True)
    assert len(str(caught.value).splitlines()) == 3


def test_an_unknown_field_is_a_warning() -> None:
    _, findings = compiled([changed(FINE, mutation=[])], None, cluster_of(), validate=True)
    assert "unknown field spec.mutation; did you mean mutations?" in findings[0].message


def test_an_inactive_policy_is_checked_as_well() -> None:
    with pytest.raises(RuleError, match="compilation failed"):
        compiled([changed(FINE, mutations=[apply("nothing")])], [], cluster_of(), validate=True)


def test_params_without_an_action_for_missing_ones_are_taken_as_deny() -> None:
    _, findings = compiled(
        [FINE], [binding(FINE, paramRef={"name": "a"})], cluster_of(), validate=True
    )
    assert "taken as Deny" in findings[0].message


def test_v1alpha1_fills_in_the_action_for_missing_params() -> None:
    bound = {**binding(FINE, paramRef={"name": "a"}), "apiVersion": f"{GROUP}/v1alpha1"}
    assert compiled([FINE], [bound], cluster_of(), validate=True)[1] == ()


GATES = [
    ("semver('1.2.3').major() == 1", "1.33", "1.34"),
    ("lists.range(2).size() == 2", "1.34", "1.35"),
    ("[1].includes(1)", "1.37", "1.38"),
]


@pytest.mark.parametrize(("expression", "too_old", "first"), GATES)
def test_a_new_expression_has_what_the_release_before_had(
    expression: str, too_old: str, first: str
) -> None:
    def load(version: str) -> None:
        policy = changed(JUDGE, validations=[{"expression": expression}])
        options = {"validate": True, "kubernetes_version": version}
        compiled([policy], None, cluster_of(), **options)

    load(first)
    with pytest.raises(RuleError, match="undeclared reference"):
        load(too_old)


def test_without_a_version_the_rule_of_the_newest_release_holds() -> None:
    def load(expression: str) -> None:
        policy = changed(JUDGE, validations=[{"expression": expression}])
        compiled([policy], None, cluster_of(), validate=True)

    load("[1].sort() == [1]")
    with pytest.raises(RuleError, match="undeclared reference to 'includes'"):
        load("[1].includes(1)")
