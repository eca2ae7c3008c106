"""Templates as Pods: what rules see of them, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from krm_fn.admission import (
    Cause,
    Chain,
    Cluster,
    Finding,
    Phase,
    Prefilter,
    Request,
    RequestAttributes,
    Response,
    RuleRef,
    Selection,
    Step,
    Verdict,
)
from krm_fn.admission.coverage import RuleScope
from krm_fn.admission.pods import PREVIEW_OF, admit_templates, is_preview, preview_templates
from krm_fn.values import Json, get, with_at
from krm_fn.wire.stream import head_of

RULE = RuleRef("fake", "Rule", "", "r")


@dataclass
class Fake:
    """A plugin for Pods that does what a function says."""

    change: Callable[[Json], Json] = lambda value: value
    findings: tuple[Finding, ...] = ()
    name: str = "fake"
    phase: Phase = Phase.MUTATING_WEBHOOK
    order: tuple[str, str] = ("fake", "fake")
    prefilter: Prefilter = field(
        default_factory=lambda: Prefilter([Selection(kinds=frozenset({"Pod"}))])
    )
    asked: list[Request] = field(default_factory=list)

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        self.asked.append(request)
        value = self.change(request.object)
        changed = value != request.object
        steps = (Step((RULE,), value),) if changed else ()
        return Response(value if changed else None, steps, self.findings)

    @property
    def scopes(self) -> Sequence[RuleScope]:
        return ()


def workload(kind: str = "Deployment", api_version: str = "apps/v1", **spec: Any) -> Json:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a"}]}}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"template": template, **spec},
    }


def admit(plugin: Fake, value: Json, extra: Any = None) -> Verdict:
    chain = Chain([plugin], RequestAttributes())
    subject = Cluster().subject_of(head_of(value))
    verdict = chain.admit(subject, value, Cluster())
    return admit_templates(chain, subject, verdict, Cluster(), extra or {})


def setting(path: tuple[str | int, ...], new: Any) -> Callable[[Json], Json]:
    return lambda value: with_at(value, path, new)  # type: ignore[no-any-return]


def test_rules_see_the_pod_that_the_controller_would_ask_for() -> None:
    plugin = Fake()
    admit(plugin, workload())
    assert plugin.asked[0].object == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "labels": {"app": "web"},
            "generateName": "web-",
            "namespace": "prod",
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
            ],
        },
        "spec": {"containers": [{"name": "a"}]},
    }
    assert plugin.asked[0].namespace == "prod"
    assert plugin.asked[0].workload == head_of(workload())


def test_annotations_and_specification_go_back_into_the_template_and_nothing_else() -> None:
    both = Fake(
        lambda pod: with_at(
            with_at(pod, ("metadata", "annotations", "x"), "y"), ("spec", "nodeName"), "n"
        )
    )
    value = workload()
    verdict = admit(both, value)
    template = {
        "metadata": {"labels": {"app": "web"}, "annotations": {"x": "y"}},
        "spec": {"containers": [{"name": "a"}], "nodeName": "n"},
    }
    assert verdict.object == {**value, "spec": {"template": template}}
    assert {change.path[:4] for change in verdict.changes} == {
        ("spec", "template", "metadata", "annotations"),
        ("spec", "template", "spec", "nodeName"),
    }


def test_what_a_template_cannot_hold_is_told_and_not_written() -> None:
    value = workload()
    verdict = admit(Fake(setting(("metadata", "labels", "x"), "y")), value)
    assert verdict.object == value
    [finding] = verdict.findings
    assert finding.cause is Cause.WARNING
    assert "metadata.labels.x of the Pod is not written" in finding.message
    assert finding.rules == (RULE,)


def test_findings_point_into_the_template() -> None:
    finding = Finding(Cause.REJECTED, True, "no", (RULE,), ("spec", "hostNetwork"))
    verdict = admit(Fake(findings=(finding,)), workload())
    assert verdict.denied
    assert verdict.findings[0].field == ("spec", "template", "spec", "hostNetwork")


def test_claims_of_a_stateful_set_are_volumes_that_are_not_written_back() -> None:
    claims = [{"metadata": {"name": "data"}}]
    plugin = Fake(setting(("spec", "hostNetwork"), True))
    verdict = admit(plugin, workload("StatefulSet", volumeClaimTemplates=claims))
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}
    assert plugin.asked[0].object["spec"]["volumes"] == [volume]
    assert get(verdict.object, ("spec", "template", "spec")) == {
        "containers": [{"name": "a"}],
        "hostNetwork": True,
    }


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (workload("CloneSet", "apps.kruise.io/v1alpha1"), ("spec", "template")),
        (workload("Rollout", "argoproj.io/v1alpha1"), ("spec", "template")),
        (
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": {"name": "web"},
                "spec": {"jobTemplate": {"spec": {"template": {"spec": {}}}}},
            },
            ("spec", "jobTemplate", "spec", "template"),
        ),
        (
            {
                "apiVersion": "example.com/v1",
                "kind": "Set",
                "metadata": {"name": "web"},
                "spec": {"jobs": [{"pod": {"spec": {}}}]},
            },
            ("spec", "jobs", 0, "pod"),
        ),
    ],
)
def test_kinds_carry_templates_at_their_places(value: Json, path: tuple[str | int, ...]) -> None:
    extra = {("example.com", "Set"): (("spec", "jobs", "*", "pod"),)}
    verdict = admit(Fake(setting(("spec", "nodeName"), "n")), value, extra)
    assert get(verdict.object, (*path, "spec", "nodeName")) == "n"


def test_what_another_object_controls_is_not_looked_into() -> None:
    owned = with_at(workload("ReplicaSet"), ("metadata", "ownerReferences"), [{"controller": True}])
    plugin = Fake()
    admit(plugin, owned)
    assert plugin.asked == []


def test_a_preview_is_a_named_pod_that_is_not_deployed() -> None:
    value = workload()
    chain = Chain([Fake(setting(("spec", "nodeName"), "n"))], RequestAttributes())
    subject = Cluster().subject_of(head_of(value))
    verdict = chain.admit(subject, value, Cluster())
    [pod], verdict = preview_templates(chain, subject, verdict, Cluster(), {})
    assert verdict.findings == ()
    assert is_preview(pod)
    assert pod["metadata"]["name"] == "web-deployment-pod"
    assert pod["metadata"]["annotations"] == {
        "config.kubernetes.io/local-config": "true",
        PREVIEW_OF: "apps/v1/Deployment prod/web spec.template",
    }
    assert "generateName" not in pod["metadata"]
    assert pod["spec"]["nodeName"] == "n"


def test_a_name_that_is_too_long_for_a_preview_is_cut_and_stays_unique() -> None:
    names = []
    for last in "ab":
        value = with_at(workload(), ("metadata", "name"), "x" * 252 + last)
        chain = Chain([Fake()], RequestAttributes())
        subject = Cluster().subject_of(head_of(value))
        verdict = chain.admit(subject, value, Cluster())
        [pod], _ = preview_templates(chain, subject, verdict, Cluster(), {})
        names.append(pod["metadata"]["name"])
    assert len(set(names)) == 2
    assert {len(name) for name in names} == {253}
