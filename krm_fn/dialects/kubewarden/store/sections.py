"""The sections of a WebAssembly module: is it one, and what does its metadata say.

Reads bytes and trusts none of them. Does not compile anything.
Source: the WebAssembly core specification, section 5.5; policy-evaluator policy_metadata.rs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from krm_fn import limits
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind

_MAGIC: Final = b"\0asm"
_VERSION: Final = b"\x01\0\0\0"
_COMPONENT: Final = b"\r\0\x01\0"
_METADATA: Final = "io.kubewarden.metadata"
_CUSTOM: Final = 0
_START: Final = 8


@dataclass(frozen=True, slots=True)
class Contents:
    """What is known of a module before it is compiled."""

    metadata: dict[str, Any] | None
    """The JSON that `kwctl annotate` wrote, or None."""
    has_start: bool
    """Whether it has a start section, which runs before anything can bound it upstream."""


def read_module(wasm: bytes) -> Contents:
    """Look into a module. Raises Fault (BAD_MODULE) for what is none."""
    if len(wasm) > limits.WASM_MODULE:
        size = f"{len(wasm) / 2**20:.1f} MiB"
        raise _bad(f"it is larger ({size}) than {limits.WASM_MODULE // 2**20} MiB")
    if not wasm:
        raise _bad("the file is empty")
    if not wasm.startswith(_MAGIC):
        raise _bad("it is no WebAssembly (the text form has to be compiled first)")
    if wasm[4:8] == _COMPONENT:
        raise _bad("it is a WebAssembly component; policies are core modules")
    if wasm[4:8] != _VERSION:
        raise _bad("it has another version of WebAssembly than 1")
    metadata: dict[str, Any] | None = None
    has_start = False
    for kind, body in _sections(wasm):
        if kind == _START:
            has_start = True
        elif kind == _CUSTOM:
            length, at = _number(body, 0)
            if body[at : at + length] == _METADATA.encode():
                metadata = _metadata(body[at + length :])
    return Contents(metadata, has_start)


def _metadata(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if type(value) is not dict:
        raise _bad(f"its section {_METADATA} is no JSON object")
    return value


def _sections(wasm: bytes) -> Iterator[tuple[int, bytes]]:
    at = 8
    while at < len(wasm):
        kind = wasm[at]
        size, start = _number(wasm, at + 1)
        if start + size > len(wasm):
            raise _bad(f"it is cut off: a section of {size} bytes ends behind the end of the file")
        # Only small custom sections are copied: code and data may be many megabytes.
        yield kind, wasm[start : start + size] if kind == _CUSTOM else b""
        at = start + size


def _number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number of 32 bits, and where it ends."""
    value = 0
    for shift in range(0, 35, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise _bad("it is cut off, or a length in it is no number")


def _bad(reason: str) -> Fault:
    return Fault(FaultKind.BAD_MODULE, f"no usable WebAssembly module: {reason}")
