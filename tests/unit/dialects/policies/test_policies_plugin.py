"""What policies do in this program beyond what an API server does: options, doubts, blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from policies_support import (
    EVERYTHING,
    Denied,
    apply,
    binding,
    config_map,
    deployment,
    judge,
    manifest,
    mutate,
    mutating,
    patch,
    validating,
)

from krm_fn.config.options import Options
from krm_fn.run.function import Done, run
from krm_fn.run.lint import lint
from krm_fn.values import Json
from krm_fn.wire import read_stream

WIDGET = {
    "apiVersion": "shop.example/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "shop"},
    "spec": {"size": 1, "tags": ["a"]},
}


def call(rules: list[Json], items: list[Json], **spec: Any) -> tuple[Done, Json]:
    """The function's answer to items under rules, each policy with a binding."""
    bound = [binding(rule) for rule in rules if rule["kind"].endswith("Policy")]
    config = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "a"},
        "spec": {"rules": [{"inline": yaml.safe_dump_all([*rules, *bound])}], **spec},
    }
    value = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": items,
    }
    done = run(yaml.safe_dump(value).encode(), {})
    return done, yaml.safe_load(done.stdout) if done.stdout else {}


def messages(answer: Json, severity: str) -> list[str]:
    return [r["message"] for r in answer.get("results", ()) if r["severity"] == severity]


REPLICAS = mutating(apply("Object{spec: Object.spec{replicas: 3}}"), name="replicas")
LABEL = mutating(apply('Object{metadata: Object.metadata{labels: {"a": "b"}}}'), name="label")


@pytest.mark.parametrize("form", ["Served", "AsWritten"])
def test_only_what_a_policy_changed_is_written(form: str) -> None:
    written = deployment({"name": "web", "image": "nginx"})
    _, answer = call([REPLICAS], [written], objectForm=form)
    assert answer["items"] == [{**written, "spec": {**written["spec"], "replicas": 3}}]


def test_defaults_are_seen_under_the_served_form_only() -> None:
    reads = mutating(apply("Object{spec: Object.spec{replicas: object.spec.replicas + 1}}"))
    live = deployment({"name": "web", "image": "nginx"})
    assert call([reads], [live])[1]["items"][0]["spec"]["replicas"] == 2
    done, _ = call([reads], [live], objectForm="AsWritten")
    assert "no such key: replicas" in done.stderr


def test_a_change_names_the_policy_and_the_mutation_made_it() -> None:
    _, answer = call([REPLICAS], [deployment({"name": "web", "image": "nginx"})])
    (change,) = [r for r in answer["results"] if r.get("field")]
    assert change["field"] == {"path": "spec.replicas", "proposedValue": 3}
    assert change["tags"]["rule"] == "MutatingAdmissionPolicy replicas"


def test_a_selector_on_an_unknown_namespace_is_undecided_and_said_once() -> None:
    selector = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    policy = mutating(
        apply("Object{}"), matchConstraints={"resourceRules": [EVERYTHING], **selector}
    )
    maps = [config_map(), {**config_map(), "metadata": {"name": "b", "namespace": "shop"}}]
    _, answer = call([policy], maps)
    assert len([m for m in messages(answer, "warning") if "namespace shop" in m]) == 1


def test_a_policy_that_reads_an_unknown_namespace_is_not_applied() -> None:
    reads = 'Object{data: {"env": namespaceObject.metadata.labels["env"]}}'
    policy = mutating(apply(reads))
    _, answer = call([policy], [config_map()])
    assert "data" not in answer["items"][0]
    assert "reads namespaceObject" in messages(answer, "warning")[0]
    namespaces = [{"name": "shop", "labels": {"env": "prod"}}]
    _, answer = call([policy], [config_map()], context={"namespaces": namespaces})
    assert answer["items"][0]["data"] == {"env": "prod"}


def test_the_name_of_an_unknown_namespace_may_be_read() -> None:
    policy = mutating(apply('Object{data: {"ns": namespaceObject.metadata.name}}'))
    _, answer = call([policy], [config_map()])
    assert answer["items"][0]["data"] == {"ns": "shop"}


