"""The WebAssembly engine: modules from bytes, and guests that run within limits.

Fuel is the limit that decides: the same guest burns the same on every machine. The wall clock only
backs it up. Guests run one at a time. This is the one module that calls wasmtime; it knows neither
an execution mode nor Kubernetes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from krm_fn import limits
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.runtime.flags import FLAGS, make_engine
from krm_fn.dialects.kubewarden.store.cache import Cache
from krm_fn.errors import ConfigError

NOT_HERE: Final = (
    "Kubewarden policies need the package wasmtime (pip install 'krm-fn[kubewarden]'), which has "
    "wheels for Linux, macOS and Windows on x86-64 and arm64"
)

_TICK: Final = 0.05
_POINTER: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call of a guest may use: fuel (about an instruction each), bytes, seconds."""

    fuel: int = limits.WASM_FUEL
    memory: int = limits.WASM_MEMORY
    seconds: float = limits.WASM_SECONDS


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A function that guests may import: its types (`i32 i64`), and what it does.

    It is called with the running guest and the guest's arguments.
    """

    parameters: str
    results: str
    run: Callable[..., Any]


HostFunctions = Mapping[tuple[str, str], HostFunction]


class ExitError(Exception):
    """The guest called `proc_exit`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Engine:
    """Compiles modules and starts guests. Raises ConfigError where wasmtime is not there."""

    def __init__(
        self, bounds: Limits | None = None, cache: Cache | None = None, *, isolated: bool = True
    ) -> None:
        try:
            import wasmtime
        except (ImportError, OSError, RuntimeError) as error:
            raise ConfigError(f"{NOT_HERE} ({error})") from None
        self._wasmtime = wasmtime
        self.engine = make_engine()
        self.limits = bounds or Limits()
        self._cache = cache
        self._isolated = isolated
        self._lock = threading.Lock()
        self._ticking = False

    # --------------------------------------------------------------------------------- modules

    def compile(self, wasm: bytes) -> Any:
        """A module, from the cache or compiled. Raises Fault (BAD_MODULE)."""
        name = self._cache_name(wasm)
        artifact = self._cache.get(name) if self._cache else None
        if artifact is not None:
            try:
                return self._wasmtime.Module.deserialize(self.engine, artifact)
            except self._wasmtime.WasmtimeError:
                pass  # of another version; made anew
        if not self._isolated:
            module = self._compile_here(wasm)
            if self._cache:
                self._cache.put(name, bytes(module.serialize()))
            return module
        artifact = _compile_apart(wasm)
        if self._cache:
            self._cache.put(name, artifact)
        return self._wasmtime.Module.deserialize(self.engine, artifact)

    def _compile_here(self, wasm: bytes) -> Any:
        try:
            return self._wasmtime.Module(self.engine, wasm)
        except self._wasmtime.WasmtimeError as error:
            raise _not_compiled(str(error)) from None

    def _cache_name(self, wasm: bytes) -> str:
        # The version of wasmtime is in the artifact, and is checked when it is loaded.
        digest = hashlib.sha256(wasm)
        flags = f"{sys.platform} {platform.machine()} {FLAGS}"
        digest.update(flags.encode())
        return digest.hexdigest()

    def link(self, module: Any, functions: HostFunctions, *, memory: bool = False) -> Linked:
        """Check what a module imports against what it may; with `memory`, also `env.memory`.

        Raises Fault (WRONG_ABI) that names the import.
        """
        return Linked(self, module, functions, memory)

    # ---------------------------------------------------------------------------------- guests

    def store(self, fuel: int | None = None) -> Any:
        """A fresh store under the limits."""
        store = self._wasmtime.Store(self.engine)
        # The bound on bytes is one of each memory; modules have one, as a rule.
        store.set_limits(
            memory_size=self.limits.memory,
            table_elements=limits.WASM_TABLE,
            instances=1,
            tables=4,
            memories=2,
        )
        store.set_fuel(self.limits.fuel if fuel is None else fuel)
        return store

    def run(self, guest: Guest, what: Callable[[], Any], phase: str, seconds: float) -> Any:
        """Run something in a guest, bounded. Raises Fault and ExitError."""
        with self._lock:
            self._tick()
            guest.fault = None
            guest.fuel, guest.phase = self.limits.fuel, phase
            store = guest.store
            store.set_fuel(self.limits.fuel)
            store.set_epoch_deadline(max(1, round(min(seconds, self.limits.seconds) / _TICK)) + 1)
            try:
                return what()
            except ExitError:
                raise
            except Exception as error:
                if guest.fault is not None:
                    raise guest.fault from None
                raise self._fault(error, guest, phase, seconds) from None

    def _fault(self, error: Exception, guest: Guest, phase: str, seconds: float) -> Fault:
        wasmtime = self._wasmtime
        if not isinstance(error, wasmtime.Trap | wasmtime.WasmtimeError):
            raise error
        code = error.trap_code if isinstance(error, wasmtime.Trap) else None
        used = guest.memory_size()
        bound = self.limits.memory
        if code is wasmtime.TrapCode.OUT_OF_FUEL:
            return Fault(
                FaultKind.OUT_OF_FUEL,
                f"{phase} used up its fuel of {self.limits.fuel:,} (about one unit an instruction)",
            )
        if code is wasmtime.TrapCode.INTERRUPT:
            allowed = min(seconds, self.limits.seconds)
            return Fault(
                FaultKind.TIMEOUT,
                f"{phase} took longer than {allowed:g} s before its fuel ended",
            )
        message = _reason(str(error))
        if "memory limits" in message or "memory limit" in message:
            return Fault(
                FaultKind.MEMORY_LIMIT,
                f"needs more than {bound // 2**20} MiB of memory",
            )
        if used > bound // 2:
            return Fault(
                FaultKind.MEMORY_LIMIT,
                f"{phase} failed with {used // 2**20} MiB of memory in use, and may have no more "
                f"than {bound // 2**20} MiB ({message})",
            )
        return Fault(FaultKind.GUEST_TRAP, f"{phase} failed: {message}")

    def _tick(self) -> None:
        """Let the clock of deadlines run, once for the life of the engine."""
        if self._ticking:
            return
        self._ticking = True
        threading.Thread(target=_tick, args=(self.engine,), daemon=True).start()


