"""Bounds (docs/trust.md, section 4): what rules do is limited for a run, not for an object alone.

Nothing is super-linear in one value, rule, operation or object: steps are counted at n, 2n and 4n.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_fn import limits, work
from krm_fn.config.options import Options
from krm_fn.errors import RunLimitError
from krm_fn.report.linediff import unified
from krm_fn.run.function import Done, run
from krm_fn.run.lint import lint
from tests.steps import assert_linear

Json = dict[str, Any]

GROUP = "admissionregistration.k8s.io"
ANYTHING: Json = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["*"],
}


def bound(kind: str, **spec: Any) -> list[Json]:
    """A policy about everything, and its binding."""
    constraints = {"resourceRules": [ANYTHING]}
    binding: Json = {"policyName": "p"}
    if kind.startswith("Validating"):
        binding["validationActions"] = ["Deny"]
    return [
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": kind,
            "metadata": {"name": "p"},
            "spec": {"matchConstraints": constraints, **spec},
        },
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": f"{kind}Binding",
            "metadata": {"name": "p"},
            "spec": binding,
        },
    ]


def validating(expression: str, **spec: Any) -> list[Json]:
    return bound("ValidatingAdmissionPolicy", validations=[{"expression": expression}], **spec)


def config_map(name: str, data: Json | None = None) -> Json:
    value: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return {**value, "data": data} if data else value


def admit(rules: list[Json], items: list[Json], **spec: Any) -> Done:
    """The function's answer to items under rules, all of it within a megabyte."""
    config = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "a"},
        "spec": {"rules": [{"inline": yaml.safe_dump_all(rules)}], **spec},
    }
    value = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": items,
    }
    data = json.dumps(value).encode()
    assert len(data) < 1_000_000
    return run(data, {})


NESTED = "object.metadata.name != '' && " + "[1,2,3,4,5,6,7,8,9,0].all(a, " * 5 + "true" + ")" * 5


def test_what_expressions_cost_counts_for_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    policy = validating(NESTED)
    assert admit(policy, [config_map("a")]).status == 0
    done = admit(policy, [config_map(f"c{n}") for n in range(200)])
    assert (done.status, done.stdout) == (1, b"")
    assert done.stderr.startswith("error the rules take more than ")


def test_nobody_passes_because_the_run_has_no_steps_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 100_000)
    for failure_policy in ("Fail", "Ignore"):
        policy = validating(NESTED, failurePolicy=failure_policy)
        done = admit(policy, [config_map(f"c{n}") for n in range(20)], mode="Audit")
        assert (done.status, done.stdout) == (1, b"")


MACROS = "object.?a" + ".optMap(x, x)" * 8 + ".hasValue()"
"""Each of them doubles what it is called on."""


def test_compiling_counts_for_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    conditions = [{"name": f"c{n}", "expression": f"{MACROS} || {n} > 0"} for n in range(20)]
    done = admit(validating("true", matchConditions=conditions), [config_map("a")])
    assert (done.status, done.stdout) == (1, b"")
    assert done.stderr.startswith("error the rules take more than ")


def test_linting_counts_as_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    rules = tmp_path / "rules.yaml"
    rules.write_text(yaml.safe_dump_all(validating(" && ".join([MACROS] * 20))))
    with pytest.raises(RunLimitError):
        lint([], Options(), [str(rules)])


def test_rules_in_files_have_a_share_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 20_000)
    expression = " && ".join(["object.metadata.name.size() > 0"] * 100)
    rules = tmp_path / "rules.yaml"
    rules.write_text(yaml.safe_dump_all(validating("false || " + expression)))
    lint([], Options(), [str(rules)])


def test_variables_are_compiled_in_a_time_in_proportion_to_their_number() -> None:
    def compiled(n: int) -> None:
        variables = [{"name": "v0", "expression": "1"}]
        for i in range(1, n):
            variables.append({"name": f"v{i}", "expression": f"variables.v{i - 1} + 1"})
        assert admit(validating("true", variables=variables), [config_map("a")]).status == 0

    assert_linear(compiled, 50)


def test_errors_in_a_long_line_are_not_told_with_all_of_it() -> None:
    done = admit(validating(" && ".join(f"x{n}" for n in range(2_000))), [config_map("a")])
    assert done.status == 1
    assert "more characters" in done.stderr
    assert len(done.stderr) < 10_000


def test_a_large_input_has_a_share_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 20_000)
    policy = validating("object.data.all(k, object.data[k] != '')")
    items = [config_map(f"c{n}", {f"k{k}": "v" for k in range(50)}) for n in range(200)]
    assert admit(policy, items).status == 0


