"""Sidecars in a Pod, and what SuperGloo refuses, in its own words."""

from __future__ import annotations

from typing import Any

import pytest
from appmesh_support import LABELS, PATCH, admit, compiled, config_map, mesh, pod

from krm_fn.admission import Cause, Cluster, Operation
from krm_fn.config.options import OnRuleError
from krm_fn.values import Json, get
from krm_fn.wire import Head

CHAIN = (
    "supergloo: failed to create sidecar patch: failed to create sidecar patch in plugin "
    "AppMeshInjectionPlugin: "
)
DATA = f"{CHAIN}failed to retrieve data for patch template rendering: "
WORKLOAD = Head("apps/v1", "Deployment", "my-ns", "web")


def patched(text: str, **fields: Any) -> Any:
    """The first sidecar of a patch text."""
    done = admit(mesh(**fields), objects=[config_map({"p": text})])
    assert done.error == ""
    return done.pod["spec"]["containers"][1]


# ------------------------------------------------------------------------------- which Pods


@pytest.mark.parametrize(
    "selector",
    [
        LABELS,
        {"namespaceSelector": {"namespaces": ["my-ns"]}},
        {"labelSelector": {}},
        {"labelSelector": {"labelsToMatch": {}}},
    ],
)
def test_a_pod_that_matches_gets_the_sidecars(selector: Json) -> None:
    # "correctly patches pod that matches injection label selector", "... namespace selector"
    done = admit(mesh(injectionSelector=selector))
    assert done.names() == ["testrunner", "envoy"]
    assert done.pod["spec"]["containers"][1] == {
        "name": "envoy",
        "image": "envoy:1",
        "env": [
            {"name": "NODE", "value": "mesh/test-mesh/virtualNode/testrunner-vn"},
            {"name": "AWS_REGION", "value": "us-east-1"},
        ],
        "securityContext": {"runAsUser": 1337},
    }
    assert done.names("initContainers") == ["proxyinit"]
    ports = done.pod["spec"]["initContainers"][0]["env"]
    assert ports == [{"name": "APPMESH_APP_PORTS", "value": "1234"}]


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"namespaceSelector": {}},
        {"namespaceSelector": {"namespaces": []}},
        {"namespaceSelector": {"namespaces": ["other"]}},
        {"labelSelector": {"labelsToMatch": {"app": "testrunner", "version": "2"}}},
    ],
)
def test_a_pod_that_does_not_match_stays_as_it_is(selector: Json) -> None:
    done = admit(mesh(injectionSelector=selector))
    assert done.pod is None
    assert done.findings == ()


def test_a_pod_without_labels_stays_as_it_is() -> None:
    # "does not patch pod that does not match the injection selector"
    assert admit(mesh(), into=pod(labels=None)).pod is None


@pytest.mark.parametrize("enabled", [False, None])
def test_a_mesh_that_is_switched_off_injects_nothing(enabled: bool | None) -> None:
    assert admit(mesh(enableAutoInject=enabled)).pod is None


def test_a_pod_that_is_updated_is_left_alone() -> None:
    assert admit(mesh(), operation=Operation.UPDATE).pod is None


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        (None, "auto-injection enabled but no selector for mesh supergloo-system.test-mesh"),
        (
            {"upstreamSelector": {}},
            "upstream selectors are currently unsupported by pod auto-injection",
        ),
        (
            {"serviceSelector": None},
            "service selectors are currently unsupported by pod auto-injection",
        ),
    ],
)
def test_a_mesh_with_an_unusable_selector_refuses_every_pod(
    selector: Json | None, reason: str
) -> None:
    # "fails if auto-injection is enabled but the mesh does not have an InjectionSelector"
    done = admit(mesh(injectionSelector=selector), mesh("zzz"), into=pod(labels=None))
    assert done.error == (
        "supergloo: failed to create sidecar patch: failed to check whether candidate pod matches "
        "auto-injection criteria for meshes in plugin AppMeshInjectionPlugin: " + reason
    )
    assert "refuses every Pod of the cluster" in done.hint


def test_meshes_are_asked_in_the_order_of_their_names() -> None:
    no_selector = mesh("b", "aaa", injectionSelector=None)
    upstream = mesh("a", "zzz", injectionSelector={"upstreamSelector": {}})
    assert "upstream selectors" in admit(no_selector, upstream).error


def test_two_meshes_that_match_are_an_error() -> None:
    done = admit(mesh("a"), mesh("b"), objects=[])
    assert done.error == (
        f"{CHAIN}pod matches selectors in multiple meshes. Multiple injection is currently not "
        "supported"
    )
    assert "supergloo-system.a and supergloo-system.b" in done.hint


