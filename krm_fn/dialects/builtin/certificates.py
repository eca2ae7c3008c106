"""CertificateSubjectRestriction: nobody gets a client certificate for the group system:masters.

Source: plugin/pkg/admission/certificates/subjectrestriction; Go's crypto/x509/pkix.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import BuiltIn, Forbidden

_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
_MASTERS: Final = "system:masters"


class CertificateSubjectRestriction(BuiltIn):
    """Reads whom a certificate is asked for."""

    name = "CertificateSubjectRestriction"
    kinds = frozenset({("certificates.k8s.io", "CertificateSigningRequest")})

    def validate(self, request: Request, listers: Listers) -> Response:
        spec = request.object["spec"]
        if request.operation is not Operation.CREATE or spec.get("signerName") != _SIGNER:
            return Response()
        if _MASTERS in _organizations(spec.get("request") or ""):
            raise Forbidden(
                request,
                f"use of {_SIGNER} signer with {_MASTERS} group is not allowed",
                field=("spec", "request"),
            )
        return Response()


_PEM: Final = re.compile(
    rb"-----BEGIN (?P<type>[^\r\n]*)-----\r?\n(?P<body>.*?)-----END (?P=type)-----", re.DOTALL
)
_TYPE: Final = b"CERTIFICATE REQUEST"


def _organizations(text: str) -> list[str]:
    """The organizations of a request's subject; none where it cannot be read.

    A request that cannot be read is refused as invalid before any plugin of this phase sees it.
    """
    try:
        block = _PEM.search(base64.b64decode(text))
        if block is None or block["type"] != _TYPE:
            return []
        return list(_read_organizations(base64.b64decode(block["body"])))
    except (_NotDer, binascii.Error, UnicodeDecodeError):
        return []


# ------------------------------------------------------------------------------------------- DER


class _NotDer(ValueError):
    """Bytes that are no DER."""


_SEQUENCE: Final = 0x30
_INTEGER: Final = 0x02
_OBJECT_IDENTIFIER: Final = 0x06
_ORGANIZATION: Final = bytes((0x55, 0x04, 0x0A))
"""2.5.4.10"""

_ENCODINGS: Final = {
    0x0C: "utf-8",
    0x12: "ascii",
    0x13: "ascii",
    0x14: "latin-1",
    0x16: "ascii",
    0x1E: "utf-16-be",
}
"""How the types of texts are written, by their tag."""


def _read_organizations(der: bytes) -> Iterator[str]:
    """CertificationRequest { CertificationRequestInfo { version, subject, ... }, ... }"""
    info = _only(_only(der, _SEQUENCE), _SEQUENCE)
    members = _members(info)
    if next(members, (0, b""))[0] != _INTEGER:
        raise _NotDer
    tag, subject = next(members, (0, b""))
    if tag != _SEQUENCE:
        raise _NotDer
    for _, names in _members(subject):
        for _, name in _members(names):
            parts = list(_members(name))
            if len(parts) == 2 and parts[0] == (_OBJECT_IDENTIFIER, _ORGANIZATION):
                encoding = _ENCODINGS.get(parts[1][0])
                if encoding is not None:
                    yield parts[1][1].decode(encoding)


def _only(data: bytes, tag: int) -> bytes:
    """The content of the first value, which must have a tag."""
    found, content = next(_members(data), (0, b""))
    if found != tag:
        raise _NotDer
    return content


def _members(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and content of each value. Raises _NotDer."""
    at = 0
    while at < len(data):
        if at + 2 > len(data):
            raise _NotDer
        tag, length = data[at], data[at + 1]
        at += 2
        if length & 0x80:
            count = length & 0x7F
            length = int.from_bytes(data[at : at + count])
            at += count
        if at + length > len(data):
            raise _NotDer
        yield tag, data[at : at + length]
        at += length
