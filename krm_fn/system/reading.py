"""How the program reads bytes: no more than a limit, and nothing that has no end.

Everything that names a file or a stream comes here: manifests, rules, configurations, what
renderers print. What is too large is refused while it is read, not when it is all there; a NUL
byte, which no manifest has, ends it at once. A device is no file. A pipe is read where somebody
writes to it: a shell's `<(command)` is one.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, BinaryIO, Final

from krm_fn import limits
from krm_fn.errors import InputError

_CHUNK: Final = 1 << 20
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16 and UTF-32, whose texts have NUL bytes; a better sentence follows."""


def read_all(source: Any, name: str = "", *, text: bool = True) -> bytes:
    """All bytes of a stream, of text or of anything. `name` is for messages.

    Raises InputError for more than `limits.INPUT_BYTES` and for a NUL byte in a text; OSError.
    """
    chunks: list[bytes] = []
    size = 0
    # On a terminal the end is heard once: whoever asks again waits for more.
    read = getattr(source, "read1", source.read)
    while chunk := read(_CHUNK):
        if text and b"\0" in chunk and not (chunks[0] if chunks else chunk).startswith(_MARKS):
            line = sum(part.count(b"\n") for part in chunks) + 1
            line += chunk.count(b"\n", 0, chunk.index(b"\0"))
            raise InputError(f"holds a NUL byte in line {line}: it is no text in UTF-8", name)
        chunks.append(chunk)
        size += len(chunk)
        if size > limits.INPUT_BYTES:
            raise InputError(f"larger than {limits.INPUT_BYTES // 2**20} MiB", name)
    return b"".join(chunks)


def read_file(path: str) -> bytes:
    """All bytes of a text file, or of a pipe that somebody writes to. Raises InputError."""
    try:
        if _is_null(path):
            return b""
        with _open(path, pipes=True) as file:
            first = b""
            if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
                first = _first_byte(file)
                os.set_blocking(file.fileno(), True)
            return first + read_all(file, path)
    except OSError as error:
        raise InputError(error.strerror or str(error), path) from None


def read_bytes(path: str) -> bytes:
    """All bytes of a regular file, text or not. Raises InputError."""
    try:
        with open_file(path) as file:
            return read_all(file, path, text=False)
    except OSError as error:
        raise InputError(error.strerror or str(error), path) from None


def open_file(path: str) -> BinaryIO:
    """A regular file, opened for reading bytes. Raises OSError, for any other one, too."""
    return _open(path, pipes=False)


def _open(path: str, *, pipes: bool) -> BinaryIO:
    # Asked before it is opened, which devices may take for a request; and after, for what it is.
    _check_kind(os.stat(path).st_mode, pipes=pipes)
    # A pipe without a writer would be waited for.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    file: Any = open(descriptor, "rb", buffering=0 if pipes else -1)  # noqa: SIM115
    try:
        _check_kind(os.fstat(file.fileno()).st_mode, pipes=pipes)
    except OSError:
        file.close()
        raise
    opened: BinaryIO = file
    return opened


def _check_kind(mode: int, *, pipes: bool) -> None:
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode) and not (pipes and stat.S_ISFIFO(mode)):
        raise OSError(errno.EINVAL, "is no file but a device, a pipe or a socket")


def _is_null(path: str) -> bool:
    """Whether a path is the null device, the one device that has an end."""
    found = os.stat(path)
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev


def _first_byte(pipe: Any) -> bytes:
    """The first byte of a pipe, b"" where its writer is not ready. Raises OSError without one."""
    first: bytes | None = pipe.read(1)
    if first == b"":
        raise OSError(errno.EPIPE, "is a pipe that nobody writes to")
    return first or b""