@pytest.mark.parametrize("kind", ["labelSelector", "namespaceSelector"])
def test_a_selector_that_is_null_crashes_the_webhook_and_refuses_here(kind: str) -> None:
    broken = mesh(injectionSelector={kind: None})
    assert f"crashes on a {kind} that is null" in admit(broken).error
    as_cluster = admit(broken, on_rule_error=OnRuleError.AS_CLUSTER)
    assert (as_cluster.pod, as_cluster.error) == (None, "")
    assert "a cluster takes the Pod without a sidecar" in as_cluster.said(Cause.WARNING)


def test_an_error_passes_the_pod_where_rules_may_fail() -> None:
    done = admit(mesh(region=None), on_rule_error=OnRuleError.WARN)
    assert (done.pod, done.error) == (None, "")
    assert "missing required Region field; the Pod stays as it is" in done.said(Cause.FAILED)


def test_a_template_does_not_know_the_labels_that_its_controller_adds() -> None:
    selector = {"labelSelector": {"labelsToMatch": {"app": "testrunner", "job-name": "x"}}}
    done = admit(mesh(injectionSelector=selector), workload=WORKLOAD)
    assert done.pod is None
    assert "controller-added label (job-name)" in done.said(Cause.WARNING)
    other = {"labelSelector": {"labelsToMatch": {"app": "other", "job-name": "x"}}}
    assert admit(mesh(injectionSelector=other), workload=WORKLOAD).findings == ()


def test_a_virtual_node_that_only_a_controller_tells_leaves_the_template_as_it_is() -> None:
    done = admit(mesh(virtualNodeLabel="job-name"), workload=WORKLOAD)
    assert (done.pod, done.error) == (None, "")
    assert "virtualNodeLabel job-name is a controller-added label" in done.said(Cause.WARNING)


def test_a_pod_that_cannot_be_read_is_refused_before_any_mesh() -> None:
    broken = mesh(injectionSelector=None)
    done = admit(broken, into=pod("{containers: x}"))
    assert done.error.startswith("supergloo: failed to deserialize raw pod resource: ")


# ----------------------------------------------------------------------- what the template gets


@pytest.mark.parametrize(
    ("spec", "ports"),
    [
        (
            "containers: [{name: a, ports: [{containerPort: 8080}, {containerPort: 9090, "
            "protocol: UDP}]}, {name: b, ports: [{containerPort: 8080}]}]",
            "8080,9090,8080",
        ),
        ("containers: [{name: a, ports: [{name: http}]}]", "0"),
    ],
)
def test_all_ports_of_all_containers_count(spec: str, ports: str) -> None:
    done = admit(mesh(), into=pod(spec))
    assert done.pod["spec"]["initContainers"][0]["env"][0]["value"] == ports


def test_a_pod_without_containers_has_no_ports_and_no_error() -> None:
    done = admit(mesh(), into=pod("{initContainers: []}"))
    assert done.names() == ["envoy"]
    assert done.pod["spec"]["initContainers"][0]["env"] == [{"name": "APPMESH_APP_PORTS"}]


@pytest.mark.parametrize("ports", ["", "ports: []", "ports: null"])
def test_a_container_without_ports_is_an_error(ports: str) -> None:
    # "fails if the container in the pod does not have any containerPorts"
    done = admit(mesh(), into=pod(f"containers: [{{name: testrunner, {ports}}}]"))
    reason = "no containerPorts for container testrunner. Must specify at least 1 port"
    assert done.error == DATA + reason


def test_a_sidecar_of_kruise_without_ports_is_told_from_the_application() -> None:
    spec = "containers: [{name: agent, env: [{name: IS_INJECTED, value: 'true'}]}]"
    done = admit(mesh(), into=pod(spec))
    assert "no containerPorts for container agent" in done.error
    assert "agent is a sidecar of OpenKruise" in done.hint


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"region": ""}, "mesh resource is missing required Region field"),
        ({"region": "us-north-9"}, "AWS App Mesh is currently not available in [us-north-9]. "),
        ({"region": "mars", "virtualNodeLabel": ""}, "AWS App Mesh is currently not available"),
        ({"virtualNodeLabel": ""}, "mesh resource is missing required VirtualNodeLabel field"),
        ({"virtualNodeLabel": "x"}, "pod is missing required virtual node label x"),
    ],
)
def test_what_the_template_needs_is_checked_in_order(fields: Json, reason: str) -> None:
    assert admit(mesh(**fields)).error.startswith(DATA + reason)


def test_a_part_of_the_list_of_regions_is_a_region_with_a_warning() -> None:
    assert admit(mesh(region="us-east")).names() == ["testrunner", "envoy"]
    (finding,) = compiled(mesh(region="us-east")).findings
    assert finding.cause is Cause.WARNING
    assert "'us-east' is no region" in finding.message


