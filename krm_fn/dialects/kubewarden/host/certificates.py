"""Certificates that a policy asks about, as far as a render can tell: whether they are any.

Whom a certificate is trusted by depends on the clock and on Mozilla's roots; that is for recorded
answers. What is no certificate is refused before that, in the policy server's words.
Source: policy-evaluator callback_handler/crypto.rs; rustls-webpki 0.103 cert.rs and der.rs;
rustls-pki-types 1.15 pem.rs and base64.rs.
"""

from __future__ import annotations

import base64
import re
from datetime import datetime
from typing import Final

from krm_fn.values import Json


class CertificateError(Exception):
    """A request about a certificate is refused; the message is the policy server's."""


def check(request: Json) -> None:
    """Raise CertificateError if a verification request names no certificate.

    `request` is a decoded CertificateVerificationRequest: `cert` and `cert_chain` of
    `{encoding: Pem | Der, data: [bytes]}`, `not_after` an RFC 3339 time or None.
    """
    leaf = _der(request["cert"])
    try:
        _read_certificate(leaf, strict=True)
    except _DerError as error:
        raise CertificateError(
            f"Certificate is not a valid end-entity certificate: {error}"
        ) from None
    if request["not_after"] is not None and not _is_rfc3339(request["not_after"]):
        raise CertificateError("Timestamp not_after is not in RFC3339 format")
    chain = [_der(certificate) for certificate in request["cert_chain"] or ()]
    if chain:
        try:
            _read_root(chain[-1])
        except _DerError as error:
            raise CertificateError(str(error)) from None


def _der(certificate: Json) -> bytes:
    data = bytes(certificate["data"])
    if certificate["encoding"] == "Der":
        return data
    try:
        return _first_in_pem(data)
    except _PemError as error:
        raise CertificateError(f"Certificate PEM data is not valid: {error}") from None


_RFC3339: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(?:[0-5]\d|60)(?:\.\d+)?"
    r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
)


def _is_rfc3339(text: str) -> bool:
    match = _RFC3339.fullmatch(text)
    if match is None or not text.isascii():
        return False
    try:
        datetime.fromisoformat(f"{match[1]}T{match[2]}")
    except ValueError:
        return False
    return True


# -------------------------------------------------------------------------------------------- PEM


class _PemError(Exception):
    pass


_BEGIN: Final = b"-----BEGIN "
_LABELS: Final = frozenset(
    (
        b"CERTIFICATE",
        b"PUBLIC KEY",
        b"RSA PRIVATE KEY",
        b"PRIVATE KEY",
        b"EC PRIVATE KEY",
        b"X509 CRL",
        b"CERTIFICATE REQUEST",
        b"ECHCONFIG",
    )
)
"""Sections that are decoded, and fail if they are no base64."""


def _first_in_pem(data: bytes) -> bytes:
    """Returns the first certificate of a PEM text."""
    label: bytes | None = None
    body: list[bytes] = []
    for line in re.split(rb"[\r\n]", data):
        if line.startswith(_BEGIN):
            label = _label(line)
        elif label is not None and line.startswith(b"-----END " + label + b"-----"):
            if label in _LABELS:
                section = _base64(b"".join(body))
                if label == b"CERTIFICATE":
                    return section
            label, body = None, []
        elif label is not None:
            body.append(line)
    if label is not None:
        raise _PemError(f"missing section end marker: {list(label)}")
    raise _PemError("no items found")


def _label(line: bytes) -> bytes:
    """Returns the label of a line that begins a section. Five dashes end it, blanks aside."""
    dashes, end = 0, len(line)
    for at in range(len(line) - 1, -1, -1):
        if line[at] == ord("-"):
            dashes, end = dashes + 1, at
        elif line[at] != ord(" "):
            break
    if dashes != 5:
        raise _PemError(f"illegal section start: {list(line)}")
    return line[len(_BEGIN) : end]


_DIGITS: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_PAD: Final = ord("=")
_BLANKS: Final = b" \t\n\r\x0b\x0c"


def _base64(body: bytes) -> bytes:
    """Returns the bytes of a section; padding may be missing, and blanks are skipped."""
    digits = bytearray()
    for byte in body:
        if byte in _BLANKS:
            continue
        if byte != _PAD and byte not in _DIGITS:
            raise _PemError(f"base64 decode error: InvalidCharacter({byte})")
        # Upstream takes eight digits at a time, and looks for padding when the next one comes.
        if digits and len(digits) % 8 == 0 and _PAD in digits[-8:]:
            raise _PemError("base64 decode error: PrematurePadding")
        digits.append(byte)
    last = (len(digits) - 1) // 4 * 4 if digits else 0
    if _PAD in digits[:last]:
        raise _PemError("base64 decode error: PrematurePadding")
    plain = digits[last:].rstrip(b"=")
    if digits and (_PAD in plain or len(plain) < 2 or len(digits) - last not in (4, len(plain))):
        raise _PemError("base64 decode error: InvalidTrailingPadding")
    return base64.b64decode(digits[:last] + plain + b"=" * (-len(plain) % 4))


# -------------------------------------------------------------------------------------------- DER

_BOOLEAN, _INTEGER, _BIT_STRING, _OCTET_STRING, _OID, _SEQUENCE = 1, 2, 3, 4, 6, 0x30
_VERSION, _EXTENSIONS = 0xA0, 0xA3
_LONGEST: Final = 0xFFFF
_UNSUPPORTED_VERSION: Final = "UnsupportedCertVersion"


class _DerError(Exception):
    """The message is the name of webpki's error."""


def _bad_der() -> _DerError:
    return _DerError("BadDer")


