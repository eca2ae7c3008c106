"""Where templates lie in every kind, and templates that are not what they should be."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from krm_fn.admission import Cause
from krm_fn.config.options import from_document
from krm_fn.kube.podtemplates import BUILT_IN
from krm_fn.report.model import Outcome, Report
from krm_fn.run.admit import admit, stages_of
from krm_fn.values import Json, Path, with_at
from krm_fn.wire import read_stream

RULE = """
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: rule, namespace: shop}
spec:
  type: Patch
  match:
  - {select: $.kind, matchValue: Pod}
  patch:
  - {op: add, path: /metadata/annotations/done, value: '"yes"'}
  - {op: add, path: /spec/nodeName, value: '"n"'}
"""
TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "app", "image": "app:1"}]},
}
EXTRA = [
    {
        "group": "jobset.x-k8s.io",
        "kind": "JobSet",
        "path": "spec.replicatedJobs[*].template.spec.template",
    },
    {"group": "example.com", "kind": "Deployment", "path": "spec.template"},
    {"group": "example.com", "kind": "Pair", "path": "spec.leader"},
    {"group": "example.com", "kind": "Pair", "path": "spec.worker"},
    {"group": "example.com", "kind": "Pair", "path": "spec.worker"},
]
VERSIONS = {
    "": "v1",
    "apps": "apps/v1",
    "batch": "batch/v1",
    "apps.kruise.io": "apps.kruise.io/v1alpha1",
    "argoproj.io": "argoproj.io/v1alpha1",
}


def workload(api_version: str, kind: str, **content: Any) -> Json:
    metadata = {"name": "web", "namespace": "shop"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}


def run(
    *values: Json, templates: str = "Mutate", form: str = "Served", **options: Any
) -> tuple[list[Json], Report]:
    """The objects after the rule, and the report."""
    spec = {
        "rules": [{"inline": RULE}],
        "podTemplates": templates,
        "objectForm": form,
        "extraPodTemplates": EXTRA,
        **options,
    }
    document = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "spec": spec}
    stream = read_stream(yaml.safe_dump_all(values).encode())
    report = admit([stream], stages_of(from_document(document, "test"), [stream]))
    return list(yaml.safe_load_all(stream.write(()))), report


def changed(value: Json, *paths: Path) -> Json:
    """An object as it is after the rule changed these templates."""
    for path in paths:
        value = with_at(value, (*path, "metadata", "annotations"), {"done": "yes"})
        value = with_at(value, (*path, "spec", "nodeName"), "n")
    return value


@pytest.mark.parametrize(
    ("group", "kind", "path"),
    [(group, kind, path) for (group, kind), paths in BUILT_IN.items() for path in paths],
)
def test_every_kind_changes_at_its_templates_only(group: str, kind: str, path: Path) -> None:
    value = with_at(workload(VERSIONS[group], kind), path, TEMPLATE)
    [out], report = run(value)
    assert not report.denied
    assert out == changed(value, path)


def test_elements_of_a_list_each_have_a_template() -> None:
    jobs = [
        {"name": name, "template": {"spec": {"template": dict(TEMPLATE)}}} for name in ("a", "b")
    ]
    value = workload("jobset.x-k8s.io/v1alpha2", "JobSet", spec={"replicatedJobs": jobs})
    paths = [("spec", "replicatedJobs", n, "template", "spec", "template") for n in (0, 1)]
    [out], _ = run(value)
    assert out == changed(value, *paths)
    previews, _ = run(value, templates="Preview")
    names = [pod["metadata"]["name"] for pod in previews[1:]]
    assert names == ["web-jobset-pod", "web-jobset-pod-1"]


def test_a_place_that_is_named_twice_is_one() -> None:
    value = workload("example.com/v1", "Pair", spec={"leader": TEMPLATE, "worker": {**TEMPLATE}})
    [out], _ = run(value)
    assert out == changed(value, ("spec", "leader"), ("spec", "worker"))
    previews, _ = run(value, templates="Preview")
    assert len(previews) == 3


def test_kinds_of_one_name_have_previews_of_different_names() -> None:
    values = [
        workload(api_version, "Deployment", spec={"template": {**TEMPLATE}})
        for api_version in ("apps/v1", "example.com/v1")
    ]
    out, _ = run(*values, templates="Preview")
    names = [value["metadata"]["name"] for value in out]
    assert names == ["web", "web", "web-deployment-pod", "web-deployment.example.com-pod"]
    assert run(*out, templates="Preview")[0] == out


def names_of(values: list[Json]) -> list[str]:
    return [value["metadata"].get("name", "") for value in values]


def test_objects_with_generated_names_have_previews_with_valid_and_distinct_names() -> None:
    value = workload("apps/v1", "Deployment", spec={"template": {**TEMPLATE}})
    value = {**value, "metadata": {"generateName": "web-"}}
    out, _ = run(value, value, templates="Preview")
    assert names_of(out) == ["", "", "web-deployment-pod", "web-deployment-pod-2"]
    assert run(*out, templates="Preview")[0] == out


def test_two_objects_of_one_identity_are_both_admitted_and_previewed() -> None:
    values = [
        workload("apps/v1", "Deployment", spec={"replicas": n, "template": {**TEMPLATE}})
        for n in (1, 2)
    ]
    out, report = run(*values)
    assert [entry.outcome for entry in report.objects] == [Outcome.CHANGED] * 2
    out, _ = run(*values, templates="Preview")
    assert names_of(out) == ["web", "web", "web-deployment-pod", "web-deployment-pod-2"]


def test_a_preview_can_be_created() -> None:
    value = workload("apps/v1", "Deployment", spec={"template": {**TEMPLATE}})
    _, pod = run(value, templates="Preview")[0]
    assert "ownerReferences" not in pod["metadata"]


def test_a_template_has_a_preview_though_no_rule_concerns_it() -> None:
    value = workload("apps/v1", "Deployment", spec={"template": {**TEMPLATE}})
    rule = RULE.replace("matchValue: Pod", "matchValue: Node")
    assert rule != RULE
    assert names_of(run(value, templates="Preview", rules=[{"inline": rule}])[0]) == [
        "web",
        "web-deployment-pod",
    ]


def test_an_edit_without_effect_is_idempotent() -> None:
    remove = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: remove, namespace: shop}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Deployment}]
  patch:
  - {op: remove, path: /spec/revisionHistoryLimit}
  - {op: add, path: /status/replicas, value: "7"}
  - {op: add, path: /spec/nope, value: "1"}
  - {op: add, path: /metadata/labels/a, value: b}
"""
    value = workload("apps/v1", "Deployment", spec={"template": {**TEMPLATE}})
    _, report = run(value, templates="Ignore", rules=[{"inline": remove}])
    messages = [finding.message for finding in report.objects[0].findings]
    assert any("has no effect" in message for message in messages)
    assert not any("not idempotent" in message for message in messages)


