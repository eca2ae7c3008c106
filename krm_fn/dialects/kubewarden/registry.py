"""Downloads modules: the one place of the program that opens a socket.

Speaks the OCI distribution protocol as far as a policy needs it: manifest, one layer, and a bearer
token where a registry asks for one. Without TLS only on this machine. Nothing is believed but
digests.
Source: OCI distribution-spec 1.1; policy-fetcher's media types.
"""

from __future__ import annotations

import hashlib
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any, Final

from krm_fn import limits
from krm_fn.errors import ConfigError

_LAYER: Final = "application/vnd.wasm.content.layer.v1+wasm"
_MANIFESTS: Final = (
    "application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json"
)
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "[::1]"))
_MANIFEST_BYTES: Final = 4 * 1024 * 1024
_SECONDS: Final = 60
_REFERENCE: Final = re.compile(
    r"(?P<host>[^/@]+)/(?P<name>[a-z0-9._/-]+?)"
    r"(?:@(?P<digest>sha256:[0-9a-f]{64})|:(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?"
)
_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')


class PullError(ConfigError):
    """A module cannot be downloaded."""


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
    scheme, _, rest = url.partition("://")
    if scheme == "registry":
        return _from_registry(parse_reference(rest))
    parts = urllib.parse.urlsplit(url)
    if scheme == "http" and parts.hostname not in _LOOPBACK:
        raise PullError(f"{url} is not encrypted; use https")
    if scheme not in ("http", "https"):
        raise PullError(f"{url} is nothing to download: use registry:// or https://")
    return _get(url, {}, limits.WASM_MODULE)


def _from_registry(reference: Reference) -> bytes:
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
    digest = _layer(text, reference)
    blob = _authorized(f"{base}/blobs/{digest}", {}, headers, limits.WASM_MODULE)
    _check(blob, digest, "the module")
    return blob


def _layer(text: bytes, reference: Reference) -> str:
    """The digest of the layer that is the module."""
    try:
        manifest: Any = json.loads(text)
        layers = manifest["layers"]
        chosen = [layer for layer in layers if layer.get("mediaType") == _LAYER]
        digest = (chosen or layers)[0]["digest"]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        digest = None
    if type(digest) is not str or not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise PullError(
            f"{reference.host}/{reference.name}:{reference.version} is no policy: its manifest "
            "names no layer"
        )
    return digest


def _check(data: bytes, digest: str, what: str) -> None:
    found = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if found != digest:
        raise PullError(f"{what} that came is not what was asked for: {found} instead of {digest}")


def _authorized(url: str, wanted: dict[str, str], token: dict[str, str], most: int) -> bytes:
    """A resource, with a token if the registry wants one; `token` keeps it."""
    try:
        return _get(url, {**wanted, **token}, most)
    except _Unauthorized as refusal:
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
    if realm.startswith("http://") and urllib.parse.urlsplit(realm).hostname not in _LOOPBACK:
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


class _Unauthorized(PullError):
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
    request = urllib.request.Request(url, headers={"User-Agent": "krm-fn", **headers})  # noqa: S310
    opener = urllib.request.build_opener(_NoDowngrade)
    try:
        with opener.open(request, timeout=_SECONDS) as response:
            data: bytes = response.read(most + 1)
    except urllib.error.HTTPError as error:
        challenge = error.headers.get("WWW-Authenticate", "")
        error.close()
        if error.code == 401:
            raise _Unauthorized(challenge, url) from None
        raise PullError(f"{url}: {error.code} {error.reason}") from None
    except (urllib.error.URLError, TimeoutError, ConnectionError, ValueError) as error:
        raise PullError(f"{url}: {getattr(error, 'reason', error)}") from None
    if len(data) > most:
        raise PullError(f"{url}: larger than {most // 2**20} MiB")
    return data