def _trailing(what: str) -> _DerError:
    return _DerError(f"TrailingData({what})")


class _Reader:
    """Reads values one after another. Each method raises _DerError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def at_end(self) -> bool:
        return self._at == len(self._data)

    def next_is(self, tag: int) -> bool:
        return not self.at_end() and self._data[self._at] == tag

    def byte(self) -> int:
        if self.at_end():
            raise _bad_der()
        self._at += 1
        return self._data[self._at - 1]

    def expect(self, wanted: int) -> bytes:
        """Returns the contents of the next value, which has this tag."""
        tag, length = self.byte(), self.byte()
        if tag & 0x1F == 0x1F or length == 0x80 or length > 0x84:
            raise _bad_der()
        if length > 0x80:
            size = length - 0x80
            length = int.from_bytes(bytes(self.byte() for _ in range(size)))
            if length < 0x80 or length >> 8 * (size - 1) == 0:
                raise _bad_der()  # a shorter form would do
        end = self._at + length
        if length >= _LONGEST or end > len(self._data):
            raise _bad_der()
        contents = self._data[self._at : end]
        self._at = end
        if tag != wanted:
            raise _bad_der()
        return contents

    def nested(self, tag: int, error: _DerError) -> _Reader:
        """Returns a reader of the next value's contents; `error` if there is none of this tag."""
        try:
            return _Reader(self.expect(tag))
        except _DerError:
            raise error from None

    def end(self, error: _DerError) -> None:
        if not self.at_end():
            raise error


def _read_certificate(data: bytes, *, strict: bool) -> None:
    """Raise _DerError for what is no X.509 certificate of version 3.

    `strict` refuses unknown critical extensions, as for end entities.
    """
    outer = _Reader(data)
    signed = outer.nested(_SEQUENCE, _trailing("SignedData"))
    body, algorithm = signed.expect(_SEQUENCE), signed.expect(_SEQUENCE)
    if signed.nested(_BIT_STRING, _trailing("BitString")).byte() != 0:  # unused bits
        raise _bad_der()
    signed.end(_trailing("SignedData"))
    outer.end(_trailing("Certificate"))
    _read_body(_Reader(body), algorithm, strict)


def _read_body(body: _Reader, algorithm: bytes, strict: bool) -> None:
    unsupported = _DerError(_UNSUPPORTED_VERSION)
    version = body.nested(_VERSION, unsupported)
    number = version.expect(_INTEGER)
    if not _is_byte(number):
        raise _bad_der()
    if number != b"\2":
        raise unsupported
    version.end(unsupported)
    body.expect(_INTEGER)  # the serial number
    if body.expect(_SEQUENCE) != algorithm:
        raise _DerError("SignatureAlgorithmMismatch")
    for _ in ("issuer", "validity", "subject", "public key"):
        body.expect(_SEQUENCE)
    if not body.at_end():
        tagged = body.nested(_EXTENSIONS, _trailing("CertificateExtensions"))
        extensions = tagged.nested(_SEQUENCE, _trailing("Extension"))
        seen: set[bytes] = set()
        while not extensions.at_end():
            extension = extensions.nested(_SEQUENCE, _trailing("Extension"))
            _read_extension(extension, seen, strict)
            extension.end(_trailing("Extension"))
        tagged.end(_trailing("CertificateExtensions"))
        body.end(_trailing("CertificateTbsCertificate"))


def _is_byte(number: bytes) -> bool:
    """Whether an integer is one from 0 to 255, in its shortest form."""
    if len(number) == 1:
        return number[0] < 0x80
    return len(number) == 2 and number[0] == 0 and number[1] >= 0x80


def _read_root(data: bytes) -> None:
    """Raise _DerError for what can be no root; it may be of version 1, which has no extensions."""
    try:
        _read_certificate(data, strict=False)
    except _DerError as error:
        if str(error) != _UNSUPPORTED_VERSION:
            raise
        try:
            _read_version_1(data)
        except _DerError:
            raise _bad_der() from None


def _read_version_1(data: bytes) -> None:
    outer = _Reader(data)
    signed = outer.nested(_SEQUENCE, _bad_der())
    body = signed.nested(_SEQUENCE, _bad_der())
    body.expect(_INTEGER)  # the serial number
    for _ in ("signature", "issuer", "validity", "subject", "public key"):
        body.expect(_SEQUENCE)
    signed.expect(_SEQUENCE)
    signed.expect(_BIT_STRING)
    for reader in (body, signed, outer):
        reader.end(_bad_der())


_KEY_USAGE: Final = b"\x55\x1d\x0f"
_KNOWN: Final = frozenset(b"\x55\x1d" + bytes([last]) for last in (15, 17, 19, 30, 31, 37))
"""The extensions that count: 2.5.29.15 (key usage), names, constraints, lists, extended usage."""


def _read_extension(extension: _Reader, seen: set[bytes], strict: bool) -> None:
    name = extension.expect(_OID)
    critical = extension.next_is(_BOOLEAN) and _boolean(extension)
    value = _Reader(extension.expect(_OCTET_STRING))
    if name not in _KNOWN:
        if critical and strict:
            raise _DerError("UnsupportedCriticalExtension")
        return
    if name in seen:
        raise _DerError("ExtensionValueInvalid")
    seen.add(name)
    if name != _KEY_USAGE:
        value.expect(_SEQUENCE)
        value.end(_bad_der())


def _boolean(reader: _Reader) -> bool:
    flag = reader.nested(_BOOLEAN, _trailing("Bool"))
    value = flag.byte()
    if value not in (0x00, 0xFF):
        raise _bad_der()
    flag.end(_trailing("Bool"))
    return value == 0xFF
