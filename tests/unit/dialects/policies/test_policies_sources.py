"""Policies and bindings from every source: functionConfig, inline, files, items, the context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from policies_support import (
    apply,
    binding,
    config_map,
    manifest,
    mutating,
    validating,
)

from krm_fn.run.function import Done, run
from krm_fn.values import Json

LABEL = mutating(apply('Object{metadata: Object.metadata{labels: {"seen": "yes"}}}'), name="label")
REFUSE = validating({"expression": "false", "message": "no maps"}, name="refuse")


def documents(*values: Json) -> str:
    return yaml.safe_dump_all(values)


def admission(rules: list[Json], **spec: Any) -> Json:
    return {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "a"},
        "spec": {"rules": rules, **spec},
    }


def call(function_config: Json | None, *items: Json) -> tuple[Done, Json]:
    """The function's answer to a map and other items; the map, first, as it comes out."""
    value: Json = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": [config_map({"a": "1"}), *items],
    }
    if function_config is not None:
        value["functionConfig"] = function_config
    done = run(yaml.safe_dump(value).encode(), {})
    return done, yaml.safe_load(done.stdout) if done.stdout else {}


def seen(answer: Json) -> Any:
    return answer["items"][0]["metadata"].get("labels", {}).get("seen")


def messages(answer: Json, severity: str) -> list[str]:
    return [r["message"] for r in answer.get("results", ()) if r["severity"] == severity]


def test_a_policy_that_is_the_function_config_counts_as_bound_to_everything() -> None:
    done, answer = call(LABEL)
    assert (done.status, seen(answer)) == (0, "yes")
    assert any("no binding names it" in message for message in messages(answer, "info"))


def test_a_validating_policy_that_is_the_function_config_denies() -> None:
    done, answer = call(REFUSE)
    assert done.status == 1
    assert messages(answer, "error") == [
        "ValidatingAdmissionPolicy 'refuse' with binding 'refuse' denied request: no maps"
    ]


def test_a_policy_that_is_the_function_config_uses_the_bindings_among_the_items() -> None:
    elsewhere = binding(LABEL, matchResources={"objectSelector": {"matchLabels": {"a": "b"}}})
    done, answer = call(LABEL, elsewhere)
    assert (done.status, seen(answer)) == (0, None)
    assert messages(answer, "info") == ["is bound by what is among the items: label"]


def test_from_a_config_map() -> None:
    data = {"policy.yaml": documents(LABEL, binding(LABEL))}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}
    assert seen(call(config)[1]) == "yes"


def test_from_inline_text() -> None:
    text = documents(LABEL, binding(LABEL))
    assert seen(call(admission([{"inline": text}]))[1]) == "yes"


def test_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "policy.yaml").write_text(documents(LABEL))
    (tmp_path / "rules" / "binding.yaml").write_text(documents(binding(LABEL)))
    assert seen(call(admission([{"paths": ["rules/"]}]))[1]) == "yes"


def test_from_items_that_stay_as_they_are() -> None:
    bound = binding(LABEL)
    _, answer = call(None, LABEL, bound)
    assert seen(answer) == "yes"
    assert answer["items"][1:] == [LABEL, bound]


def test_from_items_by_a_selector() -> None:
    chosen = {**LABEL, "metadata": {"name": "label", "labels": {"use": "yes"}}}
    other = mutating(apply('Object{data: {"b": "2"}}'), name="other")
    config = admission([{"fromItems": {"labelSelector": "use=yes"}}])
    _, answer = call(config, chosen, other, binding(chosen), binding(other))
    assert (seen(answer), answer["items"][0]["data"]) == ("yes", {"a": "1"})


def test_a_policy_from_elsewhere_uses_a_binding_among_the_items_only_where_it_may() -> None:
    config = admission([{"inline": documents(LABEL)}])
    _, answer = call(config, binding(LABEL))
    assert seen(answer) is None
    assert "label among the items does not count" in messages(answer, "warning")[0]
    config["spec"]["bindingsFromItems"] = True
    assert seen(call(config, binding(LABEL))[1]) == "yes"


