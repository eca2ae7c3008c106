"""ServiceAccount: gives each Pod an account, its token as a volume, and its pull secrets.

Source: plugin/pkg/admission/serviceaccount; docs/spec/builtin-admission.md section (b).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from krm_fn.admission import Cause, Finding, Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers, annotations_of, name_of
from krm_fn.dialects.builtin.names import random_suffix
from krm_fn.dialects.builtin.plugin import PODS, BuiltIn, Forbidden, InternalError
from krm_fn.dialects.builtin.pods import (
    EPHEMERAL,
    INIT,
    REGULAR,
    located,
    with_containers,
    with_spec,
)
from krm_fn.dialects.builtin.secrets import referenced_secrets
from krm_fn.lang.go.strconv import parse_bool, quote
from krm_fn.values import Json, Path, get

SERVICE_ACCOUNT: Final = ("", "ServiceAccount")
ENFORCE_MOUNTABLE_SECRETS: Final = "kubernetes.io/enforce-mountable-secrets"

_DEFAULT: Final = "default"
_EPHEMERAL: Final = "ephemeralcontainers"
_MIRROR: Final = "kubernetes.io/config.mirror"
_VOLUME: Final = "kube-api-access-"
_MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"


class ServiceAccount(BuiltIn):
    """Pods run as the account that they name, `default` if they name none."""

    name = "ServiceAccount"
    kinds = PODS
    subresources = frozenset({"", _EPHEMERAL})

    def admit(self, request: Request, listers: Listers) -> Response:
        if request.operation is not Operation.CREATE:
            return Response()
        pod = request.object
        if _is_mirror(pod):
            _check_mirror(request)
            return Response()
        spec = pod["spec"]
        name = spec.get("serviceAccountName") or _DEFAULT
        if spec.get("serviceAccountName") != name:
            spec = {**spec, "serviceAccountName": name, "serviceAccount": name}
        account = _account(request, name, listers)
        if _automounts(spec, account):
            spec = _with_token(spec, _VOLUME + random_suffix(request))
        pull_secrets = account.get("imagePullSecrets")
        if not spec.get("imagePullSecrets") and pull_secrets:
            spec = {**spec, "imagePullSecrets": [_named(one) for one in pull_secrets]}
        pod = with_spec(pod, spec)
        _check_secrets(request, pod, account)
        return self.changed(request, pod, *_assumed(request, name, listers))

    def validate(self, request: Request, listers: Listers) -> Response:
        pod = request.object
        if request.subresource == _EPHEMERAL and request.operation is Operation.UPDATE:
            _check_ephemeral(pod["spec"], _named_account(request, listers))
        if request.subresource or request.operation is not Operation.CREATE:
            return Response()
        if _is_mirror(pod):
            _check_mirror(request)
            return Response()
        _check_secrets(request, pod, _named_account(request, listers))
        return Response()


def _named_account(request: Request, listers: Listers) -> Json:
    """The account that a Pod names. Raises Denied."""
    name = request.object["spec"].get("serviceAccountName")
    if not name:
        where = f"{request.namespace}/{name_of(request.object)}"
        raise Forbidden(request, f"no service account specified for pod {where}")
    return _account(request, name, listers)


def _account(request: Request, name: str, listers: Listers) -> Json:
    """The account; one that is not known is taken for an empty one. Raises Denied."""
    account = listers.get(SERVICE_ACCOUNT, name, request.namespace)
    if account is not None:
        return account
    if listers.has_all("ServiceAccount") and name != _DEFAULT:
        raise Forbidden(
            request,
            f"error looking up service account {request.namespace}/{name}: serviceaccount "
            f"{quote(name)} not found",
            field=("spec", "serviceAccountName"),
        )
    return {"metadata": {"name": name}}


def _named(reference: Json) -> Json:
    return {"name": reference["name"]} if reference.get("name") else {}


def _assumed(request: Request, name: str, listers: Listers) -> Iterator[Finding]:
    """A note, of no plugin so that it is told once, where an account is not known."""
    known = listers.get(SERVICE_ACCOUNT, name, request.namespace) is not None
    if not known and name != _DEFAULT:
        message = (
            f"ServiceAccount {request.namespace}/{name} is not known, and taken for one that says "
            "nothing; add it to the items or to context.objects"
        )
        yield Finding(Cause.NOTE, False, message)


# ----------------------------------------------------------------------------------- mirror Pods


def _is_mirror(pod: Json) -> bool:
    return _MIRROR in annotations_of(pod)


def _check_mirror(request: Request) -> None:
    """Raise Denied for a kubelet's own Pod that refers to what only the cluster has."""
    spec = request.object["spec"]
    if spec.get("serviceAccountName"):
        raise Forbidden(request, "a mirror pod may not reference service accounts")
    if any(referenced_secrets(spec)):
        raise Forbidden(request, "a mirror pod may not reference secrets")
    for volume in spec.get("volumes") or ():
        for source in get(volume, ("projected", "sources")) or ():
            if "serviceAccountToken" in source:
                raise Forbidden(
                    request, "a mirror pod may not use ServiceAccountToken volume projections"
                )


