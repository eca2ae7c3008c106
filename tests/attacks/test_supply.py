"""Supply chain (SECURITY.md): what comes from elsewhere is what was asked for, or nothing.

Registries that answer nonsense, modules and signatures that are not what they seem, WebAssembly
that does what no policy should, and what this repository itself takes from others.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml
from in_process import Done, run
from keys_support import Key
from kw_support import guest, host, policy, wapc, wat

from krm_fn.dialects.kubewarden.faults import FaultKind
from krm_fn.dialects.kubewarden.store.modules import Modules, Store, read_lock
from krm_fn.dialects.kubewarden.store.signatures import path_of, read_verification
from krm_fn.errors import ConfigError

pytestmark = pytest.mark.skipif(
    not (find_spec("wasmtime") and find_spec("cryptography")),
    reason="wasmtime or cryptography is not installed",
)

ROOT = Path(__file__).resolve().parents[2]
NAME = "org/policy"
WASM_LAYER = "application/vnd.wasm.content.layer.v1+wasm"
SIGNED_LAYER = "application/vnd.dev.cosign.simplesigning.v1+json"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def module(text: str = "") -> bytes:
    return wat(f"(module {text})")


def refused(done: Done) -> str:
    """The one sentence of a pull that changed nothing."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert "internal error" not in done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error ")
    assert not Path("policies.lock.json").exists()
    return lines[0]


# ----------------------------------------------------------------- a server that answers nonsense


@pytest.fixture
def raw() -> Iterator[Callable[[bytes], str]]:
    """A server that answers every request with the same bytes."""
    server = socket.create_server(("127.0.0.1", 0))
    answers: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(answers[0])

    threading.Thread(target=serve, daemon=True).start()

    def answering(answer: bytes) -> str:
        answers[:] = [answer.replace(b"HOST", b"127.0.0.1:%d" % server.getsockname()[1])]
        return f"127.0.0.1:{server.getsockname()[1]}"

    yield answering
    server.close()


