"""Sprig's cryptography: what has one answer is worked out, what makes secrets never is.

Keys, certificates, salted hashes and ciphertexts come out differently each time in Go. A render
that made them up from a seed would put guessable secrets into manifests, so these functions check
their arguments as Go does, give the texts that Go gives for wrong ones, and are errors otherwise.
The package `cryptography` is optional and loads when a function needs it.
Source: Sprig's crypto.go; Go's encoding/pem and crypto/x509.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.values import from_bytes, is_nil, to_bytes
from krm_fn.lang.gotemplate.sprig.convert import strval
from krm_fn.lang.gotemplate.sprig.encodings import wrong_base64
from krm_fn.lang.gotemplate.values import TYPES, Family, FunctionError, Object, RefusedError, Type

FUNCTIONS: Final = Family()

_SLOW: Final = 150_000
"""The steps that a password's derivation costs: it is slow on purpose."""
_KEY_BYTES: Final = 16 * 1024
"""The largest certificate or key, in bytes, that is parsed."""


class Certificate(Object):
    """A certificate and its key, both as PEM."""

    __slots__ = ("cert", "key")
    go_type = "sprig.certificate"

    def __init__(self, cert: str, key: str) -> None:
        self.cert = cert
        self.key = key

    def go_fields(self) -> dict[str, Any]:
        return {"Cert": self.cert, "Key": self.key}

    def member(self, name: str) -> Any:
        return self.go_fields()[name]

    def go_json(self) -> dict[str, Any]:
        return self.go_fields()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self.go_fields() == other.go_fields()

    __hash__ = None  # type: ignore[assignment]


def _refuse() -> NoReturn:
    raise RefusedError("is not available at render")


def _missing_extra() -> RefusedError:
    return RefusedError("needs the extra krm-fn[crypto]")


# Passwords

_SEED: Final = b"com.lyndir.masterpassword"

_TEMPLATES: Final = {
    "maximum": "anoxxxxxxxxxxxxxxxxx axxxxxxxxxxxxxxxxxno",
    "long": """
        CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv
        CvccCvcvCvcvno CvcvnoCvccCvcv CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc
        CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv CvccCvccCvcvno
        CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc
        CvccCvcvCvccno""",
    "medium": "CvcnoCvc CvcCvcno",
    "short": "Cvcn",
    "basic": "aaanaaan aannaaan aaannaaa",
    "pin": "nnnn",
}
"""The forms of passwords by type, which the Master Password algorithm fixes."""

_VOWELS: Final = "aeiou"
_CONSONANTS: Final = "bcdfghjklmnpqrstvwxyz"
_DIGITS: Final = "0123456789"
_UPPER: Final = _VOWELS.upper() + _CONSONANTS.upper()
_LETTERS: Final = _VOWELS.upper() + _VOWELS + _CONSONANTS.upper() + _CONSONANTS
_CHARACTERS: Final = {
    "V": _VOWELS.upper(),
    "C": _CONSONANTS.upper(),
    "v": _VOWELS,
    "c": _CONSONANTS,
    "A": _UPPER,
    "a": _LETTERS,
    "n": _DIGITS,
    "o": "@&%?,=[]_:-+*$#!'^~;()/.",
    "x": _LETTERS + _DIGITS + "!@#$%^&*()",
}

_UINT32: Final = Type("uint32", lambda _: False, None, lambda v: int(v) % (1 << 32), "uint")


@FUNCTIONS.function(
    "derivePassword",
    "uint32 string string string string",
    types={**TYPES, "uint32": _UINT32},
    budget=True,
)
def derive_password(
    budget: Budget, counter: int, kind: str, password: str, user: str, site: str
) -> str:
    """The Master Password of a user for a site: the same each time."""
    if kind not in _TEMPLATES:
        return f"cannot find password template {kind}"
    budget.spend(_SLOW)
    name = to_bytes(user)
    salt = _SEED + len(name).to_bytes(4, "big") + name
    key = hashlib.scrypt(
        to_bytes(password), salt=salt, n=32768, r=8, p=2, maxmem=64 * 1024 * 1024, dklen=64
    )
    place = to_bytes(site)
    message = _SEED + len(place).to_bytes(4, "big") + place + counter.to_bytes(4, "big")
    seed = hmac.new(key, message, "sha256").digest()
    forms = _TEMPLATES[kind].split()
    form = forms[seed[0] % len(forms)]
    alphabets = [_CHARACTERS[letter] for letter in form]
    return "".join(
        alphabet[byte % len(alphabet)] for alphabet, byte in zip(alphabets, seed[1:], strict=False)
    )


