from __future__ import annotations

import copy
from typing import Any

import pytest
from modrule_support import admit, after, config_map, patch_rule, reject_rule, said

from krm_fn.admission import Cause
from krm_fn.config.options import OnRuleError
from krm_fn.kube.wellknown import LAST_APPLIED
from krm_fn.values import Json

FAIL, WARN, AS_CLUSTER = OnRuleError.FAIL, OnRuleError.WARN, OnRuleError.AS_CLUSTER


def add(path: str, value: str, *, name: str = "r", more: str = "", match: str = "$.kind") -> str:
    return patch_rule(
        f"[{{op: add, path: {path}, value: '{value}'}}]", name=name, more=more, match=match
    )


# ------------------------------------------------------------------------------------------ order


def test_a_lower_tier_goes_first_and_the_next_one_sees_its_effect() -> None:
    late = add(
        "/data/b", "{{ .Target.data.a }}!", name="a", more="executionTier: 1", match="$.data"
    )
    early = add("/data/a", "x", name="z", more="executionTier: -1")
    assert after(late + early, config_map())["data"] == {"a": "x", "b": "x!"}


def test_rules_of_one_tier_match_what_the_tier_started_with() -> None:
    first = add("/data/a", "x", name="a")
    second = add("/data/b", "y", name="b", match="$.data.a")
    assert after(first + second, config_map())["data"] == {"a": "x"}


def test_a_rule_of_the_same_tier_computes_on_what_the_ones_before_it_made() -> None:
    first = add("/data/a", "x", name="a")
    second = add("/data/b", "{{ .Target.data.a }}", name="b")
    assert after(second + first, config_map())["data"] == {"a": "x", "b": "x"}


def test_cluster_rules_go_before_those_of_the_namespace() -> None:
    mine = add("/data/a", "mine", name="a")
    everybodys = add("/data/a", "everybodys", name="b", more="targetNamespaceRegex: .*")
    everybodys = everybodys.replace("namespace: web", "namespace: kubemod-system")
    assert after(mine + everybodys, config_map())["data"] == {"a": "mine"}


def test_the_operations_of_a_rule_are_all_computed_before_the_first_is_applied() -> None:
    rule = patch_rule(
        "[{op: add, path: /data/a, value: x},"
        " {op: add, path: /data/b, value: '{{ .Target.data.a }}'}]"
    )
    response = admit(rule, config_map(data={"a": "old"}))
    assert response.object is not None
    assert response.object["data"] == {"a": "x", "b": "old"}


def test_reject_rules_judge_the_patched_object() -> None:
    rules = add("/data/a", "bad", name="a") + reject_rule(name="b", match='$.data.a == "bad"')
    assert admit(rules, config_map(data={"a": "good"})).findings[0].cause is Cause.REJECTED


# --------------------------------------------------------------------------------- what changes


def test_nothing_is_changed_in_place_and_what_is_untouched_is_the_same_object() -> None:
    value = config_map(data={"a": {"deep": [1]}})
    before = copy.deepcopy(value)
    patched = after(add("/metadata/labels/x", "y"), value)
    assert value == before
    assert patched["data"] is value["data"]


def test_each_rule_that_changes_something_is_one_step() -> None:
    rules = add("/data/a", "x", name="a") + add("/kind", "ConfigMap", name="b")
    response = admit(rules, config_map())
    assert [[str(rule) for rule in step.rules] for step in response.steps] == [["ModRule web/a"]]
    assert response.steps[0].object == response.object


def test_no_change_is_no_object() -> None:
    assert admit(add("/kind", "ConfigMap"), config_map()).object is None


def test_a_large_integer_stays_exact() -> None:
    rule = add("/data/n", "9007199254740993")
    assert after(rule, config_map())["data"]["n"] == 9007199254740993