def test_other_regions_can_be_allowed() -> None:
    options = {"extraRegions": ["eu-north-1"]}
    assert admit(mesh(region="eu-north-1")).error
    assert admit(mesh(region="eu-north-1"), options=options).names() == ["testrunner", "envoy"]


def test_values_are_escaped_as_html() -> None:
    done = admit(
        mesh(),
        into=pod(labels={"app": "testrunner", "virtual-node": "a<b"}),
        objects=[config_map({"p": "containers: [{name: e, image: '{{.VirtualNodeName}} < <i>'}]"})],
    )
    assert done.pod["spec"]["containers"][1]["image"] == "a&lt;b &lt; <i>"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ default .AppPort 1 }}", "failed to parse sidecar patch template: "),
        ("{{ .MeshName", "failed to parse sidecar patch template: "),
        ("{{ .Nope }}", "failed to execute sidecar patch template: "),
        ("args: [a<b]", "failed to execute sidecar patch template: "),
        ("- a", "failed to deserialize sidecar patch to PodSpec: "),
        ("containers: [", "failed to deserialize sidecar patch to PodSpec: "),
        ("volumes: {a: b}", "failed to deserialize sidecar patch to PodSpec: "),
        ("a: &a [*a, *a]", "failed to deserialize sidecar patch to PodSpec: "),
        ("[" * 5000, "failed to deserialize sidecar patch to PodSpec: "),
        ('{{ slice "é" 0 1 }}', "failed to deserialize sidecar patch to PodSpec: "),
    ],
)
def test_a_patch_that_cannot_be_used_says_at_which_stage(text: str, reason: str) -> None:
    chain = f"{CHAIN}failed to inject sidecar: failed to render sidecar patch template: "
    error = admit(mesh(), objects=[config_map({"p": text})]).error
    assert error.startswith(chain + reason)
    assert len(error) > len(chain + reason)


@pytest.mark.parametrize("text", ["", "# {{ .MeshName }}", "{spec: {containers: [{name: a}]}}"])
def test_a_patch_without_containers_changes_nothing(text: str) -> None:
    done = admit(mesh(), objects=[config_map({"p": text})])
    assert (done.pod, done.error) == (None, "")


@pytest.mark.parametrize(
    ("value", "written"), [("{{ .AppPort }}", "1234"), ("yes", "true"), ("0x10", "16")]
)
def test_a_value_without_quotes_becomes_a_text(value: str, written: str) -> None:
    text = f"containers: [{{name: e, env: [{{name: A, value: {value} }}]}}]"
    assert patched(text)["env"][0]["value"] == written


def test_only_containers_of_the_patch_are_used() -> None:
    done = admit(mesh(), objects=[config_map({"p": f"{PATCH}\nvolumes: [{{name: v}}]\n"})])
    assert done.pod["spec"].keys() == {"containers", "initContainers"}


# ------------------------------------------------------------------------------ the ConfigMap


@pytest.mark.parametrize(
    ("data", "count"), [({}, 0), ({"a": PATCH, "b": ""}, 2), ({"a": "", "b": "", "c": ""}, 3)]
)
def test_a_config_map_must_have_one_entry(data: Json, count: int) -> None:
    # "fails if the config map contains no entries", "... more than one entry"
    done = admit(mesh(), objects=[config_map(data)])
    assert done.error == (
        f"{CHAIN}failed to inject sidecar: expected exactly 1 entry in config map "
        f"supergloo-system.sidecar-injector but found {count}"
    )


@pytest.mark.parametrize("data", [{"p": 5}, [PATCH], {"p": {}}])
def test_a_config_map_that_no_cluster_would_take_is_an_error(data: Any) -> None:
    error = admit(mesh(), objects=[config_map(data)]).error
    assert error == "the data of ConfigMap sidecar-injector is no map of texts"


@pytest.mark.parametrize(
    ("ref", "shown"),
    [
        (None, 'name:"sidecar-injector" namespace:"supergloo-system" '),
        ({"name": "gone", "namespace": "a"}, 'name:"gone" namespace:"a" '),
        ({"name": 'say "é"\n', "namespace": "\\"}, r'name:"say \"\303\251\"\n" namespace:"\\" '),
        ({"name": "sidecar-injector"}, 'name:"sidecar-injector" '),
        ({}, ""),
    ],
)
def test_a_config_map_that_is_not_there_is_named(ref: Json | None, shown: str) -> None:
    done = admit(mesh(sidecarPatchConfigMap=ref), objects=[])
    assert done.error == f"{CHAIN}failed to retrieve config map [{shown}]"