def test_an_ignored_error_is_a_note() -> None:
    policy = mutating(apply('Object{data: {"a": object.none}}'), failurePolicy="Ignore")
    done, answer = call([policy], [config_map()])
    assert done.status == 0
    assert any("ignored (failurePolicy: Ignore)" in m for m in messages(answer, "info"))


FAILS = "object.none == 1"
CONDITION = {"matchConditions": [{"name": "c", "expression": FAILS}]}


@pytest.mark.parametrize(
    "policy",
    [
        validating({"expression": FAILS}, failurePolicy="Ignore"),
        validating({"expression": "true"}, failurePolicy="Ignore", **CONDITION),
        validating(
            {"expression": "true"},
            failurePolicy="Ignore",
            auditAnnotations=[{"key": "k", "valueExpression": "string(object.none)"}],
        ),
        mutating(apply("Object{data: object.none}"), failurePolicy="Ignore"),
        mutating(apply("Object{}"), failurePolicy="Ignore", **CONDITION),
    ],
    ids=["validation", "condition", "annotation", "mutation", "condition of a mutation"],
)
def test_every_ignored_error_is_a_note_for_each_object(policy: Json) -> None:
    items = [config_map(name="a"), config_map(name="b")]
    done, answer = call([policy], items)
    told = messages(answer, "info")
    assert done.status == 0
    assert len(told) == 2
    assert all("ignored (failurePolicy: Ignore): " in text for text in told)
    assert all("no such key: none" in text for text in told)


def test_an_ignored_configuration_is_a_note() -> None:
    policy = validating(
        {"expression": "true"},
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        failurePolicy="Ignore",
    )
    ref = {"name": "missing", "parameterNotFoundAction": "Deny"}
    (note,) = judge(policy, config_map(), bindings=[binding(policy, paramRef=ref)]).findings
    assert note.message == (
        "ignored (failurePolicy: Ignore): ValidatingAdmissionPolicy 'v' with binding 'v': failed "
        "to configure binding: no params found for policy binding with `Deny` "
        "parameterNotFoundAction"
    )


def test_an_ignored_budget_is_one_note() -> None:
    # Text and pattern multiply: about 950,000 each.
    costly = {"expression": f"!object.data.text.matches('{'x' * 380}')"}
    policy = validating(*[costly] * 11, failurePolicy="Ignore")
    outcome = judge(policy, config_map({"text": "y" * 100_000}))
    assert outcome.denial is None
    assert len(outcome.findings) == 1


@pytest.mark.parametrize(("version", "status"), [("1.36", 0), ("1.37", 1), ("", 1)])
def test_types_are_read_in_place_since_1_37(version: str, status: int) -> None:
    # A list of a Go type takes no index but an int, one of JSON takes any whole number.
    policies = [
        validating({"expression": "object.spec.template.spec.containers[0u].name == 'a'"}),
        validating({"expression": "request.userInfo.groups[dyn(0u)] != ''"}, name="request"),
    ]
    context = {"kubernetesVersion": version} if version else {}
    for policy in policies:
        done, _ = call([policy], [deployment({"name": "a", "image": "b"})], context=context)
        assert done.status == status, done.stderr


@pytest.mark.parametrize(("version", "status"), [("1.36", 0), ("1.37", 1)])
def test_live_maps_may_be_values_of_a_patch_before_1_37(version: str, status: int) -> None:
    copies = mutating(
        patch('[JSONPatch{op: "add", path: "/data", value: object.metadata.labels}]'),
        matchConditions=[{"name": "c", "expression": "true"}],
    )
    live = config_map({"x": "y"}, labels={"a": "b"})
    done, answer = call([copies], [live], context={"kubernetesVersion": version})
    assert done.status == status
    assert answer["items"][0]["data"] == ({"x": "y"} if status else {"a": "b"})


def test_whole_numbers_of_custom_params_are_ints() -> None:
    limit = {**WIDGET, "kind": "Limit", "metadata": {"name": "l", "namespace": "shop"}, "n": 2.0}
    policy = validating(
        {"expression": "params.n + 1 == 3"},
        paramKind={"apiVersion": "shop.example/v1", "kind": "Limit"},
    )
    bound = [binding(policy, paramRef={"name": "l"})]
    assert judge(policy, config_map(), known=[limit], bindings=bound).denial is None


