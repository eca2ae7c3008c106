"""The world that a guest sees through WASI preview 1: arguments, three streams, and nothing else.

No files, no environment, no sockets. The clock stands still until it is asked, then moves by a
microsecond each time, and sleeping moves it; random bytes are the same in every run. So a guest
answers the same on every machine.
Source: WASI snapshot preview 1 (witx); what the policy server gives its guests, as observed.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Any, Final

from krm_fn import limits
from krm_fn.dialects.kubewarden.faults import Fault, FaultKind
from krm_fn.dialects.kubewarden.runtime.engine import ExitError, Guest, HostFunction

SUCCESS: Final = 0
_EBADF: Final = 8
_EINVAL: Final = 28
_ENOSYS: Final = 52
_REGULAR_FILE: Final = 4
EPOCH: Final = 1_767_225_600 * 10**9
"""When every guest is started: the first of January 2026, in nanoseconds."""
_MAX_PARTS: Final = 1_024
_RIGHTS: Final = 2**64 - 1


class World:
    """What one guest has read, written and been told."""

    def __init__(self, arguments: tuple[bytes, ...] = (), stdin: bytes = b"") -> None:
        self.arguments = arguments
        self.stdin = bytearray(stdin)
        self.stdout = bytearray()
        self.stderr = bytearray()
        self._now = EPOCH
        self._drawn = 0

    def now(self) -> int:
        self._now += 1_000
        return self._now

    def sleep(self, nanoseconds: int) -> None:
        self._now += nanoseconds

    def random(self, size: int) -> bytes:
        blocks = []
        for _ in range(-(-size // 32)):
            blocks.append(hashlib.sha256(b"krm-fn %d" % self._drawn).digest())
            self._drawn += 1
        return b"".join(blocks)[:size]


def _world(guest: Guest) -> World:
    world: World = guest.state.world
    return world


# ------------------------------------------------------------------------------------- functions


def _args_sizes_get(guest: Guest, count: int, size: int) -> int:
    arguments = _world(guest).arguments
    guest.write(count, struct.pack("<I", len(arguments)))
    guest.write(size, struct.pack("<I", sum(len(one) + 1 for one in arguments)))
    return SUCCESS


def _args_get(guest: Guest, pointers: int, buffer: int) -> int:
    for n, argument in enumerate(_world(guest).arguments):
        guest.write(pointers + 4 * n, struct.pack("<I", buffer & 0xFFFFFFFF))
        guest.write(buffer, argument + b"\0")
        buffer += len(argument) + 1
    return SUCCESS


def _environ_sizes_get(guest: Guest, count: int, size: int) -> int:
    guest.write(count, bytes(4))
    guest.write(size, bytes(4))
    return SUCCESS


def _environ_get(guest: Guest, pointers: int, buffer: int) -> int:
    return SUCCESS


def _clock_res_get(guest: Guest, clock: int, result: int) -> int:
    guest.write(result, struct.pack("<Q", 1_000))
    return SUCCESS


def _clock_time_get(guest: Guest, clock: int, precision: int, result: int) -> int:
    guest.write(result, struct.pack("<Q", _world(guest).now()))
    return SUCCESS


def _random_get(guest: Guest, buffer: int, size: int) -> int:
    size &= 0xFFFFFFFF
    guest.read(buffer, size)
    guest.write(buffer, _world(guest).random(size))
    return SUCCESS


def _parts(guest: Guest, vectors: int, count: int) -> list[tuple[int, int]]:
    count &= 0xFFFFFFFF
    if count > _MAX_PARTS:
        raise Fault(FaultKind.WRONG_ABI, f"the guest reads or writes {count} buffers at once")
    packed = guest.read(vectors, 8 * count)
    return list(struct.iter_unpack("<II", packed))


def _fd_read(guest: Guest, fd: int, vectors: int, count: int, result: int) -> int:
    if fd != 0:
        return _EBADF
    stdin = _world(guest).stdin
    total = 0
    for pointer, size in _parts(guest, vectors, count):
        piece = bytes(stdin[:size])
        guest.write(pointer, piece)
        del stdin[: len(piece)]
        total += len(piece)
        if len(piece) < size:
            break
    guest.write(result, struct.pack("<I", total))
    return SUCCESS


def _fd_write(guest: Guest, fd: int, vectors: int, count: int, result: int) -> int:
    world = _world(guest)
    if fd not in (1, 2):
        return _EBADF
    stream = world.stdout if fd == 1 else world.stderr
    total = 0
    for pointer, size in _parts(guest, vectors, count):
        if len(stream) + size > limits.WASM_RESPONSE:
            raise Fault(
                FaultKind.BAD_RESPONSE,
                f"the guest writes more than {limits.WASM_RESPONSE // 2**20} MiB",
            )
        stream += guest.read(pointer, size)
        total += size
    guest.write(result, struct.pack("<I", total))
    return SUCCESS


def _fd_fdstat_get(guest: Guest, fd: int, result: int) -> int:
    if fd not in (0, 1, 2):
        return _EBADF
    guest.write(result, struct.pack("<BxHxxxxQQ", _REGULAR_FILE, 0, _RIGHTS, _RIGHTS))
    return SUCCESS


def _fd_filestat_get(guest: Guest, fd: int, result: int) -> int:
    if fd not in (0, 1, 2):
        return _EBADF
    guest.write(result, struct.pack("<QQB7xQQQQQ", 0, fd, _REGULAR_FILE, 1, 0, 0, 0, 0))
    return SUCCESS


def _fd_close(guest: Guest, fd: int) -> int:
    return SUCCESS if fd in (0, 1, 2) else _EBADF


def _poll_oneoff(guest: Guest, wanted: int, events: int, count: int, result: int) -> int:
    """Every clock has rung at once; streams are always ready."""
    count &= 0xFFFFFFFF
    if not 0 < count <= _MAX_PARTS:
        return _EINVAL
    world = _world(guest)
    waits: list[int] = []
    for n in range(count):
        data = guest.read(wanted + 48 * n, 48)
        user, kind = struct.unpack_from("<QB", data)
        if kind == 0:
            timeout, _, flags = struct.unpack_from("<QQH", data, 24)
            waits.append(max(0, timeout - world.now()) if flags & 1 else timeout)
        guest.write(events + 32 * n, struct.pack("<QHB5xQH6x", user, 0, kind, 0, 0))
    if waits:
        world.sleep(min(waits))
    guest.write(result, struct.pack("<I", count))
    return SUCCESS


def _proc_exit(guest: Guest, status: int) -> None:
    raise ExitError(status & 0xFFFFFFFF)


def _sched_yield(guest: Guest) -> int:
    return SUCCESS


def _no_file(guest: Guest, *arguments: int) -> int:
    return _EBADF


def _not_supported(guest: Guest, *arguments: int) -> int:
    return _ENOSYS


_FUNCTIONS: Final[dict[str, tuple[str, Callable[..., Any]]]] = {
    "args_get": ("i32 i32", _args_get),
    "args_sizes_get": ("i32 i32", _args_sizes_get),
    "environ_get": ("i32 i32", _environ_get),
    "environ_sizes_get": ("i32 i32", _environ_sizes_get),
    "clock_res_get": ("i32 i32", _clock_res_get),
    "clock_time_get": ("i32 i64 i32", _clock_time_get),
    "fd_advise": ("i32 i64 i64 i32", _no_file),
    "fd_allocate": ("i32 i64 i64", _no_file),
    "fd_close": ("i32", _fd_close),
    "fd_datasync": ("i32", _no_file),
    "fd_fdstat_get": ("i32 i32", _fd_fdstat_get),
    "fd_fdstat_set_flags": ("i32 i32", _no_file),
    "fd_fdstat_set_rights": ("i32 i64 i64", _no_file),
    "fd_filestat_get": ("i32 i32", _fd_filestat_get),
    "fd_filestat_set_size": ("i32 i64", _no_file),
    "fd_filestat_set_times": ("i32 i64 i64 i32", _no_file),
    "fd_pread": ("i32 i32 i32 i64 i32", _no_file),
    "fd_prestat_get": ("i32 i32", _no_file),
    "fd_prestat_dir_name": ("i32 i32 i32", _no_file),
    "fd_pwrite": ("i32 i32 i32 i64 i32", _no_file),
    "fd_read": ("i32 i32 i32 i32", _fd_read),
    "fd_readdir": ("i32 i32 i32 i64 i32", _no_file),
    "fd_renumber": ("i32 i32", _no_file),
    "fd_seek": ("i32 i64 i32 i32", _no_file),
    "fd_sync": ("i32", _no_file),
    "fd_tell": ("i32 i32", _no_file),
    "fd_write": ("i32 i32 i32 i32", _fd_write),
    "path_create_directory": ("i32 i32 i32", _no_file),
    "path_filestat_get": ("i32 i32 i32 i32 i32", _no_file),
    "path_filestat_set_times": ("i32 i32 i32 i32 i64 i64 i32", _no_file),
    "path_link": ("i32 i32 i32 i32 i32 i32 i32", _no_file),
    "path_open": ("i32 i32 i32 i32 i32 i64 i64 i32 i32", _no_file),
    "path_readlink": ("i32 i32 i32 i32 i32 i32", _no_file),
    "path_remove_directory": ("i32 i32 i32", _no_file),
    "path_rename": ("i32 i32 i32 i32 i32 i32", _no_file),
    "path_symlink": ("i32 i32 i32 i32 i32", _no_file),
    "path_unlink_file": ("i32 i32 i32", _no_file),
    "poll_oneoff": ("i32 i32 i32 i32", _poll_oneoff),
    "proc_raise": ("i32", _not_supported),
    "random_get": ("i32 i32", _random_get),
    "sched_yield": ("", _sched_yield),
    "sock_accept": ("i32 i32 i32", _no_file),
    "sock_recv": ("i32 i32 i32 i32 i32 i32", _no_file),
    "sock_send": ("i32 i32 i32 i32 i32", _no_file),
    "sock_shutdown": ("i32 i32", _no_file),
}


def _all() -> dict[tuple[str, str], HostFunction]:
    found: dict[tuple[str, str], HostFunction] = {}
    # Old TinyGo asks for the interface by its first name; what differs is in files only.
    for module in ("wasi_snapshot_preview1", "wasi_unstable"):
        for name, (parameters, run) in _FUNCTIONS.items():
            found[(module, name)] = HostFunction(parameters, "i32", run)
        found[(module, "proc_exit")] = HostFunction("i32", "", _proc_exit)
    return found


WASI: Final = _all()
