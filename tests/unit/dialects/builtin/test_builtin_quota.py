"""Quotas of a render: what is used is what their status says, else what the run has admitted."""

from __future__ import annotations

from typing import Any

import pytest
from builtin_support import in_team, listers, pod, request

from krm_fn.dialects.builtin.plugin import Denied
from krm_fn.dialects.builtin.quota import ResourceQuota
from krm_fn.values import Json


def quota(name: str = "q", status: Any = None, **hard: str) -> Json:
    value = in_team("ResourceQuota", name, spec={"hard": hard})
    return value if status is None else {**value, "status": status}


def refusal(plugin: ResourceQuota, value: Json, *objects: Json) -> str:
    try:
        plugin.validate(request(value), listers(*objects))
    except Denied as denied:
        return denied.message.partition("forbidden: ")[2]
    return ""


def test_without_a_status_the_run_counts_what_it_has_admitted() -> None:
    plugin, limited = ResourceQuota(), quota(pods="2")
    assert [refusal(plugin, pod(name), limited) for name in ("a", "b", "c")] == [
        "",
        "",
        "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2; "
        "used is what this run has admitted, and the cluster may hold more",
    ]


def test_an_object_that_is_admitted_twice_counts_once() -> None:
    plugin, limited = ResourceQuota(), quota(pods="1")
    assert [refusal(plugin, pod(), limited) for _ in range(3)] == ["", "", ""]


def test_an_object_that_is_refused_by_one_quota_counts_in_none() -> None:
    plugin = ResourceQuota()
    quotas = quota("a", pods="1"), quota("b", **{"requests.cpu": "100m"})
    large = pod("large", containers=[container("200m")])
    small = pod("small", containers=[container("100m")])
    assert "exceeded quota: b" in refusal(plugin, large, *quotas)
    assert refusal(plugin, small, *quotas) == ""


def container(cpu: str) -> Json:
    return {"name": "c", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}


def test_a_given_status_says_what_is_used_and_the_run_adds_nothing() -> None:
    plugin = ResourceQuota()
    limited = quota(pods="2", status={"hard": {"pods": "2"}, "used": {"pods": "1"}})
    assert [refusal(plugin, pod(name), limited) for name in ("a", "b", "c")] == ["", "", ""]


def test_a_status_that_lacks_something_is_refused_as_by_the_server() -> None:
    status = {"hard": {"pods": "2", "cpu": "1"}, "used": {"pods": "1"}}
    said = refusal(ResourceQuota(), pod(containers=[container("1")]), quota(status=status))
    assert said == "status unknown for quota: q, resources: cpu,pods"


CLAIMED = [
    ({"exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}}, True),
    ({"exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 3}}, False),
    ({"exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}, False),
    ({"exactly": {"deviceClassName": "nic", "allocationMode": "All"}}, True),
    (
        {
            "firstAvailable": [
                {"name": "a", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1},
                {"name": "b", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 3},
            ]
        },
        False,
    ),
]


@pytest.mark.parametrize(("asked", "fits"), CLAIMED)
def test_devices_count_by_class_and_at_most_what_a_claim_may_get(asked: Json, fits: bool) -> None:
    claim = {
        **in_team("ResourceClaim", "c"),
        "apiVersion": "resource.k8s.io/v1",
        "spec": {"devices": {"requests": [{"name": "r", **asked}]}},
    }
    limited = quota(**{"gpu.deviceclass.resource.k8s.io/devices": "2"})
    assert (refusal(ResourceQuota(), claim, limited) == "") is fits
