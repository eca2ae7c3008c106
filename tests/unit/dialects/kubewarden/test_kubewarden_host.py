"""What a policy may ask its host, and what a render answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kw_support import POD, host

from krm_fn.dialects.kubewarden.host.answers import Answers, read_answers
from krm_fn.dialects.kubewarden.host.masks import prune
from krm_fn.dialects.kubewarden.host.policyhost import Capabilities, PatternError, PolicyHost
from krm_fn.dialects.kubewarden.runtime.wapc import HostError
from krm_fn.errors import ConfigError

ROBOT: Any = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "robot", "namespace": "shop", "labels": {"app": "web"}},
    "secrets": [{"name": "s1", "kind": "Secret"}],
}
OTHER: Any = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "a", "namespace": "other", "managedFields": [{"manager": "m"}]},
}
ACCOUNTS = (("v1", "ServiceAccount"),)
GET = {
    "api_version": "v1",
    "kind": "ServiceAccount",
    "name": "robot",
    "namespace": "shop",
    "disable_cache": False,
}


def call(asked: PolicyHost, path: str, payload: Any, binding: str = "kubewarden") -> Any:
    namespace, _, operation = path.partition("/")
    answer = asked.call(binding, namespace, operation, json.dumps(payload).encode())
    return json.loads(answer) if answer else None


def refusal(asked: PolicyHost, path: str, payload: Any, binding: str = "kubewarden") -> str:
    with pytest.raises(HostError) as caught:
        call(asked, path, payload, binding)
    return str(caught.value)


def test_an_object_of_the_render_is_got() -> None:
    found = call(host(ROBOT, resources=ACCOUNTS), "kubernetes/get_resource", GET)
    assert found == ROBOT


def test_an_object_that_is_not_rendered_is_not_found() -> None:
    said = refusal(host(resources=ACCOUNTS), "kubernetes/get_resource", GET)
    assert "Cannot find v1/ServiceAccount named 'robot'" in said


def test_an_object_without_a_name_is_not_asked_for() -> None:
    asked = host(ROBOT, resources=ACCOUNTS)
    said = refusal(asked, "kubernetes/get_resource", {**GET, "name": ""})
    assert said.endswith("failed to validate request: A non-empty name is required")


def test_an_object_is_got_from_the_namespace_that_it_is_admitted_in() -> None:
    """Without that, an Ingress without a namespace conflicts with itself in a policy."""
    found = call(host(ROBOT, resources=ACCOUNTS), "kubernetes/get_resource", GET)
    assert found["metadata"]["namespace"] == GET["namespace"]


def test_a_namespace_means_nothing_for_a_kind_without_one() -> None:
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    asked = host(shop, resources=(("v1", "Namespace"),))
    wanted = {**GET, "kind": "Namespace", "name": "shop", "namespace": "other"}
    assert call(asked, "kubernetes/get_resource", wanted) == shop
    said = refusal(asked, "kubernetes/get_resource", {**wanted, "name": "nope"})
    assert said.endswith("""named 'nope' inside of namespace 'Some("other")'""")


def test_a_kind_that_is_not_granted_names_it() -> None:
    said = refusal(host(ROBOT), "kubernetes/get_resource", GET)
    assert "access to Kubernetes v1/ServiceAccount resources" in said


def test_a_list_is_sorted_by_namespace_and_name() -> None:
    asked = host(ROBOT, OTHER, resources=ACCOUNTS)
    wanted = {"api_version": "v1", "kind": "ServiceAccount"}
    found = call(asked, "kubernetes/list_resources_all", wanted)
    assert [item["metadata"]["name"] for item in found["items"]] == ["a", "robot"]
    assert found["items"][0]["metadata"]["managedFields"] == []


SELECTED = {
    "labels": ({"label_selector": "app=web"}, ["robot"]),
    "no such label": ({"label_selector": "!app"}, ["a"]),
    "fields": ({"field_selector": "metadata.name!=robot"}, ["a"]),
    "namespace as a field": ({"field_selector": "metadata.namespace=shop"}, ["robot"]),
}


@pytest.mark.parametrize(("selector", "names"), SELECTED.values(), ids=SELECTED)
def test_lists_are_selected_by_labels_and_fields(
    selector: dict[str, str], names: list[str]
) -> None:
    wanted = {"api_version": "v1", "kind": "ServiceAccount", **selector}
    asked = host(ROBOT, OTHER, resources=ACCOUNTS)
    found = call(asked, "kubernetes/list_resources_all", wanted)
    assert [item["metadata"]["name"] for item in found["items"]] == names


@pytest.mark.parametrize("selector", [{"label_selector": "a b c"}, {"field_selector": "name"}])
def test_a_selector_that_is_none_is_an_error(selector: dict[str, str]) -> None:
    wanted = {"api_version": "v1", "kind": "ServiceAccount", **selector}
    asked = host(ROBOT, resources=ACCOUNTS)
    assert "BadRequest" in refusal(asked, "kubernetes/list_resources_all", wanted)


MASKS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {"spec": {"r": 3, "c": [{"n": "a", "i": "x"}]}, "data": 1}),
    (["spec.r"], {"spec": {"r": 3}}),
    (["spec", "spec.r"], {"spec": {"r": 3}}),
    (["spec.c.n"], {"spec": {"c": [{"n": "a"}]}}),
    (["spec.c.0.n"], {"spec": {"c": [{}]}}),
    (["spec.r.x"], {"spec": {"r": 3}}),
    ([""], {}),
    (["nope", "metadata.x"], {}),
]


@pytest.mark.parametrize(("masks", "kept"), MASKS)
def test_masks_keep_what_they_name(masks: list[str], kept: dict[str, Any]) -> None:
    always = {"kind": "Thing", "metadata": {"name": "n"}}
    value = {**always, "spec": {"r": 3, "c": [{"n": "a", "i": "x"}]}, "data": 1}
    assert prune(value, masks) == {**always, **kept}


UNKNOWN = {
    "binding": ("kubernetes/get_resource", "nope", "unknown binding: nope"),
    "namespace": ("nope/x", "kubewarden", "unknown namespace: nope"),
    "operation": ("kubernetes/delete", "kubewarden", "unknown operation: delete"),
    "operation of tracing": ("tracing/x", "kubewarden", "unknown operation: x"),
}


@pytest.mark.parametrize(("path", "binding", "said"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_unknown_is_named(path: str, binding: str, said: str) -> None:
    assert refusal(host(), path, {}, binding) == said


def test_a_log_line_is_kept_sorted_and_never_gated() -> None:
    asked = host(capabilities=())
    assert call(asked, "tracing/log", {"message": "hi", "level": "info"}) is None
    assert asked.log == ['{"level":"info","message":"hi"}']


def test_a_capability_that_is_not_granted_is_refused_first() -> None:
    asked = host(capabilities=("oci/*",))
    assert "'net/v1/dns_lookup_host' host capability" in refusal(asked, "net/v1/dns_lookup_host", 1)


GRANTS = {
    ("*",): {"net/v1/x", "oci/v2/verify"},
    ("oci/*",): {"oci/v2/verify", "oci/v1/oci_manifest"},
    ("oci/v2/*",): {"oci/v2/verify"},
    ("oci/v2/verify",): {"oci/v2/verify"},
}


@pytest.mark.parametrize(("patterns", "granted"), GRANTS.items())
def test_patterns_grant_paths(patterns: tuple[str, ...], granted: set[str]) -> None:
    known = Capabilities(patterns)
    paths = {"net/v1/x", "oci/v2/verify", "oci/v1/oci_manifest"}
    assert (
        granted
        <= {path for path in paths if known.grants(path)}
        <= granted | (paths if patterns == ("*",) else set())
    )


MEANINGLESS = [
    "oci/*/verify",
    "oci/v*",
    "",
    "verify",
    "nope/x",
    "nope/*",
    "oci/v2",
    "oci/v2/verify/x",
]


@pytest.mark.parametrize("pattern", MEANINGLESS)
def test_a_pattern_that_means_nothing_is_an_error(pattern: str) -> None:
    with pytest.raises(PatternError, match="invalid pattern"):
        Capabilities([pattern])


def test_what_needs_a_network_is_refused_with_advice_and_noted() -> None:
    asked = host()
    said = refusal(asked, "net/v1/dns_lookup_host", "db.example.test")
    assert "record the answer in kubewarden.answers" in said
    assert asked.refused == ['net/v1/dns_lookup_host {"host":"db.example.test"}']


OWN = """
- path: net/v1/dns_lookup_host
  request: db.example.test
  response: {ips: [10.0.0.1]}
