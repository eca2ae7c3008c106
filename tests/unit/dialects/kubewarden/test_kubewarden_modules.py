"""Where modules come from: files, the lock and the store, a registry on this machine; the cache."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner
from kw_support import annotated, wapc

from krm_fn import limits
from krm_fn.cli.pull import pull
from krm_fn.dialects.kubewarden.runtime.engine import Engine, Limits
from krm_fn.dialects.kubewarden.store.cache import Cache
from krm_fn.dialects.kubewarden.store.modules import Modules, Store, read_lock, write_lock
from krm_fn.dialects.kubewarden.store.registry import PullError, download, parse_reference
from krm_fn.errors import ConfigError

WASM = annotated(b"\0asm\x01\0\0\0")
DIGEST = "sha256:" + hashlib.sha256(WASM).hexdigest()


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def modules() -> Modules:
    return Modules("policies.lock.json", "store")


# -------------------------------------------------------------------------------- lock and store


@pytest.mark.parametrize("module", ["file://p.wasm", "./p.wasm"])
def test_a_module_in_the_package_is_read(module: str) -> None:
    Path("p.wasm").write_bytes(WASM)
    assert modules().read(module, "spec.module") == WASM


@pytest.mark.parametrize("module", ["file://../p.wasm", "file:///etc/passwd", "../p.wasm"])
def test_a_module_outside_of_the_package_is_refused(module: str) -> None:
    with pytest.raises(ConfigError, match=r"leaves the tree|is absolute"):
        modules().read(module, "spec.module")


def test_a_link_out_of_the_package_is_refused() -> None:
    Path("p.wasm").symlink_to("/etc/passwd")
    with pytest.raises(ConfigError, match="symbolic link"):
        modules().read("./p.wasm", "spec.module")


@pytest.mark.parametrize("module", ["registry://r.test/p:1", "r.test/p:1", "https://r.test/p.wasm"])
def test_what_is_not_locked_is_not_downloaded(module: str) -> None:
    with pytest.raises(ConfigError, match="render never downloads"):
        modules().read(module, "spec.module")


def test_a_locked_module_comes_from_the_store() -> None:
    assert Store("store").put(WASM) == DIGEST
    write_lock("policies.lock.json", {"registry://r.test/p:1": DIGEST})
    assert modules().read("r.test/p:1", "spec.module") == WASM


def test_a_module_that_is_locked_and_not_stored_says_how_to_get_it() -> None:
    write_lock("policies.lock.json", {"registry://r.test/p:1": DIGEST})
    with pytest.raises(ConfigError, match=r"not in the store store; .* krm-fn pull r.test/p:1"):
        modules().read("r.test/p:1", "spec.module")


def test_a_tampered_module_in_the_store_is_refused() -> None:
    store = Store("store")
    store.put(WASM)
    Path(store.path(DIGEST)).write_bytes(WASM + b"\0")
    write_lock("policies.lock.json", {"registry://r.test/p:1": DIGEST})
    with pytest.raises(ConfigError, match="not what its name says"):
        modules().read("r.test/p:1", "spec.module")


LOCKS = ["[]", "{", '{"version": 2, "modules": {}}', '{"version": 1, "modules": {"a": "md5:1"}}']


@pytest.mark.parametrize("text", LOCKS)
def test_a_lock_that_is_none_is_an_error(text: str) -> None:
    Path("policies.lock.json").write_text(text)
    with pytest.raises(ConfigError, match=r"policies.lock.json"):
        read_lock("policies.lock.json")


# ------------------------------------------------------------------------------------------ pull


class Registry(BaseHTTPRequestHandler):
    """A registry with one repository, `org/policy`."""

    blobs: ClassVar[dict[str, bytes]] = {}
    manifests: ClassVar[dict[str, bytes]] = {}
    token: ClassVar[str] = ""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        kind, _, name = self.path.removeprefix("/v2/org/policy/").partition("/")
        if self.path.startswith("/token?"):
            return self._send(200, json.dumps({"token": "secret"}).encode())
        if self.token and self.headers.get("Authorization") != f"Bearer {self.token}":
            host = self.headers["Host"]
            challenge = f'Bearer realm="http://{host}/token",service="s",scope="pull"'
            return self._send(401, b"", {"WWW-Authenticate": challenge})
        found = {"manifests": self.manifests, "blobs": self.blobs}.get(kind, {}).get(name)
        return self._send(404 if found is None else 200, found or b"")

    def _send(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def registry() -> Iterator[str]:
    Registry.token = ""
    publish("v1", WASM)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def publish(tag: str, wasm: bytes) -> str:
    """Put a policy into the registry as kwctl does; answers the digest of its manifest."""
    digest = "sha256:" + hashlib.sha256(wasm).hexdigest()
    layer = {"mediaType": "application/vnd.wasm.content.layer.v1+wasm", "digest": digest}
    other = {"mediaType": "text/plain", "digest": "sha256:" + "0" * 64}
    manifest = json.dumps({"schemaVersion": 2, "layers": [other, layer]}).encode()
    of_manifest = "sha256:" + hashlib.sha256(manifest).hexdigest()
    Registry.blobs[digest] = wasm
    Registry.manifests |= {tag: manifest, of_manifest: manifest}
    return of_manifest


def test_pull_locks_a_tag_by_digest(registry: str) -> None:
    done = CliRunner().invoke(pull, [f"{registry}/org/policy:v1", "--store", "store"])
    assert done.exit_code == 0, done.output
    assert read_lock("policies.lock.json") == {f"registry://{registry}/org/policy:v1": DIGEST}
    assert modules().read(f"registry://{registry}/org/policy:v1", "m") == WASM


def test_a_tag_that_moved_changes_nothing_until_it_is_pulled_again(registry: str) -> None:
    url = f"{registry}/org/policy:v1"
    CliRunner().invoke(pull, [url, "--store", "store"])
    moved = annotated(wapc('{"accepted":false}'))
    publish("v1", moved)
    assert modules().read(url, "m") == WASM
    done = CliRunner().invoke(pull, [url, "--store", "store"])
    assert f"(was {DIGEST})" in done.output
    assert modules().read(url, "m") == moved


def test_a_policy_is_pulled_by_the_digest_of_its_manifest(registry: str) -> None:
    digest = publish("v2", WASM)
    assert download(f"registry://{registry}/org/policy@{digest}") == WASM


def test_pull_gets_an_anonymous_token(registry: str) -> None:
    Registry.token = "secret"
    assert download(f"registry://{registry}/org/policy:v1") == WASM


def test_a_registry_that_wants_credentials_is_an_error(registry: str) -> None:
    Registry.token = "another"
    with pytest.raises(PullError, match="without credentials"):
        download(f"registry://{registry}/org/policy:v1")


def test_a_blob_that_is_another_is_refused(registry: str) -> None:
    Registry.blobs[DIGEST] = WASM + b"\0"
    with pytest.raises(PullError, match="not what was asked for"):
        download(f"registry://{registry}/org/policy:v1")


def test_a_module_that_is_too_large_is_refused(
    registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "WASM_MODULE", 100)
    with pytest.raises(PullError, match="larger than"):
        download(f"registry://{registry}/org/policy:v1")


def test_what_is_not_there_is_an_error(registry: str) -> None:
    with pytest.raises(PullError, match="404"):
        download(f"registry://{registry}/org/policy:v9")


def test_a_manifest_without_a_layer_is_no_policy(registry: str) -> None:
    Registry.manifests["v3"] = b'{"layers": []}'
    with pytest.raises(PullError, match="names no layer"):
        download(f"registry://{registry}/org/policy:v3")


@pytest.mark.parametrize("url", ["http://r.test/p.wasm", "ftp://r.test/p.wasm", "registry://p"])
def test_a_place_that_is_not_safe_or_none_is_refused(url: str) -> None:
    with pytest.raises(PullError):
        download(url)


def test_a_module_at_an_address_is_pulled(registry: str) -> None:
    assert download(f"http://{registry}/v2/org/policy/blobs/{DIGEST}") == WASM


REFERENCES = {
    "ghcr.io/org/p:v1": ("ghcr.io", "org/p", "v1"),
    "localhost:5000/p": ("localhost:5000", "p", "latest"),
}


@pytest.mark.parametrize(("text", "parts"), REFERENCES.items())
def test_references_are_host_name_and_version(text: str, parts: tuple[str, str, str]) -> None:
    found = parse_reference(text)
    assert (found.host, found.name, found.version) == parts


def test_what_is_no_module_is_not_kept(registry: str) -> None:
    publish("text", b"hello")
    done = CliRunner().invoke(pull, [f"{registry}/org/policy:text", "--store", "store"])
    assert done.exit_code
    assert not Path("policies.lock.json").exists()


# ----------------------------------------------------------------------------------------- cache


def compiled(cache: Cache) -> list[str]:
    """Compile once with the cache; the artifacts in it."""
    Engine(Limits(), cache, isolated=False).compile(WASM)
    return sorted(name for name in os.listdir("cache") if name != "key")


def test_a_compiled_module_is_kept_for_its_owner_only() -> None:
    names = compiled(Cache("cache"))
    assert len(names) == 1
    for path in ("cache", "cache/key", f"cache/{names[0]}"):
        assert not stat.S_IMODE(os.stat(path).st_mode) & 0o077


def test_a_cached_module_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(Cache("cache"))
    monkeypatch.setattr(Engine, "_compile_here", lambda self, wasm: pytest.fail("compiled"))
    compiled(Cache("cache"))


@pytest.mark.parametrize("at", [0, 40, 5_000])
def test_a_flipped_byte_in_the_cache_is_compiled_anew(at: int) -> None:
    (name,) = compiled(Cache("cache"))
    path = Path("cache", name)
    good = path.read_bytes()
    path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
    assert Cache("cache").get(name) is None
    compiled(Cache("cache"))
    assert Cache("cache").get(name) is not None


def test_an_artifact_under_another_name_is_not_taken() -> None:
    (name,) = compiled(Cache("cache"))
    os.rename(f"cache/{name}", f"cache/{'0' * 64}")
    assert Cache("cache").get("0" * 64) is None


def test_other_flags_have_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiled(Cache("cache"))
    monkeypatch.setattr("krm_fn.dialects.kubewarden.runtime.engine.FLAGS", {"other": True})
    assert len(compiled(Cache("cache"))) == len(before) + 1


def test_a_cache_that_others_can_write_to_is_refused() -> None:
    Path("cache").mkdir()
    os.chmod("cache", 0o777)
    with pytest.raises(ConfigError, match="others have access"):
        Cache("cache")


def test_a_cache_that_is_a_link_is_refused() -> None:
    Path("real").mkdir(mode=0o700)
    Path("cache").symlink_to("real")
    with pytest.raises(ConfigError, match="is no directory"):
        Cache("cache")
