"""What templates of Pods are at render time, case by case.

Source: the specification of Pods at render time, section 4C.
"""

from __future__ import annotations

import pytest
import yaml
from pods_support import (
    APP,
    CONTAINERS,
    DEPLOYMENT,
    LOGTAIL,
    MESH,
    SIDECAR_SET,
    TEMPLATE,
    documents,
    run,
    said,
)

from krm_fn.admission import Cause
from krm_fn.values import get, with_at

[SET] = SIDECAR_SET


def test_c1_a_template_that_is_ignored_stays_and_is_named() -> None:
    text, report = run(DEPLOYMENT, [SET], "Ignore")
    assert text == DEPLOYMENT
    [warning] = said(report, Cause.WARNING)
    assert "Deployment web" in warning


def test_c2_labels_of_the_template_decide_and_nothing_else_changes() -> None:
    text, _ = run(DEPLOYMENT, [SET])
    before = yaml.safe_load(DEPLOYMENT)
    assert yaml.safe_load(text) == with_at(before, (*TEMPLATE, *CONTAINERS), [APP, LOGTAIL])
    swapped = DEPLOYMENT.replace("app: web, node", "app: shop, node").replace(
        "app: other", "app: web"
    )
    assert run(swapped, [SET])[0] == swapped


def test_c4_a_cron_job_changes_at_the_template_of_its_pods_only() -> None:
    template = get(yaml.safe_load(DEPLOYMENT), TEMPLATE)
    job = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "shop"},
        "spec": {
            "schedule": "0 3 * * *",
            "jobTemplate": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"template": with_at(template, ("spec", "restartPolicy"), "Never")},
            },
        },
    }
    text, _ = run(yaml.safe_dump(job), [SET])
    path = ("spec", "jobTemplate", "spec", "template", *CONTAINERS)
    assert yaml.safe_load(text) == with_at(job, path, [APP, LOGTAIL])


@pytest.mark.parametrize(("namespace", "there"), [("default", True), ("shop", False)])
def test_c5_a_workload_without_a_namespace_is_in_the_default_one(
    namespace: str, there: bool
) -> None:
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    rule = with_at(SET, ("spec", "namespaceSelector"), selector)
    text, _ = run(DEPLOYMENT.replace("  namespace: shop\n", ""), [rule])
    assert ("logtail" in text) is there


def test_c7_a_selector_on_a_controller_added_label_matches_no_template_and_says_so() -> None:
    rule = with_at(SET, ("spec", "selector", "matchLabels", "pod-template-hash"), "5d4f")
    text, report = run(DEPLOYMENT, [rule])
    assert text == DEPLOYMENT
    [warning] = said(report, Cause.WARNING)
    assert "controller-added label" in warning


def test_c8_a_volume_that_a_claim_gives_is_not_added() -> None:
    value = {
        **yaml.safe_load(DEPLOYMENT),
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "shop"},
    }
    value = with_at(value, ("spec", "volumeClaimTemplates"), [{"metadata": {"name": "data"}}])
    rule = with_at(SET, ("spec", "volumes"), [{"name": "data", "emptyDir": {}}])
    mounts = [{"name": "data", "mountPath": "/data"}]
    rule = with_at(rule, ("spec", "containers", 0, "volumeMounts"), mounts)
    text, report = run(yaml.safe_dump(value), [rule])
    assert not report.denied
    spec = get(yaml.safe_load(text), (*TEMPLATE, "spec"))
    assert [container["name"] for container in spec["containers"]] == ["app", "logtail"]
    assert "volumes" not in spec


def test_c10_kruise_comes_before_supergloo_so_that_a_sidecar_without_ports_fails_it() -> None:
    container = {"name": "logtail", "image": "logtail:1"}
    _, report = run(DEPLOYMENT, [with_at(SET, ("spec", "containers"), [container]), *MESH])
    [message] = [m for m in said(report, Cause.REJECTED, Cause.FAILED) if "logtail" in m]
    assert "no containerPorts for container logtail. Must specify at least 1 port" in message
    assert "logtail is a sidecar of OpenKruise" in message


def test_c11_the_config_map_of_supergloos_chart_is_no_patch() -> None:
    mesh, config_map = MESH
    chart = {
        **config_map,
        "metadata": {"name": "sidecar-injection-resources", "namespace": "supergloo-system"},
        "data": {"config-map.tpl": "{}", "deployment.tpl": "{}", "service.tpl": "{}"},
    }
    name = ("spec", "awsAppMesh", "sidecarPatchConfigMap", "name")
    _, report = run(DEPLOYMENT, [with_at(mesh, name, "sidecar-injection-resources"), chart])
    [message] = said(report, Cause.REJECTED, Cause.FAILED)
    where = "supergloo-system.sidecar-injection-resources"
    assert f"expected exactly 1 entry in config map {where} but found 3" in message


def test_c13_no_bookkeeping_is_written_and_two_runs_give_the_same_bytes() -> None:
    rules = [
        with_at(
            SET,
            ("spec", "patchPodMetadata"),
            [
                {"annotations": {"kept": "1", "given": "2"}, "patchPolicy": "Retain"},
                {"annotations": {"score": '{"app": 1}'}, "patchPolicy": "MergePatchJson"},
            ],
        ),
        *MESH,
    ]
    once, _ = run(DEPLOYMENT, rules)
    assert run(DEPLOYMENT, rules)[0] == once
    assert run(once, rules)[0] == once
    [value] = documents(once)
    annotations = get(value, (*TEMPLATE, "metadata", "annotations"))
    assert annotations == {"given": "yes", "kept": "1", "score": '{"app": 1}'}