OK = b"HTTP/1.1 200 OK\r\n"
NONSENSE = {
    "nothing": b"",
    "no status": b"\x00\xff\xfe garbage \x1b[31m\r\n\r\n",
    "no number": b"HTTP/1.1 abc OK\r\n\r\n",
    "a number that is none": b"HTTP/1.1 99999 OK\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "an old version": b"HTTP/9.9 200 OK\r\n\r\n",
    "a long status": b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n",
    "a long header": OK + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
    "many headers": OK + b"X: y\r\n" * 1_000 + b"\r\n",
    "bad headers": OK + b"\x00\xff: \xfe\r\n : \r\n\r\n{}",
    "a bad length": OK + b"Content-Length: abc\r\n\r\n{}",
    "a negative length": OK + b"Content-Length: -5\r\n\r\n{}",
    "a longer length": OK + b"Content-Length: 500\r\n\r\n{}",
    "bad chunks": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
    "a negative chunk": OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nabc\r\n0\r\n\r\n",
    "chunks that end": OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\nabc",
    "long chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 70_000 + b"\r\n",
    "no JSON": OK + b"\r\n<html>",
    "deep JSON": OK + b"\r\n" + b"[" * 200_000,
    "a redirect nowhere": b"HTTP/1.1 302 Found\r\n\r\n",
    "a redirect to nothing": b"HTTP/1.1 302 Found\r\nLocation: \r\n\r\n",
    "a redirect to no URL": b"HTTP/1.1 302 Found\r\nLocation: http://[\r\n\r\n",
    "a redirect to no host": b"HTTP/1.1 302 Found\r\nLocation: http:///x\r\n\r\n",
    "a redirect to no port": b"HTTP/1.1 302 Found\r\nLocation: http://x:port/\r\n\r\n",
    "a redirect to a file": b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
    "a redirect to another scheme": b"HTTP/1.1 302 Found\r\nLocation: gopher://x/\r\n\r\n",
    "a redirect with bytes": b"HTTP/1.1 302 Found\r\nLocation: http://\xff\xfe/\x01\r\n\r\n",
    "a redirect to itself": b"HTTP/1.1 302 Found\r\nLocation: http://HOST/\r\n\r\n",
    "a challenge of nothing": b"HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\n\r\n",
    "a challenge without a URL": (
        b'HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm="http://["\r\n\r\n'
    ),
    "a challenge to a file": (
        b'HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm="file:///etc/passwd"\r\n\r\n'
    ),
    "a challenge without TLS": (
        b'HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm="http://r.test/token"\r\n\r\n'
    ),
    "a challenge to itself": (
        b'HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm="http://HOST/"\r\n\r\n'
    ),
    "a reason that forges": b"HTTP/1.1 500 x\x1b[2K\x9b31m\r\n\r\n",
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize("how", ["registry", "address"])
def test_an_answer_that_is_nonsense_is_one_sentence(
    raw: Callable[[bytes], str], answer: bytes, how: str
) -> None:
    host = raw(answer)
    url = f"{host}/{NAME}:v1" if how == "registry" else f"http://{host}/policy.wasm"
    said = refused(run("pull", url))
    assert said.isprintable()


@pytest.mark.parametrize(
    "policy",
    [
        "127.0.0.1:1/org/policy:v1",
        "http://127.0.0.1:1/policy.wasm",
        "http://[::1/policy.wasm",
        "https://[/x",
        "ftp://r.test/x",
        "registry://",
        "registry://x",
        "bad host/org/policy:v1",
        "r.test\x00/org/policy:v1",
        "https://r.test\n/x",
        "r.test/org/policy:v1@sha256:abc",
    ],
)
def test_an_address_that_leads_nowhere_is_one_sentence(policy: str) -> None:
    refused(run("pull", policy))


# --------------------------------------------------------------------------------- signatures


class Registry(BaseHTTPRequestHandler):
    """A registry with one repository."""

    blobs: ClassVar[dict[str, bytes]] = {}
    manifests: ClassVar[dict[str, bytes]] = {}

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        kind, _, name = self.path.removeprefix(f"/v2/{NAME}/").partition("/")
        body = {"manifests": self.manifests, "blobs": self.blobs}.get(kind, {}).get(name)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")


@pytest.fixture
def registry() -> Iterator[str]:
    Registry.blobs, Registry.manifests = {}, {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}/{NAME}"
    server.shutdown()
    server.server_close()


def publish(tag: str, wasm: bytes) -> str:
    """Put a module into the registry; answers the digest of its manifest."""
    layer = {"mediaType": WASM_LAYER, "digest": digest_of(wasm)}
    manifest = json.dumps({"schemaVersion": 2, "layers": [layer]}).encode()
    Registry.blobs[digest_of(wasm)] = wasm
    Registry.manifests |= {tag: manifest, digest_of(manifest): manifest}
    return digest_of(manifest)


def sign(manifest: str, key: Key, about: str = "", **annotations: str) -> None:
    """Sign a manifest as cosign does, beside the signatures that it has."""
    payload = json.dumps(
        {
            "critical": {
                "identity": {"docker-reference": NAME},
                "image": {"docker-manifest-digest": about or manifest},
                "type": "cosign container image signature",
            },
            "optional": annotations or None,
        }
    ).encode()
    layer = {
        "mediaType": SIGNED_LAYER,
        "digest": digest_of(payload),
        "annotations": {
            "dev.cosignproject.cosign/signature": base64.b64encode(key.sign(payload)).decode()
        },
    }
    tag = manifest.replace(":", "-") + ".sig"
    before = json.loads(Registry.manifests.get(tag, b'{"layers": []}'))["layers"]
    Registry.blobs[digest_of(payload)] = payload
    Registry.manifests[tag] = json.dumps({"layers": [*before, layer]}).encode()


ALICE, BOB, MALLORY = Key(), Key(), Key()


def asked(key: Key, owner: str = "", **annotations: str) -> dict[str, Any]:
    """A requirement of a verification config."""
    entry = {"kind": "pubKey", "key": key.pem()}
    if owner:
        entry["owner"] = owner
    return {**entry, "annotations": annotations} if annotations else entry


def config(all_of: Any = None, any_of: Any = None, minimum: int | None = None) -> str:
    """A verification config in a file."""
    document: dict[str, Any] = {"apiVersion": "v1"}
    if all_of is not None:
        document["allOf"] = all_of
    if any_of is not None:
        document["anyOf"] = {"signatures": any_of}
        if minimum is not None:
            document["anyOf"]["minimumMatches"] = minimum
    Path("verification.yaml").write_text(yaml.safe_dump(document))
    return "verification.yaml"


def pull(policy: str, verification: str = "") -> Done:
    options = ["--verification-config", verification] if verification else []
    return run("pull", policy, *options)


def rendered(policy: str, verification: str) -> bytes:
    """The module that a render with this configuration reads."""
    return Modules("", "", read_verification(verification)).read(policy, "spec.module")


@pytest.mark.parametrize(
    "key",
    [Key("P-256"), Key("P-384"), Key("Ed25519"), Key("RSA-2048")],
    ids=lambda key: key.algorithm,
)
def test_a_module_that_is_signed_as_asked_is_pulled_and_rendered(registry: str, key: Any) -> None:
    sign(publish("v1", module()), key)
    verification = config([asked(key)])
    done = pull(f"{registry}:v1", verification)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(", verified\n")
    assert rendered(f"{registry}:v1", verification) == module()


def test_signatures_are_kept_by_a_pull_that_does_not_ask_for_them(registry: str) -> None:
    sign(publish("v1", module()), ALICE)
    assert pull(f"{registry}:v1").returncode == 0
    assert rendered(f"{registry}:v1", config([asked(ALICE)])) == module()


def test_a_module_without_signatures_is_pulled_where_none_are_asked_for(registry: str) -> None:
    publish("v1", module())
    assert pull(f"{registry}:v1").returncode == 0
    with pytest.raises(ConfigError, match="has no signature"):
        rendered(f"{registry}:v1", config([asked(ALICE)]))


REFUSED: dict[str, tuple[Callable[[str], None], str]] = {
    "no signature": (lambda manifest: None, "has no signature"),
    "another key": (lambda manifest: sign(manifest, MALLORY), "is not signed by the key of alice"),
    "another manifest": (
        lambda manifest: sign(manifest, ALICE, about=digest_of(b"another")),
        "has no signature",
    ),
    "other annotations": (
        lambda manifest: sign(manifest, ALICE, env="test"),
        "is not signed by the key of alice",
    ),
    "annotations of another key": (
        lambda manifest: (sign(manifest, ALICE), sign(manifest, MALLORY, env="prod"))[0],
        "is not signed by the key of alice",
    ),
    "a signature of other bytes": (
        lambda manifest: (sign(manifest, ALICE, env="prod"), tamper(manifest))[0],
        "was asked for",
    ),
    "no base64": (
        lambda manifest: (sign(manifest, ALICE, env="prod"), garble(manifest, "%%%"))[0],
        "has no signature",
    ),
    "nonsense": (lambda manifest: garble(manifest, None), "holds no signatures"),
}


def tamper(manifest: str) -> None:
    """Let the payload of a signature be another one."""
    tag = manifest.replace(":", "-") + ".sig"
    digest = json.loads(Registry.manifests[tag])["layers"][0]["digest"]
    Registry.blobs[digest] = Registry.blobs[digest].replace(b"prod", b"evil")


def garble(manifest: str, signature: str | None) -> None:
    """Let a signature be none."""
    tag = manifest.replace(":", "-") + ".sig"
    if signature is None:
        Registry.manifests[tag] = b'{"layers": 7}'
        return
    document = json.loads(Registry.manifests[tag])
    document["layers"][0]["annotations"]["dev.cosignproject.cosign/signature"] = signature
    Registry.manifests[tag] = json.dumps(document).encode()


@pytest.mark.parametrize(("signing", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_module_that_is_not_signed_as_asked_is_not_pulled(
    registry: str, signing: Callable[[str], None], reason: str
) -> None:
    signing(publish("v1", module()))
    said = refused(pull(f"{registry}:v1", config([asked(ALICE, "alice", env="prod")])))
    assert reason in said
    assert not Path(".krm-fn").exists()


def test_the_signature_of_one_module_is_none_of_another(registry: str) -> None:
    sign(publish("v1", module()), ALICE)
    evil = module('(func (export "evil"))')
    publish("v2", evil)
    pull(f"{registry}:v1")
    pull(f"{registry}:v2")
    store = Store(".krm-fn/modules")
    Path(path_of(store.path(digest_of(evil)))).write_bytes(
        Path(path_of(store.path(digest_of(module())))).read_bytes()
    )
    with pytest.raises(ConfigError, match="has no signature"):
        rendered(f"{registry}:v2", config([asked(ALICE)]))


def test_a_module_that_two_manifests_name_keeps_the_signatures_of_both(registry: str) -> None:
    sign(publish("v1", module()), ALICE)
    pull(f"{registry}:v1")
    other = json.dumps(
        {"layers": [{"mediaType": WASM_LAYER, "digest": digest_of(module())}], "annotations": {}}
    ).encode()
    Registry.manifests |= {"v2": other}
    sign(digest_of(other), BOB)
    pull(f"{registry}:v2")
    assert rendered(f"{registry}:v1", config([asked(ALICE), asked(BOB)])) == module()


COUNTED: list[tuple[Any, Any, int | None, bool]] = [
    ([ALICE, BOB], None, None, True),
    ([ALICE, MALLORY], None, None, False),
    (None, [ALICE, MALLORY], None, True),
    (None, [ALICE, BOB, MALLORY], 2, True),
    (None, [ALICE, MALLORY], 2, False),
    ([ALICE], [BOB], None, True),
    ([ALICE], [MALLORY], None, False),
    ([MALLORY], [ALICE], None, False),
]


@pytest.mark.parametrize(("all_of", "any_of", "minimum", "ok"), COUNTED)
def test_all_of_and_any_of_count_as_a_policy_server_counts(
    registry: str, all_of: Any, any_of: Any, minimum: int | None, ok: bool
) -> None:
    manifest = publish("v1", module())
    sign(manifest, ALICE)
    sign(manifest, BOB)
    lists = [keys and [asked(key) for key in keys] for keys in (all_of, any_of)]
    done = pull(f"{registry}:v1", config(*lists, minimum))
    assert (done.returncode == 0) is ok, done.stderr


KEYLESS = {"kind": "githubAction", "owner": "org"}


def test_a_keyless_signature_satisfies_nothing(registry: str) -> None:
    sign(publish("v1", module()), ALICE)
    assert "cannot be verified without a network" in refused(
        pull(f"{registry}:v1", config([KEYLESS]))
    )
    assert "(anyOf); 2 are needed" in refused(
        pull(f"{registry}:v1", config(None, [KEYLESS, asked(ALICE)], 2))
    )
    assert pull(f"{registry}:v1", config(None, [KEYLESS, asked(ALICE)])).returncode == 0


WRONG_CONFIGS = {
    "nothing": "",
    "a list": "[]",
    "no version": "allOf: []",
    "another version": "{apiVersion: v2, allOf: []}",
    "nobody": "{apiVersion: v1}",
    "nobody in a list": "{apiVersion: v1, allOf: []}",
    "nobody in two lists": "{apiVersion: v1, allOf: [], anyOf: {signatures: []}}",
    "no matches": "{apiVersion: v1, anyOf: {minimumMatches: 0, signatures: [KEY]}}",
    "too many matches": "{apiVersion: v1, anyOf: {minimumMatches: 2, signatures: [KEY]}}",
    "an unknown field": "{apiVersion: v1, allOf: [KEY], noneOf: []}",
    "an unknown kind": "{apiVersion: v1, allOf: [{kind: magic}]}",
    "no key": "{apiVersion: v1, allOf: [{kind: pubKey}]}",
    "a key that is none": "{apiVersion: v1, allOf: [{kind: pubKey, key: abc}]}",
    "a field twice": "{apiVersion: v1, allOf: [KEY], allOf: []}",
    "annotations that are none": (
        "{apiVersion: v1, allOf: [{kind: pubKey, key: PEM, annotations: [x]}]}"
    ),
    "a short RSA key": "{apiVersion: v1, allOf: [{kind: pubKey, key: SHORT}]}",
}


@pytest.mark.parametrize("text", WRONG_CONFIGS.values(), ids=WRONG_CONFIGS)
def test_a_verification_config_that_asks_for_nothing_is_an_error(text: str) -> None:
    key = json.dumps(asked(ALICE))
    short = Key("RSA-1024")
    text = text.replace("KEY", key).replace("PEM", json.dumps(ALICE.pem()))
    Path("v.yaml").write_text(text.replace("SHORT", json.dumps(short.pem())))
    with pytest.raises(ConfigError, match=r"v\.yaml: is no verification config|v\.yaml: "):
        read_verification("v.yaml")


def test_only_modules_in_a_registry_are_verified() -> None:
    verification = config([asked(ALICE)])
    Path("policy.wasm").write_bytes(module())
    for name in ("./policy.wasm", "https://r.test/policy.wasm"):
        with pytest.raises(ConfigError, match="cannot be verified"):
            rendered(name, verification)
    assert "cannot be verified" in refused(pull("https://r.test/policy.wasm", verification))


def test_a_render_asks_for_the_signatures_that_its_configuration_names(registry: str) -> None:
    sign(publish("v1", module()), MALLORY)
    pull(f"{registry}:v1")
    config([asked(ALICE, "alice")])
    Path("admission.yaml").write_text(
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: a}\nspec:\n"
        "  kubewarden: {verificationConfig: verification.yaml}\n  rules:\n  - inline: |\n"
        "      apiVersion: policies.kubewarden.io/v1\n      kind: ClusterAdmissionPolicy\n"
        "      metadata: {name: p}\n      spec:\n"
        f"        module: registry://{registry}:v1\n        mutating: false\n        rules:\n"
        '        - {apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}\n'
    )
    done = run(
        "check",
        "--config",
        "admission.yaml",
        stdin=b"apiVersion: v1\nkind: Pod\nmetadata: {name: p}",
    )
    assert done.returncode == 2
    assert "is not signed by the key of alice" in done.stderr


def test_a_file_of_signatures_that_is_none_is_one_sentence(registry: str) -> None:
    sign(publish("v1", module()), ALICE)
    pull(f"{registry}:v1")
    path = Path(path_of(Store(".krm-fn/modules").path(digest_of(module()))))
    for text in ("", "[]", "{}", '{"version": 1, "manifests": [{}]}', "[" * 100_000):
        path.write_text(text)
        with pytest.raises(ConfigError, match="holds no signatures"):
            rendered(f"{registry}:v1", config([asked(ALICE)]))


def test_a_module_that_changed_in_the_store_is_refused(registry: str) -> None:
    sign(publish("v1", module()), ALICE)
    pull(f"{registry}:v1")
    path = Path(Store(".krm-fn/modules").path(digest_of(module())))
    path.write_bytes(module('(func (export "evil"))'))
    with pytest.raises(ConfigError, match="is not what its name says"):
        rendered(f"{registry}:v1", config([asked(ALICE)]))


def test_a_lock_names_the_digest_of_what_came(registry: str) -> None:
    publish("v1", module())
    pull(f"{registry}:v1")
    assert read_lock("policies.lock.json") == {f"registry://{registry}:v1": digest_of(module())}


# ----------------------------------------------------------------------------- WebAssembly

FUEL = 50_000_000
LOUD = 33 * 1024 * 1024

ATTACKS: dict[str, tuple[Callable[[], bytes], FaultKind]] = {
    "an endless loop": (guest(body="(loop $x (br $x))"), FaultKind.OUT_OF_FUEL),
    "an endless loop at the start": (
        guest(extra='(func (export "wapc_init") (loop $x (br $x)))'),
        FaultKind.OUT_OF_FUEL,
    ),
    "a loop of host calls that answer nothing": (
        guest(body="(loop $x (drop (call $host_error_len)) (br $x))"),
        FaultKind.OUT_OF_FUEL,
    ),
    "growth": (
        guest(
            body="(loop $x (br_if $x (i32.ne (memory.grow (i32.const 64)) (i32.const -1))))"
            " unreachable"
        ),
        FaultKind.MEMORY_LIMIT,
    ),
    "growth of a table": (
        guest(
            body="(loop $x (br_if $x (i32.ne (table.grow $t (ref.null func) (i32.const 100000))"
            " (i32.const -1)))) unreachable",
            extra="(table $t 1 funcref)",
        ),
        FaultKind.GUEST_TRAP,
    ),
    "more memory than it may have": (
        guest(memory='(memory (export "memory") 60000)'),
        FaultKind.MEMORY_LIMIT,
    ),
    "an answer longer than its memory": (
        guest(body="(call $response (i32.const 0) (i32.const -1)) (return (i32.const 1))"),
        FaultKind.BAD_RESPONSE,
    ),
    "an answer that is too long": (
        guest(
            body=f"(call $response (i32.const 0) (i32.const {LOUD})) (return (i32.const 1))",
            memory='(memory (export "memory") 600)',
        ),
        FaultKind.BAD_RESPONSE,
    ),
    "an error that is too long": (
        guest(
            body=f"(call $error (i32.const 0) (i32.const {LOUD})) (return (i32.const 0))",
            memory='(memory (export "memory") 600)',
        ),
        FaultKind.BAD_RESPONSE,
    ),
    "a request outside of its memory": (
        guest(body="(call $request (i32.const -8) (i32.const -8))"),
        FaultKind.WRONG_ABI,
    ),
    "a host call from outside of its memory": (
        guest(
            body="(drop (call $host_call (i32.const -1) (i32.const 9) (i32.const 0) (i32.const 0)"
            " (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))"
        ),
        FaultKind.WRONG_ABI,
    ),
    "a stack without end": (
        guest(body="(call $deep)", extra="(func $deep (call $deep))"),
        FaultKind.GUEST_TRAP,
    ),
}


@pytest.mark.parametrize(("wasm", "kind"), ATTACKS.values(), ids=ATTACKS)
def test_a_module_that_attacks_is_stopped_and_denies(
    wasm: Callable[[], bytes], kind: FaultKind
) -> None:
    answer = policy(wasm(), fuel=FUEL, memory=64 * 2**20).validate({}, {}, host())
    assert not answer.accepted
    assert answer.fault is not None
    assert answer.fault.kind is kind, answer.fault.message


OUT_OF_ORDER = {
    "answers of calls that were never made": (
        "(call $host_response (i32.const 0)) (call $host_error (i32.const 0))"
        " (drop (call $host_response_len)) (drop (call $host_error_len))"
    ),
    "the request once more": "(call $request (i32.const 60000) (i32.const 60100))" * 3,
    "an answer, then another": (
        "(call $response (i32.const 0) (i32.const 5)) (call $error (i32.const 0) (i32.const 2))"
    ),
}


@pytest.mark.parametrize("body", OUT_OF_ORDER.values(), ids=OUT_OF_ORDER)
def test_host_calls_out_of_order_do_no_harm(body: str) -> None:
    """They are answered with nothing, and the last answer counts, as in the policy server."""
    assert policy(wapc(body=body)).validate({}, {}, host()).accepted


def test_what_a_module_does_before_it_is_asked_counts_for_nothing() -> None:
    early = wapc(
        body="unreachable",
        extra='(func (export "wapc_init") (call $response (i32.const 1024) (i32.const 17)))',
    )
    assert not policy(early, fuel=FUEL).validate({}, {}, host()).accepted


def test_a_module_that_writes_without_end_is_stopped() -> None:
    """A WASI command that writes its memory to standard output again and again."""
    text = """(module
      (import "wasi_snapshot_preview1" "fd_write"
        (func $write (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 20)
      (data (i32.const 0) "\\00\\01\\00\\00\\00\\00\\10\\00")
      (func (export "_start") (loop $x
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))
        (br $x))))"""
    loud = wat(text)
    answer = policy(loud, "wasi", fuel=2_000_000_000).validate({}, {}, host())
    assert answer.fault is not None
    assert answer.fault.kind is FaultKind.BAD_RESPONSE
    assert "writes more than 32 MiB" in answer.fault.message


# -------------------------------------------------------------------- what this repository takes


def lines_of(*patterns: str) -> Iterator[tuple[str, int, str]]:
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            for n, line in enumerate(path.read_text().splitlines(), 1):
                yield str(path.relative_to(ROOT)), n, line


IMAGES = ("Dockerfile", "examples/argocd/sidecar/Dockerfile", "examples/ci/gitlab.yaml")
IMAGE = re.compile(r"\s*(?:FROM|ARG \w+=|image:)\s*([\w./-]+[:/][\w./:@-]+)")


def images_in(root: Path) -> list[str]:
    """The images of others that are named."""
    lines = [line for name in IMAGES for line in (root / name).read_text().splitlines()]
    names = [match[1] for line in lines if (match := IMAGE.match(line))]
    return [name for name in names if not name.startswith("krm-fn")]


def test_make_images_pins_every_image_by_its_digest(tmp_path: Path) -> None:
    for name in (*IMAGES, "docs/ci.md", "tools/images.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    tool = tmp_path / "bin" / "crane"
    tool.parent.mkdir()
    script = tmp_path / "tools" / "images.sh"
    path = {"PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}

    def images(answer: str) -> subprocess.CompletedProcess[bytes]:
        tool.write_text(f"#!/bin/sh\n{answer}\n")
        tool.chmod(0o755)
        return subprocess.run(
            [script], env={**os.environ, **path}, capture_output=True, check=False
        )

    for digit in "ab":
        done = images(f"echo sha256:{digit * 64}")
        assert done.returncode == 0, done.stderr
        assert len(images_in(tmp_path)) == 3
        for image in images_in(tmp_path):
            assert re.fullmatch(rf"docker\.io/library/\w+:[\w.-]+@sha256:{digit}{{64}}", image)
    done = images("exit 1")
    assert done.returncode == 1
    assert b"no digest for" in done.stderr
    assert all("@sha256:b" in image for image in images_in(tmp_path))


def test_actions_of_others_are_named_by_commit() -> None:
    loose = []
    for path, n, line in lines_of("examples/**/*.yaml", "docs/*.md", "action.yml", ".github/**/*"):
        match = re.search(r"uses:\s*(\S+)@(\S+)", line)
        if match and not re.fullmatch(r"[0-9a-f]{40}|COMMIT", match[2]):
            loose.append(f"{path}:{n}: {line.strip()}")
    assert loose == []


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-runtime.lock", "requirements-build.lock"]
)
def test_every_package_of_a_lock_has_its_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text().replace("\\\n", " ")
    packages = [line for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert packages
    assert [line for line in packages if "--hash=sha256:" not in line] == []


def test_what_installs_the_program_takes_nothing_that_is_not_locked() -> None:
    """Neither dependencies nor the build backend, which pip would fetch for itself."""
    for path, _, line in lines_of("tools/*.sh", "Dockerfile", "Makefile", "examples/ci/*"):
        installs = re.search(r"pip\b.* (install|wheel) ", line)
        if "image-test" in path or line.startswith("#") or not installs:
            continue
        locked = "--require-hashes" in line
        ours = "--no-deps" in line and ("--no-build-isolation" in line or "--no-index" in line)
        assert locked or ours, f"{path}: {line}"


def advisory(**affected: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": "PyYAML"}
    return {"id": "TEST-1", "summary": "bad", "affected": [{"package": package, **affected}]}


def audit(database: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "audit.py"), database],
        capture_output=True,
        text=True,
        check=False,
    )


def until(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, *events]}]}


