"""The random part of generated names, which here is not random: runs agree.

Source: k8s.io/apiserver pkg/storage/names; apimachinery pkg/util/rand.
"""

from __future__ import annotations

import hashlib
from typing import Final

from krm_fn.admission import Request
from krm_fn.dialects.builtin.plugin import object_name

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH: Final = 5


def random_suffix(request: Request) -> str:
    """Five characters of the cluster's alphabet, made of what the object is called."""
    head = request.head
    identity = "\0".join((head.group, head.kind, request.namespace, object_name(request.object)))
    number = int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8])
    suffix = ""
    for _ in range(_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        suffix += _ALPHABET[digit]
    return suffix
