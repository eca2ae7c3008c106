"""What a kind's create strategy does to an object before validating admission sees it.

Only what a render can know: what is allocated, stamped or generated is left out, and so are fields
that a disabled feature would drop.
Source: the served form's specification, section (a), stage 13; pkg/registry/*/strategy.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from krm_fn.kube.schema import KindSchema
from krm_fn.kube.served.autoscalers import IN_STATUS
from krm_fn.kube.served.plan import Plan
from krm_fn.kube.served.qos import quality_of
from krm_fn.kube.wellknown import JOB_NAME
from krm_fn.values import MISSING, Json

_GENERATION: Final = frozenset(
    (
        ("", "PodTemplate"),
        ("", "ReplicationController"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
        ("discovery.k8s.io", "EndpointSlice"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "Ingress"),
        ("networking.k8s.io", "IngressClass"),
        ("networking.k8s.io", "NetworkPolicy"),
        ("policy", "PodDisruptionBudget"),
        ("resource.k8s.io", "DeviceClass"),
        ("scheduling.k8s.io", "PriorityClass"),
    )
)
"""Kinds whose objects count their generations."""

_KEEPS_STATUS: Final = frozenset(
    (
        ("", "Node"),
        ("", "Pod"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
    )
)
"""Kinds whose strategy sets the status itself, or leaves it."""
_STATUS: Final[dict[tuple[str, str], Json]] = {
    ("", "Namespace"): {"phase": "Active"},
    ("", "PersistentVolume"): {"phase": "Pending"},
}
"""What is left of a status that is not simply emptied."""


def prepared(
    served: Json,
    schema: KindSchema,
    typed: Plan,
    release: tuple[int, int],
    user: Json | None = None,
) -> Json:
    """A served object of a built-in kind as it is about to be created in a release.

    `typed` is the round trip without defaults: it knows what an empty status looks like. `user` is
    who creates it: username, uid, groups and extra, as `request.userInfo` has them.
    """
    key = (schema.group, schema.kind)
    out = served
    counts = key in _GENERATION or (key == _POD and release >= _POD_GENERATION)
    if counts and out["metadata"].get("generation") != 1:
        out = {**out, "metadata": {**out["metadata"], "generation": 1}}
    if "status" in out and key not in _KEEPS_STATUS:
        status = _STATUS.get(key)
        if status is None:
            status = typed.struct(schema.struct.fields["status"].type.struct)({})
        out = _with(out, "status", status)
    strategy = _STRATEGIES.get(key)
    if strategy is not None:
        out = strategy(out, served, Creation(release, user or {}))
    return out


_POD: Final = ("", "Pod")
_POD_GENERATION: Final = (1, 34)


class Creation(NamedTuple):
    """What a strategy knows beside the object."""

    release: tuple[int, int]
    user: Json


def _with(out: Json, key: str, value: Any) -> Json:
    """`out` with a member, or without it where `value` is MISSING."""
    if out.get(key, MISSING) == value:
        return out
    if value is MISSING:
        return {name: member for name, member in out.items() if name != key}
    return {**out, key: value}


def _spec(out: Json, **members: Any) -> Json:
    spec = out["spec"]
    for name, value in members.items():
        spec = _with(spec, name, value)
    return out if spec is out["spec"] else {**out, "spec": spec}


# ------------------------------------------------------------------------------------ the kinds


def _namespace(out: Json, served: Json, creation: Creation) -> Json:
    finalizers = out["spec"].get("finalizers") or []
    if "kubernetes" in finalizers:
        return out
    return _spec(out, finalizers=[*finalizers, "kubernetes"])


def _node(out: Json, served: Json, creation: Creation) -> Json:
    """A Node without the fields of features that are off."""
    out = _spec(out, configSource=MISSING)
    off = ("config", "features") if creation.release < (1, 33) else ("config",)
    status = {name: member for name, member in out["status"].items() if name not in off}
    return _with(out, "status", status)


def _service_account(out: Json, served: Json, creation: Creation) -> Json:
    secrets = out.get("secrets")
    if not secrets:
        return out
    return _with(out, "secrets", [_only(secret, "name") for secret in secrets])


def _only(value: Json, name: str) -> Json:
    return {name: value[name]} if name in value else {}


_VOLUME_SOURCES: Final = (
    ("", "PersistentVolumeClaim"),
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
)


def _claim(out: Json, served: Json, creation: Creation) -> Json:
    """The two ways to name what a volume is filled from say the same.

    Source: pkg/api/persistentvolumeclaim (DropDisabledFields, NormalizeDataSources).
    """
    source, reference = out["spec"].get("dataSource"), out["spec"].get("dataSourceRef")
    if reference is not None and reference.get("namespace"):
        reference = None  # the gate CrossNamespaceVolumeDataSource is off
    if reference is None and source is not None:
        kind = source.get("apiGroup") or "", source.get("kind")
        source = source if kind in _VOLUME_SOURCES else None
    named = source if source is not None else reference
    both: Any = MISSING
    if named is not None:
        both = {name: named[name] for name in ("apiGroup", "kind", "name") if name in named}
    if source is None or reference is None:
        return _spec(out, dataSource=both, dataSourceRef=both)
    return out


def _daemon_set(out: Json, served: Json, creation: Creation) -> Json:
    annotations = out["metadata"].get("annotations", {})
    text = annotations.get(_TEMPLATE_GENERATION)
    if text is None or int(text) >= 1:
        return out
    annotations = {**annotations, _TEMPLATE_GENERATION: "1"}
    return {**out, "metadata": {**out["metadata"], "annotations": annotations}}


_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"


def _job(out: Json, served: Json, creation: Creation) -> Json:
    """Labels by the Job's name; those by its uid, and the selector of them, no render knows."""
    name = out["metadata"].get("name")
    if out["spec"].get("manualSelector") or not name:
        return out
    template = out["spec"]["template"]
    labels = template["metadata"].get("labels", {})
    more = {label: name for label in JOB_NAME if label not in labels}
    if not more:
        return out
    metadata = {**template["metadata"], "labels": {**labels, **more}}
    return _spec(out, template={**template, "metadata": metadata})


