"""Mode wasi: a program that reads a request from stdin and prints its answer.

A host call appends its answer to what is still unread on stdin. Every run is a new guest.
Source: policy-evaluator runtimes/wasi_cli; vectors' README, 15 to 19.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.dialects.kubewarden.codec import rust
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.runtime.engine import Engine, ExitError, Guest, HostFunction
from krm_fn.dialects.kubewarden.runtime.wapc import Host, HostError, host_call
from krm_fn.dialects.kubewarden.runtime.wasi import WASI, World


class _Run:
    def __init__(self, host: Host, world: World) -> None:
        self.host = host
        self.world = world
        self.calls = 0


class Command:
    """A module in this mode. Raises Fault (WRONG_ABI) for what does not keep to it."""

    def __init__(self, engine: Engine, module: Any) -> None:
        self._linked = engine.link(module, _FUNCTIONS)
        missing = [name for name in ("_start", "memory") if not self._linked.has_export(name)]
        if missing:
            raise Fault(
                FaultKind.WRONG_ABI,
                f"the module exports no {' and no '.join(missing)}: it is no WASI program, or its "
                "metadata names the wrong execution mode",
            )
        if self._linked.signature("_start") != " -> ":
            raise Fault(FaultKind.WRONG_ABI, "its _start is no function without arguments")

    def run(self, operation: str, stdin: bytes, host: Host, seconds: float) -> bytes:
        """What the program prints. Raises Fault; `said` is what it wrote to stderr, trimmed."""
        world = World((b"policy.wasm", operation.encode()), stdin)
        fault: Fault | None = None
        try:
            guest = self._linked.start(_Run(host, world), seconds)
            self._linked.call(guest, "_start", (), operation, seconds)
        except ExitError as exit_:
            if exit_.status != 0:
                fault = Fault(FaultKind.GUEST_ERROR, f"{operation} ends with status {exit_.status}")
        except Fault as error:
            fault = error
        said = _text("stderr", world.stderr).strip()
        if fault is None:
            _text("stdout", world.stdout)
            return bytes(world.stdout)
        if fault.kind is FaultKind.GUEST_ERROR and "out of memory" in said:
            fault = Fault(FaultKind.MEMORY_LIMIT, f"{operation} may have no more memory")
        if fault.kind is FaultKind.MEMORY_LIMIT:
            raise fault  # what it wrote to stderr is a dump of its stacks
        raise Fault(fault.kind, fault.message, said)


def _text(name: str, stream: bytearray) -> str:
    try:
        return stream.decode()
    except UnicodeDecodeError as error:
        raise Fault(
            FaultKind.BAD_RESPONSE,
            f"{name} pipe conversion error: Cannot convert buffer to UTF8 string: "
            f"{rust.utf8_error(error)}",
        ) from None


def _host_call(guest: Guest, *parts: int) -> int:
    """0 where it worked, 1 where not: the other way round than in waPC."""
    run: _Run = guest.state
    try:
        run.world.stdin += host_call(guest, run, parts)
    except HostError as error:
        run.world.stdin += str(error).encode()
        return 1
    return 0


_CALL: Final = HostFunction("i32 i32 i32 i32 i32 i32 i32 i32", "i32", _host_call)
_FUNCTIONS: Final = {
    **WASI,
    ("host", "call"): _CALL,
    ("kubewarden:javy/host", "call"): _CALL,
}
