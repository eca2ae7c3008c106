"""Containers, volumes and secrets of SidecarSets in a Pod, and for which Pods they are."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from sidecarset_support import inject, pod, sidecar_set

from krm_fn.admission import Cause, Cluster, Operation
from krm_fn.wire import Head

TWO = """
initContainers:
- {name: init-2, image: 'busybox:1.0.0'}
- {name: init-1, image: 'busybox:1.0.0'}
containers:
- {name: dns-f, image: 'dns:1.0', podInjectPolicy: BeforeAppContainer}
- {name: log-agent, image: 'log:1.0', podInjectPolicy: AfterAppContainer}
"""
TAIL = "containers: [{name: tail, image: 'tail:1'}]"
MARK = {"name": "IS_INJECTED", "value": "true"}


def namespaced(selector: str) -> str:
    return f"namespaceSelector: {selector}\n{TAIL}"


# ---------------------------------------------------------------------------------- which Pods


def test_a_pod_with_other_labels_stays_as_it_is() -> None:  # TestPodHasNoMatchedSidecarSet
    done = inject(sidecar_set(TWO), into=pod(labels={"app": "doesnt-match"}))
    assert not done.changed


def test_a_paused_set_injects_nothing() -> None:  # TestInjectionStrategyPaused
    assert not inject(sidecar_set(f"{TAIL}\ninjectionStrategy: {{paused: true}}")).changed


def test_without_a_namespace_selector_the_labels_of_the_pod_decide() -> None:
    assert inject(sidecar_set(TAIL)).names() == ["tail", "nginx"]


@pytest.mark.parametrize("selector", ["null", "{}"])
def test_a_set_without_a_selector_matches_nothing(selector: str) -> None:
    assert not inject(sidecar_set(f"selector: {selector}\n{TAIL}")).changed


def test_an_update_is_left_alone() -> None:
    assert not inject(sidecar_set(TAIL), operation=Operation.UPDATE).changed


def test_a_pod_that_has_ended_is_left_alone() -> None:
    assert not inject(sidecar_set(TAIL), into=pod() | {"status": {"phase": "Failed"}}).changed


def test_an_unknown_operator_refuses_the_pod() -> None:
    broken = "selector: {matchExpressions: [{key: app, operator: Like}]}\n" + TAIL
    done = inject(sidecar_set(broken))
    assert done.error == 'SidecarSet s1: "Like" is not a valid pod selector operator'
    assert not done.changed


def test_the_labels_of_a_namespace_decide_where_they_are_known() -> None:
    red = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    red["metadata"] = {"name": "default", "labels": {"team": "red"}}
    cluster = Cluster(namespaces={"default": red})
    assert inject(sidecar_set(namespaced("{matchLabels: {team: red}}")), cluster=cluster).changed
    blue = sidecar_set(namespaced("{matchLabels: {team: blue}}"))
    assert not inject(blue, cluster=cluster).findings


def test_labels_of_a_namespace_that_are_no_texts_are_none() -> None:
    odd = {"metadata": {"name": "default", "labels": {"team": ["red"]}}}
    cluster = Cluster(namespaces={"default": odd})
    one = sidecar_set(namespaced("{matchLabels: {team: red}}"))
    assert not inject(one, cluster=cluster).changed


def test_unknown_labels_of_a_namespace_are_told() -> None:
    done = inject(sidecar_set(namespaced("{matchLabels: {team: red}}")))
    assert not done.changed
    assert [finding.cause for finding in done.findings] == [Cause.UNDECIDED]
    assert "the labels of namespace default are not known" in done.findings[0].message


def test_the_name_of_a_namespace_is_always_known() -> None:  # C5
    named = "{matchLabels: {kubernetes.io/metadata.name: %s}}"
    assert inject(sidecar_set(namespaced(named % "default"))).changed
    assert not inject(sidecar_set(namespaced(named % "other"))).findings


def test_a_label_that_only_a_controller_gives_is_told_for_a_template() -> None:  # C7
    hashed = f"selector: {{matchLabels: {{app: suxing-test, pod-template-hash: x}}}}\n{TAIL}"
    done = inject(sidecar_set(hashed), workload=Head("apps/v1", "Deployment", "", "web"))
    assert not done.changed
    assert [finding.cause for finding in done.findings] == [Cause.WARNING]
    assert "controller-added label (pod-template-hash)" in done.findings[0].message


def test_other_labels_of_a_template_decide_first() -> None:
    hashed = f"selector: {{matchLabels: {{app: other, pod-template-hash: x}}}}\n{TAIL}"
    done = inject(sidecar_set(hashed), workload=Head("apps/v1", "Deployment", "", "web"))
    assert not done.findings


# ------------------------------------------------------------------------------------ containers


def test_sidecars_go_before_and_after_and_init_containers_by_name() -> None:
    # TestSidecarSetPodInjectPolicy
    done = inject(sidecar_set(TWO))
    assert done.names() == ["dns-f", "nginx", "log-agent"]
    assert done.names("initContainers") == ["init-0", "init-1", "init-2"]
    for name in ("dns-f", "log-agent", "init-1", "init-2"):
        assert done.container(name)["env"] == [MARK]


def test_a_container_of_the_same_name_is_replaced_in_its_place() -> None:
    # TestMergeSidecarContainers
    spec = """
    containers:
    - {name: sidecar-1, image: 'new:1', podInjectPolicy: AfterAppContainer}
    - {name: sidecar-2, image: 'new:2', podInjectPolicy: AfterAppContainer}
    - {name: new-sidecar-1, image: 'new:3', podInjectPolicy: BeforeAppContainer}
    """
    given = pod()
    given["spec"]["containers"] = [
        {"name": name, "image": "old"} for name in ("sidecar-1", "app-container", "sidecar-2")
    ]
    done = inject(sidecar_set(spec), into=given)
    assert done.names() == ["new-sidecar-1", "sidecar-1", "app-container", "sidecar-2"]
    assert done.container("sidecar-1")["image"] == "new:1"


def test_sets_apply_by_name_those_of_the_namespace_first() -> None:
    pinned = namespaced("{matchLabels: {kubernetes.io/metadata.name: default}}")
    sets = [
        sidecar_set("containers: [{name: b, image: b}]", "b"),
        sidecar_set("containers: [{name: a, image: a}]", "a"),
        sidecar_set(pinned, "z"),
    ]
    assert inject(*sets).names() == ["tail", "a", "b", "nginx"]


def test_containers_come_by_name_where_the_gate_says_so() -> None:
    sets = [
        sidecar_set("containers: [{name: b, image: b}]", "a"),
        sidecar_set("containers: [{name: a, image: a}]", "b"),
    ]
    assert inject(*sets).names() == ["b", "a", "nginx"]
    assert inject(*sets, sortByName=True).names() == ["a", "b", "nginx"]


def test_two_sets_that_inject_the_same_container_are_an_error() -> None:  # A52
    done = inject(sidecar_set(TAIL, "one"), sidecar_set(TAIL, "two"))
    assert done.error.startswith("container tail comes from one and two")
    assert [rule.name for rule in done.findings[0].rules] == ["one", "two"]


def test_one_set_that_injects_a_container_twice_is_warned_of() -> None:
    done = inject(sidecar_set("containers: [{name: a, image: x}, {name: a, image: y}]"))
    assert done.names() == ["a", "a", "nginx"]
    assert done.findings[0].cause is Cause.WARNING


def test_each_set_is_a_step_of_its_own() -> None:
    done = inject(
        sidecar_set("containers: [{name: a, image: a}]", "one"),
        sidecar_set("containers: [{name: b, image: b}]", "two"),
    )
    assert [[rule.name for rule in step.rules] for step in done.steps] == [["one"], ["two"]]
    assert [c["name"] for c in done.steps[0].object["spec"]["containers"]] == ["a", "nginx"]


# ----------------------------------------------------------------------- volumes and the like


def test_only_volumes_that_a_sidecar_mounts_come_in() -> None:  # TestSidecarVolumesAppend
    spec = """
    initContainers:
    - {name: dns-e, image: e, volumeMounts: [{name: volume-1, mountPath: /x}]}
    containers:
    - {name: dns-f, image: f, volumeMounts: [{name: volume-1, mountPath: /x}]}
    volumes:
    - {name: volume-1, emptyDir: {}}
    - {name: volume-2, emptyDir: {}}
    """
    done = inject(sidecar_set(spec))
    assert done.names("volumes") == ["volume-a", "volume-b", "volume-1"]


def test_volumes_come_in_the_order_in_which_sidecars_use_them() -> None:
    # TestPodVolumeDevicesAppend, existing volumes
    spec = """
    initContainers:
    - name: i
      image: i
      volumeMounts: [{name: volume-1, mountPath: /1}, {name: volume-2, mountPath: /2}]
      volumeDevices: [{name: disk0, devicePath: /d0}]
    containers:
    - name: c
      image: c
      volumeMounts: [{name: volume-3, mountPath: /3}, {name: volume-4, mountPath: /4}]
      volumeDevices: [{name: disk1, devicePath: /d1}]
    volumes:
    - {name: disk1, persistentVolumeClaim: {claimName: d1}}
    - {name: volume-4, emptyDir: {}}
    - {name: volume-3, emptyDir: {}}
    - {name: volume-2, emptyDir: {}}
    - {name: volume-1, emptyDir: {}}
    - {name: disk0, persistentVolumeClaim: {claimName: d0}}
    """
    done = inject(sidecar_set(spec))
    names = ["volume-1", "volume-2", "disk0", "volume-3", "volume-4", "disk1"]
    assert done.names("volumes")[2:] == names


def test_a_volume_of_the_pod_wins() -> None:  # C8
    spec = """
    containers: [{name: c, image: c, volumeMounts: [{name: volume-a, mountPath: /x}]}]
    volumes: [{name: volume-a, hostPath: {path: /x}}]
    """
    done = inject(sidecar_set(spec))
    assert done.pod["spec"]["volumes"][0] == {"name": "volume-a", "emptyDir": {}}


def test_pull_secrets_come_once_those_of_the_pod_first() -> None:  # TestMergeSidecarSecrets
    given = pod()
    given["spec"]["imagePullSecrets"] = [{"name": "s2"}, {"name": "s3"}, {"name": "s3"}]
    secrets = f"{TAIL}\nimagePullSecrets: [{{name: s0}}, {{name: s1}}, {{name: s2}}]"
    assert inject(sidecar_set(secrets), into=given).names("imagePullSecrets") == [
        "s2",
        "s3",
        "s0",
        "s1",
    ]


def test_environment_is_transferred() -> None:  # TestSidecarSetTransferEnv
    transfer = "transferEnv: [{sourceContainerName: nginx, envName: hello2}]"
    spec = f"""
    initContainers: [{{name: dns-e, image: e, {transfer}}}]
    containers: [{{name: dns-f, image: f, {transfer}}}]
    """
    done = inject(sidecar_set(spec))
    for name in ("dns-e", "dns-f"):
        assert done.container(name)["env"] == [MARK, {"name": "hello2", "value": "world2"}]


def test_a_label_names_the_container_to_transfer_from() -> None:
    # TestExtractContainerNameFromFieldPath
    field = "fieldRef: {fieldPath: 'metadata.labels[''main'']'}"
    source = f"transferEnv: [{{sourceContainerNameFrom: {{{field}}}, envName: hello1}}]"
    one = sidecar_set(f"containers: [{{name: f, image: f, {source}}}]")
    labelled = pod(labels={"app": "suxing-test", "main": "nginx"})
    assert inject(one, into=labelled).container("f")["env"][1]["name"] == "hello1"
    assert inject(one).container("f")["env"] == [MARK]


def test_mounts_are_shared_with_the_variables_of_their_paths() -> None:
    # TestSidecarVolumesAppend, with expanded subpath
    given = pod()
    nginx = given["spec"]["containers"][0]
    nginx["volumeMounts"][0]["subPathExpr"] = "foo/$(hello1)/$(OD_NAME)/$(none)/conf"
    nginx["env"].append({"name": "OD_NAME", "value": "od"})
    share = "shareVolumePolicy: {type: enabled}"
    spec = f"""
    initContainers: [{{name: i, image: i, {share}}}]
    containers: [{{name: c, image: c, {share}}}]
    """
    done = inject(sidecar_set(spec), into=given)
    for name in ("i", "c"):
        container = done.container(name)
        assert container["volumeMounts"] == nginx["volumeMounts"]
        assert [v["name"] for v in container["env"]] == ["IS_INJECTED", "hello1", "OD_NAME"]


@pytest.mark.parametrize(
    ("policy", "devices"),
    [
        ("enabled", ["/disk0", "/origin-1", "/share"]),
        ("disabled", ["/disk0"]),
    ],
)
def test_devices_are_shared_where_the_policy_says_so(policy: str, devices: list[str]) -> None:
    # TestPodVolumeDevicesAppend
    given = pod()
    given["spec"]["containers"][0]["volumeDevices"] = [
        {"name": "origin-pvc-1", "devicePath": "/origin-1"},
        {"name": "origin-pvc-share", "devicePath": "/share"},
    ]
    spec = f"""
    containers:
    - name: c
      image: c
      shareVolumeDevicePolicy: {{type: {policy}}}
      volumeDevices: [{{name: disk0, devicePath: /disk0}}]
    """
    done = inject(sidecar_set(spec), into=given)
    assert [d["devicePath"] for d in done.container("c")["volumeDevices"]] == devices


@pytest.mark.parametrize(
    ("image", "empty", "policy"),
    [
        ("hot", "empty:1", "Always"),
        ("hot:1", "empty", "IfNotPresent"),
        ("hot:1", "empty:1", None),
        ("hot", "empty:latest", None),
    ],
)
def test_the_empty_one_of_a_pair_is_pulled_as_the_other(
    image: str, empty: str, policy: str | None
) -> None:
    """Kruise fills the policy in before it exchanges the image."""
    hot = f"""
    containers:
    - name: hot
      image: {image}
      upgradeStrategy: {{upgradeType: HotUpgrade, hotUpgradeEmptyImage: '{empty}'}}
    """
    done = inject(sidecar_set(hot, "a"))
    assert done.container("hot-2").get("imagePullPolicy") == policy
    assert "imagePullPolicy" not in done.container("hot-1")


def test_a_hot_sidecar_becomes_a_pair_that_annotations_tell_apart() -> None:
    # TestInjectInitContainer
    hot = """
    initContainers:
    - name: hot-init
      image: hot:1
      restartPolicy: Always
      upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: 'empty:1'}
      volumeMounts: [{name: volume-1, mountPath: /x}]
    volumes: [{name: volume-1, emptyDir: {}}]
    """
    native = """
    initContainers:
    - {name: init-1, image: i, restartPolicy: Always,
       volumeMounts: [{name: volume-1, mountPath: /x}]}
    volumes: [{name: volume-1, emptyDir: {}}]
    """
    done = inject(sidecar_set(hot, "a"), sidecar_set(native, "b"))
    assert done.names("initContainers") == ["init-0", "hot-init-1", "hot-init-2", "init-1"]
    assert done.container("hot-init-2")["image"] == "empty:1"
    assert done.names("volumes") == ["volume-a", "volume-b", "volume-1"]
    assert done.annotations == {
        "kruise.io/sidecarset-working-hotupgrade-container": '{"hot-init":"hot-init-1"}',
        "version.sidecarset.kruise.io/hot-init-1": "1",
        "versionalt.sidecarset.kruise.io/hot-init-1": "0",
        "version.sidecarset.kruise.io/hot-init-2": "0",
        "versionalt.sidecarset.kruise.io/hot-init-2": "1",
    }


# ------------------------------------------------------------------------------- again and again

EVERYTHING = f"""
{TWO.strip()}
- name: shares
  image: s
  shareVolumePolicy: {{type: enabled}}
  shareVolumeDevicePolicy: {{type: enabled}}
  transferEnv: [{{sourceContainerName: nginx, envName: hello2}}]
  volumeMounts: [{{name: volume-1, mountPath: /x}}]