@FUNCTIONS.function("bcrypt", "string")
def bcrypt(password: str) -> str:
    """Always refused: its salt is random."""
    _refuse()


@FUNCTIONS.function("htpasswd", "string string")
def htpasswd(user: str, password: str) -> str:
    """Returns that a name with a colon is wrong; else refused."""
    if ":" in user:
        return f"invalid username: {user}"
    _refuse()


# Ciphers


@FUNCTIONS.function("encryptAES", "string string")
def encrypt_aes(password: str, text: str) -> str:
    """Returns nothing for nothing; else refused, since the first block is random."""
    if not text:
        return ""
    _refuse()


@FUNCTIONS.function("decryptAES", "string string", budget=True)
def decrypt_aes(budget: Budget, password: str, text: str) -> str:
    """The text that Sprig's encryptAES encrypted: AES-256-CBC, the first block first, in base64."""
    if not text:
        return ""
    budget.spend(40 + len(text) // 8)
    data = _base64(text)
    key = to_bytes(password)[:32].ljust(32, b"\0")
    start, blocks = data[:16], data[16:]
    if len(start) < 16:
        raise FunctionError(
            f"runtime error: slice bounds out of range [:16] with capacity {len(data)}"
        )
    if len(blocks) % 16:
        raise FunctionError("crypto/cipher: input not full blocks")
    if not blocks:
        raise FunctionError("runtime error: index out of range [-1]")
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise _missing_extra() from None
    decryptor = Cipher(algorithms.AES(key), modes.CBC(start)).decryptor()
    plain = decryptor.update(blocks) + decryptor.finalize()
    end = len(plain) - plain[-1]
    if end < 0:
        raise FunctionError(f"runtime error: slice bounds out of range [:{end}]")
    return from_bytes(plain[:end])


def _base64(text: str) -> bytes:
    """The bytes of a string in base64; raises FunctionError as Go's decoder says it."""
    data = to_bytes(text)
    wrong = wrong_base64(data)
    if wrong is not None:
        raise FunctionError(f"illegal base64 data at input byte {wrong}")
    return base64.b64decode(data)


# Keys and certificates

_BEGIN: Final = re.compile(r"(?:\A|(?<=\n))-----BEGIN ([^\n]*?)-----[ \t\r]*(?:\n|\Z)")
_HEADERS: Final = re.compile(r"(?:[^\n:]*:[^\n]*\n)*")


def _pem(budget: Budget, text: str) -> tuple[str, bytes] | None:
    """The type and the bytes of the first block of a string that is whole; None if none is."""
    for kind, body in _blocks(text):
        # A block that is not whole is read, and those inside it are read again.
        budget.spend(10 + len(body) // 8)
        body = body[_headers_end(body) :]
        data = re.sub(r"[ \t\r\n]", "", body).encode("latin-1")
        if wrong_base64(data) is None:
            return kind, base64.b64decode(data)
    return None


def _headers_end(body: str) -> int:
    match = _HEADERS.match(body)
    return match.end() if match else 0


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    text = to_bytes(text).decode("latin-1")
    end = -1
    for match in _BEGIN.finditer(text):
        if end < match.end() - 1:
            end = text.find("\n-----END ", match.end() - 1)
            if end < 0:
                return
        if text.startswith(match[1] + "-----", end + len("\n-----END ")):
            yield match[1], text[match.end() : end + 1]


def _key_block(budget: Budget, text: str) -> tuple[str, bytes]:
    """The type and the bytes of a private key; raises FunctionError where the text has none."""
    block = _pem(budget, text)
    if block is None:
        raise FunctionError("no PEM data in input")
    kind, data = block
    if kind != "PRIVATE KEY" and not kind.endswith(" PRIVATE KEY"):
        raise FunctionError(f"no private key data in PEM block of type {kind}")
    name = kind.removesuffix("PRIVATE KEY").strip()
    if name not in ("", "RSA", "EC", "DSA"):
        raise FunctionError(f"invalid private key type {name}")
    return kind, data


def _parsed_key(budget: Budget, text: str) -> None:
    """Check that a string is a private key; raises FunctionError."""
    kind, data = _key_block(budget, text)
    if len(data) > _KEY_BYTES:
        raise FunctionError(f"it has more than {_KEY_BYTES:,} bytes")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        # Go does not ask whether an RSA key's factors are prime, which takes long.
        load_der_private_key(data, None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        name = "PKCS#8" if kind == "PRIVATE KEY" else kind
        raise FunctionError(f"decoding PEM as {name}: {error}") from None


@FUNCTIONS.function("buildCustomCert", "string string", budget=True)
def build_custom_cert(budget: Budget, certificate: str, key: str) -> Certificate:
    """A certificate and its key, both PEM in base64, which are parsed and given back."""
    texts = []
    for text, name in ((certificate, "certificate"), (key, "private key")):
        try:
            texts.append(from_bytes(_base64(text)))
        except FunctionError:
            raise FunctionError(f"unable to decode base64 {name}") from None
    block = _pem(budget, texts[0])
    if block is None:
        raise FunctionError("unable to decode certificate")
    budget.spend(_SLOW // 10)
    try:
        from cryptography.x509 import load_der_x509_certificate
    except ImportError:
        raise _missing_extra() from None
    try:
        if len(block[1]) > _KEY_BYTES:
            raise ValueError(f"it has more than {_KEY_BYTES:,} bytes")
        load_der_x509_certificate(block[1])
    except ValueError as error:
        reason = f"error parsing certificate: decodedCert.Bytes: {error}"
        raise FunctionError(reason) from None
    try:
        _parsed_key(budget, texts[1])
    except FunctionError as error:
        raise FunctionError(f"error parsing private key: {error}") from None
    return Certificate(texts[0], texts[1])


@FUNCTIONS.function("genPrivateKey", "string")
def gen_private_key(kind: str) -> str:
    """Returns that there is no such type; else refused."""
    if kind not in ("", "rsa", "dsa", "ecdsa", "ed25519"):
        return f"Unknown type {kind}"
    _refuse()


_CERTIFICATE: Final = Type("sprig.certificate", lambda v: type(v) is Certificate)
_CERTIFICATE_TYPES: Final = {**TYPES, "certificate": _CERTIFICATE}


def _check_names(budget: Budget, addresses: list[Any], names: list[Any]) -> None:
    """Check a certificate's addresses and names. A nil list has neither."""
    for address in [] if is_nil(addresses) else addresses:
        budget.spend(4)
        if type(address) is not str:
            raise FunctionError(f"error parsing ip: {strval(budget, address)} is not a string")
        try:
            ipaddress.ip_address(address)
        except ValueError:
            raise FunctionError(f"error parsing ip: {address}") from None
    for name in [] if is_nil(names) else names:
        if type(name) is not str:
            shown = strval(budget, name)
            raise FunctionError(f"error processing alternate dns name: {shown} is not a string")


def _check_key(budget: Budget, key: str) -> None:
    try:
        _key_block(budget, key)
    except FunctionError as error:
        raise FunctionError(f"parsing private key: {error}") from None


def _check_authority(budget: Budget, authority: Certificate) -> None:
    if _pem(budget, authority.cert) is None:
        raise FunctionError("unable to decode certificate")
    try:
        _key_block(budget, authority.key)
    except FunctionError as error:
        raise FunctionError(f"error parsing private key: {error}") from None


@FUNCTIONS.function("genCA", "string int")
def gen_ca(name: str, days: int) -> Certificate:
    _refuse()


@FUNCTIONS.function("genCAWithKey", "string int string", budget=True)
def gen_ca_with_key(budget: Budget, name: str, days: int, key: str) -> Certificate:
    _check_key(budget, key)
    _refuse()


@FUNCTIONS.function("genSelfSignedCert", "string list list int", budget=True)
def gen_self_signed_cert(
    budget: Budget, name: str, addresses: list[Any], names: list[Any], days: int
) -> Certificate:
    _check_names(budget, addresses, names)
    _refuse()


@FUNCTIONS.function("genSelfSignedCertWithKey", "string list list int string", budget=True)
def gen_self_signed_cert_with_key(
    budget: Budget, name: str, addresses: list[Any], names: list[Any], days: int, key: str
) -> Certificate:
    _check_key(budget, key)
    _check_names(budget, addresses, names)
    _refuse()


@FUNCTIONS.function(
    "genSignedCert", "string list list int certificate", types=_CERTIFICATE_TYPES, budget=True
)
def gen_signed_cert(
    budget: Budget,
    name: str,
    addresses: list[Any],
    names: list[Any],
    days: int,
    authority: Certificate,
) -> Certificate:
    _check_authority(budget, authority)
    _check_names(budget, addresses, names)
    _refuse()


@FUNCTIONS.function(
    "genSignedCertWithKey",
    "string list list int certificate string",
    types=_CERTIFICATE_TYPES,
    budget=True,
)
def gen_signed_cert_with_key(
    budget: Budget,
    name: str,
    addresses: list[Any],
    names: list[Any],
    days: int,
    authority: Certificate,
    key: str,
) -> Certificate:
    _check_key(budget, key)
    _check_authority(budget, authority)
    _check_names(budget, addresses, names)
    _refuse()