- path: oci/v1/manifest_digest
  request: example.test/a:1
  error: no such image
- request: {KubernetesCanI: {request: {user: u, resource_attributes: {verb: get}},
    disable_cache: true}}
  text: '{"allowed":true}'
"""
KWCTL = """
- type: Exchange
  request: |
    !DNSLookupHost
    host: db.example.test
  response:
    type: Success
    payload: '{"ips":["10.0.0.1"]}'
- request: "!OciManifestDigest\\nimage: example.test/a:1\\n"
  response: {type: Error, message: no such image}
"""


@pytest.mark.parametrize("text", [OWN, KWCTL], ids=["own", "kwctl"])
def test_recorded_answers_are_found_by_content_any_number_of_times(text: str) -> None:
    asked = host(answers=read_answers(text.encode(), "a.yaml"))
    for _ in range(2):
        assert call(asked, "net/v1/dns_lookup_host", "db.example.test") == {"ips": ["10.0.0.1"]}
        said = refusal(asked, "oci/v1/manifest_digest", "example.test/a:1")
        assert said == "Callback evaluation failure: no such image"
    assert asked.refused == []


def test_null_members_of_a_recorded_request_may_be_left_out() -> None:
    asked = host(answers=read_answers(OWN.encode(), "a.yaml"))
    payload = {
        "subject_access_review": {
            "user": "u",
            "groups": None,
            "resource_attributes": {"verb": "get", "name": None},
        },
        "disable_cache": True,
    }
    assert call(asked, "kubernetes/can_i", payload) == {"allowed": True}


BAD_FILES = {
    "no list": "a: 1",
    "no map": "- 1",
    "unknown path": "- {path: net/x, request: a, response: 1}",
    "no answer": "- {path: net/v1/dns_lookup_host, request: a}",
    "wrong payload": "- {path: net/v1/dns_lookup_host, request: {host: a}, response: 1}",
    "no tag": "- {request: 'host: a', response: {type: Error}}",
}


@pytest.mark.parametrize("text", BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_of_answers_that_is_none_says_where(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^a\.yaml"):
        read_answers(text.encode(), "a.yaml")


def test_no_answers_are_recorded_in_an_empty_list() -> None:
    assert "record the answer" in refusal(
        host(answers=Answers()), "oci/v1/oci_manifest", "example.test/a:1"
    )


def test_context_of_rego_is_by_plural_namespace_and_name() -> None:
    reads = host(ROBOT, POD).reads
    context = reads.for_opa([("v1", "ServiceAccount"), ("v1", "Namespace")])
    assert set(context) == {"serviceaccounts"}
    assert context["serviceaccounts"]["shop"]["robot"]["secrets"] == ROBOT["secrets"]
    inventory = reads.for_gatekeeper(ACCOUNTS)
    assert set(inventory["namespace"]["shop"]["v1"]["ServiceAccount"]) == {"robot"}


BAD_CERTIFICATES = {
    "no pem": (
        {"cert": {"encoding": "Pem", "data": [104, 105]}},
        "Callback evaluation failure: Certificate PEM data is not valid: no items found",
    ),
    "no der": (
        {"cert": {"encoding": "Der", "data": [1]}},
        "Callback evaluation failure: Certificate is not a valid end-entity certificate: "
        "TrailingData(SignedData)",
    ),
    "another encoding": (
        {"cert": {"encoding": "PEM", "data": [1]}},
        "unknown variant `PEM`, expected `Der` or `Pem`",
    ),
}


@pytest.mark.parametrize(("payload", "text"), BAD_CERTIFICATES.values(), ids=BAD_CERTIFICATES)
def test_a_certificate_that_is_none_is_refused_as_the_policy_server_does(
    payload: Any, text: str
) -> None:
    asked = host()
    assert refusal(asked, "crypto/v1/is_certificate_trusted", payload) == text
    assert asked.refused == []
