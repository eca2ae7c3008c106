"""Mode kubewarden-wapc: a guest that is called by name with bytes, and calls back the same way.

Knows how calls travel, not what they say.
Source: waPC's specification, wapc-rs and wasmtime-provider; vectors' README, 1 to 14.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from krm_fn import limits
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.runtime.engine import Engine, ExitError, Guest, HostFunction, Linked
from krm_fn.dialects.kubewarden.runtime.wasi import WASI, World


class Host(Protocol):
    """Who answers host calls."""

    def call(self, binding: str, namespace: str, operation: str, payload: bytes) -> bytes:
        """The answer; raises HostError with a text for the guest."""
        ...


class HostError(Exception):
    """A host call failed; the guest gets the text."""


class _Call:
    """The buffers of one guest call; they are empty when the next one begins."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.world = World()
        self.calls = 0
        self.begin(b"", b"")

    def begin(self, operation: bytes, payload: bytes) -> None:
        self.operation = operation
        self.payload = payload
        self.response: bytes | None = None
        self.error: bytes | None = None
        self.host_response = b""
        self.host_error = b""


class Wapc:
    """A module in this mode. Raises Fault (WRONG_ABI) for what does not keep to it."""

    def __init__(self, engine: Engine, module: Any, has_start: bool) -> None:
        self._linked = engine.link(module, _FUNCTIONS)
        if has_start:
            raise Fault(
                FaultKind.WRONG_ABI,
                "the module has a start section, which the policy server cannot run in mode "
                "kubewarden-wapc; build it with: asc --use abort= --exportStart wapc_init",
            )
        missing = [name for name in ("__guest_call", "memory") if not self._linked.has_export(name)]
        if missing:
            raise Fault(
                FaultKind.WRONG_ABI,
                f"the module exports no {' and no '.join(missing)}: it is no waPC guest "
                "(kubewarden-wapc), or its metadata names the wrong execution mode",
            )
        _check(self._linked, "__guest_call", "i32 i32 -> i32")
        self._starts = [name for name in ("_start", "wapc_init") if self._linked.has_export(name)]
        for name in self._starts:
            _check(self._linked, name, " -> ")

    def open(self, host: Host, seconds: float) -> Session:
        """A fresh guest, started. Raises Fault."""
        guest = self._linked.start(_Call(host), seconds)
        for name in self._starts:
            try:
                self._linked.call(guest, name, (), f"starting it ({name})", seconds)
            except ExitError as exit_:
                if exit_.status != 0:
                    raise Fault(
                        FaultKind.GUEST_TRAP, f"{name} ends with status {exit_.status}"
                    ) from None
        return Session(self._linked, guest, seconds)


class Session:
    """A started guest that takes calls."""

    def __init__(self, linked: Linked, guest: Guest, seconds: float) -> None:
        self._linked = linked
        self._guest = guest
        self._seconds = seconds

    def call(self, operation: str, payload: bytes) -> bytes:
        """What the guest answers. Raises Fault; `said` is what follows "Guest call failure:"."""
        name = operation.encode()
        call: _Call = self._guest.state
        call.begin(name, payload)
        try:
            status = self._linked.call(
                self._guest, "__guest_call", (len(name), len(payload)), operation, self._seconds
            )
        except ExitError as exit_:
            raise Fault(
                FaultKind.GUEST_TRAP, f"{operation} ends with proc_exit({exit_.status})"
            ) from None
        if status == 0:
            error = "No error message set for call failure"
        elif call.response is not None:
            return call.response
        else:
            error = "No error message OR response set for call success"
        if call.error is not None:
            error = call.error.decode()
        raise Fault(FaultKind.GUEST_ERROR, error)


def _check(linked: Linked, name: str, signature: str) -> None:
    found = linked.signature(name)
    if found != signature:
        what = f"has the type ({found})" if found else "is no function"
        raise Fault(FaultKind.WRONG_ABI, f"its {name} {what}; it must be ({signature})")


# -------------------------------------------------------------------------------- host functions


def _guest_request(guest: Guest, operation: int, payload: int) -> None:
    call: _Call = guest.state
    guest.write(operation, call.operation)
    guest.write(payload, call.payload)


def _guest_response(guest: Guest, pointer: int, length: int) -> None:
    guest.state.response = _bounded(guest, pointer, length)


def _guest_error(guest: Guest, pointer: int, length: int) -> None:
    data = _bounded(guest, pointer, length)
    _utf8(data, "error text")
    guest.state.error = data


def _bounded(guest: Guest, pointer: int, length: int) -> bytes:
    if length & 0xFFFFFFFF > limits.WASM_RESPONSE:
        raise Fault(
            FaultKind.BAD_RESPONSE,
            f"the guest answers with more than {limits.WASM_RESPONSE // 2**20} MiB",
        )
    return guest.read(pointer, length)


def _utf8(data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Fault(FaultKind.WRONG_ABI, f"its {what} is not UTF-8") from None


def _host_call(guest: Guest, *parts: int) -> int:
    """1 where it worked, 0 where not; the answer waits until it is fetched."""
    call: _Call = guest.state
    call.host_response = call.host_error = b""
    try:
        call.host_response = host_call(guest, call, parts)
    except HostError as error:
        call.host_error = str(error).encode()
        return 0
    return 1


def host_call(guest: Guest, call: Any, parts: tuple[int, ...]) -> bytes:
    """One host call of a guest, whose `host` and count of `calls` are the call's.

    Raises HostError, and Fault for what no guest may do.
    """
    call.calls += 1
    if call.calls > limits.WASM_HOST_CALLS:
        raise Fault(
            FaultKind.WRONG_ABI, f"it makes more than {limits.WASM_HOST_CALLS:,} host calls"
        )
    names = [
        _utf8(guest.read(pointer, length), "name of a host call")
        for pointer, length in zip(parts[0:6:2], parts[1:6:2], strict=True)
    ]
    binding, namespace, operation = names
    host: Host = call.host
    return host.call(binding, namespace, operation, guest.read(parts[6], parts[7]))


def _host_response_len(guest: Guest) -> int:
    return len(guest.state.host_response)


def _host_response(guest: Guest, pointer: int) -> None:
    guest.write(pointer, guest.state.host_response)


def _host_error_len(guest: Guest) -> int:
    return len(guest.state.host_error)


def _host_error(guest: Guest, pointer: int) -> None:
    guest.write(pointer, guest.state.host_error)


def _console_log(guest: Guest, pointer: int, length: int) -> None:
    _utf8(guest.read(pointer, length), "log line")


_FUNCTIONS: Final = {
    **WASI,
    ("wapc", "__guest_request"): HostFunction("i32 i32", "", _guest_request),
    ("wapc", "__guest_response"): HostFunction("i32 i32", "", _guest_response),
    ("wapc", "__guest_error"): HostFunction("i32 i32", "", _guest_error),
    ("wapc", "__host_call"): HostFunction("i32 i32 i32 i32 i32 i32 i32 i32", "i32", _host_call),
    ("wapc", "__host_response_len"): HostFunction("", "i32", _host_response_len),
    ("wapc", "__host_response"): HostFunction("i32", "", _host_response),
    ("wapc", "__host_error_len"): HostFunction("", "i32", _host_error_len),
    ("wapc", "__host_error"): HostFunction("i32", "", _host_error),
    ("wapc", "__console_log"): HostFunction("i32 i32", "", _console_log),
}