def _tick(engine: Any) -> None:
    while True:
        time.sleep(_TICK)
        engine.increment_epoch()


class Guest:
    """One instance of a module with its store; `fault` is what a host function found wrong.

    Pointers of guests are unsigned. Reads and writes outside of memory are faults.
    """

    __slots__ = ("fault", "fuel", "instance", "memory", "phase", "state", "store")

    def __init__(self, store: Any, state: Any) -> None:
        self.store = store
        self.state = state
        self.fault: Fault | None = None
        self.instance: Any = None
        self.memory: Any = None
        self.fuel = 0
        self.phase = ""

    def export(self, name: str) -> Any:
        """An export by its name, or None."""
        return self.instance.exports(self.store).get(name)

    def memory_size(self) -> int:
        """Bytes of linear memory in use; 0 before there is any."""
        if self.memory is None and self.instance is not None:
            found = self.export("memory")
            self.memory = found if hasattr(found, "data_len") else None
        return self.memory.data_len(self.store) if self.memory is not None else 0

    def pay(self, fuel: int) -> None:
        """Let the guest pay for what the host does for it. Raises Fault (OUT_OF_FUEL)."""
        left = self.store.get_fuel() - fuel
        if left < 0:
            raise Fault(
                FaultKind.OUT_OF_FUEL,
                f"{self.phase} used up its fuel of {self.fuel:,} (about one unit an instruction)",
            )
        self.store.set_fuel(left)

    def read(self, pointer: int, length: int) -> bytes:
        """Bytes of the guest's memory. Raises Fault (WRONG_ABI) outside of it."""
        pointer &= _POINTER
        length &= _POINTER
        base = self._base(pointer, length)
        self.pay(length * limits.WASM_HOST_BYTE_FUEL)
        return ctypes.string_at(base + pointer, length) if length else b""

    def write(self, pointer: int, data: bytes) -> None:
        """Put bytes into the guest's memory. Raises Fault (WRONG_ABI) outside of it."""
        if data:
            pointer &= _POINTER
            self.pay(len(data) * limits.WASM_HOST_BYTE_FUEL)
            ctypes.memmove(self._base(pointer, len(data)) + pointer, data, len(data))

    def _base(self, pointer: int, length: int) -> int:
        memory = self.memory
        if memory is None:
            raise Fault(FaultKind.WRONG_ABI, "the module exports no memory")
        size = memory.data_len(self.store)
        if pointer + length > size:
            raise Fault(
                FaultKind.WRONG_ABI,
                f"the guest names {length} bytes at address {pointer:#x}, outside of its memory of "
                f"{size} bytes",
            )
        return ctypes.addressof(memory.data_ptr(self.store).contents)


