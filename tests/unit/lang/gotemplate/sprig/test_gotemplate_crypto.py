from __future__ import annotations

import base64
import sys
from datetime import datetime

import pytest

from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.gotemplate import RenderSources, parse

SOURCES = RenderSources(datetime(2024, 1, 1), "seed")


def render(text: str, **context: str) -> str:
    return parse("{{ " + text + " }}", "x").render(context, SOURCES)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('derivePassword 1 "long" "master" "user" "site.example"', "Mosu7-QekaBava"),
        ('derivePassword 4294967297 "long" "master" "user" "site.example"', "Mosu7-QekaBava"),
        ('derivePassword 1 "nope" "a" "b" "c"', "cannot find password template nope"),
        ('htpasswd "a:b" "c"', "invalid username: a:b"),
        ('genPrivateKey "nope"', "Unknown type nope"),
        ('encryptAES "k" ""', ""),
        ('decryptAES "k" ""', ""),
    ],
)
def test_what_has_one_answer_is_answered(call: str, expected: str) -> None:
    assert render(call) == expected


@pytest.mark.parametrize(
    "call",
    [
        'bcrypt "x"',
        'htpasswd "a" "b"',
        'encryptAES "k" "v"',
        'genPrivateKey ""',
        'genCA "x" 1',
        'genSelfSignedCert "x" (list "10.0.0.1") (list "x.example") 1',
        'genSelfSignedCert "x" nil nil 1',
    ],
)
def test_what_makes_secrets_is_an_error_even_with_a_seed(call: str) -> None:
    name = call.split()[0]
    with pytest.raises(EvaluationError, match=f"calling {name}: {name} is not available at render"):
        render(call)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ('genSelfSignedCert "x" (list 5) nil 1', "error parsing ip: 5 is not a string"),
        ('genSelfSignedCert "x" (list "x") nil 1', "error parsing ip: x"),
        ('genSelfSignedCert "x" nil (list 5) 1', "error processing alternate dns name: 5 is not"),
        ('genSelfSignedCertWithKey "x" nil nil 1 "y"', "parsing private key: no PEM data"),
        ('genCAWithKey "x" 1 "-----BEGIN X-----\\nAA==\\n-----END X-----"', "PEM block of type X"),
        ('genSignedCert "x" nil nil 1 "y"', 'can\'t handle "y" for arg of type sprig.certificate'),
        ('derivePassword -1 "long" "a" "b" "c"', "expected unsigned integer; found -1"),
        ('derivePassword (int 1) "long" "a" "b" "c"', "expected uint32; got int"),
        ('decryptAES "k" "!"', "illegal base64 data at input byte 0"),
        ('decryptAES "k" "AAAA"', "slice bounds out of range"),
        ('buildCustomCert "!" ""', "unable to decode base64 certificate"),
        ('buildCustomCert "" ""', "unable to decode certificate"),
    ],
)
def test_wrong_arguments_are_errors(call: str, reason: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        render(call)
    assert reason in str(caught.value)


def test_a_password_is_dear_enough_to_meet_a_limit_soon() -> None:
    with pytest.raises(LimitError):
        render('range until 100 }}{{ derivePassword 1 "pin" "a" "b" "c" }}{{ end')


def test_what_sprig_encrypted_is_decrypted() -> None:
    ciphers = pytest.importorskip("cryptography.hazmat.primitives.ciphers")
    key, start = b"key".ljust(32, b"\0"), bytes(range(16))
    encryptor = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CBC(start)).encryptor()
    data = start + encryptor.update(b"plain text" + bytes([6] * 6)) + encryptor.finalize()
    text = base64.b64encode(data).decode()
    assert render('decryptAES "key" .C', C=text) == "plain text"


def _self_signed() -> tuple[str, str]:
    """A certificate and its key, PEM in base64."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x.example")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1)
    builder = builder.not_valid_before(datetime(2024, 1, 1)).not_valid_after(datetime(2025, 1, 1))
    pem = serialization.Encoding.PEM
    cert = builder.sign(key, hashes.SHA256()).public_bytes(pem)
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return base64.b64encode(cert).decode(), base64.b64encode(private).decode()


def test_a_certificate_that_is_given_is_checked_and_comes_back() -> None:
    cert, key = _self_signed()
    text = (
        "$c := buildCustomCert .C .K }}{{ eq $c.Cert (b64dec .C) }} {{ kindOf $c }} {{ len $c.Key"
    )
    assert render(text, C=cert, K=key) == f"true struct {len(base64.b64decode(key))}"


def test_a_certificate_whose_key_is_none_is_an_error() -> None:
    cert, _ = _self_signed()
    with pytest.raises(EvaluationError, match="error parsing private key: no private key data"):
        render("buildCustomCert .C .C", C=cert)


@pytest.mark.parametrize(
    "call",
    [
        f'decryptAES "k" "{base64.b64encode(bytes(32)).decode()}"',
        'buildCustomCert "{}" ""'.format(
            base64.b64encode(b"-----BEGIN C-----\nAA==\n-----END C-----\n").decode()
        ),
    ],
)
def test_without_the_package_the_error_names_the_extra(
    call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.startswith("cryptography"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(EvaluationError, match=r"needs the extra krm-fn\[crypto\]"):
        render(call)