# -------------------------------------------------------------------------------------- the token


def _automounts(spec: Json, account: Json) -> bool:
    for value in (spec, account):
        automounts = value.get("automountServiceAccountToken")
        if automounts is not None:
            return bool(automounts)
    return True


def _with_token(spec: Json, new_name: str) -> Json:
    """The specification with the token mounted into every container that has no mount there."""
    volumes = spec.get("volumes") or []
    names = (volume["name"] for volume in volumes)
    name = next((name for name in names if name.startswith(_VOLUME)), None)
    mount = {"name": name or new_name, "readOnly": True, "mountPath": _MOUNT_PATH}

    def mounted(container: Json) -> Json:
        mounts = container.get("volumeMounts") or []
        if any(one["mountPath"] == _MOUNT_PATH for one in mounts):
            return container
        return {**container, "volumeMounts": [*mounts, mount]}

    with_mounts = with_containers(spec, mounted, (INIT, REGULAR))
    if name is not None or with_mounts is spec:
        return with_mounts
    volume = {"name": new_name, "projected": _TOKEN}
    return {**with_mounts, "volumes": [*volumes, volume]}


_TOKEN: Final[Json] = {
    "defaultMode": 420,
    "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {
            "downwardAPI": {
                "items": [
                    {
                        "path": "namespace",
                        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                    }
                ]
            }
        },
    ],
}


# ------------------------------------------------------------------------------ mountable secrets


def _check_secrets(request: Request, pod: Json, account: Json) -> None:
    """Raise Denied where the account enforces its list of secrets, and the Pod uses another."""
    if not _enforces_secrets(account):
        return
    for field, detail in _forbidden_secrets(pod["spec"], account):
        raise Forbidden(request, detail, field=field)


def _check_ephemeral(spec: Json, account: Json) -> None:
    """As `_check_secrets` for containers that come later; the error is none of the API's."""
    if not _enforces_secrets(account):
        return
    for path, detail in _in_containers(spec, account, ((EPHEMERAL, "ephemeral container"),)):
        raise InternalError(detail, path)


def _enforces_secrets(account: Json) -> bool:
    return parse_bool(annotations_of(account).get(ENFORCE_MOUNTABLE_SECRETS, "")) is True


def _not_referenced(account: Json) -> str:
    name = name_of(account)
    return f"is not allowed because service account {name} does not reference that"


def _forbidden_secrets(spec: Json, account: Json) -> Iterator[tuple[Path, str]]:
    mountable = {one.get("name", "") for one in account.get("secrets") or ()}
    reason = _not_referenced(account)
    for n, volume in enumerate(spec.get("volumes") or ()):
        if "secret" in volume:
            secret = volume["secret"].get("secretName", "")
            if secret not in mountable:
                said = f'volume with secret.secretName="{secret}" {reason} secret'
                yield ("spec", "volumes", n), said
    yield from _in_containers(spec, account, ((INIT, "init container"), (REGULAR, "container")))
    pullable = {one.get("name", "") for one in account.get("imagePullSecrets") or ()}
    for n, one in enumerate(spec.get("imagePullSecrets") or ()):
        secret = one.get("name", "")
        if secret not in pullable:
            said = f'imagePullSecrets[{n}].name="{secret}" {reason} imagePullSecret'
            yield ("spec", "imagePullSecrets", n), said


def _in_containers(
    spec: Json, account: Json, lists: Sequence[tuple[str, str]]
) -> Iterator[tuple[Path, str]]:
    """The secrets of containers that the account does not have; `lists` have names and words."""
    mountable = {one.get("name", "") for one in account.get("secrets") or ()}
    for name, words in lists:
        for path, container in located(spec, (name,)):
            for way, secret in _of_environment(container):
                if secret not in mountable:
                    said = f"{words} {container['name']} with {way} referencing secret.secretName="
                    yield path, f'{said}"{secret}" {_not_referenced(account)} secret'


def _of_environment(container: Json) -> Iterator[tuple[str, str]]:
    """The secrets that a container's environment refers to, each with the way it does."""
    for variable in container.get("env") or ():
        reference = get(variable, ("valueFrom", "secretKeyRef"))
        if reference is not None:
            yield f"envVar {variable['name']}", reference.get("name", "")
    for source in container.get("envFrom") or ():
        if "secretRef" in source:
            yield "envFrom", source["secretRef"].get("name", "")
