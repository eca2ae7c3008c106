"""Meshes in whole runs: templates, other dialects, and the same bytes twice."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from appmesh_support import PATCH, config_map, mesh

from krm_fn.run.function import Done, run

LABELS = {"app": "testrunner", "virtual-node": "vn"}
CONTAINERS = [{"name": "app", "image": "app:1", "ports": [{"containerPort": 80}]}]
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS}}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "my-ns"},
    "spec": {"selector": {"matchLabels": {"app": "testrunner"}}, "template": TEMPLATE},
}
CRON_JOB = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "nightly", "namespace": "my-ns"},
    "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}},
}
KRUISE = {
    "apiVersion": "apps.kruise.io/v1beta1",
    "kind": "SidecarSet",
    "metadata": {"name": "logging"},
    "spec": {
        "selector": {"matchLabels": {"app": "testrunner"}},
        "containers": [{"name": "logtail", "image": "logtail:1"}],
    },
}


def admitted(*items: Any, templates: str = "Mutate", **spec: Any) -> Done:
    """The function over these items, a Mesh and its ConfigMap."""
    return bare(mesh().value, config_map({"p": PATCH}), *items, templates=templates, **spec)


def bare(*items: Any, templates: str = "Mutate", **spec: Any) -> Done:
    """The function over these items alone."""
    value = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": {
            "apiVersion": "krm-fn.dev/v1alpha1",
            "kind": "Admission",
            "metadata": {"name": "a"},
            "spec": {"podTemplates": templates, **spec},
        },
        "items": list(items),
    }
    return run(yaml.safe_dump(value, sort_keys=False).encode(), {})


def items(done: Done) -> dict[str, Any]:
    """What came out, by kind."""
    return {item["kind"]: item for item in yaml.safe_load(done.stdout)["items"]}


def names(pod: Any) -> list[str]:
    return [container["name"] for container in pod["spec"]["containers"]]


def test_templates_stay_as_they_are_and_are_named_unless_asked_for() -> None:
    done = admitted(DEPLOYMENT, templates="Ignore")
    assert done.status == 0
    assert items(done)["Deployment"] == DEPLOYMENT
    assert b"templates of Pods stay as they are (1: Deployment web)" in done.stdout


def test_a_template_gets_the_sidecars_and_nothing_else_changes() -> None:
    done = admitted(DEPLOYMENT, CRON_JOB)
    assert done.status == 0
    found = items(done)
    deployment = found["Deployment"]
    assert names(deployment["spec"]["template"]) == ["app", "envoy"]
    assert deployment["spec"]["template"]["metadata"] == TEMPLATE["metadata"]
    assert deployment["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]
    assert deployment["metadata"] == DEPLOYMENT["metadata"]
    job = found["CronJob"]["spec"]["jobTemplate"]["spec"]
    assert job.keys() == {"template"}
    assert names(job["template"]) == ["app", "envoy"]


def test_meshes_and_their_config_maps_are_not_changed() -> None:
    found = items(admitted(DEPLOYMENT))
    assert found["Mesh"] == mesh().value
    assert found["ConfigMap"] == config_map({"p": PATCH})


def test_a_second_run_gives_the_same_bytes() -> None:
    first = items(admitted(DEPLOYMENT, CRON_JOB))
    second = admitted(first["Deployment"], first["CronJob"])
    assert second.status == 0
    assert items(second) == first
    assert admitted(DEPLOYMENT).stdout == admitted(DEPLOYMENT).stdout


def test_kruise_comes_first_so_that_its_sidecars_need_ports() -> None:
    done = admitted(DEPLOYMENT, KRUISE)
    assert done.status == 1
    assert "no containerPorts for container logtail" in done.stderr
    assert "logtail is a sidecar of OpenKruise" in done.stderr
    assert items(done)["Deployment"] == DEPLOYMENT


def test_the_config_map_of_supergloos_chart_is_no_patch() -> None:
    # sidecar-injection-resources has an entry for each file of the chart.
    chart = config_map({"config-map.tpl": PATCH, "deployment.tpl": ""}, "resources", "a")
    wrong = mesh("other", sidecarPatchConfigMap={"name": "resources", "namespace": "a"})
    off = mesh(enableAutoInject=False)
    done = bare(off.value, wrong.value, chart, DEPLOYMENT)
    assert "expected exactly 1 entry in config map a.resources but found 2" in done.stderr


def test_a_preview_shows_the_pod_with_its_sidecars() -> None:
    found = items(admitted(DEPLOYMENT, templates="Preview"))
    assert found["Deployment"] == DEPLOYMENT
    assert names(found["Pod"]) == ["app", "envoy"]


def test_a_pod_among_the_items_gets_the_sidecars() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "my-ns", "labels": LABELS},
        "spec": {"containers": CONTAINERS},
    }
    assert names(items(admitted(pod, templates="Ignore"))["Pod"]) == ["app", "envoy"]


@pytest.mark.parametrize("form", ["Served", "AsWritten"])
def test_both_forms_of_objects_give_the_same_template(form: str) -> None:
    template = items(admitted(DEPLOYMENT, objectForm=form))["Deployment"]["spec"]["template"]
    assert template["spec"]["containers"][0] == CONTAINERS[0]
    assert template["spec"]["initContainers"] == [
        {
            "name": "proxyinit",
            "image": "init:1",
            "env": [{"name": "APPMESH_APP_PORTS", "value": "80"}],
        }
    ]