def test_a_preview_of_what_is_not_idempotent_is_of_the_first_admission() -> None:
    append = RULE.replace("Pod}", "Deployment}").partition("  - {op: add, path: /meta")[0] + (
        "  - {op: add, path: /spec/template/spec/containers/-, value: '{name: more, image: i}'}\n"
    )
    value = workload("apps/v1", "Deployment", spec={"template": TEMPLATE})
    (_, pod), report = run(value, templates="Preview", rules=[{"inline": append}])
    assert any("not idempotent" in f.message for f in report.objects[0].findings)
    assert [c["name"] for c in pod["spec"]["containers"]] == ["app", "more"]


def test_a_workload_without_replicas_has_a_preview_and_a_note() -> None:
    value = workload("apps/v1", "Deployment", spec={"replicas": 0, "template": TEMPLATE})
    out, report = run(value, templates="Preview")
    assert len(out) == 2
    notes = [f for f in report.objects[0].findings if f.cause is Cause.NOTE]
    assert [note.field for note in notes] == [("spec", "replicas")]


def test_the_preview_of_a_workload_that_is_gone_goes() -> None:
    value = workload("apps/v1", "Deployment", spec={"template": TEMPLATE})
    _, pod = run(value, templates="Preview")[0]
    other = workload("v1", "ConfigMap")
    assert run(other, pod, templates="Preview")[0] == [other]


