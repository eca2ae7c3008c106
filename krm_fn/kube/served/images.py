"""The pull policy that an image reference stands for.

Source: Kubernetes pkg/util/parsers over distribution/reference v0.6 (normalize.go, regexp.go);
the served form's specification, section (c).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

ALWAYS: Final = "Always"
IF_NOT_PRESENT: Final = "IfNotPresent"

_PATH_LENGTH: Final = 255
_LONGEST: Final = 2_000
"""Characters that no valid reference has."""


@lru_cache(maxsize=1024)
def pull_policy(image: str) -> str:
    """Always for the tag `latest` and for neither tag nor digest, else IfNotPresent.

    A reference that does not parse gives IfNotPresent.
    """
    parsed = _reference().match(_normal(image)) if len(image) <= _LONGEST else None
    if parsed is None or _is_identifier(image) or len(parsed["path"]) > _PATH_LENGTH:
        return IF_NOT_PRESENT
    tag, algorithm, digest = parsed["tag"], parsed["algorithm"], parsed["digest"]
    if algorithm is not None and not _is_digest(algorithm, digest):
        return IF_NOT_PRESENT
    if tag is None:
        return IF_NOT_PRESENT if algorithm is not None else ALWAYS
    return ALWAYS if tag == "latest" else IF_NOT_PRESENT


def _normal(image: str) -> str:
    """The reference with its registry: a first part is one if it looks like a host's name."""
    first, slash, rest = image.partition("/")
    if slash and (first == "localhost" or "." in first or ":" in first or first != first.lower()):
        path = f"library/{rest}" if first in _DOCKER and "/" not in rest else rest
        return f"{'docker.io' if first in _DOCKER else first}/{path}"
    return f"docker.io/{image}" if slash else f"docker.io/library/{image}"


_DOCKER: Final = ("docker.io", "index.docker.io")


@cache
def _reference() -> re.Pattern[str]:
    """Compiled when the first image comes: most commands never see one."""
    host = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
    domain = rf"(?:{host}(?:\.{host})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
    part = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
    tag = r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}"
    algorithm = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*"
    return re.compile(
        rf"{domain}/(?P<path>{part}(?:/{part})*)(?::(?P<tag>{tag}))?"
        rf"(?:@(?P<algorithm>{algorithm}):(?P<digest>[0-9a-fA-F]{{32,}}))?\Z"
    )


_DIGESTS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}


def _is_digest(algorithm: str, digest: str) -> bool:
    """Whether the algorithm is one that is known, and the digest has its length."""
    return _DIGESTS.get(algorithm) == len(digest) and digest == digest.lower()


def _is_identifier(image: str) -> bool:
    """64 hexadecimal digits name a content, not a repository."""
    return len(image) == 64 and all(char in "0123456789abcdef" for char in image)
