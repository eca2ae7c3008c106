"""The functionConfig in its three forms, and what is wrong with one, in one sentence."""

from __future__ import annotations

import pytest

from krm_fn.admission import Operation
from krm_fn.config.options import (
    FromItems,
    Idempotency,
    Inline,
    Itself,
    Mode,
    OnEmpty,
    OnReject,
    OnRuleError,
    Options,
    Paths,
    from_function_config,
)
from krm_fn.errors import ConfigError
from krm_fn.wire import read_stream

HEAD = "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: x}\n"


def configured(text: str) -> Options:
    return from_function_config(read_stream(text.encode()).items[0])


def message(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        configured(text)
    return str(caught.value)


def test_without_a_function_config_the_defaults_hold() -> None:
    admission = from_function_config(None)
    assert admission.mode is Mode.MUTATE
    assert admission.on_reject is OnReject.FAIL
    assert admission.on_rule_error is OnRuleError.FAIL
    assert admission.on_empty is OnEmpty.FAIL
    assert admission.idempotency is Idempotency.WARN
    assert admission.context.default_namespace == "default"
    assert admission.results.limit == 500
    assert admission.rules == ()


def test_a_rule_itself_is_its_own_source() -> None:
    admission = configured("apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n")
    assert [type(source) for source in admission.rules] == [Itself]


def test_the_full_form_reads_every_field() -> None:
    admission = configured(
        HEAD
        + """\
spec:
  mode: audit
  rules:
  - inline: "kind: ModRule"
  - paths: [rules/, more.yaml]
  - fromItems: {labelSelector: "krm-fn.dev/rule=true"}
  context:
    operation: UPDATE
    defaultNamespace: web
    namespaces: [{name: team-a, labels: {mesh: "on"}}]
    user: {username: me, groups: [a, b]}
  match:
    include: [{kind: Deployment}]
    exclude: [{namespace: kube-system}]
  onReject: Drop
  onRuleError: AsCluster
  onEmpty: Allow
  idempotency: Off
  strict: true
  results: {changes: false, limit: 5}
  modRules: {clusterRulesNamespace: rules}
""".replace("idempotency: Off", "idempotency: 'Off'")
    )
    assert admission.mode is Mode.AUDIT
    assert [type(source) for source in admission.rules] == [Inline, Paths, FromItems]
    assert admission.context.operation is Operation.UPDATE
    assert admission.context.namespaces[0]["metadata"]["labels"] == {"mesh": "on"}
    assert admission.context.user.groups == ("a", "b")
    assert admission.match.include[0].kind == "Deployment"
    assert admission.idempotency is Idempotency.OFF
    assert admission.strict
    assert admission.results.changes is False
    assert "modRules" in admission.sections


def test_a_config_map_has_options_as_strings_with_dots() -> None:
    admission = configured(
        """\
apiVersion: v1
kind: ConfigMap
metadata: {name: function-input}
data:
  onReject: warn
  context.defaultNamespace: web
  results.limit: "7"
  strict: "true"
  rules: |
    kind: ModRule
  more.yaml: |
    kind: ModRule
"""
    )
    assert admission.on_reject is OnReject.WARN
    assert admission.context.default_namespace == "web"
    assert admission.results.limit == 7
    assert admission.strict
    assert len(admission.rules) == 2


WRONG: list[tuple[str, str]] = [
    ("spec: {onRejct: Warn}", "spec.onRejct: unknown field; did you mean onReject?"),
    ("spec: {onReject: Wran}", "'Wran' is not one of Fail, Warn, Drop; did you mean Warn?"),
    ("spec: {strict: 1}", "spec.strict is the number 1; it must be true or false"),
    ("spec: {results: {limit: x}}", "spec.results.limit is the string 'x'"),
    ("spec: {results: {limit: -1}}", "spec.results.limit is the number -1"),
    ("spec: {context: {operation: DELETE}}", "DELETE cannot be rendered"),
    ("spec: {context: {namespace: [a]}}", "did you mean namespaces?"),
    ("spec: {context: {namespaces: [{labels: {}}]}}", "namespaces[0].name is required"),
    ("spec: {rules: [{inline: x, paths: [y]}]}", "give one of inline, paths, fromItems"),
    ("spec: {rules: [{}]}", "give one of inline, paths, fromItems"),
    ("spec: {rules: rules/}", "spec.rules is the string 'rules/'; it must be a list"),
    ("spec: {rules: [{paths: rules/}]}", "it must be a list of strings"),
    ("spec: {rules: [{fromItems: {labelSelector: '=('}}]}", "not a label selector"),
    ("spec: {kustomizeValidator: true}", "kustomizeValidator needs mode: Validate"),
    ("spec: {podTemplates: Always}", "podTemplates"),
    ("spec: {extraPodTemplates: [{group: a, kind: B}]}", "path is required"),
    ("spec: {extraPodTemplates: [{kind: B, path: a/b}]}", "no dotted path"),
    ("spec: {context: {kubernetesVersion: new}}", "no version such as 1.34"),
    ("spec: []", "spec is a list; it must be a map"),
    ("sepc: {}", "sepc: unknown field; did you mean spec?"),
]


@pytest.mark.parametrize(("text", "part"), WRONG)
def test_what_is_wrong_is_said_with_the_field_and_a_way_out(text: str, part: str) -> None:
    assert part in message(HEAD + text + "\n")


def test_another_kind_is_refused_with_the_kinds_that_work() -> None:
    said = message("apiVersion: api.kubemod.io/v1beta1\nkind: ModRul\n")
    assert "did you mean ModRule?" in said
    assert "Admission" in message("apiVersion: v1\nkind: Pod\n")


def test_another_version_of_the_configuration_is_refused() -> None:
    said = message("apiVersion: krm-fn.dev/v1\nkind: Admission\n")
    assert said == "functionConfig: apiVersion krm-fn.dev/v1 is not known; use krm-fn.dev/v1alpha1"


@pytest.mark.parametrize("data", ["{rules: 5}", "{onReject: true}"])
def test_the_data_of_a_config_map_are_strings(data: str) -> None:
    assert "must be a string" in message(f"apiVersion: v1\nkind: ConfigMap\ndata: {data}\n")


def test_match_decides_by_head_and_by_labels() -> None:
    admission = configured(
        HEAD + "spec: {match: {include: [{kind: A}, {labels: {x: z}}], exclude: [{name: o}]}}\n"
    )
    one = read_stream(b"apiVersion: v1\nkind: B\nmetadata: {name: m, labels: {x: z}}\n").items[0]
    other = read_stream(b"apiVersion: v1\nkind: A\nmetadata: {name: o}\n").items[0]
    assert admission.match.fits(one.head, one.value)
    assert not admission.match.may_fit(other.head)