def test_a_policy_without_a_binding_is_inactive_and_says_so() -> None:
    _, answer = call(admission([{"inline": documents(LABEL)}]))
    assert seen(answer) is None
    assert "inactive" in messages(answer, "warning")[0]


def test_a_binding_without_its_policy_is_told() -> None:
    lost = binding(mutating(apply("Object{}"), name="lost"))
    _, answer = call(admission([{"inline": documents(LABEL, binding(LABEL), lost)}]))
    assert any("names the policy lost" in message for message in messages(answer, "info"))


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_all_versions_are_one(version: str) -> None:
    api_version = f"admissionregistration.k8s.io/{version}"
    policy = {**LABEL, "apiVersion": api_version}
    bound = {**binding(LABEL), "apiVersion": api_version}
    assert seen(call(None, policy, bound)[1]) == "yes"


PARAMETRIC = mutating(
    apply('Object{metadata: Object.metadata{labels: {"seen": params.data.mark}}}'),
    name="label",
    paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
)
MARK = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "mark", "namespace": "shop"},
    "data": {"mark": "from-params"},
}
BY_NAME = binding(PARAMETRIC, paramRef={"name": "mark", "parameterNotFoundAction": "Deny"})


def test_params_come_from_the_items() -> None:
    assert seen(call(None, PARAMETRIC, BY_NAME, MARK)[1]) == "from-params"


def test_params_come_from_the_context() -> None:
    rules = documents(PARAMETRIC, BY_NAME)
    config = admission([{"inline": rules}], context={"objects": [MARK]})
    assert seen(call(config)[1]) == "from-params"


def test_params_come_with_the_rules() -> None:
    config = admission([{"inline": documents(PARAMETRIC, BY_NAME, MARK)}])
    assert seen(call(config)[1]) == "from-params"


def test_missing_params_deny_and_the_error_says_what_to_do() -> None:
    done, answer = call(admission([{"inline": documents(PARAMETRIC, BY_NAME)}]))
    assert done.status == 1
    assert "no params found" in messages(answer, "error")[0]
    assert "context.objects" in messages(answer, "error")[0]


def test_a_policy_of_the_same_name_with_other_contents_is_an_error() -> None:
    other = {**LABEL, "spec": {**LABEL["spec"], "failurePolicy": "Ignore"}}
    done, _ = call(admission([{"inline": documents(LABEL, other)}]))
    assert done.status == 1
    assert "is there twice" in done.stderr


def test_webhook_configurations_may_stand_beside_policies() -> None:
    hook = manifest("ValidatingWebhookConfiguration", "hook", {})
    config = admission([{"inline": documents(LABEL, binding(LABEL), hook)}])
    assert seen(call(config)[1]) == "yes"


SETTINGS = mutating(
    apply(
        'Object{metadata: Object.metadata{labels: {"seen": '
        "authorizer.path('/x').check('get').allowed() ? 'yes' : 'no'}}}"
    ),
    name="label",
)


@pytest.mark.parametrize(
    ("authorizer", "expected"), [("Allow", "yes"), ("Deny", "no"), ("Error", None)]
)
def test_the_authorizer_answers_as_configured(authorizer: str, expected: str | None) -> None:
    config = admission(
        [{"inline": documents(SETTINGS, binding(SETTINGS))}], policies={"authorizer": authorizer}
    )
    done, answer = call(config)
    assert seen(answer) == expected
    assert ("policies.authorizer" in done.stderr) == (expected is None)


def test_a_misspelt_option_is_an_error() -> None:
    config = admission(
        [{"inline": documents(LABEL, binding(LABEL))}], policies={"authoriser": "Allow"}
    )
    done, _ = call(config)
    assert done.status == 1
    assert "did you mean authorizer" in done.stderr
