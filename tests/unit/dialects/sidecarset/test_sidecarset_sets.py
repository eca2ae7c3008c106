"""SidecarSets as the defaulting webhook leaves them, their versions and their revisions."""

from __future__ import annotations

from typing import Any

import pytest
from sidecarset_support import inject, sidecar_set

from krm_fn.admission import Cause, Cluster, RuleRef
from krm_fn.dialects.sidecarset.revisions import restored
from krm_fn.dialects.sidecarset.sets import HASH, HASH_WITHOUT_IMAGE, decode, hashes
from krm_fn.errors import DecodeError

REF = RuleRef("sidecarset", "SidecarSet", "", "s1")


def manifest(spec: Any, version: str = "v1beta1", **metadata: Any) -> Any:
    return {
        "apiVersion": f"apps.kruise.io/{version}",
        "kind": "SidecarSet",
        "metadata": {"name": "s1", **metadata},
        "spec": spec,
    }


def test_kruises_defaults_are_filled_in() -> None:  # TestMutatingSidecarSetFn
    one = sidecar_set(
        "containers: [{name: dns-f, image: 'dns:1.0'}]\npatchPodMetadata: [{annotations: {a: b}}]"
    )
    container = one.spec["containers"][0]
    assert container["podInjectPolicy"] == "BeforeAppContainer"
    assert container["shareVolumePolicy"] == {"type": "disabled"}
    assert container["upgradeStrategy"] == {"upgradeType": "ColdUpgrade"}
    assert one.spec["patchPodMetadata"][0]["patchPolicy"] == "Retain"
    hashed = "6wbd76bd7984x24fb4f44fv9222cw9v9bcf85x766744wddd4zwx927zzz2zb684"
    assert one.annotations[HASH] == hashed


def test_core_defaults_are_only_in_the_whole_form() -> None:
    one = sidecar_set("containers: [{name: a, image: a}]")
    assert "imagePullPolicy" not in one.spec["containers"][0]
    assert one.whole["containers"][0]["imagePullPolicy"] == "Always"


@pytest.mark.parametrize(
    ("spec", "key", "hashed"),
    [
        (
            {"containers": [{"name": "container1", "image": "test-image"}]},
            HASH,
            "w26c4x8fz245642fdv499b464248f974xddx4x55z5dw55bc6x66464fxz77dc78",
        ),
        (
            {
                "containers": [{"name": "container1", "image": "test-image"}],
                "initContainers": [
                    {"name": "container1", "image": "test-image", "restartPolicy": "Always"}
                ],
            },
            HASH,
            "4xwx4d4844vd4v9x79wb4xbxf4xb29475cc4446v8cz2c2f2f5c5bw448vd42z8w",
        ),
        (
            {"containers": [{"name": "container1", "image": "test-image"}]},
            HASH_WITHOUT_IMAGE,
            "8wzddb4dvv9c6x8zdc77z4z75987424f457dfv6724ddw6zbdx467wz5x24fc759",
        ),
    ],
)
def test_hashes_are_kruises(spec: Any, key: str, hashed: str) -> None:  # TestSidecarSetHash
    written = decode(REF, manifest(spec), defaults=False)
    assert hashes(written.spec)[key] == hashed


def test_an_empty_list_of_containers_has_a_hash_of_its_own() -> None:
    empty = decode(REF, manifest({"containers": []})).annotations
    for none in ({}, {"containers": None}):
        assert decode(REF, manifest(none)).annotations[HASH] != empty[HASH]
    assert empty[HASH] == empty[HASH_WITHOUT_IMAGE]


def test_the_namespace_of_v1alpha1_becomes_a_selector_and_wins() -> None:
    spec = {"namespace": "shop", "namespaceSelector": {"matchLabels": {"a": "b"}}}
    one = decode(REF, manifest(spec, "v1alpha1"))
    selector = {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}
    assert one.spec["namespaceSelector"] == selector