def test_a_template_that_changes_what_it_sees_does_not_change_the_object() -> None:
    rule = patch_rule(
        '[{op: add, path: /data/a, value: \'{{ set .Target.data "x" "1" | len }}\'},'
        " {op: add, path: /data/b, value: '{{ .Target.data.x }}'}]"
    )
    response = admit(rule, config_map(data={}))
    assert response.object is not None
    assert response.object["data"] == {"a": 1, "b": 1}
    assert said(response, Cause.WARNING) == [
        "a template changes .Target: the templates behind it in this rule see that, the object "
        "does not get it"
    ]


def test_a_template_may_change_what_it_made_itself() -> None:
    rule = add("/data/a", '{{ set (dict) "x" "1" | toJson }}')
    assert after(rule, config_map(data={}))["data"]["a"] == {"x": "1"}


def test_a_reject_message_that_changes_what_it_sees_does_not_change_the_object() -> None:
    value = config_map(data={})
    rule = reject_rule(more='rejectMessage: \'{{ set .Target.data "x" "1" | len }}\'')
    assert admit(rule, value).object is None
    assert value["data"] == {}


# ---------------------------------------------------------------------------------------- fan-out


def containers(*names: str) -> Json:
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "web"}}
    return {**pod, "spec": {"containers": [{"name": name} for name in names]}}


def fan_out(op: str, select: str, path: str, value: str = "") -> str:
    value = f", value: '{value}'" if value else ""
    return patch_rule(f"[{{op: {op}, select: '{select}', path: '{path}'{value}}}]")


def test_one_operation_for_each_match_with_its_keys_and_value() -> None:
    rule = fan_out(
        "add",
        "$.spec.containers[*].name",
        "/spec/containers/#0/image",
        "{{ .SelectedItem }}:{{ .#0 }}",
    )
    images = [c["image"] for c in after(rule, containers("a", "b"))["spec"]["containers"]]
    assert images == ["a:0", "b:1"]


def test_no_match_is_no_operation() -> None:
    assert admit(fan_out("add", "$.spec.nope[*]", "/x/#0", "1"), containers("a")).object is None


def test_removals_go_from_the_end_so_that_the_right_ones_go() -> None:
    rule = fan_out("remove", '$.spec.containers[? @.name != "b"]', "/spec/containers/#0")
    response = admit(rule, containers("a", "b", "c"))
    assert response.object is not None
    assert response.object["spec"]["containers"] == [{"name": "b"}]


def test_an_outcome_that_depends_on_the_order_is_said() -> None:
    rule = fan_out("remove", '$.spec.containers[? @.name != "b"]', "/spec/containers/#0")
    assert "depends on the order" in said(admit(rule, containers("a", "b", "c")), Cause.WARNING)[0]


