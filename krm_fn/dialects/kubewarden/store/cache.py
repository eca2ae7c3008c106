"""Compiled modules on disk, authenticated: what was not written by this user is not run.

Machine code is trusted once it is loaded, and wasmtime checks flags and versions, not bytes. So
each file carries a MAC under a key that only the user can read. Anything odd is compiled anew; a
directory that others can write to is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from typing import Final

from krm_fn.errors import ConfigError
from krm_fn.system.files import check_links

_KEY: Final = "key"
_MAC_BYTES: Final = 32
_KEY_BYTES: Final = 32


class Cache:
    """A directory of compiled modules. Raises ConfigError where it cannot be trusted."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        try:
            check_links(os.path.dirname(folder))
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._check()
            self._key = self._read_key()
        except OSError as error:
            raise ConfigError(f"kubewarden.cache: {folder}: {error.strerror}") from None

    def get(self, name: str) -> bytes | None:
        """The artifact of that name; None where there is none, or one that is not ours."""
        try:
            with open(self._path(name), "rb") as file:
                data = file.read()
        except OSError:
            return None
        artifact = data[_MAC_BYTES:]
        good = hmac.compare_digest(data[:_MAC_BYTES], self._mac(name, artifact))
        return artifact if good else None

    def put(self, name: str, artifact: bytes) -> None:
        """Keep an artifact; a disk that is full or read-only is no error."""
        temporary = self._path(f"{name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            _write(temporary, self._mac(name, artifact) + artifact)
            os.replace(temporary, self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _mac(self, name: str, artifact: bytes) -> bytes:
        mac = hmac.new(self._key, name.encode() + b"\0", hashlib.sha256)
        mac.update(artifact)
        return mac.digest()

    def _check(self) -> None:
        found = os.lstat(self._folder)
        if not stat.S_ISDIR(found.st_mode):
            raise ConfigError(f"kubewarden.cache: {self._folder} is no directory")
        if hasattr(os, "getuid") and found.st_uid != os.getuid():
            raise ConfigError(f"kubewarden.cache: {self._folder} belongs to another user")
        if found.st_mode & 0o077:
            raise ConfigError(
                f"kubewarden.cache: others have access to {self._folder}; compiled code in it "
                f"could be theirs (chmod 700 {self._folder})"
            )

    def _read_key(self) -> bytes:
        path = self._path(_KEY)
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
            key = file.read()
            if len(key) == _KEY_BYTES:
                return key
        key = secrets.token_bytes(_KEY_BYTES)
        temporary = self._path(f"{_KEY}.{os.getpid()}")
        _write(temporary, key)
        os.replace(temporary, path)
        return key


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
