"""The plugin PodSecurity: refuses Pods, warns of Pods and templates, reads Namespaces' labels.

Source: k8s.io/pod-security-admission admission/admission.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from krm_fn.admission import Cause, Finding, Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers, labels_of, name_of
from krm_fn.dialects.builtin.plugin import POD, BuiltIn, Denied, Forbidden, object_name
from krm_fn.dialects.builtin.pods import EPHEMERAL, INIT, REGULAR
from krm_fn.dialects.builtin.podsecurity.policy import (
    MODES,
    PREFIX,
    PRIVILEGED,
    LabelError,
    Level,
    LevelVersion,
    Policy,
    policy_of,
)
from krm_fn.dialects.builtin.podsecurity.registry import violations
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, Path, get

_NAMESPACE: Final = ("", "Namespace")
_TEMPLATE: Final = ("spec", "template")
_TEMPLATES: Final[Mapping[tuple[str, str], Path]] = {
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): _TEMPLATE,
    ("apps", "DaemonSet"): _TEMPLATE,
    ("apps", "Deployment"): _TEMPLATE,
    ("apps", "ReplicaSet"): _TEMPLATE,
    ("apps", "StatefulSet"): _TEMPLATE,
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("batch", "Job"): _TEMPLATE,
}
"""The kinds with templates that the server looks at."""

_LABELS: Final = ("metadata", "labels")


class PodSecurity(BuiltIn):
    """Holds Pods against the policy of their namespace.

    `defaults` is the policy of namespaces without labels; what the exemptions name is not looked
    at: namespaces, RuntimeClasses, and the names of users.
    """

    name = "PodSecurity"
    kinds = frozenset({POD, _NAMESPACE, *_TEMPLATES})
    subresources = frozenset({"", "ephemeralcontainers", "resize"})

    def __init__(
        self,
        defaults: Policy = PRIVILEGED,
        namespaces: Iterable[str] = (),
        runtime_classes: Iterable[str] = (),
        usernames: Iterable[str] = (),
    ) -> None:
        self._defaults = defaults
        self._namespaces = frozenset(namespaces)
        self._runtime_classes = frozenset(runtime_classes)
        self._usernames = frozenset(usernames) - {""}

    def validate(self, request: Request, listers: Listers) -> Response:
        kind = request.head.group, request.head.kind
        if request.operation is Operation.DELETE or (request.subresource and kind != POD):
            return Response()
        if kind == _NAMESPACE:
            return Response(findings=tuple(self._of_namespace(request, listers)))
        if request.namespace in self._namespaces or request.user.username in self._usernames:
            return Response()
        namespace = listers.namespace(request.namespace)
        if namespace is None:
            return Response(findings=(self.undecided(_unknown(request.namespace)),))
        policy, errors = policy_of(labels_of(namespace), self._defaults)
        if policy.is_privileged and not errors:
            return Response()
        path = () if kind == POD else _TEMPLATES[kind]
        pod = get(request.object, path)
        if pod is None or self._is_exempt(pod) or (kind == POD and not _is_significant(request)):
            return Response()
        return Response(findings=tuple(self._of_pod(request, policy, pod, path, listers)))

    def _is_exempt(self, pod: Json) -> bool:
        return get(pod, ("spec", "runtimeClassName")) in self._runtime_classes

    def _of_pod(
        self, request: Request, policy: Policy, pod: Json, path: Path, listers: Listers
    ) -> Iterator[Finding]:
        """What each mode finds: a refusal of Pods alone, what is audited, else a warning."""
        refused = _told(policy.enforce, pod, listers) if not path else ""
        if refused:
            yield self.denial(Forbidden(request, f"violates PodSecurity {refused}"))
        audited = _told(policy.audit, pod, listers)
        if audited:
            message = f"would violate PodSecurity {audited}"
            yield Finding(Cause.AUDIT, False, message, (self.ref,), path or None)
        warned = _told(policy.warn, pod, listers) if not refused else ""
        if warned:
            yield self.warning(f"would violate PodSecurity {warned}", path or None)

    # ---------------------------------------------------------------------------- Namespaces

    def _of_namespace(self, request: Request, listers: Listers) -> Iterator[Finding]:
        labels = labels_of(request.object)
        policy, errors = policy_of(labels, self._defaults)
        if request.operation is Operation.CREATE or request.old_object is None:
            if errors:
                raise _invalid(request, errors)
            yield from self._ignored(request, policy, labels)
            return
        old_policy, old_errors = policy_of(labels_of(request.old_object), self._defaults)
        if errors and errors != old_errors:
            raise _invalid(request, errors)
        if not _is_stricter(policy.enforce, old_policy.enforce):
            return
        if name_of(request.object) in self._namespaces:
            yield from self._ignored(request, policy, labels)
            return
        yield from self._of_existing(request, policy.enforce, listers)

    def _ignored(
        self, request: Request, policy: Policy, labels: Mapping[str, str]
    ) -> Iterator[Finding]:
        """A warning where the policy of an exempt Namespace is not followed."""
        name = name_of(request.object)
        if name not in self._namespaces or policy.is_privileged or policy.is_like(self._defaults):
            return
        shown = [
            f"{mode}={level}"
            for mode, level in zip(MODES, policy, strict=True)
            if level.level is not Level.PRIVILEGED
            and (PREFIX + mode in labels or f"{PREFIX}{mode}-version" in labels)
        ]
        yield self.warning(
            f"namespace {quote(name)} is exempt from Pod Security, and the policy "
            f"({', '.join(shown)}) will be ignored",
            _LABELS,
        )

    def _of_existing(
        self, request: Request, enforce: LevelVersion, listers: Listers
    ) -> Iterator[Finding]:
        """Warnings of the Pods that are there and would no longer be admitted."""
        name = name_of(request.object)
        pods: dict[str, list[str]] = {}
        for pod in listers.list(POD, name):
            found = () if self._is_exempt(pod) else _reasons(enforce, pod, listers)
            if found:
                pods.setdefault(", ".join(found), []).append(name_of(pod))
        if not pods:
            return
        yield self.warning(
            f"existing pods in namespace {quote(name)} violate the new PodSecurity enforce level "
            f"{quote(str(enforce))}"
        )
        for text in sorted(f"{_some(names)}: {reasons}" for reasons, names in pods.items()):
            yield self.warning(text)


def _unknown(namespace: str) -> str:
    return (
        f"what the labels of namespace {namespace} ask of its Pods is not known; add the Namespace "
        "to the items or its labels to context.namespaces"
    )


def _told(policy: LevelVersion, pod: Json, listers: Listers) -> str:
    """What a Pod or template violates, behind the policy; "" for nothing."""
    metadata = pod.get("metadata") or {}
    found = violations(policy, metadata, pod["spec"], listers.release[1])
    return f"{quote(str(policy))}: {', '.join(map(str, found))}" if found else ""


def _reasons(enforce: LevelVersion, pod: Json, listers: Listers) -> Sequence[str]:
    found = violations(enforce, pod["metadata"], pod["spec"], listers.release[1])
    return [one.reason for one in found]


def _some(names: Sequence[str]) -> str:
    """The first of some Pods, and how many others there are."""
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other {'pod' if others == 1 else 'pods'})"


def _is_significant(request: Request) -> bool:
    """Whether an update can change what a Pod violates."""
    if request.operation is not Operation.UPDATE or request.old_object is None:
        return True
    spec, old = request.object["spec"], request.old_object["spec"]
    for name in (REGULAR, INIT):
        before = [container.get("image") for container in old.get(name) or ()]
        after = [container.get("image") for container in spec.get(name) or ()]
        if before != after:
            return True
    images = {one["name"]: one.get("image") for one in reversed(old.get(EPHEMERAL) or [])}
    missing: Any = object()
    return any(
        images.get(one["name"], missing) != one.get("image") for one in spec.get(EPHEMERAL) or ()
    )


def _is_stricter(enforce: LevelVersion, old: LevelVersion) -> bool:
    """Whether Pods that were admitted may violate what is enforced now."""
    if enforce == old or enforce.level is Level.PRIVILEGED:
        return False
    return enforce.minor != old.minor or enforce.level > old.level


def _invalid(request: Request, errors: Sequence[LabelError]) -> Denied:
    """The refusal of a Namespace whose labels are wrong."""
    causes = [_cause(one) for one in errors]
    texts = [
        f"metadata.labels[{one.label}]: {cause.message}"
        for one, cause in zip(errors, causes, strict=True)
    ]
    said = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    name = quote(object_name(request.object))
    field = (*_LABELS, errors[0].label)
    return Denied(f"Namespace {name} is invalid: {said}", 422, "Invalid", causes, field)


def _cause(error: LabelError) -> Finding:
    return Finding(
        Cause.REJECTED,
        True,
        f"Invalid value: {quote(error.value)}: {error.reason}",
        field=(*_LABELS, error.label),
        reason="FieldValueInvalid",
    )
