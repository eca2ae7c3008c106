"""What validating admission sees of an object that is being created."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import Json

SERVER = Served(Schemas())


def validating(api_version: str, kind: str, **members: Any) -> Json:
    value = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **members}
    return SERVER.validating(SERVER.form(value).object)


COUNTED = [("apps/v1", "Deployment"), ("batch/v1", "Job"), ("networking.k8s.io/v1", "Ingress")]
UNCOUNTED = [
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
]


@pytest.mark.parametrize(("api_version", "kind"), COUNTED)
def test_kinds_that_count_generations_begin_with_one(api_version: str, kind: str) -> None:
    assert validating(api_version, kind)["metadata"]["generation"] == 1


@pytest.mark.parametrize(("api_version", "kind"), UNCOUNTED)
def test_other_kinds_have_no_generation(api_version: str, kind: str) -> None:
    assert "generation" not in validating(api_version, kind)["metadata"]


STATUSES = [
    ("apps/v1", "Deployment", {"replicas": 3}, {}),
    ("v1", "PersistentVolumeClaim", {}, {}),
    ("v1", "PersistentVolume", {"message": "x"}, {"phase": "Pending"}),
    ("v1", "Namespace", {"phase": "Terminating"}, {"phase": "Active"}),
    ("v1", "Service", {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}, {"loadBalancer": {}}),
]


@pytest.mark.parametrize(("api_version", "kind", "written", "left"), STATUSES)
def test_a_written_status_is_gone(api_version: str, kind: str, written: Json, left: Json) -> None:
    assert validating(api_version, kind, status=written)["status"] == left


def resources(cpu: str | None, memory: str | None, requests: Json | None = None) -> Json:
    limits = {k: v for k, v in {"cpu": cpu, "memory": memory}.items() if v is not None}
    return {"limits": limits, **({"requests": requests} if requests is not None else {})}


QUALITIES = [
    ([{}], "BestEffort"),
    ([resources("1", "1Gi")], "Guaranteed"),
    ([resources("1", None)], "Burstable"),
    ([resources("1", "1Gi", {"cpu": "500m"})], "Burstable"),
    ([resources("1", "1Gi", {"cpu": "1000m"})], "Guaranteed"),
    ([resources("1", "1Gi"), {}], "Burstable"),
    ([resources("0", None)], "BestEffort"),
]


@pytest.mark.parametrize(("containers", "quality"), QUALITIES)
def test_a_pod_has_its_class_of_service(containers: list[Json], quality: str) -> None:
    named = [{"name": f"c{n}", "resources": given} for n, given in enumerate(containers)]
    status = validating("v1", "Pod", spec={"containers": named})["status"]
    assert status == {"phase": "Pending", "qosClass": quality}


def test_an_object_of_an_unknown_kind_stays_as_it_is() -> None:
    value = {"apiVersion": "example.com/v1", "kind": "Shop", "status": {"a": 1}}
    assert SERVER.validating(value) is value


def test_an_object_without_anything_to_prepare_stays_the_same_object() -> None:
    served = SERVER.form({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}).object
    assert SERVER.validating(served) is served