def test_the_version_label_of_v1alpha1_becomes_a_field() -> None:
    labels = {"apps.kruise.io/sidecarset-custom-version": "7", "keep": "me"}
    one = decode(REF, manifest({}, "v1alpha1", labels=labels))
    assert one.stored["spec"]["customVersion"] == "7"
    assert one.labels == {"keep": "me"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (manifest({}, "v1"), "unsupported version: v1"),
        (
            manifest({"containers": [{"name": "a", "ports": "x"}]}),
            "json: cannot unmarshal string into Go struct field "
            "SidecarContainer.spec.containers.ports of type []v1.ContainerPort",
        ),
        (
            manifest({"patchPodMetadata": [{"annotations": {"k": 1}}]}),
            "json: cannot unmarshal number into Go struct field "
            "SidecarSetPatchPodMetadata.spec.patchPodMetadata.annotations of type string",
        ),
        (
            manifest({"containers": [{"resources": {"limits": {"cpu": "x"}}}]}),
            "quantities must match the regular expression",
        ),
        (
            manifest({"containers": [{"transferEnv": [{"sourceContainerNameFrom": {}}]}]}),
            "panic: runtime error: invalid memory address",
        ),
    ],
)
def test_what_kruise_cannot_read_is_an_error_in_its_words(value: Any, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(REF, value)
    assert caught.value.message.startswith(message)


# ------------------------------------------------------------------------------------ revisions

OLD: Any = {
    "apiVersion": "apps/v1",
    "kind": "ControllerRevision",
    "metadata": {
        "name": "s1-old",
        "namespace": "kruise-system",
        "labels": {
            "kruise.io/sidecarset-name": "s1",
            "apps.kruise.io/sidecarset-custom-version": "v1",
        },
    },
    "revision": 1,
    "data": {"spec": {"$patch": "replace", "containers": [{"name": "tail", "image": "old"}]}},
}
NEWER: Any = {
    **OLD,
    "metadata": {**OLD["metadata"], "name": "s1-newer"},
    "revision": 2,
    "data": {"spec": {"containers": [{"name": "tail", "image": "newer"}]}},
}
REVISIONS = Cluster(
    {
        ("apps", "ControllerRevision", "kruise-system", one["metadata"]["name"]): lambda o=one: o
        for one in (NEWER, OLD)
    }
)


def revised(revision: str, strategy: str = "{}") -> Any:
    return sidecar_set(
        f"""
        containers: [{{name: tail, image: latest}}]
        injectionStrategy: {{revision: {revision}}}
        updateStrategy: {strategy}
        """
    )


@pytest.mark.parametrize(
    ("revision", "strategy", "image"),
    [
        ("{revisionName: s1-old}", "{}", "old"),
        ("{customVersion: v1}", "{}", "newer"),
        ("{revisionName: s1-old, policy: Partial}", "{}", "latest"),
        ("{revisionName: s1-old, policy: Partial}", "{paused: true}", "old"),
        ("{revisionName: s1-old, policy: Partial}", "{partition: 100%}", "old"),
        ("{revisionName: s1-old, policy: Partial}", "{partition: 0%}", "latest"),
        (
            "{revisionName: s1-old, policy: Partial}",
            "{selector: {matchLabels: {app: other}}}",
            "old",
        ),
    ],
)
def test_the_version_that_a_set_asks_for_injects(revision: str, strategy: str, image: str) -> None:
    done = inject(revised(revision, strategy), cluster=REVISIONS)
    assert done.container("tail")["image"] == image


def test_a_revision_that_does_not_replace_is_merged_into_the_latest() -> None:
    patch = [{"name": "new"}, {"name": "b", "image": None, "env": [{"name": "x", "value": "1"}]}]
    merging = {**OLD, "data": {"spec": {"containers": patch, "volumes": None}}}
    one = sidecar_set(
        """
        containers:
        - {name: a, image: a}
        - {name: b, image: b, env: [{name: y}, {name: x, value: '0'}]}
        - {name: c, image: c}
        volumes: [{name: v, emptyDir: {}}]
        """
    )
    spec = restored(one, merging).spec
    assert [c["name"] for c in spec["containers"]] == ["new", "a", "b", "c"]
    merged = spec["containers"][2]
    assert merged["env"] == [{"name": "y"}, {"name": "x", "value": "1"}]
    assert "image" not in merged
    assert "volumes" not in spec


def test_a_revision_that_cannot_be_read_refuses_the_pod() -> None:
    broken = {**OLD, "metadata": {**OLD["metadata"], "labels": []}, "data": {"spec": [1]}}
    cluster = Cluster({("apps", "ControllerRevision", "kruise-system", "s1-old"): lambda: broken})
    done = inject(revised("{revisionName: s1-old}"), cluster=cluster)
    assert done.error.startswith("ControllerRevision s1-old: json: cannot unmarshal array into Go")
    by_version = inject(revised("{customVersion: v1}"), cluster=cluster)
    assert "not found among the objects" in by_version.findings[0].message


def test_a_revision_that_is_not_here_is_warned_of_and_the_latest_injects() -> None:
    done = inject(revised("{revisionName: gone}"))
    assert done.container("tail")["image"] == "latest"
    assert done.findings[0].cause is Cause.WARNING
    assert 'controllerrevisions.apps "gone" not found' in done.findings[0].message


def test_a_revision_that_is_not_here_is_an_error_where_it_is_wanted() -> None:
    done = inject(revised("{customVersion: gone}"), revision="Revision")
    assert done.error == 'SidecarSet s1: ControllerRevision.apps "s1" not found'


def test_a_revision_that_is_not_here_is_nothing_where_the_latest_is_wanted() -> None:
    assert not inject(revised("{revisionName: gone}"), revision="Latest").findings


def test_what_a_cluster_leaves_to_chance_must_be_said() -> None:
    half = revised("{revisionName: s1-old, policy: Partial}", "{partition: 50%}")
    assert "leaves to chance" in inject(half, cluster=REVISIONS).error
    for pinned, image in (("Latest", "latest"), ("Revision", "old")):
        done = inject(half, cluster=REVISIONS, revision=pinned)
        assert done.container("tail")["image"] == image


@pytest.mark.parametrize("value", ["TRUE", "1", "true"])
def test_canaries_are_sets_like_others(value: str) -> None:  # TestIsCanarySidecarSet
    annotations = {
        "apps.kruise.io/sidecarset-canary": value,
        "apps.kruise.io/sidecarset-base": "base",
    }
    canary = sidecar_set("containers: [{name: b, image: b}]", "canary", annotations=annotations)
    base = sidecar_set("containers: [{name: a, image: a}]", "base")
    assert inject(canary, base).names() == ["a", "b", "nginx"]