AUDITED: list[tuple[dict[str, Any], int]] = [
    (advisory(versions=["6.0.3"]), 1),
    (advisory(versions=["5.1"]), 0),
    (advisory(**until()), 1),
    (advisory(**until({"fixed": "5.4"})), 0),
    (advisory(**until({"last_affected": "6.0.3"})), 1),
    ({**advisory(versions=["6.0.3"]), "withdrawn": "2026-01-01T00:00:00Z"}, 0),
]


@pytest.mark.parametrize(("entry", "status"), AUDITED)
def test_the_audit_finds_locked_versions_in_a_database(
    entry: dict[str, Any], status: int, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("TEST-1.json", json.dumps(entry))
    done = audit(str(tmp_path / "all.zip"))
    assert done.returncode == status, done.stdout + done.stderr
    assert ("TEST-1: PyYAML 6.0.3" in done.stdout) == (status == 1)


def test_the_audit_says_where_there_is_no_database(tmp_path: Path) -> None:
    assert audit("").stdout.startswith("audit: no database, nothing was compared")
    (tmp_path / "bad.zip").write_bytes(b"x")
    assert audit(str(tmp_path / "bad.zip")).returncode == 2
    assert audit(str(tmp_path / "nowhere")).returncode == 2


def test_security_says_what_is_promised_and_how_to_report() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    for heading in ("Report", "Reading", "Context", "Stages", "Bounds", "Saying", "Writing"):
        assert re.search(rf"^#+ .*{heading}", text, re.MULTILINE), heading
