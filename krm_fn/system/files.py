"""How the program writes files: whole or not at all, and only where its user said.

Everything is written beside the files first and then renamed, so that nobody reads half a file and
a full disk loses nothing. A file keeps its owner, group, mode and extended attributes; where it
cannot (another name of a hard link would keep the old contents) it is refused. Symbolic links are
not followed, neither files nor folders: they may be part of a pull request, and would lead out of
it. Knows no manifest.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from krm_fn.errors import ConfigError, OutputError

_PREFIX: Final = ".krm-fn-"
_TRIES: Final = 100
_DEVICES: Final = ("/dev/", "/proc/")
_SYSTEM: Final = "/"
"""The folder whose links are the system's: /tmp may be one."""


class Write(NamedTuple):
    """What a file shall hold; `before` is what it must hold until then, None for anything."""

    path: str
    data: bytes
    before: bytes | None = None


def working_directory() -> str:
    """The working directory, for messages and as the root of a tree. Raises ConfigError."""
    try:
        return os.getcwd()
    except OSError:
        raise ConfigError("the working directory does not exist any more; change to another") from (
            None
        )


def looked_in() -> str:
    """`(looked in /here)`, to be said of a relative path that is not there."""
    try:
        return f"(looked in {os.getcwd()})"
    except OSError:
        return "(the working directory does not exist any more)"


def write_file(path: str, data: bytes) -> None:
    """Let a file hold `data`, new or as it was otherwise; a pipe or a device is written to.

    Raises ConfigError for a path that is not to be written, OutputError where writing fails.
    """
    if not path.startswith(_DEVICES) and not _is_pipe(path):
        write_files([Write(path, data)])
        return
    try:
        with open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as file:
            file.write(data)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", path) from None


def make_folders(path: str) -> None:
    """Make a folder and those above it that are missing. Raises ConfigError and OutputError."""
    check_links(path)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot be made: {error.strerror}", path) from None


def _is_pipe(path: str) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISFIFO(os.lstat(path).st_mode)
    return False


def write_files(writes: Sequence[Write]) -> None:
    """Let files hold what they shall, all of them or none.

    Raises ConfigError for a file that is not to be written and OutputError where one cannot be
    written; nothing has changed then, except where the message names files that have.
    """
    checked = [_Target(write) for write in _without_twins(writes)]
    with _signals_wait() as pending:
        try:
            for target in checked:
                target.prepare()
                if pending:
                    return
            _rename_all(checked)
            pending[:] = [number for number in pending if number != _ALARM]  # done in time
        finally:
            for target in checked:
                target.clean()


class _Target:
    """One file, from the first check to its new contents. Raises ConfigError and OutputError."""

    def __init__(self, write: Write) -> None:
        self.path = write.path
        self._data = write.data
        self._temporary = ""
        self._old: os.stat_result | None = None
        check_links(self.path)
        with self._failing():
            self._check(write.before)

    def _check(self, before: bytes | None) -> None:
        try:
            old = os.lstat(self.path)
        except FileNotFoundError:
            if before is not None:
                raise
            return
        if stat.S_ISDIR(old.st_mode):
            raise ConfigError("is a folder", self.path)
        if not stat.S_ISREG(old.st_mode):
            raise ConfigError("is no regular file; it is not written", self.path)
        if old.st_nlink > 1:
            raise ConfigError(
                f"has {old.st_nlink} names (hard links), and only this one would change; copy it "
                "or remove the others",
                self.path,
            )
        self._old = old
        # What may not be written is not replaced, either: read-only and immutable files.
        with open(self.path, "r+b") as file:
            if before is not None and file.read(len(before) + 1) != before:
                raise ConfigError("has changed while it was being worked on; try again", self.path)

    def prepare(self) -> None:
        """Write the new contents beside the file."""
        with self._failing():
            descriptor, self._temporary = _create_beside(self.path)
            with open(descriptor, "wb") as file:
                file.write(self._data)
                self._keep(descriptor)

    def _keep(self, descriptor: int) -> None:
        """Give the new file what the old one has: owner, group, attributes, mode."""
        if self._old is None:
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, 0o666 & ~_umask())
            return
        new = os.fstat(descriptor)
        owner = (self._old.st_uid, self._old.st_gid)
        if hasattr(os, "fchown") and (new.st_uid, new.st_gid) != owner:
            try:
                os.fchown(descriptor, *owner)
            except OSError:
                raise ConfigError(
                    "belongs to another user or group, and would not any more; run as its owner",
                    self.path,
                ) from None
        if hasattr(os, "listxattr"):
            _copy_attributes(self.path, descriptor)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, stat.S_IMODE(self._old.st_mode))

    def rename(self) -> None:
        """Put the new contents in the place of the old. Raises OSError."""
        os.replace(self._temporary, self.path)
        self._temporary = ""

    def clean(self) -> None:
        """Remove what was written beside the file and not renamed."""
        if self._temporary:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"cannot be written: {error.strerror}; nothing was written", self.path
            ) from None