@pytest.mark.parametrize(
    ("op", "path", "value"),
    [
        ("add", "/spec/containers/#0/image", "x"),
        ("add", "/metadata/labels/n", "same"),
        ("remove", "/spec/containers/#0/name", ""),
        ("replace", "/spec/containers/#0", "{name: x}"),
    ],
)
def test_nothing_is_said_where_every_order_gives_the_same(op: str, path: str, value: str) -> None:
    assert (
        admit(fan_out(op, "$.spec.containers[*]", path, value), containers("a", "b")).findings == ()
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/metadata/labels/n", "{{ .#0 }}"),
        ("/spec/order/-1", "{{ .#0 }}"),
    ],
)
def test_the_last_writer_and_the_place_in_a_list_depend_on_the_order(path: str, value: str) -> None:
    rule = fan_out("add", "$.spec.containers[*]", path, value)
    warnings = said(admit(rule, containers("a", "b", "c")), Cause.WARNING)
    assert len(warnings) == 1


def test_a_captured_key_with_a_slash_is_put_in_raw_and_said() -> None:
    value = config_map()
    value["metadata"]["annotations"] = {"a.io/b": "1", "plain": "2"}
    rule = fan_out("remove", "$.metadata.annotations.*", "/metadata/annotations/#0")
    response = admit(rule, value)
    assert response.object is not None
    assert response.object["metadata"]["annotations"] == {"a.io/b": "1"}
    assert said(response, Cause.WARNING) == [
        "spec.patch[0].path becomes /metadata/annotations/a.io/b: KubeMod puts a captured key in "
        "as it is, so that a / in it separates and a ~ escapes"
    ]


@pytest.mark.parametrize("key", ["a[0]", 'say "hi"', "back\\slash", "007", "+5"])
def test_a_captured_key_that_kubemod_does_not_give_back_is_said(key: str) -> None:
    rule = fan_out("add", "$.data.*", "/metadata/labels/x", "{{ .SelectKeyParts | len }}")
    (warning,) = said(admit(rule, config_map(data={key: 1})), Cause.WARNING)
    assert "KubeMod loses keys with brackets or quotes" in warning


def test_a_captured_key_that_nobody_uses_may_be_lost() -> None:
    rule = fan_out("add", "$.data.*", "/metadata/labels/x", "y")
    assert admit(rule, config_map(data={"007": 1})).findings == ()


# --------------------------------------------------------------------------------------- warnings


@pytest.mark.parametrize("value", ["x-{{ .Target.n }}", "[[{k: a{{ .Target.n }}}]]"])
def test_a_large_number_in_a_text_is_said(value: str) -> None:
    response = admit(add("/data/a", value), config_map(n=100_000_000))
    assert said(response, Cause.WARNING) == [
        "spec.patch[0].value has 1e+08 in a text: templates print numbers of a million and more "
        "so; write int before the number"
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{{ .Target.n }}", 100_000_000),
        ("x-{{ int .Target.n }}", "x-100000000"),
        ("x-{{ .Target.text }}", "x-1.1e+1.5"),
    ],
)
def test_a_number_alone_or_as_an_integer_needs_no_word(value: str, expected: Any) -> None:
    rule = add("/data/a", value)
    assert after(rule, config_map(n=100_000_000, text="1.1e+1.5"))["data"]["a"] == expected


def test_a_missing_field_in_a_value_is_said() -> None:
    response = admit(add("/data/a", "x-{{ .Target.data.nope }}"), config_map(data={}))
    assert response.object is not None
    assert response.object["data"]["a"] == "x-<no value>"
    assert said(response, Cause.WARNING) == [
        "spec.patch[0].value renders to <no value>, as text: a field that it names is missing in "
        "the object"
    ]


def test_a_missing_field_that_a_default_covers_is_not_said() -> None:
    rule = add("/data/a", '{{ .Target.data.nope | default "d" }}')
    assert after(rule, config_map(data={}))["data"] == {"a": "d"}


# --------------------------------------------------------------------------------------- failures

NOT_COMPUTED = [
    ("$.a[*]", "/data/#1", "1", "names a key that was not captured"),
    ("", "/data/a", '{{ fail "stop here" }}', "stop here"),
    ("", "/data/a", "{{ .Nope }}", "can''t evaluate field Nope"),
    ("", "/data/a", "{{ eq .Target.n 3 }}", "incompatible types"),
    ("", "/data/a", "a: b: c", "not valid YAML"),
]


def failing(select: str, path: str, value: str) -> str:
    value = value.replace("'", "''")
    if select:
        return fan_out("add", select, path, value)
    return add(path, value)


@pytest.mark.parametrize(("select", "path", "value", "reason"), NOT_COMPUTED)
@pytest.mark.parametrize("on_error", [FAIL, WARN, AS_CLUSTER])
def test_a_rule_that_cannot_be_computed_is_skipped_alone(
    select: str, path: str, value: str, reason: str, on_error: OnRuleError
) -> None:
    rules = failing(select, path, value) + add("/data/good", "1", name="s")
    response = admit(rules, config_map(a=[1], n=3), on_error=on_error)
    assert response.object is not None
    assert response.object["data"] == {"good": 1}
    finding = response.findings[0]
    assert finding.message.startswith("cannot be computed: ")
    assert reason.replace("''", "'") in finding.message
    assert [finding.cause, finding.denies] == [
        Cause.FAILED if on_error is FAIL else Cause.WARNING,
        on_error is FAIL,
    ]
    ending = {FAIL: "", WARN: "; the rule is skipped", AS_CLUSTER: "; KubeMod skips the rule"}
    assert finding.message.endswith(ending[on_error])


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("{{ eq .Target.n 3 }}", "compare with 3.0, or write int .Target.x"),
        ('{{ hasKey .Target "n" }}', "no function takes .Target itself"),
    ],
)
def test_what_templates_surprise_with_has_a_hint(value: str, hint: str) -> None:
    (finding,) = admit(add("/data/a", value), config_map(n=3)).findings
    assert hint in finding.message