def test_a_config_map_with_kustomizes_hash_is_hinted_at() -> None:
    objects = [config_map(name="patch-5f7g8h", namespace="a")]
    ref = {"name": "patch", "namespace": "a"}
    done = admit(mesh(sidecarPatchConfigMap=ref), objects=objects)
    assert "there is patch-5f7g8h: kustomize puts a hash behind" in done.hint


def deployment(name: str, namespace: str) -> Json:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}


def test_the_default_config_map_is_where_supergloo_is() -> None:
    # "uses the default config map if the mesh does not name one"
    objects = [
        deployment("other", "a"),
        deployment("supergloo", "b"),
        config_map(namespace="b"),
        config_map({"p": ""}),
    ]
    done = admit(mesh(), objects=objects)
    assert done.names() == ["testrunner", "envoy"]
    assert done.findings == ()
    elsewhere = admit(mesh(), objects=objects, options={"superglooNamespace": "c"})
    assert 'namespace:"c"' in elsewhere.error


def test_a_namespace_that_is_taken_for_supergloos_is_told() -> None:
    assert "SuperGloo is taken to be in supergloo-system" in admit(mesh()).said(Cause.NOTE)


def test_the_builtin_patch_stands_in_for_the_default_config_map_only_if_asked() -> None:
    done = admit(mesh(), objects=[], options={"defaultPatch": "Builtin"})
    assert done.names() == ["testrunner", "envoy"]
    env = get(done.pod, ("spec", "initContainers"))[0]["env"]
    assert env[4] == {"name": "APPMESH_APP_PORTS", "value": "1234"}
    own = mesh(sidecarPatchConfigMap={"name": "gone", "namespace": "a"})
    assert admit(own, objects=[], options={"defaultPatch": "Builtin"}).error


# ------------------------------------------------------------------------------------ once more


def test_a_second_run_changes_nothing() -> None:
    first = admit(mesh())
    second = admit(mesh(), into=first.pod)
    assert (second.pod, second.error) == (None, "")
    assert "already injected: the Pod has envoy, proxyinit" in second.said(Cause.NOTE)


def test_a_pod_with_some_of_the_sidecars_is_refused() -> None:
    there = pod("containers: [{name: envoy, ports: [{containerPort: 1}]}]")
    error = admit(mesh(), into=there).error
    assert error == "the Pod has envoy already, but not proxyinit"


def test_a_pod_with_all_sidecars_can_be_refused() -> None:
    with_ports = config_map({"p": "containers: [{name: e, ports: [{containerPort: 1}]}]"})
    first = admit(mesh(), objects=[with_ports])
    options = {"onDuplicate": "Error"}
    second = admit(mesh(), into=first.pod, objects=[with_ports], options=options)
    assert second.error == "the Pod has e already"


def test_appending_does_as_supergloo_does() -> None:
    with_ports = config_map({"p": "containers: [{name: e, ports: [{containerPort: 1}]}]"})
    options = {"onDuplicate": "Append"}
    first = admit(mesh(), objects=[with_ports], options=options)
    second = admit(mesh(), into=first.pod, objects=[with_ports], options=options)
    assert second.names() == ["testrunner", "e", "e"]
    without = admit(mesh(), into=admit(mesh()).pod, options=options)
    assert "no containerPorts for container envoy" in without.error


def test_a_pod_without_a_spec_does_not_take_the_patch() -> None:
    broken = pod()
    del broken["spec"]
    assert 'doc is missing path: "/spec/containers"' in admit(mesh(), into=broken).error


def test_a_pod_is_not_changed_in_place() -> None:
    value = pod()
    done = admit(mesh(), into=value)
    assert value == pod()
    assert done.pod["spec"]["containers"][0] is value["spec"]["containers"][0]


# ------------------------------------------------------------------------------ whole runs


def test_a_mesh_is_asked_about_pods_in_its_namespaces() -> None:
    (plugin,) = compiled(
        mesh(injectionSelector={"namespaceSelector": {"namespaces": ["a", "b"]}})
    ).plugins
    (scope,) = plugin.scopes
    subject = Cluster().subject_of(Head("v1", "Pod", "c", "x"))
    assert scope.unseen([subject]) == "is for a or b only, and no Pod here is created there"
    assert [scope.sees(subject.head, namespace) for namespace in "abc"] == [True, True, False]


def test_all_meshes_that_inject_match_pods_only() -> None:
    (plugin,) = compiled(mesh("a"), mesh("b", enableAutoInject=False)).plugins
    assert [(scope.ref.name, scope.pods_only) for scope in plugin.scopes] == [("a", True)]
    assert plugin.prefilter.wants(Head("v1", "Pod", "a", "b"), "a")
    assert not plugin.prefilter.wants(Head("apps/v1", "Deployment", "a", "b"), "a")