def test_a_kind_without_a_schema_fails_unless_it_may_be_deduced() -> None:
    grow = mutating(apply("Object{spec: Object.spec{size: 2}}"))
    with pytest.raises(Denied, match="Kind=Widget not found") as e:
        mutate(grow, WIDGET)
    assert e.value.code == 503
    deduced = mutate(grow, WIDGET, section={"unknownKind": "Deduce"})
    assert deduced["spec"] == {"size": 2, "tags": ["a"]}


def test_lists_of_a_deduced_kind_are_atomic() -> None:
    tag = mutating(apply('Object{spec: Object.spec{tags: ["b"]}}'))
    with pytest.raises(Denied, match=r"may not mutate atomic .*: \.spec\.tags"):
        mutate(tag, WIDGET, section={"unknownKind": "Deduce"})


def test_the_atomic_guard_can_be_lifted() -> None:
    secret = mutating(
        apply(
            "Object{spec: Object.spec{template: Object.spec.template{spec: "
            "Object.spec.template.spec{imagePullSecrets: "
            '[Object.spec.template.spec.imagePullSecrets{name: "s"}]}}}}'
        )
    )
    with pytest.raises(Denied, match="atomic"):
        mutate(secret, deployment({"name": "a"}))
    allowed = mutate(secret, deployment({"name": "a"}), section={"atomicGuard": "Allow"})
    assert allowed["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "s"}]


def test_policies_run_before_webhooks_and_validating_ones_after_both() -> None:
    rule = {
        "apiVersion": "api.kubemod.io/v1beta1",
        "kind": "ModRule",
        "metadata": {"name": "r", "namespace": "shop"},
        "spec": {
            "type": "Patch",
            "match": [{"select": "$.metadata.labels.a", "matchValue": "b"}],
            "patch": [{"op": "add", "path": "/metadata/labels/rule", "value": "seen"}],
        },
    }
    check = validating({"expression": "object.metadata.labels.rule == 'seen'"}, name="check")
    done, answer = call([LABEL, rule, check], [config_map()])
    assert done.status == 0
    assert answer["items"][0]["metadata"]["labels"] == {"a": "b", "rule": "seen"}


def test_a_policy_is_invoked_again_after_a_webhook_changed_the_object() -> None:
    rule = {
        "apiVersion": "api.kubemod.io/v1beta1",
        "kind": "ModRule",
        "metadata": {"name": "r", "namespace": "shop"},
        "spec": {
            "type": "Patch",
            "match": [{"select": "$.kind", "matchValue": "ConfigMap"}],
            "patch": [{"op": "add", "path": "/data/added", "value": "by-rule"}],
        },
    }
    copy = mutating(
        apply('Object{data: {"copy": object.?data[?"added"].orValue("none")}}'),
        name="copy",
        reinvocationPolicy="IfNeeded",
    )
    _, answer = call([copy, rule], [config_map()])
    assert answer["items"][0]["data"] == {"copy": "by-rule", "added": "by-rule"}


REMOVES_A_LABEL: Json = {
    "apiVersion": "api.kubemod.io/v1beta1",
    "kind": "ModRule",
    "metadata": {"name": "r", "namespace": "shop"},
    "spec": {
        "type": "Patch",
        "match": [{"select": "$.metadata.labels.a", "matchValue": "b"}],
        "patch": [{"op": "remove", "path": "/metadata/labels/a"}],
    },
}


@pytest.mark.parametrize(
    ("failure_policy", "status", "severity"), [("Fail", 1, "error"), ("Ignore", 0, "info")]
)
def test_conditions_are_evaluated_again_after_a_webhook_changed_the_object(
    failure_policy: str, status: int, severity: str
) -> None:
    policy = mutating(
        apply("Object{}"),
        matchConditions=[{"name": "c", "expression": "object.metadata.labels.a == 'x'"}],
        failurePolicy=failure_policy,
    )
    live = config_map(labels={"a": "b", "c": "d"})
    done, answer = call([policy, REMOVES_A_LABEL], [live])
    assert done.status == status
    told = messages(answer, severity)
    assert sum("no such key: a" in message for message in told) == 1
    untouched = config_map(labels={"a": "x"})
    assert call([policy, REMOVES_A_LABEL], [untouched])[0].status == 0


def test_what_comes_after_a_denial_is_marked_and_the_denial_is_not() -> None:
    fails = [mutating(apply("Object{data: object.none}"), name=name) for name in ("a", "b")]
    denies = [validating({"expression": "false", "message": "no"}, name=n) for n in ("c", "d")]
    _, answer = call([*fails, *denies], [config_map()])
    marked = "after a denial; the API server would not have come this far: "
    told = messages(answer, "error")
    assert [message.startswith(marked) for message in told] == [False, False, True, True]
    assert told[2] == (f"{marked}ValidatingAdmissionPolicy 'c' with binding 'c' denied request: no")


def test_a_denial_is_told_once_though_another_policy_changed_the_object() -> None:
    fails = mutating(apply("Object{data: object.none}"), name="b", reinvocationPolicy="IfNeeded")
    _, answer = call([LABEL, fails], [config_map()])
    assert sum("no such key: none" in message for message in messages(answer, "error")) == 1


def test_a_policy_that_matches_nothing_here_says_so() -> None:
    services = {**EVERYTHING, "apiGroups": [""], "resources": ["services"]}
    policy = mutating(apply("Object{}"), matchConstraints={"resourceRules": [services]})
    _, answer = call([policy], [config_map()])
    assert messages(answer, "warning") == [
        "does not concern the object here (ConfigMap): its matchConstraints name other resources"
    ]


def test_a_policy_about_pods_says_that_templates_are_left_as_they_are() -> None:
    pods = {**EVERYTHING, "apiGroups": [""], "resources": ["pods"]}
    policy = mutating(
        apply('Object{metadata: Object.metadata{annotations: {"a": "b"}}}'),
        matchConstraints={"resourceRules": [pods]},
    )
    live = deployment({"name": "web", "image": "nginx"})
    _, answer = call([policy], [live])
    assert any("podTemplates: Mutate" in m for m in messages(answer, "warning"))
    _, answer = call([policy], [live], podTemplates="Mutate")
    template = answer["items"][0]["spec"]["template"]
    assert template["metadata"]["annotations"] == {"a": "b"}


def test_a_denial_says_what_to_do_about_it() -> None:
    policy = mutating(
        patch('[JSONPatch{op: "add", path: "/spec/template/spec/initContainers/-", value: {}}]')
    )
    done, _ = call([policy], [deployment({"name": "web", "image": "nginx"})])
    assert "hint: there is no list to add to; add an empty one first" in done.stderr


def test_every_denial_is_told_though_an_api_server_tells_one() -> None:
    policy = validating(
        {"expression": "false", "message": "first"}, {"expression": "false", "message": "second"}
    )
    done, answer = call([policy], [config_map()])
    assert done.status == 1
    assert [m.rpartition(": ")[2] for m in messages(answer, "error")] == ["first", "second"]


def test_audit_actions_and_annotations_are_told_for_each_object() -> None:
    policy = validating(
        {"expression": "false", "message": "no"},
        auditAnnotations=[{"key": "who", "valueExpression": "'me'"}],
    )
    config = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "metadata": {"name": "a"}}
    audits = binding(policy, validationActions=["Audit"])
    config["spec"] = {"rules": [{"inline": yaml.safe_dump_all([policy, audits])}]}
    items = [config_map(name=name) for name in ("a", "b", "c")]
    done = run(
        yaml.safe_dump(
            {
                "apiVersion": "config.kubernetes.io/v1",
                "kind": "ResourceList",
                "functionConfig": config,
                "items": items,
            }
        ).encode(),
        {},
    )
    results = yaml.safe_load(done.stdout)["results"]
    for part in ("audit annotation v/who: me", "validation_failure"):
        told = [r for r in results if part in r["message"]]
        assert [r["resourceRef"]["name"] for r in told] == ["a", "b", "c"]
        assert all(r["tags"]["rule"] == "ValidatingAdmissionPolicy v" for r in told)