class Linked:
    """A module whose imports are resolved: starts as many guests as are wanted."""

    def __init__(self, engine: Engine, module: Any, functions: HostFunctions, memory: bool) -> None:
        self.engine = engine
        self.module = module
        self._guest: Guest | None = None
        self._own_memory: Any = None
        self._linker = engine._wasmtime.Linker(engine.engine)
        seen: set[tuple[str, str]] = set()
        for wanted in module.imports:
            key = (wanted.module, wanted.name or "")
            if memory and key == ("env", "memory"):
                self._own_memory = wanted.type
            elif key not in seen:
                seen.add(key)
                self._define(key, wanted.type, functions)
        self._ready = None if memory else self._linker.instantiate_pre(module)

    def _define(self, key: tuple[str, str], wanted: Any, functions: HostFunctions) -> None:
        name = "::".join(key)
        function = functions.get(key)
        if function is None:
            hint = ""
            if name == "env::abort":
                hint = "; build it with: asc --use abort= --exportStart wapc_init"
            raise Fault(
                FaultKind.WRONG_ABI,
                f"unknown import: `{name}` has not been defined{hint}",
            )
        if not isinstance(wanted, self.engine._wasmtime.FuncType) or (
            " ".join(map(str, wanted.params)) != function.parameters
            or " ".join(map(str, wanted.results)) != function.results
        ):
            raise Fault(FaultKind.WRONG_ABI, f"incompatible import type for `{name}`")
        self._linker.define_func(*key, wanted, self._callback(function.run), access_caller=True)

    def _callback(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def call(caller: Any, *arguments: Any) -> Any:
            guest = self._guest
            assert guest is not None
            try:
                if guest.memory is None:
                    found = caller.get("memory")
                    guest.memory = found if hasattr(found, "data_len") else None
                guest.pay(limits.WASM_HOST_CALL_FUEL)
                return run(guest, *arguments)
            except Fault as fault:
                # Kept here, since wasmtime has one place for all exceptions of a process.
                guest.fault = fault
                raise

        return call

    def start(self, state: Any, seconds: float) -> Guest:
        """A fresh guest; `state` is what host functions find in it. Raises Fault."""
        guest = Guest(self.engine.store(), state)
        self.enter(guest, lambda: self._instantiate(guest), "its start section", seconds)
        exported = guest.export("memory")
        if exported is not None and hasattr(exported, "data_len"):
            guest.memory = exported
        return guest

    def _instantiate(self, guest: Guest) -> None:
        if self._ready is not None:
            guest.instance = self._ready.instantiate(guest.store)
            return
        if self._own_memory is not None:
            wasmtime = self.engine._wasmtime
            bounds = self._own_memory.limits
            pages = max(5, bounds.min)
            kind = wasmtime.MemoryType(wasmtime.Limits(pages, bounds.max))
            guest.memory = wasmtime.Memory(guest.store, kind)
            self._linker.allow_shadowing = True
            self._linker.define(guest.store, "env", "memory", guest.memory)
        guest.instance = self._linker.instantiate(guest.store, self.module)

    def call(
        self, guest: Guest, name: str, arguments: tuple[int, ...], phase: str, seconds: float
    ) -> Any:
        """Call an exported function of a guest. Raises Fault and ExitError."""
        function = guest.export(name)
        return self.enter(guest, lambda: function(guest.store, *arguments), phase, seconds)

    def enter(self, guest: Guest, what: Callable[[], Any], phase: str, seconds: float) -> Any:
        """Do something with a guest under the limits of one call. Raises Fault and ExitError."""

        def run() -> Any:
            self._guest = guest
            try:
                return what()
            finally:
                self._guest = None

        return self.engine.run(guest, run, phase, seconds)

    def signature(self, name: str) -> str | None:
        """The type of an exported function, as `i32 i32 -> i32`; None where there is none."""
        for export in self.module.exports:
            if export.name == name:
                kind = export.type
                if not hasattr(kind, "params"):
                    return None
                return f"{' '.join(map(str, kind.params))} -> {' '.join(map(str, kind.results))}"
        return None

    def has_export(self, name: str) -> bool:
        return any(export.name == name for export in self.module.exports)


def _compile_apart(wasm: bytes) -> bytes:
    """Compile in a process that the operating system bounds. Raises Fault and ConfigError."""
    try:
        import resource  # noqa: F401
    except ImportError:
        raise ConfigError(
            "compiling a policy cannot be bounded on this platform; pull it, so that it is locked, "
            "or use Linux or macOS"
        ) from None
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "krm_fn.dialects.kubewarden.runtime.compile_child"],
        input=wasm,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "MALLOC_ARENA_MAX": "2"},
    )
    if done.returncode == 1 and done.stderr and b"Traceback" not in done.stderr:
        raise _not_compiled(done.stderr.decode(errors="replace"))
    if done.returncode:
        raise Fault(
            FaultKind.BAD_MODULE,
            "no usable WebAssembly module: compiling it takes more than "
            f"{limits.WASM_COMPILE_MEMORY // 2**20} MiB of memory or "
            f"{limits.WASM_COMPILE_SECONDS} s",
        )
    return done.stdout


def _not_compiled(reason: str) -> Fault:
    return Fault(
        FaultKind.BAD_MODULE, f"no usable WebAssembly module: {' '.join(reason.split())[:500]}"
    )


def _reason(message: str) -> str:
    """The cause in a report of wasmtime's, without the addresses in its backtrace."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[-1].removeprefix("0: ").removeprefix("1: ") if lines else "trap"
