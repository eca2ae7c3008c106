"""A SidecarSet, from its manifest to the form in which Kruise's webhooks work with it.

Decodes, fills in defaults, hashes and converts as the defaulting webhook and the conversion do.
Knows nothing of Pods.
Source: OpenKruise v1.9.0 pkg/webhook/sidecarset/mutating, apis/apps/v1alpha1/sidecarset_conversion;
the SidecarSet specification, A1, A2 and A14.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from krm_fn import limits
from krm_fn.admission import RuleRef
from krm_fn.dialects.sidecarset.types import (
    V1ALPHA1,
    V1BETA1,
    container_in_order,
    plans,
    types,
)
from krm_fn.errors import DecodeError
from krm_fn.kube.gotypes.mismatches import mismatch_error
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.plan import Plan
from krm_fn.kube.wellknown import METADATA_NAME
from krm_fn.lang.go.json.encode import marshal
from krm_fn.values import Json, get

HASH: Final = "kruise.io/sidecarset-hash"
HASH_WITHOUT_IMAGE: Final = "kruise.io/sidecarset-hash-without-image"

_CUSTOM_VERSION: Final = "apps.kruise.io/sidecarset-custom-version"

PANIC: Final = "panic: runtime error: invalid memory address or nil pointer dereference [recovered]"


@dataclass(frozen=True, slots=True, eq=False)
class SidecarSet:
    """A SidecarSet of v1beta1.

    `spec` has Kruise's own defaults, `whole` also those of core types, which the API server gives
    to Pods anyway. `defaulted` is the object in its own version as the webhook leaves it.
    """

    ref: RuleRef
    metadata: Json
    spec: Json
    whole: Json
    latest_revision: str
    defaulted: Json

    @property
    def name(self) -> str:
        return str(self.metadata.get("name", ""))

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata.get("labels") or {}

    @property
    def annotations(self) -> dict[str, str]:
        return self.metadata.get("annotations") or {}

    @property
    def stored(self) -> Json:
        """The object as the API server stores it: of v1beta1, with all defaults."""
        return {
            **self.defaulted,
            "apiVersion": V1BETA1,
            "metadata": self.metadata,
            "spec": self.whole,
        }


def decode(ref: RuleRef, manifest: Json, *, defaults: bool = True) -> SidecarSet:
    """The set of a manifest; without `defaults` as if the webhook had not seen it.

    Raises DecodeError with what the API server or the webhook says of what it cannot take.
    """
    api_version = manifest.get("apiVersion")
    if api_version not in (V1ALPHA1, V1BETA1):
        version = str(api_version).rpartition("/")[2]
        raise DecodeError(f"unsupported version: {version}", ("apiVersion",))
    manifest = _with_crd_defaults(manifest)
    written, kruise, whole = plans()
    if not defaults:
        kruise = whole = written
    with limits.deep_stack():
        full = _round_trip(whole, manifest, api_version)
        own = _round_trip(kruise, manifest, api_version)
    if defaults:
        _check_sources(full["spec"])
        full = _with_hashes(full, manifest)
    metadata, spec = _converted(full, api_version)
    return SidecarSet(
        ref,
        metadata,
        _converted({**own, "metadata": full["metadata"]}, api_version)[1],
        spec,
        full["status"].get("latestRevision", ""),
        full,
    )


def _round_trip(plan: Plan, manifest: Json, api_version: str) -> Json:
    struct = types(api_version).object
    try:
        decoded: Json = plan.struct(struct)(manifest)
    except MismatchError as mismatch:
        raise mismatch_error(mismatch, struct) from None
    return decoded


def _with_crd_defaults(manifest: Json) -> Json:
    """The defaults that the CustomResourceDefinition has and the webhook has not."""
    spec = manifest.get("spec")
    if type(spec) is not dict:
        return manifest
    changed = dict(spec)
    for kind in ("initContainers", "containers"):
        containers = spec.get(kind)
        if type(containers) is list:
            changed[kind] = [_with_regex(container) for container in containers]
    return {**manifest, "spec": changed}


def _with_regex(container: Any) -> Any:
    policy = get(container, ("resourcesPolicy",))
    if type(policy) is not dict or policy.get("targetContainersNameRegex") is not None:
        return container
    return {**container, "resourcesPolicy": {**policy, "targetContainersNameRegex": ".*"}}


def _check_sources(spec: Json) -> None:
    """The defaulting code crashes on a source of a container's name that names nothing."""
    for kind in ("initContainers", "containers"):
        for n, container in enumerate(spec.get(kind, ())):
            for m, entry in enumerate(container.get("transferEnv", ())):
                source = entry.get("sourceContainerNameFrom")
                if source is not None and "fieldRef" not in source:
                    steps = ("transferEnv", m, "sourceContainerNameFrom")
                    raise DecodeError(PANIC, ("spec", kind, n, *steps))


def _converted(value: Json, api_version: str) -> tuple[Json, Json]:
    """Metadata and spec in v1beta1."""
    metadata, spec = value["metadata"], value["spec"]
    if api_version == V1BETA1:
        return metadata, spec
    spec = dict(spec)
    namespace = spec.pop("namespace", "")
    if namespace:
        spec["namespaceSelector"] = {"matchLabels": {METADATA_NAME: namespace}}
    version = metadata.get("labels", {}).get(_CUSTOM_VERSION, "")
    if version:
        spec["customVersion"] = version
        labels = {k: v for k, v in metadata["labels"].items() if k != _CUSTOM_VERSION}
        metadata = {**metadata, "labels": labels}
    return metadata, spec


# ---------------------------------------------------------------------------------------- hashes


def _with_hashes(full: Json, manifest: Json) -> Json:
    metadata = full["metadata"]
    spec = full["spec"]
    if get(manifest, ("spec", "containers")) == []:
        # Go's decoder tells an empty list from none, and the hash does, too.
        spec = {**spec, "containers": []}
    annotations = {**metadata.get("annotations", {}), **hashes(spec)}
    return {**full, "metadata": {**metadata, "annotations": annotations}}


def hashes(spec: Json) -> dict[str, str]:
    """The two annotations by which controllers tell that sidecars changed."""
    return {
        HASH: _hash(spec),
        HASH_WITHOUT_IMAGE: _hash(
            {
                kind: [{k: v for k, v in c.items() if k != "image"} for c in spec[kind]]
                for kind in ("containers", "initContainers")
                if spec.get(kind) is not None
            }
        ),
    }


def is_native(container: Json) -> bool:
    """Whether an init container goes on running beside the others."""
    return container.get("restartPolicy") == "Always"


_SAFE: Final = "bcdfghjklmnpqrstvwxz2456789"


def _hash(spec: Json) -> str:
    """Of what controllers can change in place: the sidecars; where none are given they are null."""
    containers = spec.get("containers")
    if containers is not None:
        containers = [container_in_order(c, init=False) for c in containers]
    hashed: Json = {"containers": containers}
    inits = spec.get("initContainers", ())
    if any(map(is_native, inits)):
        hashed["initContainers"] = [container_in_order(c, init=True) for c in inits]
    with limits.deep_stack():
        text = marshal(hashed, sort=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return "".join(_SAFE[ord(char) % len(_SAFE)] for char in digest)