- name: hot
  image: h
  upgradeStrategy: {{upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}
- name: chained
  image: c
  transferEnv: [{{sourceContainerName: shares, envName: IS_INJECTED}}]
- name: computed
  image: r
  resourcesPolicy:
    targetContainersMode: sum
    targetContainersNameRegex: .*
    resourcesExpr: {{requests: {{cpu: cpu*2}}}}
volumes: [{{name: volume-1, emptyDir: {{}}}}]
imagePullSecrets: [{{name: s}}]
patchPodMetadata:
- annotations: {{merge: '{{"log-agent": 1, "gone": null}}', text: no json}}
  patchPolicy: MergePatchJson
- annotations: {{kept: a}}
"""


def test_a_second_run_changes_nothing() -> None:  # A49
    given = pod()
    given["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    once = inject(sidecar_set(EVERYTHING), into=given)
    assert once.container("computed")["resources"] == {"requests": {"cpu": "200m"}}
    assert not inject(sidecar_set(EVERYTHING), into=copy.deepcopy(once.pod)).changed


def test_a_sidecar_with_the_defaults_of_the_api_server_is_the_same() -> None:
    once = inject(sidecar_set(TAIL))
    served: Any = copy.deepcopy(once.pod)
    served["spec"]["containers"][0] |= {
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    assert not inject(sidecar_set(TAIL), into=served).changed


def test_a_sidecar_that_somebody_changed_is_written_anew() -> None:
    once = inject(sidecar_set(TAIL))
    changed: Any = copy.deepcopy(once.pod)
    changed["spec"]["containers"][0]["command"] = ["other"]
    assert inject(sidecar_set(TAIL), into=changed).pod == once.pod


def test_what_was_given_stays_as_it_was() -> None:
    given = pod()
    inject(sidecar_set(EVERYTHING), into=given)
    assert given == pod()


# --------------------------------------------------------------------------- what is not as usual


def test_what_cannot_be_read_as_a_pod_is_told_and_stays() -> None:
    given = pod()
    given["spec"]["containers"][0]["env"] = "none"
    done = inject(sidecar_set(TAIL), into=given)
    assert not done.changed
    assert [finding.cause for finding in done.findings] == [Cause.WARNING]
    assert "spec.containers[0].env is the text 'none'" in done.findings[0].message


def test_nulls_of_a_pod_are_nothing() -> None:
    given = pod(annotations=None)
    given["spec"] |= {"containers": [None], "initContainers": None, "volumes": [None]}
    assert inject(sidecar_set(TAIL), into=given).pod["spec"]["containers"][1] is None


def test_sidecars_that_share_too_much_are_an_error() -> None:
    given = pod()
    mounts = [{"name": "volume-a", "mountPath": f"/{n}"} for n in range(1_001)]
    given["spec"]["containers"][0]["volumeMounts"] = mounts
    share = "shareVolumePolicy: {type: enabled}"
    many = ", ".join(f"{{name: c{n}, image: c, {share}}}" for n in range(100))
    done = inject(sidecar_set(f"containers: [{many}]"), into=given)
    assert "container c99: the sidecars of a Pod get more than 100,000 mounts" in done.error