def _definition(out: Json, served: Json, creation: Creation) -> Json:
    versions = out["spec"].get("versions") or ()
    stored = [version["name"] for version in versions if version.get("storage")]
    status = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored[:1] or None,
    }
    return _with(out, "status", status)


def _signing_request(out: Json, served: Json, creation: Creation) -> Json:
    user = {name: creation.user[name] or MISSING for name in _USER if name in creation.user}
    return _with(_spec(out, **{name: user.get(name, MISSING) for name in _USER}), "status", {})


_USER: Final = ("username", "uid", "groups", "extra")


def _pod(out: Json, served: Json, creation: Creation) -> Json:
    """A Pod with its class of service; selectors with labels of its own; profiles of annotations.

    Source: pkg/registry/core/pod/strategy.go PrepareForCreate.
    """
    quality = quality_of(served, creation.release)
    out = _with(out, "status", {"phase": "Pending", "qosClass": quality})
    labels = out["metadata"].get("labels", {})
    if out["spec"].get("affinity"):
        out = _spec(out, affinity=_with_label_keys(out["spec"]["affinity"], labels))
    if out["spec"].get("topologySpreadConstraints") and creation.release >= _SPREAD_MERGE:
        constraints = [_merged(one, labels) for one in out["spec"]["topologySpreadConstraints"]]
        out = _spec(out, topologySpreadConstraints=constraints)
    annotations = out["metadata"].get("annotations", {})
    if any(key.startswith(_APP_ARMOR) for key in annotations):
        out = _with_profiles(out, annotations)
    return out


_SPREAD_MERGE: Final = (1, 34)
"""Since when the gate MatchLabelKeysInPodTopologySpreadSelectorMerge is on."""

_AFFINITIES: Final = ("podAffinity", "podAntiAffinity")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def _with_label_keys(affinity: Json, labels: Json) -> Json:
    for name in _AFFINITIES:
        terms = affinity.get(name)
        if not terms:
            continue
        if terms.get(_REQUIRED):
            required = [_merged(term, labels) for term in terms[_REQUIRED]]
            terms = _with(terms, _REQUIRED, required)
        if terms.get(_PREFERRED):
            preferred = [
                _with(one, "podAffinityTerm", _merged(one["podAffinityTerm"], labels))
                for one in terms[_PREFERRED]
            ]
            terms = _with(terms, _PREFERRED, preferred)
        affinity = _with(affinity, name, terms)
    return affinity


def _merged(term: Json, labels: Json) -> Json:
    """A term whose selector asks for the values that the Pod has under its label keys."""
    selector = term.get("labelSelector")
    if selector is None:
        return term
    more = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for name, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(name) or ()
        if key in labels
    ]
    if not more:
        return term
    expressions = [*(selector.get("matchExpressions") or ()), *more]
    return _with(term, "labelSelector", {**selector, "matchExpressions": expressions})


_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_LOCALHOST: Final = "localhost/"
_MAX_PROFILE: Final = 4095


def _with_profiles(out: Json, annotations: Json) -> Json:
    """A Pod whose containers have the profiles of the annotations that stood for them once."""
    spec = out["spec"]
    if (spec.get("os") or {}).get("name") == "windows":
        return out
    general = (spec.get("securityContext") or {}).get("appArmorProfile")

    def profiled(container: Json) -> Json:
        profile = _profile(annotations.get(_APP_ARMOR + container["name"]))
        context = container.get("securityContext") or {}
        if profile is None or profile == general or context.get("appArmorProfile"):
            return container
        return {**container, "securityContext": {**context, "appArmorProfile": profile}}

    lists = ("containers", "initContainers", "ephemeralContainers")
    return _spec(out, **{n: [profiled(c) for c in spec[n]] for n in lists if spec.get(n)})


def _profile(text: str | None) -> Json | None:
    """The profile of an annotation; None for what the field could not hold."""
    if text in ("unconfined", "runtime/default"):
        return {"type": "Unconfined" if text == "unconfined" else "RuntimeDefault"}
    if text is None or not text.startswith(_LOCALHOST):
        return None
    name = text.removeprefix(_LOCALHOST)
    if not name or name != name.strip() or len(name.encode()) > _MAX_PROFILE:
        return None
    return {"type": "Localhost", "localhostProfile": name}


def _autoscaler(out: Json, served: Json, creation: Creation) -> Json:
    """The first version has parts of the status, which is emptied, in annotations."""
    annotations = out["metadata"].get("annotations", {})
    kept = {key: text for key, text in annotations.items() if key not in IN_STATUS}
    if len(kept) == len(annotations):
        return out
    return {**out, "metadata": _with(out["metadata"], "annotations", kept or MISSING)}


Strategy = Callable[[Json, Json, Creation], Json]

_STRATEGIES: Final[dict[tuple[str, str], Strategy]] = {
    _POD: _pod,
    ("", "Namespace"): _namespace,
    ("", "Node"): _node,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "ServiceAccount"): _service_account,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    ("apps", "DaemonSet"): _daemon_set,
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
    ("batch", "Job"): _job,
    ("certificates.k8s.io", "CertificateSigningRequest"): _signing_request,
}
