"""Cases: what passes, and what fails with which difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_support import HEAD, RULE, WEB, write

from krm_fn.testing.compare import Failure
from krm_fn.testing.read import read_suite
from krm_fn.testing.run import CaseResult, Runner


def results(folder: Path, cases: str, head: str = HEAD) -> list[CaseResult]:
    suite = read_suite(write(folder, cases, head))
    runner = Runner(suite)
    return [runner.run(case) for case in suite.cases]


def only(folder: Path, expect: str, case: str = "object: web.yaml") -> CaseResult:
    (result,) = results(folder, f"  - name: a\n    {case}\n    expect: {expect}\n")
    return result


MANY = 'object: {inline: "' + WEB.replace("replicas: 2", "replicas: 7").replace("\n", "\\n") + '"}'


@pytest.mark.parametrize(
    "expect",
    [
        "{outcome: Changed}",
        "{fields: {$.metadata.labels.team: shop}}",
        "{fields: {'$.metadata.labels[*]': [shop], $.spec.replicas: {not: 3}}}",
        "{fields: {$.metadata.labels.app: {absent: true}}}",
        "{patch: [{op: add, path: /metadata/labels, value: {team: shop}}]}",
        "{rules: [team]}",
        "{rules: [ModRule/team]}",
        "{each: {Deployment/web: {outcome: Changed, fields: {$.spec.replicas: 2}}}}",
    ],
)
def test_what_comes_as_expected_passes(tmp_path: Path, expect: str) -> None:
    result = only(tmp_path, expect)
    assert result.passed, result


@pytest.mark.parametrize(
    ("expect", "field", "came"),
    [
        ("{outcome: Unchanged}", "expect.outcome", "+Changed"),
        ("{outcome: Denied}", "expect.outcome", "+Changed"),
        (
            "{fields: {$.metadata.labels.team: post}}",
            "expect.fields.$.metadata.labels.team",
            '+"shop"',
        ),
        (
            "{fields: {$.metadata.labels.app: x}}",
            "expect.fields.$.metadata.labels.app",
            "+(nothing)",
        ),
        ("{rules: []}", "expect.rules", "+team"),
        ("{rules: [team, other]}", "expect.rules", "-other"),
        ("{patch: []}", "expect.patch", "+    team: shop"),
        ("{messages: [{contains: no}]}", "expect.messages.0", "+(no such message)"),
        ("{idempotent: false}", "expect.idempotent", "-idempotent: false"),
        ("{invalid: {contains: x}}", "expect.invalid", "+the rules are valid"),
        ("{each: {Deployment/web: {outcome: Denied}}}", "expect.each.Deployment/web.outcome", "+"),
    ],
)
def test_what_comes_otherwise_fails(tmp_path: Path, expect: str, field: str, came: str) -> None:
    failures = only(tmp_path, expect).failures
    assert field in [".".join(map(str, failure.field)) for failure in failures]
    assert any(line.startswith(came) for failure in failures for line in failure.came), failures


def test_a_denial_that_is_not_expected_fails_the_case(tmp_path: Path) -> None:
    (failure,) = only(tmp_path, "{}", MANY).failures
    assert failure.came == ("+error: too many replicas",)
    assert [ref.name for ref in failure.rules] == ["one"]


def test_a_denial_that_is_expected_passes(tmp_path: Path) -> None:
    assert only(tmp_path, "{outcome: Denied}", MANY).passed
    messages = "{messages: [{matches: ^too many, rule: one, severity: error}]}"
    assert only(tmp_path, messages, MANY).passed


def test_a_denial_with_another_message_fails_the_case(tmp_path: Path) -> None:
    expect = "{outcome: Denied, messages: [{contains: too few}]}"
    assert len(only(tmp_path, expect, MANY).failures) == 2


def test_an_operation_of_a_patch_that_does_nothing_fails(tmp_path: Path) -> None:
    patch = (
        "{patch: [{op: add, path: /metadata/labels, value: {team: shop}}, "
        "{op: replace, path: /spec/replicas, value: 2}]}"
    )
    (failure,) = only(tmp_path, patch).failures
    assert failure.came == ("+nothing at spec.replicas",)


def test_whole_objects_are_compared_by_value(tmp_path: Path) -> None:
    after = 'object: {inline: "{kind: Deployment, spec: {replicas: 2}, apiVersion: apps/v1, '
    after += 'metadata: {labels: {team: %s}, namespace: shop, name: web}}"}'
    assert only(tmp_path, "{" + after % "shop" + "}").passed
    (failure,) = only(tmp_path, "{" + after % "post" + "}").failures
    assert "-    team: post" in failure.came
    assert "+    team: shop" in failure.came


def test_an_object_is_taken_from_those_of_the_suite(tmp_path: Path) -> None:
    assert only(tmp_path, "{outcome: Changed}", "object: Deployment/web").passed


def test_one_object_of_a_file_is_admitted_alone(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(f"{WEB}---\n{WEB.replace('web', 'mail')}")
    expect = "{fields: {$.metadata.name: mail}}"
    assert only(tmp_path, expect, "object: {file: two.yaml, name: Deployment/mail}").passed
    result = only(tmp_path, expect, "object: {file: two.yaml, name: Deployment/mial}")
    assert "did you mean Deployment/mail?" in result.error


def test_rules_that_are_to_be_invalid(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(RULE.replace("$.kind", "'$.['"))
    cases = "  - name: a\n    rules: [broken.yaml]\n    expect: {invalid: {contains: %s}}\n"
    assert results(tmp_path, cases % "select")[0].passed
    assert results(tmp_path, cases % "no such text")[0].failures
    cases = "  - name: a\n    rules: [broken.yaml]\n    object: web.yaml\n    expect: {}\n"
    assert "broken.yaml:" in results(tmp_path, cases)[0].error


def test_a_rule_that_changes_again_what_it_changed_fails_the_case(tmp_path: Path) -> None:
    (tmp_path / "grow.yaml").write_text(
        "apiVersion: api.kubemod.io/v1beta1\nkind: ModRule\n"
        "metadata: {name: grow, namespace: shop}\nspec:\n  type: Patch\n"
        "  match: [{select: $.kind, matchValue: Deployment}]\n"
        "  patch:\n  - {op: replace, path: /spec/replicas, "
        "value: '{{ add .Target.spec.replicas 1 }}'}\n"
    )
    case = "  - name: a\n    rules: [grow.yaml]\n    object: web.yaml\n    expect: {%s}\n"
    (failure,) = results(tmp_path, case % "")[0].failures
    assert failure.came[0].startswith("+warning: not idempotent")
    assert results(tmp_path, case % "idempotent: false")[0].passed


def test_a_case_is_skipped_with_its_reason(tmp_path: Path) -> None:
    (result,) = results(tmp_path, "  - {name: later, skip: 'until #12'}\n")
    assert result.skipped
    assert not result.passed


def test_the_context_of_a_case_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "users.yaml").write_text(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
        "metadata: {name: users}\nspec:\n"
        "  matchConstraints:\n    resourceRules:\n"
        "    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], "
        "resources: [deployments]}\n"
        "  validations: [{expression: request.userInfo.username == 'anna', message: not you}]\n"
        "---\napiVersion: admissionregistration.k8s.io/v1\n"
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: users}\n"
        "spec: {policyName: users, validationActions: [Deny]}\n"
    )
    case = "  - {name: %s, rules: [users.yaml], object: web.yaml, context: {user: {username: %s}}, "
    first = case % ("a", "anna") + "expect: {outcome: Unchanged}}\n"
    second = case % ("b", "otto") + "expect: {outcome: Denied}}\n"
    assert [result.passed for result in results(tmp_path, first + second)] == [True, True]


def test_an_update_has_the_old_object(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(WEB.replace("replicas: 2", "replicas: 1"))
    (tmp_path / "rules2.yaml").write_text(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
        "metadata: {name: grows}\nspec:\n"
        "  matchConstraints:\n    resourceRules:\n"
        "    - {apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], "
        "resources: [deployments]}\n"
        "  validations: [{expression: object.spec.replicas <= oldObject.spec.replicas}]\n"
        "---\napiVersion: admissionregistration.k8s.io/v1\n"
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: grows}\n"
        "spec: {policyName: grows, validationActions: [Deny]}\n"
    )
    case = "  - {name: a, rules: [rules2.yaml], object: web.yaml, "
    case += "context: {oldObject: old.yaml}, expect: {outcome: Denied}}\n"
    (result,) = results(tmp_path, case)
    assert result.passed, result


def test_values_of_secrets_are_not_in_failures(tmp_path: Path) -> None:
    secret = "apiVersion: v1\\nkind: Secret\\nmetadata: {name: s, namespace: shop}\\n"
    secret += "stringData: {key: hunter2hunter2}\\n"
    case = f'object: {{inline: "{secret}"}}'
    for expect in (
        "{fields: {$.stringData.key: other}}",
        "{patch: [{op: add, path: /metadata/labels, value: {a: b}}]}",
        f'{{object: {{inline: "{secret.replace("namespace: shop", "namespace: post")}"}}}}',
    ):
        result = only(tmp_path, expect, case)
        assert isinstance(result.failures[0], Failure)
        assert "hunter2" not in repr(result.failures)
