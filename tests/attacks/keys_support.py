"""Key pairs that are made on first use: collecting the tests need not wait for cryptography."""

from __future__ import annotations

from functools import cached_property
from typing import Any


class Key:
    """A private key of one algorithm: `P-256`, `P-384`, `Ed25519`, or `RSA-` and its bits."""

    def __init__(self, algorithm: str = "P-256") -> None:
        self.algorithm = algorithm

    @cached_property
    def _private(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

        if self.algorithm == "Ed25519":
            return ed25519.Ed25519PrivateKey.generate()
        if self.algorithm.startswith("RSA-"):
            return rsa.generate_private_key(65537, int(self.algorithm.removeprefix("RSA-")))
        curves = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1()}
        return ec.generate_private_key(curves[self.algorithm])

    def sign(self, payload: bytes) -> bytes:
        """The signature as cosign makes it with a key of this kind."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, padding

        how: tuple[Any, ...] = ()
        if self.algorithm.startswith("P-"):
            how = (ec.ECDSA(hashes.SHA256()),)
        if self.algorithm.startswith("RSA-"):
            how = (padding.PKCS1v15(), hashes.SHA256())
        return bytes(self._private.sign(payload, *how))

    def pem(self) -> str:
        """The public key."""
        from cryptography.hazmat.primitives import serialization

        public = self._private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return str(public.decode())
