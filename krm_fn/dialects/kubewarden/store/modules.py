"""Where a policy's module is: a file of the package, or a locked digest in the store.

Rendering never downloads. What a URL stands for is in the lock, by digest; the bytes are in the
store, and are what they are only if the digest says so. Signatures, where there are any, are beside
the module. `krm-fn pull` fills all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import Any, Final

from krm_fn import limits
from krm_fn.dialects.kubewarden.store.signatures import (
    SignedManifest,
    Verification,
    dump_signed,
    path_of,
    read_signed,
)
from krm_fn.errors import ConfigError
from krm_fn.system.files import make_folders, write_file
from krm_fn.system.paths import WORKING_DIRECTORY, Base, expand_path
from krm_fn.system.reading import open_file

LOCK: Final = "policies.lock.json"
STORE: Final = ".krm-fn/modules"
_FILE: Final = "file://"
REGISTRY: Final = "registry://"
_REMOTE: Final = (REGISTRY, "https://", "http://")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_VERSION: Final = 1


def normal_url(module: str) -> str:
    """A module as it is locked; without a scheme it is in a registry."""
    return module if "://" in module else f"registry://{module}"


def local_path(module: str) -> str | None:
    """The path of a module that is a file, None for all others."""
    if module.startswith(_FILE):
        return module.removeprefix(_FILE)
    return module if module.startswith(("./", "../", "/")) else None


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Store:
    """Modules by digest, in a directory."""

    folder: str

    def path(self, digest: str) -> str:
        return os.path.join(self.folder, f"{digest.replace(':', '-')}.wasm")

    def get(self, digest: str) -> bytes | None:
        """The module of a digest; None where there is none. Raises ConfigError if it is another."""
        try:
            data = read_bounded(self.path(digest))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"cannot be read: {error.strerror}", self.path(digest)) from None
        if digest_of(data) != digest:
            raise ConfigError(
                f"{self.path(digest)} is not what its name says: it has the digest "
                f"{digest_of(data)}; remove it and pull again"
            )
        return data

    def put(self, data: bytes) -> str:
        """Keep a module; answers its digest. Raises ConfigError and OutputError."""
        digest = digest_of(data)
        make_folders(self.folder)
        write_file(self.path(digest), data)
        return digest

    def signatures(self, digest: str) -> list[SignedManifest]:
        """What is signed of a module. Raises ConfigError."""
        return read_signed(path_of(self.path(digest)))

    def put_signatures(self, digest: str, signed: SignedManifest) -> None:
        """Keep what is signed of a module, beside what other manifests have of it.

        Raises ConfigError and OutputError.
        """
        others = [one for one in self.signatures(digest) if one.manifest != signed.manifest]
        write_file(path_of(self.path(digest)), dump_signed([*others, signed]))


def read_bounded(path: str) -> bytes:
    """A file of at most one byte more than a module may have."""
    with open_file(path) as file:
        return file.read(limits.WASM_MODULE + 1)


def read_lock(path: str) -> dict[str, str]:
    """Digests by URL; empty where there is no lock. Raises ConfigError."""
    try:
        with open_file(path) as file:
            found: Any = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"is no lock of policies: {error}", path) from None
    modules = found.get("modules") if type(found) is dict else None
    if type(modules) is not dict or found.get("version") != _VERSION:
        raise ConfigError(f"is no lock of policies (version {_VERSION})", path)
    for url, digest in modules.items():
        if type(digest) is not str or not _DIGEST.fullmatch(digest):
            raise ConfigError(f"{url} is not locked by a sha256 digest", path)
    return modules


def write_lock(path: str, modules: dict[str, str]) -> None:
    """Write digests by URL, sorted. Raises ConfigError and OutputError."""
    text = json.dumps({"version": _VERSION, "modules": modules}, indent=2, sort_keys=True)
    write_file(path, f"{text}\n".encode())


class Modules:
    """The modules of a run.

    `lock` and `store` are paths; "" is what lies beside the rule that names a module, and beside
    the lock: who writes rules says which bytes they mean.
    """

    def __init__(self, lock: str, store: str, verification: Verification | None = None) -> None:
        self._lock = lock
        self._store = store
        self._verification = verification
        self._locks: dict[str, dict[str, str]] = {}

    def read(self, module: str, where: str, base: Base = WORKING_DIRECTORY) -> bytes:
        """A module's bytes; `where` is the field, `base` of the rule. Raises ConfigError."""
        path = local_path(module)
        url = normal_url(module)
        in_registry = path is None and url.startswith(REGISTRY)
        if self._verification is not None and not in_registry:
            raise ConfigError(
                f"{where}: {module} cannot be verified: only modules in a registry are signed"
            )
        if path is not None:
            return _read_file(path, where, base)
        if not url.startswith(_REMOTE):
            raise ConfigError(f"{where}: {module} has a scheme that is none of a policy's")
        lock = self._lock or base.join(LOCK)
        if lock not in self._locks:
            self._locks[lock] = read_lock(lock)
        digest = self._locks[lock].get(url)
        at = "" if lock == LOCK else f"--lock {lock} "
        pull = f"render never downloads; run: krm-fn pull {at}{module}"
        if digest is None:
            raise ConfigError(f"{where}: {module} is not in {lock}; {pull}")
        store = Store(self._store or store_beside(lock))
        data = store.get(digest)
        if data is None:
            raise ConfigError(
                f"{where}: {module} ({digest}) is not in the store {store.folder}; {pull}"
            )
        if self._verification is not None:
            self._verification.check(digest, store.signatures(digest), f"{where}: {module}")
        return data


def store_beside(lock: str) -> str:
    """The store that belongs to a lock."""
    return os.path.join(os.path.dirname(lock), STORE)


def _read_file(path: str, where: str, base: Base) -> bytes:
    name = expand_path(path, where, base)
    try:
        return read_bounded(name)
    except OSError as error:
        raise ConfigError(f"{where}: {path}: {error.strerror} (looked in {base})") from None
