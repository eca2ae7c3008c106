"""Certificates that are none, in the words of the policy server's libraries.

The texts are what rustls-pki-types 1.15.1 and rustls-webpki 0.103.16 answered, called as
policy-evaluator's callback_handler/crypto.rs calls them.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest

from krm_fn.dialects.kubewarden.host.certificates import CertificateError, check


def der(tag: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    size = len(body)
    length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2)
    return bytes([tag]) + length + body


def sequence(*parts: bytes) -> bytes:
    return der(0x30, *parts)


ALGORITHM = sequence(der(6, b"\x2a\x86\x48\xce\x3d\x04\x03\x02"))
VERSION_3 = der(0xA0, der(2, b"\2"))
FILLED = [der(2, b"\x12\x34"), ALGORITHM, *[sequence()] * 4]
SIGNATURE = der(3, b"\0sig")


def extension(last: int, value: bytes = b"\x30\0", critical: bytes = b"") -> bytes:
    return sequence(der(6, b"\x55\x1d" + bytes([last])), critical, der(4, value))


def certificate(
    *extensions: bytes,
    version: bytes = VERSION_3,
    algorithm: bytes = ALGORITHM,
    signature: bytes = SIGNATURE,
    more: bytes = b"",
) -> bytes:
    tagged = der(0xA3, sequence(*extensions)) if extensions else b""
    return sequence(sequence(version, *FILLED, tagged), algorithm, signature) + more


def request(data: bytes, encoding: str = "Der", **members: Any) -> Any:
    cert = {"encoding": encoding, "data": list(data)}
    return {"cert": cert, "cert_chain": None, "not_after": None, **members}


CRITICAL = der(1, b"\xff")
NO_LEAF = "Certificate is not a valid end-entity certificate: "
LEAVES = {
    "nothing": (b"", "TrailingData(SignedData)"),
    "garbage": (b"\1\2\3", "TrailingData(SignedData)"),
    "cut off": (certificate()[:-1], "TrailingData(SignedData)"),
    "more behind it": (certificate(more=b"\0"), "TrailingData(Certificate)"),
    "an empty sequence": (sequence(), "BadDer"),
    "version 1": (certificate(version=b""), "UnsupportedCertVersion"),
    "version 2": (certificate(version=der(0xA0, der(2, b"\1"))), "UnsupportedCertVersion"),
    "a negative version": (certificate(version=der(0xA0, der(2, b"\xff"))), "BadDer"),
    "a version of two bytes": (certificate(version=der(0xA0, der(2, b"\0\2"))), "BadDer"),
    "another algorithm outside": (certificate(algorithm=sequence()), "SignatureAlgorithmMismatch"),
    "unused bits": (certificate(signature=der(3, b"\1x")), "BadDer"),
    "no signature": (certificate(signature=b""), "TrailingData(BitString)"),
    "an unknown critical extension": (
        certificate(extension(99, critical=CRITICAL)),
        "UnsupportedCriticalExtension",
    ),
    "an extension twice": (certificate(extension(19), extension(19)), "ExtensionValueInvalid"),
    "an extension that is no sequence": (certificate(extension(19, b"\4\0")), "BadDer"),
    "a boolean that is none": (certificate(extension(19, critical=der(1, b"\1"))), "BadDer"),
    "a length in a longer form": (b"\x30\x81\x05" + b"x" * 5, "TrailingData(SignedData)"),
}


@pytest.mark.parametrize(("data", "reason"), LEAVES.values(), ids=LEAVES)
def test_what_is_no_certificate_is_named_as_webpki_names_it(data: bytes, reason: str) -> None:
    with pytest.raises(CertificateError) as caught:
        check(request(data))
    assert str(caught.value) == NO_LEAF + reason


@pytest.mark.parametrize(
    "extensions",
    [
        [],
        [extension(15, b"\3\2\1\6", CRITICAL), extension(17), extension(19, critical=CRITICAL)],
        [extension(99), extension(99, b"anything")],
    ],
    ids=["none", "known ones", "unknown ones"],
)
def test_a_certificate_is_one_whoever_it_is_trusted_by(extensions: list[bytes]) -> None:
    check(request(certificate(*extensions)))


def pem(body: str, label: str = "CERTIFICATE") -> str:
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"


GOOD = pem(base64.b64encode(certificate()).decode())
TEXTS = {
    "no pem": ("hello", "no items found"),
    "another section": (pem("AAAA", "PUBLIC KEY"), "no items found"),
    "no end": (
        "-----BEGIN CERTIFICATE-----\nAAAA\n",
        "missing section end marker: [67, 69, 82, 84, 73, 70, 73, 67, 65, 84, 69]",
    ),
    "a begin of four dashes": (
        "-----BEGIN X----",
        "illegal section start: [45, 45, 45, 45, 45, 66, 69, 71, 73, 78, 32, 88, 45, 45, 45, 45]",
    ),
    "an odd character": (pem("AA!A"), "base64 decode error: InvalidCharacter(33)"),
    "early padding": (pem("A===AAAA"), "base64 decode error: PrematurePadding"),
    "one digit": (pem("A"), "base64 decode error: InvalidTrailingPadding"),
    "a bad key first": (
        pem("?", "PRIVATE KEY") + GOOD,
        "base64 decode error: InvalidCharacter(63)",
    ),
}


@pytest.mark.parametrize(("text", "reason"), TEXTS.values(), ids=TEXTS)
def test_what_is_no_pem_is_named_as_the_library_names_it(text: str, reason: str) -> None:
    with pytest.raises(CertificateError) as caught:
        check(request(text.encode(), "Pem"))
    assert str(caught.value) == f"Certificate PEM data is not valid: {reason}"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "about it\n" + GOOD,
        pem("AAAA", "PRIVATE KEY") + GOOD,
        pem("!!", "SOMETHING") + GOOD,
        GOOD.replace("=", ""),
        GOOD.replace("CERTIFICATE-----\nM", "CERTIFICATE----- \n M"),
    ],
)
def test_the_first_certificate_of_a_pem_text_counts(text: str) -> None:
    check(request(text.encode(), "Pem"))


@pytest.mark.parametrize("time", ["2024-01-01T00:00:00Z", "2024-02-29 23:59:60.5+02:00"])
def test_times_of_rfc_3339_pass(time: str) -> None:
    check(request(certificate(), not_after=time))


@pytest.mark.parametrize(
    "time", ["", "2024-01-01", "2024-01-01T00:00:00", "2023-02-29T00:00:00Z", "tomorrow"]
)
def test_other_times_are_refused(time: str) -> None:
    with pytest.raises(CertificateError, match="not_after is not in RFC3339 format"):
        check(request(certificate(), not_after=time))


CHAINS = {
    "a root of version 1": ([certificate(version=b"")], ""),
    "a root with an unknown critical extension": (
        [certificate(extension(99, critical=CRITICAL))],
        "",
    ),
    "an intermediate that is none": ([b"x", certificate()], ""),
    "a root that is none": ([certificate(), b"x"], "TrailingData(SignedData)"),
    "a root of version 2": ([certificate(version=der(0xA0, der(2, b"\1")))], "BadDer"),
}


@pytest.mark.parametrize(("chain", "reason"), CHAINS.values(), ids=CHAINS)
def test_the_last_of_a_chain_must_be_able_to_be_a_root(chain: list[bytes], reason: str) -> None:
    certificates = [{"encoding": "Der", "data": list(data)} for data in chain]
    asked = request(certificate(), cert_chain=certificates)
    if not reason:
        check(asked)
        return
    with pytest.raises(CertificateError) as caught:
        check(asked)
    assert str(caught.value) == reason