MISFIT = patch_rule("[{op: replace, path: /nope/x, value: '1'}]", name="b")
BEFORE = add("/data/before", "1", name="a")
BEHIND = add("/data/behind", "1", name="c")
REJECT = reject_rule(name="d")


@pytest.mark.parametrize(
    ("on_error", "rules", "data"),
    [
        (FAIL, BEFORE + MISFIT + BEHIND, {"before": 1, "behind": 1}),
        (WARN, BEFORE + MISFIT + BEHIND, {"before": 1, "behind": 1}),
        (AS_CLUSTER, BEFORE + MISFIT + BEHIND, None),
        (AS_CLUSTER, BEFORE + MISFIT, None),
        (AS_CLUSTER, MISFIT, None),
    ],
)
def test_a_patch_that_does_not_fit_costs_one_rule_or_as_in_a_cluster_all(
    on_error: OnRuleError, rules: str, data: Any
) -> None:
    response = admit(rules, config_map(), on_error=on_error)
    assert (response.object and response.object["data"]) == data
    finding = response.findings[0]
    assert finding.message.startswith("cannot be applied: cannot replace '/nope/x'")
    assert "the API server has filled in defaults" in finding.message
    assert finding.denies is (on_error is FAIL)


@pytest.mark.parametrize(("on_error", "rejected"), [(FAIL, 1), (WARN, 1), (AS_CLUSTER, 0)])
def test_as_in_a_cluster_a_patch_that_does_not_fit_saves_the_object_from_rejection(
    on_error: OnRuleError, rejected: int
) -> None:
    response = admit(MISFIT + REJECT, config_map(), on_error=on_error)
    assert len(said(response, Cause.REJECTED)) == rejected


def annotated(text: str) -> Json:
    value = config_map()
    value["metadata"]["annotations"] = {LAST_APPLIED: text}
    return value


def test_as_in_a_cluster_a_last_applied_annotation_saves_what_was_patched_before() -> None:
    response = admit(BEFORE + MISFIT + REJECT, annotated("{}"), on_error=AS_CLUSTER)
    assert response.object is not None
    assert response.object["data"] == {"before": 1}
    assert len(said(response, Cause.REJECTED)) == 1


def test_but_not_where_another_rule_follows() -> None:
    response = admit(BEFORE + MISFIT + BEHIND, annotated("{}"), on_error=AS_CLUSTER)
    assert response.object is None


REMOVES_ALL = patch_rule("[{op: remove, path: /metadata/annotations}]")


@pytest.mark.parametrize(("rules", "text"), [(REMOVES_ALL, "{}"), (BEFORE, ""), (BEFORE, "null")])
@pytest.mark.parametrize("on_error", [FAIL, WARN, AS_CLUSTER])
def test_where_kubemod_crashes_there_is_an_error_or_as_in_a_cluster_nothing_happens(
    rules: str, text: str, on_error: OnRuleError
) -> None:
    response = admit(rules, annotated(text), on_error=on_error)
    finding = response.findings[0]
    assert "KubeMod crashes" in finding.message
    assert finding.denies is (on_error is FAIL)
    if on_error is AS_CLUSTER:
        assert response.object is None