def test_calls_that_the_server_takes_for_cheap_are_paid_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Sorting what the checker does not know costs 1 there.
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    sorts = "object.data.all(k, object.data.map(x, x).map(x, dyn(x)).sort().size() > 0)"
    data = {f"key-{n:04}": "" for n in range(120)}
    done = admit(validating(sorts), [config_map(f"c{n}", data) for n in range(20)])
    assert (done.status, done.stdout) == (1, b"")


def test_evaluation_is_linear_in_a_map() -> None:
    from krm_fn.kube.cel import environment

    environment().compile("true")
    for expression in (
        "object.all(k, object[k] == k)",
        "object == object",
        "object.map(k, k).map(k, dyn(k)).sort().size() > 0",
        "object.map(k, k).join(',').size() > 0",
        "'none' in object.map(k, k)",
    ):
        program = environment().compile(expression)
        assert_linear(
            lambda n, program=program: program.evaluate(
                {"object": {f"k{i}": f"k{i}" for i in range(n)}}
            ),
            500,
        )


def test_params_are_looked_up_and_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, binding = validating(
        "params.data.x == 'y'", paramKind={"apiVersion": "v1", "kind": "ConfigMap"}
    )
    constraints = {"resourceRules": [{**ANYTHING, "apiGroups": [""], "resources": ["secrets"]}]}
    policy["spec"]["matchConstraints"] = constraints
    ref = {"selector": {}, "namespace": "limits", "parameterNotFoundAction": "Deny"}
    binding["spec"]["paramRef"] = ref
    limit = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "y"}}
    params = [{**limit, "metadata": {"name": f"p{i}", "namespace": "limits"}} for i in range(20)]

    def judge(n: int) -> None:
        secrets = [{**config_map(f"s{i}"), "kind": "Secret"} for i in range(n)]
        assert admit([policy, binding], [*params, *secrets]).status == 0

    assert_linear(judge, 50)


