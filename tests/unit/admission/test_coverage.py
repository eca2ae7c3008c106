"""Rules that matched no object: what is said of them, and how loudly."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from krm_fn.admission import Cause, Cluster, Operation, RuleRef, Subject
from krm_fn.admission.coverage import RuleScope, Templates, coverage, scope_of_pods, there
from krm_fn.wire import Head

RULE = RuleRef("modrule", "ModRule", "web", "r")
OTHER = RuleRef("modrule", "ModRule", "web", "other")
WHY = "krm-fn explain --rule r says why"
REMEDY = "--pod-templates mutate"
NONE = Templates((), REMEDY)


def subject(kind: str, namespace: str = "web", name: str = "x") -> Subject:
    versions = {"Deployment": "apps/v1"}
    return Cluster().subject_of(Head(versions.get(kind, "v1"), kind, namespace, name))


def scope(kind: str = "Secret", namespace: str = "web", **more: object) -> RuleScope:
    given = RuleScope(
        RULE,
        lambda head: head.kind == kind,
        lambda head, at: at == namespace,
        lambda subjects: f"is in {namespace}; {there(subjects)}",
        f"it matches {kind} only",
    )
    return given._replace(**more)


def reported(
    rule: RuleScope,
    subjects: Sequence[Subject],
    *others: RuleScope,
    matched: frozenset[RuleRef] = frozenset(),
    templates: Templates = NONE,
) -> list[tuple[Cause, str]]:
    operations = {Operation.CREATE}
    found = coverage([rule, *others], subjects, matched, operations, templates)
    return [(one.cause, one.message) for one in found if one.rules == (RULE,)]


def test_a_rule_that_matched_is_not_mentioned() -> None:
    assert reported(scope(), [subject("Secret")], matched=frozenset({RULE})) == []


def test_without_objects_nothing_is_said() -> None:
    assert reported(scope(), []) == []


@pytest.mark.parametrize(
    ("rule", "subjects", "cause", "message"),
    [
        (
            scope(),
            [subject("Secret")],
            Cause.NOTE,
            f"did not match the object that it was asked about; {WHY}",
        ),
        (
            scope(),
            [subject("Secret"), subject("Secret", name="y"), subject("Pod")],
            Cause.NOTE,
            f"matched none of the 2 objects that it was asked about; {WHY}",
        ),
        (
            scope(namespace="shop"),
            [subject("Secret"), subject("Secret", "api")],
            Cause.WARNING,
            "is in shop; they are in api, web",
        ),
        (scope(namespace="shop"), [subject("Secret")], Cause.WARNING, "is in shop; it is in web"),
        (
            scope(operations=frozenset({"UPDATE"})),
            [subject("Secret")],
            Cause.WARNING,
            "applies on UPDATE only, and the objects are admitted as CREATE (context.operation)",
        ),
        (
            scope(),
            [subject("Pod"), subject("Service")],
            Cause.NOTE,
            "concerns none of the 2 objects here (Pod, Service): it matches Secret only",
        ),
        (
            scope(suspicious=True),
            [subject("Pod")],
            Cause.WARNING,
            "does not concern the object here (Pod): it matches Secret only",
        ),
        (
            scope(remedy=lambda subjects: "add it to x"),
            [subject("Pod")],
            Cause.WARNING,
            "does not concern the object here (Pod): it matches Secret only; add it to x",
        ),
        (
            scope(remedy=lambda subjects: ""),
            [subject("Pod")],
            Cause.NOTE,
            "does not concern the object here (Pod): it matches Secret only",
        ),
        (
            scope("ReplicaSet", kinds=frozenset({"ReplicaSet"})),
            [subject("Pod")],
            Cause.NOTE,
            "takes effect only in the cluster: ReplicaSet objects are made by controllers there, "
            "and none is among the objects here",
        ),
    ],
)
def test_a_rule_says_why_it_matched_nothing(
    rule: RuleScope, subjects: list[Subject], cause: Cause, message: str
) -> None:
    assert reported(rule, subjects) == [(cause, message)]


def test_only_objects_that_a_rule_is_about_count_as_not_seen() -> None:
    ((_, message),) = reported(scope(namespace="shop"), [subject("Secret"), subject("Pod", "api")])
    assert message == "is in shop; it is in web"


def test_one_warning_is_told_for_all_rules_that_it_is_about() -> None:
    templates = Templates([(subject("Deployment").head, subject("Pod"))], REMEDY)
    rules = [scope_of_pods(ref, None) for ref in (RULE, OTHER)]
    found = coverage(rules, [subject("Deployment")], frozenset(), {Operation.CREATE}, templates)
    assert [finding.rules for finding in found] == [(RULE, OTHER)]


def test_notes_are_told_for_each_rule() -> None:
    rules = [scope(), scope()._replace(ref=OTHER)]
    found = coverage(rules, [subject("Pod")], frozenset(), {Operation.CREATE}, NONE)
    assert [finding.rules for finding in found] == [(RULE,), (OTHER,)]


def test_among_rules_that_concern_objects_one_that_does_not_is_no_mistake() -> None:
    other = scope("Pod")._replace(ref=OTHER)
    ((cause, _),) = reported(scope(suspicious=True), [subject("Pod")], other)
    assert cause is Cause.NOTE


def test_a_rule_for_pods_names_the_workloads_whose_templates_stay_as_they_are() -> None:
    workloads = [
        (subject("Deployment", name=name).head, subject("Pod")) for name in ("a", "b", "c", "d")
    ]
    templates = Templates(workloads, REMEDY)
    (only,) = reported(scope_of_pods(RULE, None), [subject("Deployment")], templates=templates)
    assert only == (
        Cause.WARNING,
        "matches Pods only, and templates of Pods stay as they are (4: Deployment a, Deployment "
        "b, Deployment c, ...); --pod-templates mutate admits them as Pods",
    )


def test_workloads_in_other_namespaces_are_not_named() -> None:
    templates = Templates([(subject("Deployment").head, subject("Pod"))], REMEDY)
    rule = scope_of_pods(RULE, ["shop"])
    ((cause, message),) = reported(rule, [subject("Deployment")], templates=templates)
    assert (cause, message.partition(":")[0]) == (
        Cause.NOTE,
        "takes effect only in the cluster",
    )
