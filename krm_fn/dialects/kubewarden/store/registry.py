"""Downloads modules: the one place of the program that opens a socket.

Speaks the OCI distribution protocol as far as a policy needs it: manifest, one layer, cosign's
signatures of the manifest, and a bearer token where a registry asks for one. Without TLS only on
this machine. Nothing is believed but digests, and whatever a server answers that cannot be read is
an error in one sentence.
Source: OCI distribution-spec 1.1; policy-fetcher's media types; cosign's SIGNATURE_SPEC.md (the tag
`sha256-DIGEST.sig`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import http.client
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from krm_fn import limits
from krm_fn.dialects.kubewarden.store.signatures import Signature, SignedManifest, module_of
from krm_fn.errors import ConfigError

_MANIFESTS: Final = (
    "application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json"
)
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "[::1]"))
_MANIFEST_BYTES: Final = 4 * 1024 * 1024
_SECONDS: Final = 60
_ALL_SECONDS: Final = 600
"""For one answer as a whole: a server may send a byte a minute."""
_CHUNK: Final = 1 << 20
_SIGNATURES: Final = 64
_SIGNED: Final = "application/vnd.dev.cosign.simplesigning.v1+json"
_SIGNATURE: Final = "dev.cosignproject.cosign/signature"
_PAYLOAD_BYTES: Final = 64 * 1024
_REFERENCE: Final = re.compile(
    r"(?P<host>[^/@]+)/(?P<name>[a-z0-9._/-]+?)"
    r"(?:@(?P<digest>sha256:[0-9a-f]{64})|:(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?"
)
_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')


class PullError(ConfigError):
    """A module cannot be downloaded. `status` is that of the server's answer, 0 for none."""

    status = 0


class Download(NamedTuple):
    """A module, and what is signed of it."""

    module: bytes
    signed: SignedManifest | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A place in a registry; `version` is a tag or a digest."""

    host: str
    name: str
    version: str


def parse_reference(text: str) -> Reference:
    """`ghcr.io/kubewarden/policies/x:v1`, or with a digest. Raises PullError."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise PullError(f"{text} is no reference to a registry, such as ghcr.io/org/policy:v1")
    return Reference(match["host"], match["name"], match["digest"] or match["tag"] or "latest")


def download(url: str) -> bytes:
    """The module at a `registry://` or `https://` URL. Raises PullError."""
    return fetch(url).module


def fetch(url: str) -> Download:
    """The same, with its signatures where it is in a registry that has some. Raises PullError."""
    scheme, _, rest = url.partition("://")
    if scheme == "registry":
        return _from_registry(parse_reference(rest))
    if scheme == "http" and _host(url) not in _LOOPBACK:
        raise PullError(f"{url} is not encrypted; use https")
    if scheme not in ("http", "https"):
        raise PullError(f"{url} is nothing to download: use registry:// or https://")
    return Download(_get(url, {}, limits.WASM_MODULE), None)


def _host(url: str) -> str:
    try:
        return urllib.parse.urlsplit(url).hostname or ""
    except ValueError:
        raise PullError(f"{url} is no URL") from None


def _from_registry(reference: Reference) -> Download:
    host = reference.host
    plain = host.rpartition(":")[0] in _LOOPBACK or host in _LOOPBACK
    base = f"{'http' if plain else 'https'}://{host}/v2/{reference.name}"
    headers: dict[str, str] = {}
    text = _authorized(
        f"{base}/manifests/{reference.version}",
        {"Accept": _MANIFESTS},
        headers,
        _MANIFEST_BYTES,
    )
    if reference.version.startswith("sha256:"):
        _check(text, reference.version, "the manifest")
    digest = module_of(text)
    if digest is None:
        raise PullError(
            f"{reference.host}/{reference.name}:{reference.version} is no policy: its manifest "
            "names no layer"
        )
    blob = _authorized(f"{base}/blobs/{digest}", {}, headers, limits.WASM_MODULE)
    _check(blob, digest, "the module")
    signatures = tuple(_signatures(base, text, headers))
    return Download(blob, SignedManifest(text, signatures) if signatures else None)


def _signatures(base: str, manifest: bytes, headers: dict[str, str]) -> Iterator[Signature]:
    """Cosign's signatures of a manifest; what is none is left out. Raises PullError."""
    tag = f"sha256-{hashlib.sha256(manifest).hexdigest()}.sig"
    try:
        text = _authorized(
            f"{base}/manifests/{tag}", {"Accept": _MANIFESTS}, headers, _MANIFEST_BYTES
        )
    except PullError as error:
        if 400 <= error.status < 500:
            return  # there are none
        raise
    try:
        layers = json.loads(text)["layers"][:_SIGNATURES]
        chosen = [layer for layer in layers if layer.get("mediaType") == _SIGNED]
        named = [(layer["digest"], layer["annotations"][_SIGNATURE]) for layer in chosen]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise PullError(f"{base}/manifests/{tag} holds no signatures") from None
    for digest, encoded in named:
        if type(digest) is not str or not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
            continue
        payload = _authorized(f"{base}/blobs/{digest}", {}, headers, _PAYLOAD_BYTES)
        _check(payload, digest, "a signature")
        try:
            yield Signature(payload, base64.b64decode(str(encoded), validate=True))
        except (binascii.Error, ValueError):
            continue