def test_params_of_many_namespaces_are_found_in_time() -> None:
    policies = validating("params != null", paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    ref = {"selector": {}, "parameterNotFoundAction": "Allow"}
    policies[1]["spec"]["paramRef"] = ref

    def judge(n: int) -> None:
        items = [config_map(f"c{i}") for i in range(n)]
        for i, item in enumerate(items):
            item["metadata"]["namespace"] = f"n{i}"
        assert admit(policies, items).status == 0

    assert_linear(judge, 50)


@pytest.mark.parametrize(
    "spec",
    [
        {"validations": [{"expression": "false", "message": "x" * 50_000}]},
        {
            "validations": [{"expression": "true"}],
            "auditAnnotations": [
                {"key": f"k{n}", "valueExpression": f"'{'x' * 5_000}'"} for n in range(20)
            ],
        },
    ],
    ids=["messages", "annotations"],
)
def test_what_is_told_counts_for_the_run(spec: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    items = [config_map(f"c{i}") for i in range(100)]
    done = admit(bound("ValidatingAdmissionPolicy", **spec), items)
    assert (done.status, done.stdout) == (1, b"")
    assert "the rules take more than" in done.stderr


def test_the_memory_of_patterns_counts_for_the_run() -> None:
    # Each takes more than a megabyte; a cluster forgets them, here they are remembered.
    data = {f"(x{n}{'b' * 40}){{1,1000}}": "xb" for n in range(400)}
    policy = validating("object.data.all(k, object.data[k].matches(k) || true)")
    done = admit(policy, [config_map("a", data)])
    assert (done.status, done.stdout) == (1, b"")
    assert "the rules take more than" in done.stderr


# Rules and edits


def mod_rule(name: str, *operations: Json) -> Json:
    return {
        "apiVersion": "api.kubemod.io/v1beta1",
        "kind": "ModRule",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "type": "Patch",
            "match": [{"select": "$.kind", "matchValue": "ConfigMap"}],
            "patch": list(operations),
        },
    }


def add(path: str, value: str) -> Json:
    return {"op": "add", "path": path, "value": value}


def json_patch(expression: str, **spec: Any) -> list[Json]:
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    return bound(
        "MutatingAdmissionPolicy", mutations=[mutation], reinvocationPolicy="Never", **spec
    )


ONE = [config_map("a", {"x": "y"})]


def test_many_rules_that_change_one_object_are_told_from_each_other_in_time() -> None:
    # The object stays small, so that only the number of rules grows.
    assert_linear(
        lambda n: admit([mod_rule(f"r{i}", add(f"/data/k{i % 5}", "v")) for i in range(n)], ONE),
        50,
    )


def test_many_edits_of_one_rule_are_told_from_each_other_in_time() -> None:
    assert_linear(
        lambda n: admit([mod_rule("r", *(add(f"/data/k{i}", "v") for i in range(n)))], ONE), 200
    )


def test_many_objects_take_as_long_as_one_each() -> None:
    rules = [mod_rule("r", add("/data/k", "v")), *validating("object.data.k == 'v'")]
    assert_linear(lambda n: admit(rules, [config_map(f"c{i}", {"x": "y"}) for i in range(n)]), 100)


def test_an_expression_that_makes_many_operations_is_linear_in_them() -> None:
    made = 'lists.range({}).map(i, JSONPatch{{op: "add", path: "/data/k" + string(i), value: "v"}})'
    assert_linear(lambda n: admit(json_patch(made.format(n)), ONE), 300)


def test_an_apply_configuration_of_many_elements_is_linear_in_them() -> None:
    containers = 'Object.spec.containers{{name: "c" + string(i), image: "x"}}'
    made = "Object{{spec: Object.spec{{containers: lists.range({}).map(i, " + containers + ")}}}}"
    spec = {"containers": [{"name": "c", "image": "i"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}

    def apply(n: int) -> Done:
        expression = {"expression": made.format(n)}
        mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": expression}
        policy = bound("MutatingAdmissionPolicy", mutations=[mutation], reinvocationPolicy="Never")
        return admit(policy, [pod])

    assert_linear(apply, 100)


def test_an_object_cannot_be_put_into_itself_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "PATCH_COPIES", 10_000)
    twice = '{"a": object.spec, "b": object.spec}'
    doubles = f'[JSONPatch{{op: "add", path: "/spec", value: {twice}}}]'
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": doubles}}
    policy = bound("MutatingAdmissionPolicy", mutations=[mutation] * 20, reinvocationPolicy="Never")
    widget = {
        "apiVersion": "shop.example/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"a": {"b": "c"}},
    }
    done = admit(policy, [widget], policies={"unknownKind": "Deduce"})
    assert done.status == 1
    assert "it puts in more than 10,000 values" in done.stderr


def test_nulls_that_fill_lists_are_counted_for_a_patch_and_for_the_run() -> None:
    rule = mod_rule("r", *(add(f"/data/l{i}/99999", "v") for i in range(900)))
    done = admit([rule], ONE)
    assert done.status == 1
    assert "it would fill a list with 399,996 nulls; the limit is 300,000" in done.stderr
    fewer = mod_rule("r", *(add(f"/data/l{i}/99999", "v") for i in range(2)))
    done = admit([fewer], [config_map(f"c{i}", {"x": "y"}) for i in range(100)])
    assert (done.status, done.stdout) == (1, b"")
    assert "the rules take more than" in done.stderr


@pytest.mark.parametrize(
    "value",
    [
        "{{ range untilStep 0 900 1 }}{{ range untilStep 0 900 1 }}{{ end }}{{ end }}",
        "{{ repeat 100 (repeat 100 (repeat 100 .Namespace)) | len }}",
    ],
)
def test_what_templates_do_counts_for_the_run(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    items = [config_map(f"c{i}", {"x": "y"}) for i in range(200)]
    done = admit([mod_rule("r", add("/data/t", value))], items, onRuleError="Warn")
    assert (done.status, done.stdout) == (1, b"")
    assert "the rules take more than" in done.stderr


def test_what_selects_do_counts_for_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RUN_STEPS", 1_000_000)
    rule = mod_rule("r", add("/data/t", "v"))
    rule["spec"]["match"] = [{"select": "$.data[?(length($.data[?(@ == 'y')]) > 0)]"}]
    data = {f"k{i}": "y" for i in range(100)}
    done = admit([rule], [config_map(f"c{i}", data) for i in range(50)], onRuleError="Warn")
    assert (done.status, done.stdout) == (1, b"")


def test_an_ordinary_run_is_far_from_the_bounds() -> None:
    rules = [mod_rule(f"r{i}", add(f"/data/k{i}", "{{ .Namespace }}")) for i in range(20)]
    items = [config_map(f"c{i}", {f"k{k}": "v" for k in range(20)}) for i in range(300)]
    with work.bounded(0) as run_of_all:
        assert admit([*rules, *validating("object.data.all(k, k != '')")], items).status == 0
    assert run_of_all.left > run_of_all.limit * 0.6


# Differences


def test_a_diff_of_many_changed_objects_is_linear_in_them() -> None:
    def differences(n: int) -> None:
        old = [line for i in range(n) for line in ("kind: ConfigMap", f"name: c{i}", "x: y", "---")]
        new = [line for i in range(n) for line in (*old[4 * i : 4 * i + 3], "k: v", "---")]
        assert sum(line.startswith("+k") for line in unified(old, new, "a", "b")) == n

    assert_linear(differences, 300)


def test_a_diff_of_lines_that_are_all_alike_is_linear_in_them() -> None:
    assert_linear(
        lambda n: list(unified(["a", "b", "b"] * n, ["b", "a", "a", "b"] * n, "a", "b")), 300
    )
