"""What a rendered patch is read as: scalars of an old YAML library, types of Kubernetes 1.13.

The expected values were observed on those libraries.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from krm_fn.dialects.appmesh.gotypes import read_pod, read_pod_spec
from krm_fn.dialects.appmesh.yamltext import as_text, read_yaml, resolve
from krm_fn.errors import EvaluationError

SCALARS = [
    ("", None),
    ("~", None),
    ("y", True),
    ("Off", False),
    ("truE", "truE"),
    ("0x1F", 31),
    ("-0x10", -16),
    ("010", 8),
    ("08", 8.0),
    ("0o17", "0o17"),
    ("0b11", 3),
    ("-0b11", -3),
    ("+0b11", "+0b11"),
    ("0B11", "0B11"),
    ("1_000", 1000),
    ("1e3", "1e3"),
    ("1e+3", 1000.0),
    ("5.", "5."),
    (".5", 0.5),
    ("+.5", 0.5),
    ("-.5e-1", -0.05),
    (".inf", math.inf),
    ("-.INF", -math.inf),
    ("18446744073709551615", 2**64 - 1),
    ("+18446744073709551615", float(2**64)),
    ("1e+400", "1e+400"),
    ("9" * 5000, "9" * 5000),
    ("12:30", "12:30"),
    ("2019-05-21", "2019-05-21"),
    ("8080,9090", "8080,9090"),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_a_plain_scalar_is_what_the_old_library_makes_of_it(text: str, value: Any) -> None:
    resolved = resolve(text)
    assert resolved == value
    assert type(resolved) is type(value)


TEXTS = [
    (8080, "8080"),
    (True, "true"),
    (1.5, "1.5"),
    (100000.0, "100000"),
    (999999.0, "999999"),
    (1000000.0, "1e+06"),
    (16777217.0, "1.6777216e+07"),
    (1.23456789, "1.2345679"),
    (685230.15, "685230.1"),
    (0.0001, "0.0001"),
    (0.00001, "1e-05"),
    (1e-50, "0"),
    (-0.0, "-0"),
    (3.5e38, "+Inf"),
    (-math.inf, "-Inf"),
    (math.nan, "NaN"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_a_number_becomes_a_text_with_the_precision_of_32_bits(value: Any, text: str) -> None:
    assert as_text(value) == text


def container(text: str) -> Any:
    return read_pod_spec(read_yaml(f"containers: [{text}]"))["containers"][0]


READ = [
    ("null", {"name": "", "resources": {}}),
    ("{name: n, args: [], tty: no}", {"name": "false", "resources": {}}),
    ("{NAME: a, Image: b}", {"name": "a", "image": "b", "resources": {}}),
    ("{Name: a, name: b}", {"name": "b", "resources": {}}),
    ("{name: a, restartPolicy: Always}", {"name": "a", "resources": {}}),
    ("{ports: [{containerPort: 15000.0}]}", [{"containerPort": 15000}]),
    ("{ports: [{name: 5}]}", [{"name": "5", "containerPort": 0}]),
    ("{resources: {limits: {cpu: 0.5, memory: null}}}", {"limits": {"cpu": "500m", "memory": "0"}}),
    ("{securityContext: {runAsUser: 0}}", {"runAsUser": 0}),
    ("{livenessProbe: {httpGet: {path: /}}}", {"httpGet": {"path": "/", "port": 0}}),
]


@pytest.mark.parametrize(("text", "value"), READ)
def test_a_container_is_read_and_written_as_kubernetes_1_13_does(text: str, value: Any) -> None:
    made = container(text)
    if "resources" in value:
        assert made == value
    else:
        (field,) = made.keys() - {"name", "resources"} or {"resources"}
        assert made[field] == value


def test_keys_that_differ_in_case_are_merged_element_by_element() -> None:
    spec = read_pod_spec(read_yaml("CONTAINERS: [{name: a, image: i}, {}]\ncontainers: [{tty: y}]"))
    assert spec["containers"] == [{"name": "a", "image": "i", "resources": {}, "tty": True}]


def test_members_come_in_the_order_of_the_type() -> None:
    assert list(container("{image: i, env: [], command: [a], name: n}")) == [
        "name",
        "image",
        "command",
        "resources",
    ]


REFUSED = [
    "{name: [a]}",
    "{tty: 1}",
    '{tty: "true"}',
    '{ports: [{containerPort: "80"}]}',
    "{ports: [{containerPort: 80.5}]}",
    "{ports: [{containerPort: 3000000000}]}",
    "{securityContext: {runAsUser: -9223372036854775809}}",
    "{resources: {limits: {cpu: lots}}}",
    "{livenessProbe: {httpGet: {port: yes}}}",
    "{foo: .inf}",
    # The library does not find the types of fields of embedded types.
    "{livenessProbe: {httpGet: {path: 5}}}",
    "{envFrom: [{secretRef: {name: 5}}]}",
    # What is wrong stays wrong under another spelling of the same name.
    "{TTY: 1, tty: true}",
    "{IMAGE: [a], image: b}",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_value_of_a_wrong_type_is_an_error(text: str) -> None:
    with pytest.raises(EvaluationError):
        container(text)


@pytest.mark.parametrize("text", ["a: [", "%YAML 1.2\n---\na: b", "a: \x01", "{null: 1}"])
def test_what_is_no_yaml_is_an_error(text: str) -> None:
    with pytest.raises(EvaluationError):
        read_yaml(text)


def test_only_the_first_document_counts() -> None:
    assert read_yaml("---\na: 1\n---\na: [") == {"a": 1}
    assert read_yaml("") is None


def test_numbers_of_a_pod_stay_numbers() -> None:
    with pytest.raises(EvaluationError, match=r"metadata\.labels\.a is the number 5"):
        read_pod({"metadata": {"labels": {"a": 5}}})