def test_warnings_and_audit_annotations_are_results_that_deny_nothing() -> None:
    policy = validating(
        {"expression": "false", "message": "hm"},
        auditAnnotations=[{"key": "who", "valueExpression": "object.metadata.name + ''"}],
    )
    bound = binding(policy, validationActions=["Warn", "Audit"])
    outcome = judge(policy, config_map(), bindings=[bound])
    assert outcome.denial is None
    assert [m for m, _ in outcome.warnings] == [
        "Validation failed for ValidatingAdmissionPolicy 'v' with binding 'v': hm"
    ]
    assert outcome.annotations["v/who"] == "settings"


def test_an_object_of_another_version_of_a_custom_kind_is_converted_by_its_name_alone() -> None:
    crd = {
        **manifest("CustomResourceDefinition", "widgets.shop.example", {}),
        "apiVersion": "apiextensions.k8s.io/v1",
        "spec": {
            "group": "shop.example",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {
                                    "type": "object",
                                    "x-kubernetes-preserve-unknown-fields": True,
                                }
                            },
                        }
                    },
                }
                for name in ("v1", "v2")
            ],
        },
    }
    v2 = {**EVERYTHING, "apiGroups": ["shop.example"], "apiVersions": ["v2"]}
    policy = mutating(
        apply("Object{spec: Object.spec{seen: object.apiVersion}}"),
        matchConstraints={"resourceRules": [v2]},
    )
    result = mutate(policy, WIDGET, known=[crd])
    assert (result["apiVersion"], result["spec"]["seen"]) == ("shop.example/v1", "shop.example/v2")


