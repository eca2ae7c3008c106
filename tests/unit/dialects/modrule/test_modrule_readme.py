"""The examples of KubeMod's README: each does what it does in a cluster, also where it is wrong.

The rules stand in `readme/`, as printed there but for names; a wrong one has a corrected twin here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from modrule_support import admit, after, compiled, config_map, messages, patch_rule, said

from krm_fn.admission import Cause
from krm_fn.dialects.modrule.criteria import compile_criterion
from krm_fn.dialects.modrule.spec import MatchItem
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import RuleError
from krm_fn.lang.select import compile_fanout, compile_select, expand_path
from krm_fn.values import Json

HERE = Path(__file__).parent / "readme"


def example(name: str) -> str:
    return (HERE / f"{name}.yaml").read_text()


def workload(*containers: Json, kind: str = "Deployment", **metadata: Any) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "shop", "namespace": "web", **metadata},
        "spec": {"template": {"spec": {"containers": list(containers)}}},
    }


def containers_of(value: Json) -> Any:
    return value["spec"]["template"]["spec"]["containers"]


def test_every_example_is_here() -> None:
    assert len(list(HERE.glob("*.yaml"))) == 10


# --------------------------------------------------------------------------------- harden-nginx

NGINX = {"name": "web", "image": "docker.io/nginx:1.14.2"}


def test_an_old_nginx_gets_an_annotation_and_a_security_context() -> None:
    patched = after(example("harden-nginx"), workload(NGINX, labels={"app": "nginx"}))
    assert patched["metadata"]["annotations"] == {"my-annotation": "whatever"}
    assert patched["spec"]["template"]["spec"]["securityContext"] == {
        "fsGroup": 101,
        "runAsGroup": 101,
        "runAsUser": 101,
        "runAsNonRoot": True,
    }


def test_a_newer_nginx_another_app_and_a_hardened_one_are_left_alone() -> None:
    hardened = workload(NGINX, labels={"app": "nginx"})
    hardened["spec"]["template"]["spec"]["securityContext"] = {"runAsNonRoot": True}
    newer = {**NGINX, "image": "nginx:1.15.0"}
    for value in (
        hardened,
        workload(NGINX, labels={"app": "shop"}),
        workload(newer, labels={"app": "nginx"}),
        workload(NGINX, kind="StatefulSet", labels={"app": "nginx"}),
    ):
        assert after(example("harden-nginx"), value) is value


# ------------------------------------------------------------------------- keep-elastic-volumes


def claim(**labels: str) -> Json:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "es", "uid": "1"}
    metadata = {"name": "data", "namespace": "web", "labels": labels, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


ELASTIC = {"common.k8s.elastic.co/type": "elasticsearch"}


def test_as_printed_the_rule_for_volumes_does_not_load_since_matches_is_no_field() -> None:
    with pytest.raises(RuleError) as caught:
        compiled(example("keep-elastic-volumes"))
    assert caught.value.message.splitlines() == [
        "rules.yaml:6: ModRule web/keep-elastic-volumes: spec.match: Required value: a list of "
        "criteria",
        "rules.yaml:8: ModRule web/keep-elastic-volumes: spec.matches: unknown field; did you mean "
        "match?",
    ]


def test_with_match_it_removes_the_owner_of_elastics_volumes_only() -> None:
    rule = example("keep-elastic-volumes").replace("matches:", "match:")
    assert after(rule, claim(**ELASTIC))["metadata"]["ownerReferences"] == []
    other = claim(app="mysql")
    assert after(rule, other) is other


def test_an_elastic_volume_without_an_owner_is_fine() -> None:
    rule = example("keep-elastic-volumes").replace("matches:", "match:")
    ownerless = claim(**ELASTIC)
    del ownerless["metadata"]["ownerReferences"]
    assert after(rule, ownerless) is ownerless


# ----------------------------------------------------------------- leave-jaeger-collector-alone

COLLECTOR = {"app": "jaeger", "app.kubernetes.io/component": "collector"}


def test_the_collector_gets_the_annotation_as_a_text() -> None:
    patched = after(example("leave-jaeger-collector-alone"), workload(labels=COLLECTOR))
    assert patched["metadata"]["annotations"] == {"sidecar.istio.io/inject": "false"}


def test_a_collector_that_says_something_itself_is_left_alone() -> None:
    value = workload(labels=COLLECTOR, annotations={"sidecar.istio.io/inject": "true"})
    assert after(example("leave-jaeger-collector-alone"), value) is value


# -------------------------------------------------------------------------- inject-jaeger-agent

TAGGED = {"my-inject-annotation": "true"}


def test_as_printed_the_agent_is_never_injected_for_its_quotes_and_that_is_said() -> None:
    value = workload(NGINX, annotations=TAGGED)
    assert after(example("inject-jaeger-agent"), value) is value
    assert messages(example("inject-jaeger-agent")) == [
        "spec.match[1]: the text is compared with its quotes, so it never matches true; write "
        "'true'"
    ]


AGENT_RULE = example("inject-jaeger-agent").replace("'\"true\"'", "'true'")


def test_without_the_quotes_the_agent_comes_last_and_knows_the_deployment() -> None:
    patched = after(AGENT_RULE, workload(NGINX, annotations=TAGGED))
    assert messages(AGENT_RULE) == []
    assert [c["name"] for c in containers_of(patched)] == ["web", "jaeger-agent"]
    assert containers_of(patched)[1]["args"] == ["--jaeger.tags=deployment.name=shop"]
    assert containers_of(patched)[1]["ports"][0]["containerPort"] == 6832


def test_an_agent_that_is_there_is_not_injected_again() -> None:
    once = after(AGENT_RULE, workload(NGINX, annotations=TAGGED))
    assert after(AGENT_RULE, once) is once


# --------------------------------------------------------------------- reject-foreign-addresses


def service(*addresses: str) -> Json:
    value = {**config_map("front"), "kind": "Service", "spec": {"externalIPs": list(addresses)}}
    return value if addresses else {**value, "spec": {}}


def test_a_service_with_a_foreign_address_is_rejected_with_all_its_addresses() -> None:
    response = admit(example("reject-foreign-addresses"), service("123.45.67.1", "10.0.0.9"))
    assert said(response, Cause.REJECTED) == ["not all of these are ours: [123.45.67.1 10.0.0.9]"]


@pytest.mark.parametrize("addresses", [(), ("123.45.67.1",), ("123.45.67.1", "123.45.67.200")])
def test_a_service_with_our_addresses_or_none_is_admitted(addresses: tuple[str, ...]) -> None:
    assert admit(example("reject-foreign-addresses"), service(*addresses)).findings == ()


# ---------------------------------------------------------------------------------- reject-root


@pytest.mark.parametrize(
    ("kind", "context", "rejected"),
    [
        ("Deployment", None, True),
        ("StatefulSet", {}, True),
        ("Deployment", {"runAsNonRoot": False}, True),
        ("Deployment", {"runAsNonRoot": True}, False),
        ("DaemonSet", None, False),
    ],
)
def test_workloads_that_do_not_say_that_they_are_no_root_are_rejected(
    kind: str, context: Any, rejected: bool
) -> None:
    value = workload(kind=kind)
    if context is not None:
        value["spec"]["template"]["spec"]["securityContext"] = context
    expected = ["run it as somebody other than root"] if rejected else []
    assert said(admit(example("reject-root"), value), Cause.REJECTED) == expected


# --------------------------------------------------------------------- match, one item at a time


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (MatchItem("$.cs[*].name", match_values=("c1", "c9")), True),
        (MatchItem("$.cs[*].name", match_values=("c8", "c9")), False),
        (MatchItem("$.cs[*].ports[*].port", match_value="8080"), True),
        (MatchItem("$.cs[*].ports[*].port", match_value="8080", match_for="All"), False),
        (MatchItem("$.cs[*].ports[*].port", match_regex="^[0-9]+$", match_for="All"), True),
        (MatchItem("$.cs[*].ports[? @.port == 8080]"), True),
        (MatchItem("$.cs[*].ports[? @.port == 9090]"), False),
        (MatchItem("$.cs[*].ports[? @.port == 9090]", negate=True), True),
        (MatchItem("$.cs[*].name", match_regex="(?i)^C1$"), True),
        (MatchItem("$.cs[*].name", match_value="C1"), False),
    ],
)
def test_a_criterion_is_positive_as_the_readme_says(item: MatchItem, expected: bool) -> None:
    document = {
        "cs": [
            {"name": "c1", "ports": [{"port": 8080}]},
            {"name": "c2", "ports": [{"port": 80}, {"port": 443}]},
        ]
    }
    assert compile_criterion(item).holds(document) is expected


# ------------------------------------------------------------------------------ move-nginx-port


def ports(name: str, image: str, *numbers: int) -> Json:
    return {"name": name, "image": image, "ports": [{"containerPort": n} for n in numbers]}


def test_only_port_80_of_nginx_moves() -> None:
    value = workload(
        ports("a", "nginx:1", 443, 80), ports("b", "redis", 80), ports("c", "my/nginx", 80)
    )
    patched = after(example("move-nginx-port"), value)
    assert patched["metadata"]["labels"] == {"color": "blue"}
    assert [[p["containerPort"] for p in c["ports"]] for c in containers_of(patched)] == [
        [443, 8080],
        [80],
        [8080],
    ]


def test_wildcards_and_filters_capture_the_indexes_that_the_readme_lists() -> None:
    value = workload(
        ports("c1", "x", 100, 200),
        ports("c2", "x", 100, 80),
        ports("c3", "x", 100, 200),
        ports("c4", "x", 80, 200, 300),
    )
    select = "$.spec.template.spec.containers[*].ports[? @.containerPort == 80]"
    path = "/spec/template/spec/containers/#0/ports/#1/containerPort"
    entries = compile_fanout(select).entries(value)
    assert [expand_path(path, entry.key_parts) for entry in entries] == [
        "/spec/template/spec/containers/1/ports/1/containerPort",
        "/spec/template/spec/containers/3/ports/0/containerPort",
    ]


# ---------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8080", 8080),
        ("hello", "hello"),
        ('"8080"', "8080"),
        ("false", False),
        ('"false"', "false"),
        (
            "name: agent\nports:\n- containerPort: 1\n",
            {"name": "agent", "ports": [{"containerPort": 1}]},
        ),
    ],
)
def test_a_value_is_the_yaml_in_its_text(text: str, value: Any) -> None:
    assert read_value(text) == value


def test_a_number_as_a_value_does_not_load_and_the_error_says_to_quote_it() -> None:
    with pytest.raises(RuleError, match="write '8080' with the quotes"):
        compiled(patch_rule("[{op: add, path: /x, value: 8080}]"))


# ------------------------------------------------------------------------------ use-our-registry


def test_the_repository_is_replaced_and_the_rest_of_the_image_stays() -> None:
    images = ["their-repo/api:2", "docker.io/x:1", "their-repo/db@sha256:ab"]
    pod: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "web"},
        "spec": {"containers": [{"image": image} for image in images]},
    }
    patched = after(example("use-our-registry"), pod)
    assert [c["image"] for c in patched["spec"]["containers"]] == [
        "my-repo/api:2",
        "docker.io/x:1",
        "my-repo/db@sha256:ab",
    ]


def test_a_selected_container_is_a_map_whose_members_index_gives() -> None:
    rule = patch_rule(
        "[{op: add, select: '$.spec.template.spec.containers[*]',"
        " path: '/metadata/annotations/image-#0', value: '{{ index .SelectedItem \"image\" }}'}]"
    )
    patched = after(rule, workload({"image": "a"}, {"image": "b"}))
    assert patched["metadata"]["annotations"] == {"image-0": "a", "image-1": "b"}


# ----------------------------------------------------------------------------------- inject-once


def test_a_sidecar_is_injected_once() -> None:
    once = after(example("inject-once"), workload(NGINX, labels={"app": "whatever"}))
    assert [c["name"] for c in containers_of(once)] == ["web", "my-sidecar"]
    assert once["metadata"]["labels"] == {"app": "whatever", "color": "blue"}
    assert after(example("inject-once"), once) is once


def test_without_the_guard_it_is_injected_again() -> None:
    guard = example("inject-once")
    start = guard.index("  - select: $.spec.template")
    unguarded = guard[:start] + guard[guard.index("  patch:") :]
    once = after(unguarded, workload(NGINX, labels={"app": "whatever"}))
    twice = after(unguarded, once)
    assert len(containers_of(twice)) == 3


# ----------------------------------------------------------------------------- drop-capabilities

HARDENED = {"runAsNonRoot": True, "capabilities": {"drop": ["ALL"]}}
THREE = (
    {"name": "none"},
    {"name": "empty", "securityContext": {}},
    {"name": "own", "securityContext": {"privileged": True}},
)


def selected(rule: str) -> list[str]:
    """The containers to which a rule gives its security context."""
    patched = containers_of(after(rule, workload(*THREE)))
    return [c["name"] for c in patched if c.get("securityContext") == HARDENED]


def test_as_printed_every_container_is_overwritten_for_a_letter_and_that_is_said() -> None:
    assert selected(example("drop-capabilities")) == ["none", "empty", "own"]
    assert messages(example("drop-capabilities")) == [
        "spec.patch[0].select: no field is called securityContex; did you mean securityContext, "
        "and what is missing counts as empty: everything is selected"
    ]


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("isEmpty(@.securityContext)", ["none", "empty"]),
        ("isUndefined(@.securityContext)", ["none"]),
        ("isDefined(@.securityContext) && isEmpty(@.securityContext)", ["empty"]),
    ],
)
def test_with_the_letter_each_condition_selects_what_it_says(
    condition: str, names: list[str]
) -> None:
    rule = example("drop-capabilities").replace("isEmpty(@.securityContex)", condition)
    assert selected(rule) == names
    assert messages(rule) == []


# ------------------------------------------------------------------------------------ undefined


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        ("$.a.b.c == 12", False),
        ("$.a.b.c > 12", False),
        ("$.a.b.c < 12", False),
        ("$.a.b.c == true", False),
        ("$.a.b.c == false", False),
        ("$.a.b.c != 12", True),
    ],
)
def test_what_is_missing_equals_nothing_and_differs_from_everything_whatever_the_readme_says(
    comparison: str, expected: bool
) -> None:
    assert compile_select(comparison).evaluate({"a": {}}) is expected


@pytest.mark.parametrize("value", [[], {}, "", None])
def test_empty_is_an_empty_list_map_or_text_a_null_or_nothing(value: Any) -> None:
    document = {"v": value}
    assert compile_select("isEmpty($.v)").evaluate(document) is True
    assert compile_select("isNotEmpty($.v)").evaluate(document) is False
    assert compile_select("isEmpty($.missing)").evaluate(document) is True
    assert compile_select("isDefined($.v) && isUndefined($.missing)").evaluate(document) is True
    assert compile_select("length($.v) == 0 && length($.missing) == 0").evaluate(document) is True