def test_the_last_applied_annotation_is_patched_along() -> None:
    patched = after(BEFORE, annotated('{"kind":"ConfigMap"}'))
    assert patched["metadata"]["annotations"][LAST_APPLIED] == (
        '{"data":{"before":1},"kind":"ConfigMap"}'
    )


def test_a_last_applied_annotation_that_does_not_fit_is_said_and_left_alone() -> None:
    response = admit(BEFORE, annotated("[]"))
    assert response.object is not None
    assert response.object["metadata"]["annotations"][LAST_APPLIED] == "[]"
    assert said(response, Cause.WARNING)[0].startswith(
        "the last-applied-configuration annotation is left as it is: "
    )


def test_a_rule_that_writes_below_synthetic_refs_is_an_error() -> None:
    response = admit(add("/syntheticRefs/namespace/x", "1"), config_map())
    assert response.object is None
    assert said(response, Cause.FAILED) == [
        "a rule writes below syntheticRefs, which is no part of the object"
    ]


def test_a_match_that_fails_on_an_object_is_no_match() -> None:
    assert admit(add("/data/a", "1", match="$.kind.x.y"), config_map()).object is None


@pytest.mark.parametrize("select", ["$.kind.x", "$.l[9]", '$.kind =~ "("'])
def test_a_match_that_fails_and_is_negated_is_a_match_and_is_said(select: str) -> None:
    rule = add("/data/a", "1").replace(
        "{select: '$.kind'}", f"{{select: '{select}', negate: true}}"
    )
    response = admit(rule, config_map(l=[1]))
    assert response.object is not None
    (warning,) = said(response, Cause.WARNING)
    assert warning.startswith("spec.match[0] fails, which negate turns into a match: ")


def test_a_negated_match_that_does_not_fail_needs_no_word() -> None:
    rule = add("/data/a", "1").replace("{select: '$.kind'}", "{select: '$.nope', negate: true}")
    assert after(rule, config_map())["data"] == {"a": 1}


@pytest.mark.parametrize(("path", "hinted"), [("/x~1y/z", True), ("/l/9", False)])
def test_a_parent_with_an_escaped_name_that_is_missing_has_a_hint(path: str, hinted: bool) -> None:
    (finding,) = admit(add(path, "1"), config_map(l=[])).findings
    assert finding.message.startswith("cannot be applied: ")
    assert ("add the parent itself first" in finding.message) is hinted


# ----------------------------------------------------------------------------------------- reject


def test_a_rejection_is_the_message_with_the_api_servers_code() -> None:
    rule = reject_rule(more="rejectMessage: 'no {{ .Target.kind }} in {{ .Namespace }}'")
    (finding,) = admit(rule, config_map()).findings
    assert finding.message == "no ConfigMap in web"
    assert (finding.cause, finding.denies, finding.code, finding.reason) == (
        Cause.REJECTED,
        True,
        403,
        "Forbidden",
    )


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ("", "web/r"),
        ("rejectMessage: ''", 'web/r: ""'),
        ("rejectMessage: '{{ if false }}x{{ end }}  '", 'web/r: "  "'),
    ],
)
def test_without_a_message_the_sentence_is_kubemods(more: str, text: str) -> None:
    (message,) = said(admit(reject_rule(more=more), config_map()), Cause.REJECTED)
    assert message == f"operation rejected by the following ModRule(s): {text}"


def test_a_message_that_cannot_be_rendered_rejects_without_words_and_is_said() -> None:
    rule = reject_rule(more="rejectMessage: '{{ .SelectedItem }}'")
    response = admit(rule, config_map())
    assert said(response, Cause.REJECTED) == [
        "operation rejected by the following ModRule(s): web/r"
    ]
    assert said(response, Cause.WARNING)[0].startswith("rejectMessage cannot be rendered: ")


def test_every_rule_that_rejects_is_reported_by_tier() -> None:
    rules = reject_rule(name="a", more="executionTier: 5\nrejectMessage: late")
    rules += reject_rule(name="b", more="rejectMessage: early")
    assert said(admit(rules, config_map()), Cause.REJECTED) == ["early", "late"]