# What is no template

ODD: tuple[Any, ...] = (
    None,
    "text",
    7,
    True,
    [],
    [1],
    {},
    [None],
    [{"name": ["x"]}],
    [{"controller": "true"}],
    {"app": ["x"]},
)
FIELDS: tuple[Path, ...] = (
    ("metadata", "ownerReferences"),
    ("spec",),
    ("spec", "template"),
    ("spec", "template", "metadata"),
    ("spec", "template", "metadata", "labels"),
    ("spec", "template", "metadata", "annotations"),
    ("spec", "template", "spec"),
    ("spec", "template", "spec", "volumes"),
    ("spec", "template", "spec", "containers"),
    ("spec", "volumeClaimTemplates"),
    ("spec", "volumeClaimTemplates", 0, "metadata", "name"),
)
STATEFUL_SET = workload(
    "apps/v1",
    "StatefulSet",
    spec={"template": TEMPLATE, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]},
)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: ".".join(map(str, field)))
def test_a_field_of_a_wrong_type_is_no_fault(field: Path) -> None:
    for odd in ODD:
        value = with_at(STATEFUL_SET, field, odd)
        for templates in ("Mutate", "Preview"):
            for form in ("Served", "AsWritten"):
                out, report = run(value, templates=templates, form=form)
                if templates == "Preview" or report.denied:
                    assert out[0] == value
                else:
                    assert run(out[0], form=form)[0] == out


@pytest.mark.parametrize("odd", [None, "text", 7, [], [1]])
def test_what_is_no_map_is_no_template(odd: Any) -> None:
    value = workload("example.com/v1", "Pair", spec={"leader": odd, "worker": TEMPLATE})
    [out], _ = run(value)
    assert out == changed(value, ("spec", "worker"))
    value = workload("jobset.x-k8s.io/v1alpha2", "JobSet", spec={"replicatedJobs": odd})
    assert run(value)[0] == [value]


def test_a_place_inside_another_template_sees_what_was_made_of_it() -> None:
    inner = {"group": "example.com", "kind": "Deployment", "path": "spec.template.spec.inner"}
    value = workload(
        "example.com/v1",
        "Deployment",
        spec={"template": {**TEMPLATE, "spec": {"inner": {"spec": {}}}}},
    )
    [out], _ = run(value, form="AsWritten", extraPodTemplates=[*EXTRA, inner])
    assert out == changed(value, ("spec", "template"), ("spec", "template", "spec", "inner"))


@pytest.mark.parametrize("templates", ["Mutate", "Preview"])
def test_an_unknown_field_of_a_template_is_told_once(templates: str) -> None:
    value = workload("apps/v1", "Deployment", spec={"template": TEMPLATE})
    _, report = run(with_at(value, ("spec", "template", "spec", "odd"), 1), templates=templates)
    [warning] = [f for f in report.objects[0].findings if f.cause is Cause.WARNING]
    assert warning.field == ("spec", "template", "spec", "odd")


def test_an_unknown_field_in_a_template_of_a_kind_that_nobody_described_is_told() -> None:
    odd = with_at(TEMPLATE, ("spec", "odd"), 1)
    _, report = run(workload("example.com/v1", "Pair", spec={"leader": odd}))
    [warning] = [f for f in report.objects[0].findings if f.cause is Cause.WARNING]
    assert warning.field == ("spec", "leader", "spec", "odd")
