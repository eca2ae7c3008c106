"""Questions about objects, for `KubeObjects.where` and its kin.

Source: kpt's Go SDK `go/fn` objects.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from krm_fn.sdk.objects import Predicate


def is_gvk(group: str, version: str, kind: str) -> Predicate:
    """Objects of a group, version and kind; "" is any."""
    return lambda obj: obj.is_gvk(group, version, kind)


def is_group_version_kind(group: str, version: str, kind: str) -> Predicate:
    """Objects of exactly this group, version and kind."""
    return lambda obj: obj.is_group_version_kind(group, version, kind)


def is_group_kind(group: str, kind: str) -> Predicate:
    """Objects of exactly this group and kind, in any version."""
    return lambda obj: obj.is_group_kind(group, kind)


def is_name(name: str) -> Predicate:
    return lambda obj: obj.name == name


def is_namespace(namespace: str) -> Predicate:
    """Objects in a namespace (not the kind Namespace)."""
    return lambda obj: obj.namespace == namespace


def has_labels(labels: Mapping[str, str]) -> Predicate:
    """Objects with all these labels."""
    return lambda obj: obj.has_labels(labels)


def has_annotations(annotations: Mapping[str, str]) -> Predicate:
    """Objects with all these annotations."""
    return lambda obj: obj.has_annotations(annotations)


def is_local_config() -> Predicate:
    """Objects for local tools, which are never applied."""
    return lambda obj: obj.is_local_config()


def is_meta_resource() -> Predicate:
    """Objects that describe the package and are never applied: Kptfiles, local configuration."""
    return lambda obj: obj.is_group_kind("kpt.dev", "Kptfile") or obj.is_local_config()


def is_namespace_scoped() -> Predicate:
    """Objects of kinds that live in a namespace."""
    return lambda obj: obj.is_namespace_scoped()


def not_(predicate: Predicate) -> Predicate:
    return lambda obj: not predicate(obj)