def _rename_all(targets: Sequence[_Target]) -> None:
    for n, target in enumerate(targets):
        try:
            target.rename()
        except OSError as error:
            reason = f"cannot be written: {error.strerror}"
            if n == 0:
                raise OutputError(f"{reason}; nothing was written", target.path) from None
            new = [f"new: {done.path}" for done in targets[:n]]
            old = [f"old: {left.path}" for left in targets[n:]]
            message = f"{reason}; of {len(targets)} files {n} are new and {len(old)} are old"
            raise OutputError(message, target.path, details=(*new, *old)) from None


def _without_twins(writes: Sequence[Write]) -> list[Write]:
    """The writes without those that name a file once more. Raises ConfigError if they differ."""
    by_file: dict[Any, Write] = {}
    for write in writes:
        try:
            status = os.lstat(write.path)
            key: Any = (status.st_dev, status.st_ino)
        except OSError:
            key = os.path.normpath(write.path)
        other = by_file.setdefault(key, write)
        if other.data != write.data:
            raise ConfigError(f"is the same file as {other.path}; name it once", write.path)
    return list(by_file.values())


def check_links(path: str) -> None:
    """Refuse a path that leads through a symbolic link. Raises ConfigError."""
    at = ""
    for part in path.split(os.sep):
        folder, at = at, os.path.join(at, part) if at or part else os.sep
        if folder != _SYSTEM and os.path.islink(at):
            where = "is a symbolic link" if at == path else f"leads through the symbolic link {at}"
            raise ConfigError(f"{where}, which is not followed; name the file itself", path)


def _create_beside(path: str) -> tuple[int, str]:
    """A new file in the folder of another: its descriptor and its name. Raises OSError."""
    folder = os.path.dirname(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    for attempt in range(_TRIES):
        name = os.path.join(folder, f"{_PREFIX}{os.urandom(8).hex()}")
        try:
            return os.open(name, flags, 0o600), name
        except FileExistsError:
            if attempt + 1 == _TRIES:
                raise
    raise AssertionError


def _copy_attributes(path: str, descriptor: int) -> None:
    """Extended attributes, access control lists among them. Raises OSError."""
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return  # a file system without them
    for name in names:
        value = os.getxattr(path, name, follow_symlinks=False)
        with contextlib.suppress(OSError):
            if os.getxattr(descriptor, name) == value:
                continue
        os.setxattr(descriptor, name, value)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")


_ALARM: Final = getattr(signal, "SIGALRM", None)
"""What ends a run whose time is up (`krm_fn.system.deadline`)."""


@contextlib.contextmanager
def _signals_wait() -> Iterator[list[int]]:
    """Let signals that end the program wait until files are whole; those that came are listed."""
    pending: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in _ENDING if hasattr(signal, name)):
            handler = signal.getsignal(number)
            if handler not in (signal.SIG_IGN, None):
                before[number] = handler
                signal.signal(number, lambda came, _: pending.append(came))
    try:
        yield pending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(pending):
            signal.raise_signal(number)


__all__ = [
    "Write",
    "check_links",
    "looked_in",
    "make_folders",
    "working_directory",
    "write_file",
    "write_files",
]
