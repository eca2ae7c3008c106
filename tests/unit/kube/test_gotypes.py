"""What the API server says of objects that a Go type cannot hold, word for word."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kube.gotypes.convert import ConversionError, converted
from krm_fn.kube.gotypes.fold import Folding
from krm_fn.kube.gotypes.mismatches import mismatch_error
from krm_fn.kube.gotypes.strict import decode_error
from krm_fn.kube.schema import Schemas, Struct
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.plan import Plan
from krm_fn.values import Json

SCHEMAS = Schemas()


def struct(kind: str, api_version: str = "v1") -> Struct:
    schema = SCHEMAS.kind(api_version, kind)
    assert schema is not None
    return schema.struct


def pod(**spec: Any) -> Json:
    return {"spec": spec}


def container(**fields: Any) -> Json:
    return pod(containers=[fields])


UNMARSHAL = "json: cannot unmarshal"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (pod(hostNetwork=True), ""),
        (
            pod(hostNetwork="x"),
            f"{UNMARSHAL} string into Go struct field PodSpec.spec.hostNetwork of type bool",
        ),
        (
            container(image=5),
            f"{UNMARSHAL} number into Go struct field "
            "Container.spec.containers.image of type string",
        ),
        (
            container(imagePullPolicy=5),
            f"{UNMARSHAL} number into Go struct field "
            "Container.spec.containers.imagePullPolicy of type v1.PullPolicy",
        ),
        (
            pod(volumes=[{"emptyDir": "x"}]),
            f"{UNMARSHAL} string into Go struct field "
            "Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
        ),
        (
            pod(containers={}),
            f"{UNMARSHAL} object into Go struct field PodSpec.spec.containers of "
            "type []v1.Container",
        ),
        (
            pod(nodeSelector=[]),
            f"{UNMARSHAL} array into Go struct field PodSpec.spec.nodeSelector "
            "of type map[string]string",
        ),
        (
            pod(activeDeadlineSeconds=1.5),
            f"{UNMARSHAL} number 1.5 into Go struct field "
            "PodSpec.spec.activeDeadlineSeconds of type int64",
        ),
        (
            container(ports=[{"containerPort": 2**40}]),
            f"{UNMARSHAL} number 1099511627776 into Go "
            "struct field ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            container(resources={"limits": {"cpu": "x"}}),
            "quantities must match the regular "
            "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (container(resources={"limits": {"cpu": "1Kk"}}), "unable to parse quantity's suffix"),
        (
            container(resources={"limits": []}),
            f"{UNMARSHAL} array into Go struct field "
            "ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList",
        ),
        (
            {"metadata": {"creationTimestamp": "x"}},
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
        ),
        (
            pod(zip=1, zap=2),
            'strict decoding error: unknown field "spec.zap", unknown field "spec.zip"',
        ),
        (container(zip=1), 'strict decoding error: unknown field "spec.containers[0].zip"'),
        (
            pod(zip=1, hostNetwork="x"),
            f"{UNMARSHAL} string into Go struct field PodSpec.spec.hostNetwork of type bool",
        ),
    ],
)
def test_a_decoding_error_is_that_of_the_api_server(value: Json, text: str) -> None:
    assert decode_error(value, struct("Pod")) == text


def test_bytes_are_base64_or_numbers() -> None:
    assert decode_error({"data": {"k": "!!"}}, struct("Secret")) == (
        "illegal base64 data at input byte 0"
    )
    assert decode_error({"data": {"k": [1, "x"]}}, struct("Secret")) == (
        f"{UNMARSHAL} string into Go struct field Secret.data of type uint8"
    )


@pytest.mark.parametrize(
    ("given", "taken"), [(3, 3), (3.0, 3), (4294967296, 0), (2147483648, -2147483648)]
)
def test_the_converter_bends_numbers_as_go_does(given: float, taken: int) -> None:
    value = {"spec": {"replicas": given}}
    assert converted(value, struct("Deployment", "apps/v1")) == {"spec": {"replicas": taken}}


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("ReplicationController", pod(replicas=1.5), "cannot convert float64 to int32"),
        (
            "Service",
            pod(ports=[{"targetPort": True}]),
            f"{UNMARSHAL} bool into Go value of type int32",
        ),
        (
            "Pod",
            {"metadata": {"creationTimestamp": 5}},
            f"{UNMARSHAL} number into Go value of type string",
        ),
    ],
)
def test_the_converter_says_what_it_cannot_convert(kind: str, value: Json, text: str) -> None:
    with pytest.raises(ConversionError) as caught:
        converted(value, struct(kind))
    assert caught.value.message == text


def folding(**options: Any) -> Folding:
    return Folding(Plan({}, {}), **options)


CONTAINER = SCHEMAS.struct("core/v1.Container")


def test_names_match_in_any_case_and_unknown_ones_are_dropped() -> None:
    value = {"NAME": "a", "imagepullPolicy": "Never", "unknown": 1}
    assert folding().read(value, CONTAINER) == {
        "name": "a",
        "imagePullPolicy": "Never",
        "resources": {},
    }


def test_a_second_name_for_a_field_is_decoded_into_the_first() -> None:
    value = {"Lifecycle": {"stopSignal": "A"}, "lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}
    lifecycle = folding().read(value, CONTAINER)["lifecycle"]
    assert lifecycle == {"stopSignal": "A", "preStop": {"sleep": {"seconds": 1}}}


def test_only_readers_of_yaml_make_strings_of_numbers() -> None:
    assert folding(as_text=str).read({"image": 5}, CONTAINER)["image"] == "5"
    with pytest.raises(MismatchError):
        folding().read({"image": 5}, CONTAINER)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"IMAGE": 5}, "number into Go struct field Container.image of type string"),
        (
            {"imagePullPolicy": True},
            "bool into Go struct field Container.imagePullPolicy of type v1.PullPolicy",
        ),
        (
            {"ports": [{"containerPort": 1.5}]},
            "number 1.5 into Go struct field ContainerPort.ports.containerPort of type int32",
        ),
        ({"ports": {}}, "object into Go struct field Container.ports of type []v1.ContainerPort"),
    ],
)
def test_a_mismatch_is_told_in_the_words_of_go(value: Json, text: str) -> None:
    with pytest.raises(MismatchError) as caught:
        folding().read(value, CONTAINER)
    assert mismatch_error(caught.value, CONTAINER).message == f"{UNMARSHAL} {text}"


def test_a_mismatch_of_a_quantity_says_what_is_wrong_with_it() -> None:
    with pytest.raises(MismatchError) as caught:
        folding().read({"resources": {"limits": {"cpu": "1K"}}}, CONTAINER)
    error = mismatch_error(caught.value, CONTAINER)
    assert error.message == "unable to parse quantity's suffix"
    assert error.path == ("resources", "limits", "cpu")
