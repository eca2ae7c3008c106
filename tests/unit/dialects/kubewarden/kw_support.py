"""Small policies in WAT, and what is needed to load and ask them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from krm_fn.admission import Cluster
from krm_fn.dialects.kubewarden.host.answers import Answers
from krm_fn.dialects.kubewarden.host.policyhost import Capabilities, PolicyHost
from krm_fn.dialects.kubewarden.host.reads import Reads
from krm_fn.dialects.kubewarden.policy.policy import ExecutionMode, LoadedPolicy
from krm_fn.dialects.kubewarden.runtime.engine import Engine, Limits
from krm_fn.values import Json
from krm_fn.wire.stream import head_of

ACCEPT = '{"accepted":true}'
VALID = '{"valid":true}'
IMPORTS = """
  (import "wapc" "__guest_request" (func $request (param i32 i32)))
  (import "wapc" "__guest_response" (func $response (param i32 i32)))
  (import "wapc" "__guest_error" (func $error (param i32 i32)))
  (import "wapc" "__host_call"
    (func $host_call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wapc" "__host_response_len" (func $host_response_len (result i32)))
  (import "wapc" "__host_response" (func $host_response (param i32)))
  (import "wapc" "__host_error_len" (func $host_error_len (result i32)))
  (import "wapc" "__host_error" (func $host_error (param i32)))
"""


def quoted(text: str) -> str:
    return "".join(f"\\{byte:02x}" for byte in text.encode())


def wapc(
    answer: str = ACCEPT,
    settings: str = VALID,
    body: str = "",
    extra: str = "",
    memory: str = '(memory (export "memory") 2)',
) -> bytes:
    """A waPC guest that answers these texts; `body` runs before it answers `validate`."""
    text = f"""(module {IMPORTS} {memory}
      (data (i32.const 1024) "{quoted(answer)}")
      (data (i32.const 32768) "{quoted(settings)}")
      {extra}
      (func (export "__guest_call") (param $op i32) (param $len i32) (result i32)
        (if (i32.eq (local.get $op) (i32.const 17))
          (then (call $response (i32.const 32768) (i32.const {len(settings.encode())}))
                (return (i32.const 1))))
        {body}
        (call $response (i32.const 1024) (i32.const {len(answer.encode())}))
        (i32.const 1)))"""
    return wat(text)


def guest(*texts: str, **parts: str) -> Callable[[], bytes]:
    """What `wapc` makes of the same arguments, once it is called: for tables of modules."""
    return partial(wapc, *texts, **parts)


def wat(text: str) -> bytes:
    """A module from its text; loads wasmtime, which collecting the tests need not wait for."""
    import wasmtime

    return bytes(wasmtime.wat2wasm(text))


def annotated(wasm: bytes, mode: str = "kubewarden-wapc", **metadata: Any) -> bytes:
    """A module with the metadata that kwctl writes."""
    name = b"io.kubewarden.metadata"
    text = {"protocolVersion": "v1", "rules": [], "mutating": True, "executionMode": mode}
    body = _leb(len(name)) + name + json.dumps({**text, **metadata}).encode()
    return wasm + b"\0" + _leb(len(body)) + body


def _leb(number: int) -> bytes:
    out = bytearray()
    while True:
        number, byte = number >> 7, number & 0x7F
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)


def engine(**bounds: Any) -> Engine:
    return Engine(Limits(**bounds), isolated=False)


def policy(wasm: bytes, mode: str = "kubewarden-wapc", **bounds: Any) -> LoadedPolicy:
    return LoadedPolicy(engine(**bounds), wasm, ExecutionMode(mode), bounds.get("seconds", 30.0))


def host(
    *objects: Json,
    resources: tuple[tuple[str, str], ...] = (),
    answers: Answers | None = None,
    capabilities: tuple[str, ...] = ("*",),
) -> PolicyHost:
    found: dict[Any, Any] = {}
    for value in objects:
        head = head_of(value)
        found[head.group, head.kind, head.namespace, head.name] = lambda value=value: value
    spaces = {value["metadata"]["name"]: value for value in objects if value["kind"] == "Namespace"}
    return PolicyHost(
        Reads(Cluster(found, spaces)), answers or Answers(), Capabilities(capabilities), resources
    )


POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "nginx"}]},
}