def _check(data: bytes, digest: str, what: str) -> None:
    found = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if found != digest:
        raise PullError(f"{what} that came is not what was asked for: {found} instead of {digest}")


def _authorized(url: str, wanted: dict[str, str], token: dict[str, str], most: int) -> bytes:
    """A resource, with a token if the registry wants one; `token` keeps it."""
    try:
        return _get(url, {**wanted, **token}, most)
    except _UnauthorizedError as refusal:
        if token:
            raise PullError(f"{url}: the registry refuses access without credentials") from None
        token["Authorization"] = f"Bearer {_token(refusal.challenge, url)}"
    return _get(url, {**wanted, **token}, most)


def _token(challenge: str, url: str) -> str:
    """An anonymous token, from where the registry says."""
    scheme, _, rest = challenge.partition(" ")
    fields = dict(_CHALLENGE.findall(rest))
    realm = fields.pop("realm", "")
    if scheme.lower() != "bearer" or not realm.startswith(("https://", "http://")):
        raise PullError(f"{url}: the registry refuses access without credentials")
    if realm.startswith("http://") and _host(realm) not in _LOOPBACK:
        raise PullError(f"{url}: the registry sends for a token to {realm}, which is not encrypted")
    query = urllib.parse.urlencode(
        {key: fields[key] for key in ("service", "scope") if key in fields}
    )
    try:
        found: Any = json.loads(_get(f"{realm}?{query}", {}, _MANIFEST_BYTES))
        token = found.get("token") or found.get("access_token")
    except (ValueError, AttributeError, RecursionError):
        token = None
    if type(token) is not str or "\n" in token:
        raise PullError(f"{url}: the registry gives no token without credentials")
    return token


class _UnauthorizedError(PullError):
    def __init__(self, challenge: str, url: str) -> None:
        super().__init__(f"{url}: the registry refuses access without credentials")
        self.challenge = challenge


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Follows no redirect out of TLS, and takes no token along to another host."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> Any:
        if req.full_url.startswith("https://") and not newurl.startswith("https://"):
            raise PullError(f"{req.full_url} redirects to {newurl}, which is not encrypted")
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is not None and made.host != req.host:
            made.remove_header("Authorization")
        return made


def _get(url: str, headers: dict[str, str], most: int) -> bytes:
    opener = urllib.request.build_opener(_NoDowngrade)
    try:
        wanted = {"User-Agent": "krm-fn", **headers}
        request = urllib.request.Request(url, headers=wanted)  # noqa: S310
        with opener.open(request, timeout=_SECONDS) as response:
            return _read(response, most, url)
    except urllib.error.HTTPError as error:
        challenge = error.headers.get("WWW-Authenticate", "")
        error.close()
        if error.code == 401:
            raise _UnauthorizedError(challenge, url) from None
        refusal = PullError(f"{url}: {error.code} {error.reason}")
        refusal.status = error.code
        raise refusal from None
    except (OSError, ValueError) as error:
        raise PullError(f"{url}: {getattr(error, 'reason', None) or error}") from None
    except http.client.HTTPException as error:
        what = _BAD_ANSWERS.get(type(error).__name__, "it breaks the rules of HTTP")
        raise PullError(f"{url}: the server's answer cannot be read: {what}") from None


_BAD_ANSWERS: Final = {
    "BadStatusLine": "its first line is no status",
    "IncompleteRead": "it ends too early",
    "InvalidURL": "the address is none",
    "LineTooLong": "a line of its headers is too long",
    "RemoteDisconnected": "the server hung up",
    "UnknownProtocol": "its version of HTTP is not known",
}


def _read(response: Any, most: int, url: str) -> bytes:
    """The body of an answer, as far as it may be long. Raises PullError."""
    end = time.monotonic() + _ALL_SECONDS
    data = bytearray()
    while chunk := response.read1(_CHUNK):
        data += chunk
        if len(data) > most:
            raise PullError(f"{url}: larger than {_size(most)}")
        if time.monotonic() > end:
            raise PullError(f"{url}: not done after {_ALL_SECONDS} s")
    if response.length:
        raise PullError(f"{url}: the server's answer ends too early")
    return bytes(data)


def _size(most: int) -> str:
    return f"{most // 2**20} MiB" if most >= 2**20 else f"{most} bytes"
