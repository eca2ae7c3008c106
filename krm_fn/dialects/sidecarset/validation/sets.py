"""A SidecarSet as a whole: its name, its own fields, its sidecars, and the sets beside it.

Source: OpenKruise v1.9.0 pkg/webhook/sidecarset/validating/sidecarset_create_update_handler.go; the
SidecarSet specification, A15.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from krm_fn import limits
from krm_fn.admission import Cluster
from krm_fn.dialects.sidecarset.calculator import evaluate
from krm_fn.dialects.sidecarset.revisions import (
    RevisionNotFoundError,
    find_revision,
    wanted_revision,
)
from krm_fn.dialects.sidecarset.sets import SidecarSet, is_native
from krm_fn.dialects.sidecarset.validation import goprint, selectors
from krm_fn.dialects.sidecarset.validation.conflicts import conflicts
from krm_fn.dialects.sidecarset.whitelist import complaint
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.kube.validation import fields
from krm_fn.kube.validation.containers import containers, init_containers
from krm_fn.kube.validation.fields import each, invalid, required
from krm_fn.kube.validation.goprint import int_or_percent
from krm_fn.kube.validation.names import fits, qualified_name, regex_error, too_long
from krm_fn.kube.validation.references import field_reference
from krm_fn.kube.validation.selectors import labels
from krm_fn.kube.validation.volumes import volumes
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.go.release import Release
from krm_fn.values import Json

_NAME: Final = r"^[a-zA-Z0-9\-]+$"
_NAME_LENGTH: Final = 63
_ANNOTATIONS_SIZE: Final = 262_144


def problems(
    one: SidecarSet,
    others: Sequence[SidecarSet],
    cluster: Cluster,
    *,
    gate: bool = False,
    old: SidecarSet | None = None,
) -> list[str]:
    """What is wrong with a set beside others; with `old` as the update of that one.

    `gate` is SidecarSetPatchPodMetadataDefaultsAllowed.
    """
    with limits.deep_stack():
        found = [*_metadata(one.metadata, "metadata"), *_spec(one, cluster, gate)]
        if old is not None:
            found += _update(one.whole, old.whole)
        return found or list(conflicts(one, others))


def _metadata(metadata: Json, path: str) -> Iterator[str]:
    name = metadata.get("name", "")
    if not name:
        yield required(f"{path}.name", "name or generateName is required")
    else:
        yield from each(f"{path}.name", name, _name(name))
    if metadata.get("generateName"):
        prefix = metadata["generateName"]
        yield from each(f"{path}.generateName", prefix, _name(prefix))
    if metadata.get("namespace"):
        yield fields.forbidden(f"{path}.namespace", "not allowed on this type")
    yield from labels(metadata.get("labels", {}), f"{path}.labels")
    yield from _annotations(metadata.get("annotations", {}), f"{path}.annotations")


def _name(text: str) -> list[str]:
    found = []
    if not fits("[a-zA-Z0-9-]+", text):
        message = "sidecarset name must consist of alphanumeric characters or '-'"
        found.append(regex_error(message, _NAME, "example-com"))
    if len(text.encode("utf-8", "surrogatepass")) > _NAME_LENGTH:
        found.append(too_long(_NAME_LENGTH))
    return found


def _annotations(values: dict[str, str], path: str) -> Iterator[str]:
    for key in values:
        yield from each(path, key, qualified_name(key.lower()))
    size = sum(
        len(text.encode("utf-8", "surrogatepass")) for pair in values.items() for text in pair
    )
    if size > _ANNOTATIONS_SIZE:
        yield fields.too_long(path, _ANNOTATIONS_SIZE)


def _spec(one: SidecarSet, cluster: Cluster, gate: bool) -> Iterator[str]:
    spec = one.whole
    inits = spec.get("initContainers", ())
    strategy = spec["updateStrategy"]
    if strategy.get("type") == "RollingUpdate":
        for _ in filter(is_native, inits):
            message = "The initContainer in-place upgrade is not currently supported."
            yield required("spec.updateStrategy", message)
    if spec.get("selector") is None:
        yield required("spec.selector", "no selector defined for SidecarSet")
    else:
        yield from selectors.selector(spec["selector"], "spec.selector")
    if spec.get("namespaceSelector") is not None:
        yield from selectors.selector(spec["namespaceSelector"], "spec.namespaceSelector")
    yield from _revision(one, cluster)
    if strategy.get("type") == "RollingUpdate":
        yield from _rolling_update(strategy, "spec.updateStrategy")
    yield from _sidecars(spec)
    reason = complaint(one, cluster, gate)
    if reason:
        yield required("spec.patchPodMetadata", reason)
    yield from _patches(spec.get("patchPodMetadata", ()))


def _revision(one: SidecarSet, cluster: Cluster) -> Iterator[str]:
    revision = one.whole["injectionStrategy"].get("revision")
    if revision is None:
        return
    shown = goprint.inject_revision(revision)
    wanted = wanted_revision(one)
    if wanted is None:
        message = "revisionName and customVersion cannot be empty simultaneously"
        yield invalid("revision", shown, message)
    else:
        try:
            find_revision(one, wanted, cluster)
        except RevisionNotFoundError as error:
            message = f"Cannot find specific ControllerRevision, err: {error}"
            yield invalid("revision", "null", message)
    policy = revision.get("policy", "")
    if policy not in ("", "Always", "Partial"):
        message = f"Invalid policy {policy}, supported: [Always, Partial]"
        yield invalid("revision.policy", shown, message)


def _rolling_update(strategy: Json, path: str) -> Iterator[str]:
    partition, selector = strategy.get("partition"), strategy.get("selector")
    if selector is not None:
        if partition not in (None, 0):
            message = "Partition and Selector cannot be used together"
            yield invalid("updateStrategy", goprint.update_strategy(strategy), message)
        yield from selectors.selector(selector, f"{path}.selector")
    for name in ("partition", "maxUnavailable"):
        yield from _count_or_percent(strategy.get(name), f"{path}.{name}")
    reason = _priority(strategy.get("priorityStrategy") or {})
    if reason:
        yield required(f"{path}.priorityStrategy", reason)
    reason = _scatter(strategy.get("scatterStrategy", ()))
    if reason:
        yield required(f"{path}.scatterStrategy", reason)


def _count_or_percent(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str):
        if not fits("[0-9]+%", value):
            message = "a valid percent string must be a numeric string followed by an ending '%'"
            complaint_ = regex_error(message, "[0-9]+%", "1%", "93%")
            yield invalid(path, int_or_percent(value), complaint_)
    elif value is not None and value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def _priority(strategy: Json) -> str:
    weights, orders = strategy.get("weightPriority", ()), strategy.get("orderPriority", ())
    if weights and orders:
        return "only one of weightPriority and orderPriority can be used"
    for term in weights:
        if not 0 <= term.get("weight", 0) <= 100:
            return "weight must be valid number in the range 1-100"
        if not any(term.get("matchSelector", {}).values()):
            return "selector can not be empty"
    if any(not term.get("orderedKey") for term in orders):
        return "order key can not be empty"
    return ""


def _scatter(terms: Sequence[Json]) -> str:
    seen: set[str] = set()
    for term in terms:
        key, value = term.get("key", ""), term.get("value", "")
        if not key:
            return "key should not be empty"
        if f"{key}:{value}" in seen:
            return f"duplicated key={key} value={value}"
        seen.add(f"{key}:{value}")
    return ""


# -------------------------------------------------------------------------------------- sidecars

_STAND_IN: Final[Json] = {
    "name": "test",
    "image": "busybox",
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePolicy": "File",
}
"""A Pod has containers, so that sets without any are checked in one that has this."""


def _sidecars(spec: Json) -> Iterator[str]:
    inits, apps = spec.get("initContainers", []), spec.get("containers", [])
    if not inits and not apps:
        yield required("spec", "no initContainer or container defined for SidecarSet")
        return
    for n, container in enumerate(inits):
        yield from _resources_policy(container, f"spec[{n}].resourcesPolicy", init=True)
    for n, container in enumerate(apps):
        yield from _own_fields(container, f"spec[{n}]")
    good, found = volumes(spec.get("volumes", []), "spec.volumes")
    yield from found
    others = apps or [_STAND_IN]
    yield from containers(others, good, "spec.containers")
    yield from init_containers(inits, others, good, "spec.initContainers")


def _own_fields(container: Json, path: str) -> Iterator[str]:
    """What Kruise adds to a container."""
    policy = container.get("podInjectPolicy", "")
    if policy not in ("BeforeAppContainer", "AfterAppContainer"):
        yield invalid("spec.container.podInjectPolicy", policy, "unsupported pod inject policy")
    share = container["shareVolumePolicy"]
    if share.get("type") not in ("enabled", "disabled"):
        shown = goprint.share_policy(share)
        yield invalid("spec.container.shareVolumePolicy", shown, "unsupported share volume policy")
    for entry in container.get("transferEnv", ()):
        reference = (entry.get("sourceContainerNameFrom") or {}).get("fieldRef")
        if reference is not None:
            yield from field_reference(reference, None, f"{path}.transferEnv.fieldRef")
    yield from _resources_policy(container, f"{path}.resourcesPolicy", init=False)


def _resources_policy(container: Json, path: str, *, init: bool) -> Iterator[str]:
    policy = container.get("resourcesPolicy")
    if policy is None:
        return
    shown = goprint.resources_policy(policy)
    if init and not is_native(container):
        message = "resourcesPolicy is only supported for containers with RestartPolicy Always"
        yield invalid(path, shown, message)
    resources = container["resources"]
    if resources.get("limits") or resources.get("requests"):
        message = "resourcesPolicy and resources cannot be configured together"
        yield invalid(path, shown, message)
        return
    pattern = policy.get("targetContainersNameRegex", "")
    at = f"{path}.targetContainersNameRegex"
    if not pattern:
        yield required(at, "invalid empty regex")
    else:
        try:
            compile_regex(pattern, Release.GO_1_26)
        except CompileError as error:
            yield invalid(at, pattern, f"invalid regex pattern: {error.message}")
    yield from _expressions(policy["resourcesExpr"], f"{path}.resourcesExpr")


def _expressions(expressions: Json, path: str) -> Iterator[str]:
    if expressions.get("limits") is None and expressions.get("requests") is None:
        message = "at least one of limits or requests must be configured"
        yield invalid(path, goprint.resources_expressions(expressions), message)
    for kind in ("limits", "requests"):
        for name, text in (expressions.get(kind) or {}).items():
            try:
                evaluate(text, name, 1.0)
            except EvaluationError as error:
                yield invalid(f"{path}.{kind}.{name}", text, f"invalid expression: {error.message}")


def _patches(entries: Sequence[Json]) -> Iterator[str]:
    path = "spec.patchPodMetadata"
    seen: set[str] = set()
    for entry in entries:
        annotations = entry.get("annotations", {})
        if not annotations:
            yield required(path, "no annotations defined for SidecarSet")
        else:
            yield from _annotations(annotations, "patchPodMetadata.annotations")
        if not entry.get("patchPolicy"):
            yield required(path, "no patchPolicy defined for patchPodMetadata")
        for key in annotations:
            if key in seen:
                yield required(path, f"patch annotation[{key}] already exist")
            seen.add(key)


def _update(new: Json, old: Json) -> Iterator[str]:
    """Containers cannot be added, and how they are upgraded is for ever."""
    before = {c["name"]: c["upgradeStrategy"].get("upgradeType") for c in old.get("containers", ())}
    for container in new.get("containers", ()):
        name = container["name"]
        upgrade = container["upgradeStrategy"].get("upgradeType")
        if name not in before:
            yield invalid("spec.containers.name", name, f"container {name} is not found")
        elif before[name] and upgrade != before[name]:
            message = f"container {name} upgradeType is immutable"
            yield invalid("spec.containers.upgradeStrategy.upgradeType", name, message)
