"""What policies may ask their host: every operation with its payload, typed as upstream types it.

A request has a name (`OciManifestDigest`) and members; recorded answers are found by both.
Source: policy-evaluator callback_requests.rs, kubewarden-policy-sdk host_capabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from krm_fn.dialects.kubewarden.codec.jsontext import (
    JsonError,
    Reader,
    boolean,
    list_of,
    map_of,
    optional,
    struct,
    text,
    value,
    whole,
)
from krm_fn.values import Json


class Asked(NamedTuple):
    """One request of a policy."""

    name: str
    members: Json


def _fields(name: str, /, *required: str, **readers: Reader) -> Reader:
    return struct(name, readers, frozenset(required))


_BYTES: Final = list_of(whole(255))
_ANNOTATIONS: Final = optional(map_of(text))
_TEXT: Final = optional(text)

_SIGSTORE: Final[dict[str, Reader]] = {
    "SigstorePubKeyVerify": _fields(
        "SigstorePubKeyVerify", "image", "pub_keys",
        image=text, pub_keys=list_of(text), annotations=_ANNOTATIONS,
    ),
    "SigstoreKeylessVerify": _fields(
        "SigstoreKeylessVerify", "image", "keyless",
        image=text,
        keyless=list_of(
            _fields("KeylessInfo", "issuer", "subject", issuer=text, subject=text)
        ),
        annotations=_ANNOTATIONS,
    ),
    "SigstoreKeylessPrefixVerify": _fields(
        "SigstoreKeylessPrefixVerify", "image", "keyless_prefix",
        image=text,
        keyless_prefix=list_of(
            _fields("KeylessPrefixInfo", "issuer", "url_prefix", issuer=text, url_prefix=text)
        ),
        annotations=_ANNOTATIONS,
    ),
    "SigstoreGithubActionsVerify": _fields(
        "SigstoreGithubActionsVerify", "image", "owner",
        image=text, owner=text, repo=_TEXT, annotations=_ANNOTATIONS,
    ),
    "SigstoreCertificateVerify": _fields(
        "SigstoreCertificateVerify", "image", "certificate", "require_rekor_bundle",
        image=text, certificate=_BYTES, certificate_chain=optional(list_of(_BYTES)),
        require_rekor_bundle=boolean, annotations=_ANNOTATIONS,
    ),
}  # fmt: skip
_FIRST: Final = ("SigstorePubKeyVerify", "SigstoreKeylessVerify")


def _verify_1(found: Any) -> Asked:
    if not isinstance(found, dict) or len(found) != 1:
        raise JsonError("expected a map with a single key, the kind of verification")
    name = next(iter(found))
    if name not in _FIRST:
        raise JsonError(f"unknown variant `{name}`, expected `{_FIRST[0]}` or `{_FIRST[1]}`")
    return Asked(name, _SIGSTORE[name](found[name]))


def _verify_2(found: Any) -> Asked:
    if not isinstance(found, dict) or "type" not in found:
        raise JsonError("missing field `type`")
    name = text(found["type"])
    if name not in _SIGSTORE:
        raise JsonError(f"unknown variant `{name}`, expected one of {', '.join(_SIGSTORE)}")
    return Asked(name, _SIGSTORE[name]({k: v for k, v in found.items() if k != "type"}))


def _one(name: str, member: str) -> Callable[[Any], Asked]:
    return lambda found: Asked(name, {member: text(found)})


def _many(name: str, reader: Reader) -> Callable[[Any], Asked]:
    return lambda found: Asked(name, reader(found))


def _encoding(found: Any) -> str:
    if text(found) not in ("Der", "Pem"):
        raise JsonError(f"unknown variant `{found}`, expected `Der` or `Pem`")
    return text(found)


_CERTIFICATE: Final = _fields("Certificate", "encoding", "data", encoding=_encoding, data=_BYTES)
_MASKS: Final = optional(list_of(text))

_LIST: Final[dict[str, Reader]] = {
    "label_selector": _TEXT, "field_selector": _TEXT, "field_masks": _MASKS,
}  # fmt: skip

_ATTRIBUTES: Final = _fields(
    "ResourceAttributes",
    group=_TEXT, name=_TEXT, namespace=_TEXT, resource=_TEXT, subresource=_TEXT, verb=_TEXT,
    version=_TEXT,
)  # fmt: skip
_REVIEW: Final = _fields(
    "SubjectAccessReview", "user", "resource_attributes",
    user=text, groups=optional(list_of(text)), resource_attributes=_ATTRIBUTES,
)  # fmt: skip
_CAN_I: Final = _fields(
    "CanIRequest", "subject_access_review", "disable_cache",
    subject_access_review=_REVIEW, disable_cache=boolean,
)  # fmt: skip


def _can_i(found: Any) -> Asked:
    asked = _CAN_I(found)
    members = {"request": asked["subject_access_review"], "disable_cache": asked["disable_cache"]}
    return Asked("KubernetesCanI", members)


OPERATIONS: Final[dict[str, dict[str, Callable[[Any], Asked]]]] = {
    "oci": {
        "v1/verify": _verify_1,
        "v2/verify": _verify_2,
        "v1/manifest_digest": _one("OciManifestDigest", "image"),
        "v1/oci_manifest": _one("OciManifest", "image"),
        "v1/oci_manifest_config": _one("OciManifestAndConfig", "image"),
    },
    "net": {"v1/dns_lookup_host": _one("DNSLookupHost", "host")},
    "crypto": {
        "v1/is_certificate_trusted": _many(
            "CryptoIsCertificateTrusted",
            _fields(
                "CertificateVerificationRequest",
                "cert",
                cert=_CERTIFICATE,
                cert_chain=optional(list_of(_CERTIFICATE)),
                not_after=_TEXT,
            ),
        )
    },
    "kubernetes": {
        "list_resources_by_namespace": _many(
            "KubernetesListResourceNamespace",
            _fields(
                "ListResourcesByNamespaceRequest",
                "api_version",
                "kind",
                "namespace",
                api_version=text,
                kind=text,
                namespace=text,
                **_LIST,
            ),
        ),
        "list_resources_all": _many(
            "KubernetesListResourceAll",
            _fields(
                "ListAllResourcesRequest",
                "api_version",
                "kind",
                api_version=text,
                kind=text,
                **_LIST,
            ),
        ),
        "get_resource": _many(
            "KubernetesGetResource",
            _fields(
                "GetResourceRequest",
                "api_version",
                "kind",
                "name",
                "disable_cache",
                api_version=text,
                kind=text,
                name=text,
                namespace=_TEXT,
                disable_cache=boolean,
                field_masks=_MASKS,
            ),
        ),
        "can_i": _can_i,
    },
}
"""By namespace and operation: a decoded payload as a request. They raise JsonError."""

READS: Final = frozenset(("list_resources_by_namespace", "list_resources_all", "get_resource"))
"""The operations that only see what contextAwareResources names."""


def read_recorded(found: Any) -> Asked:
    """A request as recorded: `{"OciManifest": {"image": ...}}`. Raises JsonError."""
    if not isinstance(found, dict) or len(found) != 1:
        raise JsonError("a recorded request is a map with one key, its type")
    name, members = next(iter(found.items()))
    members = value(members)
    if type(members) is not dict:
        raise JsonError("the members of a recorded request are a map")
    return Asked(text(name), members)
