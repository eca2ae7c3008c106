"""Who signed a module: cosign's signatures by key, verified offline.

A digest says which bytes; a signature says whose. Cosign signs the digest of the manifest in the
registry, which names the module's digest: all three are kept beside the module by `krm-fn pull`,
and are verified each time with the keys that the operator gives. Keyless signatures need a
certificate authority and a transparency log, which are out of reach here: they satisfy nothing.
Source: policy-fetcher verify/config.rs (verification config v1), verify/mod.rs; cosign's
SIGNATURE_SPEC.md (simple signing).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from krm_fn.dialects.kubewarden.codec import yamltext
from krm_fn.dialects.kubewarden.codec.yamltext import YamlTextError
from krm_fn.errors import ConfigError

LAYER: Final = "application/vnd.wasm.content.layer.v1+wasm"
NOT_HERE: Final = (
    "verifying signatures needs the package cryptography (pip install 'krm-fn[crypto]')"
)

_VERSION: Final = 1
_BYTES: Final = 16 * 1024 * 1024
_TYPE: Final = "cosign container image signature"
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_RSA_BITS: Final = 2048


class Signature(NamedTuple):
    """What was signed (cosign's payload, JSON) and the signature of it."""

    payload: bytes
    signature: bytes


class SignedManifest(NamedTuple):
    """A manifest of a registry and the signatures of its digest, which need not be any good."""

    manifest: bytes
    signatures: tuple[Signature, ...]


def module_of(manifest: bytes) -> str | None:
    """The digest of the layer that is the module; None for what is no manifest of one."""
    try:
        layers = json.loads(manifest)["layers"]
        chosen = [layer for layer in layers if layer.get("mediaType") == LAYER]
        digest = (chosen or layers)[0]["digest"]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return None
    return digest if type(digest) is str and _DIGEST.fullmatch(digest) else None


# ----------------------------------------------------------------------------------------- storage


def dump_signed(manifests: Sequence[SignedManifest]) -> bytes:
    """Signed manifests as a file."""
    entries = [
        {
            "manifest": _encoded(signed.manifest),
            "signatures": [
                {"payload": _encoded(one.payload), "signature": _encoded(one.signature)}
                for one in signed.signatures
            ],
        }
        for signed in manifests
    ]
    text = json.dumps({"version": _VERSION, "manifests": entries}, indent=2, sort_keys=True)
    return f"{text}\n".encode()


def read_signed(path: str) -> list[SignedManifest]:
    """The signed manifests in a file; none where there is no file. Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            document = json.loads(file.read(_BYTES))
        if document["version"] != _VERSION:
            raise ValueError("unknown version")
        return [
            SignedManifest(
                _decoded(entry["manifest"]),
                tuple(
                    Signature(_decoded(one["payload"]), _decoded(one["signature"]))
                    for one in entry["signatures"]
                ),
            )
            for entry in document["manifests"]
        ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfigError("holds no signatures; remove it and pull again", path) from None


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


# ----------------------------------------------------------------------------------- configuration


@dataclass(frozen=True, slots=True)
class Requirement:
    """One signature that is asked for. `verify` is None for a keyless one, which never holds."""

    name: str
    verify: Callable[[bytes, bytes], bool] | None
    annotations: Mapping[str, str]

    def is_met(self, payloads: Sequence[tuple[Signature, Mapping[str, Any]]]) -> bool:
        """Whether one signature of the digest is this key's, with these annotations."""
        return self.verify is not None and any(
            all(optional.get(key) == text for key, text in self.annotations.items())
            and self.verify(one.signature, one.payload)
            for one, optional in payloads
        )


@dataclass(frozen=True, slots=True)
class Verification:
    """Which signatures a module must have: all of some, and a number of others."""

    all_of: tuple[Requirement, ...]
    any_of: tuple[Requirement, ...]
    minimum_matches: int

    def check(self, module: str, manifests: Sequence[SignedManifest], what: str) -> None:
        """Refuse a module (by digest) that is not signed as is asked for. Raises ConfigError."""
        payloads = [
            (one, optional)
            for signed in manifests
            if module_of(signed.manifest) == module
            for one in signed.signatures
            if (optional := _optional(one.payload, signed.manifest)) is not None
        ]
        if not payloads:
            raise ConfigError(f"{what} has no signature that is kept here; pull it (again)")
        missing = [one.name for one in self.all_of if not one.is_met(payloads)]
        if missing:
            raise ConfigError(f"{what} is not signed by {', '.join(missing)} (allOf)")
        met = sum(one.is_met(payloads) for one in self.any_of)
        if met < self.minimum_matches:
            names = ", ".join(one.name for one in self.any_of)
            raise ConfigError(
                f"{what} is signed by {met} of {names} (anyOf); {self.minimum_matches} are needed"
            )


def _optional(payload: bytes, manifest: bytes) -> Mapping[str, Any] | None:
    """The annotations in a payload; None where it is not about this manifest."""
    try:
        document = json.loads(payload)
        critical = document["critical"]
        digest = critical["image"]["docker-manifest-digest"]
        optional = document.get("optional") or {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if digest != f"sha256:{hashlib.sha256(manifest).hexdigest()}" or critical.get("type") != _TYPE:
        return None
    return optional if type(optional) is dict else None


def read_verification(path: str) -> Verification:
    """The verification config in a file (`apiVersion: v1`). Raises ConfigError."""
    try:
        with open(path, encoding="utf-8") as file:
            document = yamltext.loads(file.read(_BYTES), unique=True)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path) from None
    except (YamlTextError, UnicodeDecodeError) as error:
        raise ConfigError(str(error), path) from None
    try:
        return _verification(document)
    except _WrongError as error:
        raise ConfigError(f"is no verification config: {error}", path) from None


class _WrongError(Exception):
    pass


def _verification(document: Any) -> Verification:
    _members(document, "", {"apiVersion"}, {"allOf", "anyOf"})
    if document["apiVersion"] != "v1":
        raise _WrongError("apiVersion must be v1")
    all_of = _requirements(document.get("allOf"), "allOf")
    any_of: tuple[Requirement, ...] = ()
    minimum = 0
    if document.get("anyOf") is not None:
        _members(document["anyOf"], "anyOf", {"signatures"}, {"minimumMatches"})
        any_of = _requirements(document["anyOf"]["signatures"], "anyOf.signatures")
        minimum = document["anyOf"].get("minimumMatches", 1)
        if type(minimum) is not int or not 1 <= minimum <= len(any_of):
            raise _WrongError(f"anyOf.minimumMatches must be 1 to {len(any_of)}")
    if not all_of and not any_of:
        raise _WrongError("it asks for no signature, neither in allOf nor in anyOf")
    for one in all_of:
        if one.verify is None:
            raise _WrongError(
                f"allOf asks for {one.name}, a keyless signature, which cannot be verified without "
                "a network; only kind: pubKey can"
            )
    return Verification(all_of, any_of, minimum)


def _members(value: Any, where: str, needed: set[str], more: set[str]) -> None:
    place = f"{where}: " if where else ""
    if type(value) is not dict:
        raise _WrongError(f"{place}it must be a map")
    for key in value:
        if key not in needed | more:
            raise _WrongError(f"{place}unknown field {key}")
    for key in sorted(needed - value.keys()):
        raise _WrongError(f"{place}missing field {key}")


_KEYLESS: Final = {"githubAction": "owner", "genericIssuer": "issuer"}


def _requirements(entries: Any, where: str) -> tuple[Requirement, ...]:
    if entries is None:
        return ()
    if type(entries) is not list:
        raise _WrongError(f"{where} must be a list")
    return tuple(_requirement(entry, f"{where}[{n}]") for n, entry in enumerate(entries))


def _requirement(entry: Any, where: str) -> Requirement:
    kind = entry.get("kind") if type(entry) is dict else None
    if kind in _KEYLESS:
        name = f"{kind} {entry.get(_KEYLESS[kind])}"
        return Requirement(name, None, {})
    if kind != "pubKey":
        raise _WrongError(f"{where}: kind is none of pubKey, {', '.join(_KEYLESS)}")
    _members(entry, where, {"kind", "key"}, {"owner", "annotations"})
    annotations = entry.get("annotations") or {}
    if type(annotations) is not dict or any(type(v) is not str for v in annotations.values()):
        raise _WrongError(f"{where}.annotations must be a map of texts")
    owner = entry.get("owner")
    name = f"the key of {owner}" if owner else f"the key {where}"
    return Requirement(name, _verifier(entry["key"], where), annotations)


def _verifier(key: Any, where: str) -> Callable[[bytes, bytes], bool]:
    """A function (signature, payload) of a public key in PEM, with the hashes that cosign takes."""
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    except ImportError:
        raise ConfigError(NOT_HERE) from None
    try:
        public = serialization.load_pem_public_key(str(key).encode())
    except (ValueError, UnsupportedAlgorithm):
        raise _WrongError(f"{where}.key is no public key in PEM") from None
    check: Callable[[bytes, bytes], None]
    if isinstance(public, ec.EllipticCurvePublicKey):
        elliptic = public

        def check(signature: bytes, payload: bytes) -> None:
            elliptic.verify(signature, payload, ec.ECDSA(hashes.SHA256()))

    elif isinstance(public, ed25519.Ed25519PublicKey):
        check = public.verify
    elif isinstance(public, rsa.RSAPublicKey) and public.key_size >= _RSA_BITS:
        modular = public

        def check(signature: bytes, payload: bytes) -> None:
            modular.verify(signature, payload, padding.PKCS1v15(), hashes.SHA256())

    else:
        raise _WrongError(
            f"{where}.key must be a key for ECDSA, Ed25519, or RSA with {_RSA_BITS} bits or more"
        )

    def verify(signature: bytes, payload: bytes) -> bool:
        try:
            check(signature, payload)
        except InvalidSignature:
            return False
        return True

    return verify


def path_of(module_path: str) -> str:
    """The file of the signatures of a module in the store."""
    return f"{os.path.splitext(module_path)[0]}.signatures"
