"""What Kruise's validating webhook says of SidecarSets; the vectors hold its words to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sidecarset_support import sidecar_set

from krm_fn.admission import Cluster
from krm_fn.dialects.sidecarset.sets import SidecarSet
from krm_fn.dialects.sidecarset.validation import problems
from krm_fn.dialects.sidecarset.validation.selectors import overlap

TAIL = "containers: [{name: tail, image: a}]"
NOT_FOUND = "SidecarSet patch metadata whitelist not found"
REFUSED = "sidecarSet patch metadata annotation(key1) is not allowed"


def listing(*rules: Any) -> Cluster:
    """A cluster with the ConfigMap that says which annotations may be patched."""
    text = json.dumps({"rules": list(rules)})
    value = {"data": {"SidecarSet_PatchPodMetadata_WhiteList": text}}
    return Cluster({("", "ConfigMap", "kruise-system", "kruise-configuration"): lambda: value})


def patching(policy: str = "Overwrite", name: str = "s1", key: str = "key1") -> SidecarSet:
    patch = f"{{annotations: {{{key}: '1'}}, patchPolicy: {policy}}}"
    spec = f"containers: [{{name: {name}, image: a}}]\npatchPodMetadata: [{patch}]"
    return sidecar_set(spec, name)


def complaints(one: SidecarSet, *others: SidecarSet, **options: Any) -> list[str]:
    cluster = options.pop("cluster", None) or listing({"allowedAnnotationKeyExprs": [".*"]})
    return problems(one, others, cluster, **options)


def test_a_set_that_is_good_has_no_complaints() -> None:
    assert complaints(sidecar_set(TAIL)) == []


# TestValidateSidecarSet


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            f"selector: null\n{TAIL}",
            "spec.selector: Required value: no selector defined for SidecarSet",
        ),
        (
            "containers: []",
            "spec: Required value: no initContainer or container defined for SidecarSet",
        ),
        (
            "initContainers: [{name: a, image: a, restartPolicy: Always}]",
            "spec.updateStrategy: Required value: The initContainer in-place upgrade is not "
            "currently supported.",
        ),
        (
            "containers: [{name: a, image: a, podInjectPolicy: Middle}]",
            'spec.container.podInjectPolicy: Invalid value: "Middle": unsupported pod inject '
            "policy",
        ),
        (
            "containers: [{name: a, image: a, volumeMounts: [{name: v, mountPath: /v}]}]",
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        (
            "containers: [{name: a, image: a}, {name: a, image: b}]",
            'spec.containers[1].name: Duplicate value: "a"',
        ),
        (
            "containers: [{name: a, image: a, ports: [{containerPort: 70000}]}]",
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 "
            "and 65535, inclusive",
        ),
        (
            "containers: [{name: a, image: a, livenessProbe: {}}]",
            "spec.containers[0].livenessProbe: Required value: must specify a handler type",
        ),
        (
            f"{TAIL}\nvolumes: [{{name: v, hostPath: {{path: /a/../b}}}}]",
            "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
        ),
        (
            f"{TAIL}\npatchPodMetadata: [{{patchPolicy: Retain}}]",
            "spec.patchPodMetadata: Required value: no annotations defined for SidecarSet",
        ),
        (
            f"{TAIL}\nupdateStrategy: {{maxUnavailable: -1}}",
            "spec.updateStrategy.maxUnavailable: Invalid value: -1: must be greater than or equal "
            "to 0",
        ),
    ],
)
def test_a_set_that_is_wrong_is_told_why(spec: str, expected: str) -> None:
    assert complaints(sidecar_set(spec)) == [expected]


def test_one_key_may_be_patched_once_only() -> None:  # wrong-metadata
    spec = f"""
    {TAIL}
    patchPodMetadata:
    - {{annotations: {{key1: '1'}}, patchPolicy: MergePatchJson}}
    - {{annotations: {{key1: '2'}}, patchPolicy: Overwrite}}
    """
    found = complaints(sidecar_set(spec.replace("\n    ", "\n")))
    assert found == ["spec.patchPodMetadata: Required value: patch annotation[key1] already exist"]


# TestValidateSidecarSetPatchMetadataWhitelist


@pytest.mark.parametrize(
    ("cluster", "gate", "reason"),
    [
        (Cluster(), False, NOT_FOUND),
        (Cluster(), True, ""),
        (listing(), False, "sidecarSet patch metadata annotation is not allowed"),
        (listing(), True, ""),
        (listing({"allowedAnnotationKeyExprs": ["ey1"]}), False, ""),
        (listing({"allowedAnnotationKeyExprs": ["^key$"]}), False, REFUSED),
        (listing({"allowedAnnotationKeyExprs": ["key2"]}), True, REFUSED),
        (
            listing({"selector": {"matchLabels": {"a": "b"}}, "allowedAnnotationKeyExprs": ["k"]}),
            False,
            "sidecarSet patch metadata annotation is not allowed",
        ),
        (
            listing({"allowedAnnotationKeyExprs": ["a("]}),
            True,
            "error parsing regexp: missing closing ): `a(`",
        ),
        (
            listing({"allowedAnnotationKeyExprs": "x"}),
            True,
            "json: cannot unmarshal string into Go struct field "
            "SidecarSetPatchMetadataWhiteRule.rules.allowedAnnotationKeyExprs of type []string",
        ),
    ],
)
def test_a_config_map_says_what_may_be_patched(cluster: Cluster, gate: bool, reason: str) -> None:
    found = complaints(patching(), cluster=cluster, gate=gate)
    assert found == ([f"spec.patchPodMetadata: Required value: {reason}"] if reason else [])


# TestSidecarSetPodMetadataConflict


@pytest.mark.parametrize(
    ("mine", "theirs", "conflict"),
    [
        ("Overwrite", "MergePatchJson", True),
        ("MergePatchJson", "Overwrite", True),
        ("Overwrite", "Overwrite", True),
        ("MergePatchJson", "MergePatchJson", False),
        ("Retain", "Overwrite", False),
        ("Retain", "Retain", False),
    ],
)
def test_patches_of_two_sets_conflict(mine: str, theirs: str, conflict: bool) -> None:
    found = complaints(patching(mine), patching(theirs, "other"))
    text = 'spec.patchPodMetadata: Invalid value: "key1": annotation key1 is in conflict with '
    assert found == ([f"{text}sidecarset other"] if conflict else [])


def test_containers_and_volumes_of_two_sets_conflict() -> None:
    volume = "volumes: [{name: v, hostPath: {path: %s}}]"
    other = sidecar_set(f"{TAIL}\n{volume % '/a'}", "other")
    assert complaints(sidecar_set(f"{TAIL}\n{volume % '/b'}"), other) == [
        'spec.containers: Invalid value: "tail": container tail already exist in other',
        'spec.volumes: Invalid value: "v": volume v is in conflict with sidecarset other',
    ]


def test_sets_for_other_pods_do_not_conflict() -> None:
    other = sidecar_set(f"selector: {{matchLabels: {{app: other}}}}\n{TAIL}", "other")
    assert complaints(sidecar_set(TAIL), other) == []


# TestSelectorConflict


def labelled(*expressions: Any, **labels: str) -> Any:
    keys = ("key", "operator", "values")
    made = [dict(zip(keys, one, strict=False)) for one in expressions]
    return {"matchLabels": labels, "matchExpressions": made}


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        (labelled(a="h"), labelled(a="h"), True),
        (labelled(a="h"), labelled(a="i"), False),
        (labelled(a="h"), labelled(b="i"), True),
        (labelled(a="h"), labelled(("a", "In", ["i", "j"])), False),
        (labelled(("a", "NotIn", ["h", "i"])), labelled(a="h"), False),
        (labelled(a="h"), labelled(("a", "Exists")), True),
        (labelled(("a", "DoesNotExist")), labelled(a="h"), False),
        (labelled(a="h"), labelled(("b", "Exists")), False),
        (labelled(a="h", b="i"), labelled(a="h", b="j"), False),
    ],
)
def test_selectors_overlap(one: Any, other: Any, meet: bool) -> None:
    assert overlap(one, other) is meet
    assert overlap(other, one) is meet


def test_an_update_may_not_add_a_container() -> None:
    new = sidecar_set("containers: [{name: tail, image: a}, {name: b, image: b}]")
    text = 'spec.containers.name: Invalid value: "b": container b is not found'
    assert complaints(new, old=sidecar_set(TAIL)) == [text]