def test_a_policy_for_another_operation_says_so() -> None:
    updates = {**EVERYTHING, "operations": ["UPDATE"]}
    policy = mutating(apply("Object{}"), matchConstraints={"resourceRules": [updates]})
    _, answer = call([policy], [config_map()])
    assert messages(answer, "warning") == [
        "applies on UPDATE only, and the objects are admitted as CREATE (context.operation)"
    ]


def test_several_mutations_leave_no_defaults_behind() -> None:
    sidecar = "Object.spec.template.spec.containers{name: 'log', image: 'log:1'}"
    spec = f"Object.spec.template.spec{{containers: [{sidecar}]}}"
    policy = mutating(
        apply(f"Object{{spec: Object.spec{{template: Object.spec.template{{spec: {spec}}}}}}}"),
        patch('[JSONPatch{op: "add", path: "/spec/replicas", value: object.spec.replicas + 1}]'),
        apply('Object{metadata: Object.metadata{labels: {"a": "b"}}}'),
    )
    live = deployment({"name": "web", "image": "nginx:1"})
    _, answer = call([policy], [live])
    (item,) = answer["items"]
    assert item["spec"]["replicas"] == 2
    assert item["metadata"]["labels"] == {"a": "b"}
    assert item["spec"]["template"]["spec"]["containers"] == [
        {"name": "web", "image": "nginx:1"},
        {"name": "log", "image": "log:1"},
    ]


@pytest.mark.parametrize(("first", "second", "told"), [("1", "2", True), ("1", "1", False)])
def test_a_lint_tells_what_depends_on_the_order_of_policies(
    first: str, second: str, told: bool, tmp_path: Path
) -> None:
    policies = [
        mutating(apply(f'Object{{data: {{"a": "{value}"}}}}'), name=name)
        for name, value in (("p1", first), ("p2", second))
    ]
    rules = tmp_path / "rules.yaml"
    rules.write_text(yaml.safe_dump_all([*policies, *map(binding, policies)]))
    stream = read_stream(yaml.safe_dump(config_map()).encode(), "map.yaml")
    report = lint([stream], Options(), [str(rules)])
    said = [finding.message for _, finding in report.all_findings()]
    assert any("depends on their order" in message for message in said) == told


CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gateways.gateway.example"},
    "spec": {
        "group": "gateway.example",
        "names": {"kind": "Gateway", "plural": "gateways"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"a": {}}}},
            }
        ],
    },
}


def test_a_policy_may_read_the_schema_of_a_definition() -> None:
    safe = validating(
        {"expression": "object.spec.versions[0].schema.openAPIV3Schema.properties.size() == 1"},
        {"expression": "object.spec.versions.all(v, v == object.spec.versions[0])"},
    )
    done, answer = call([safe], [CRD])
    assert (done.status, answer["items"]) == (0, [CRD])
    denies = validating({"expression": "object.spec.group.endsWith('.k8s.io')"})
    assert call([denies], [CRD])[0].status == 1
