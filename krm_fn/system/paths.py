"""Files that a document names: where its relative paths start, and how far they may lead.

What an operator's document names must not be decided by the author of a tree that happens to be the
working directory. So a relative path starts in the folder of the file that names it; only a KRM
function, whose configuration comes with the package, starts in the working directory, as kpt and
kustomize define it. Nothing leads out of the tree, neither `..` nor a symbolic link.
Source: docs/configuration.md, "Files and limits".
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from krm_fn.errors import ConfigError, InputError
from krm_fn.system.files import working_directory

MOUNT: Final = "/rules"
"""Where an image's user mounts rules; absolute paths below it are fine."""

SUFFIXES: Final = (".yaml", ".yml", ".json")


class Base(NamedTuple):
    """Where relative paths start (`folder`), and the folder that nothing leads out of (`root`).

    "" is the working directory. With a `root` of its own, `..` may lead as far as there.
    """

    folder: str = ""
    root: str = ""

    def join(self, path: str) -> str:
        """A path as this process can open it."""
        return os.path.join(self.folder, path) if self.folder else path

    def __str__(self) -> str:
        return self.folder or working_directory()


WORKING_DIRECTORY: Final = Base()


def base_of(file: str) -> Base:
    """The base of what `file` names: its folder; nothing outside of its repository is read.

    Without a repository that is the working directory, where the file is in it.
    """
    folder = os.path.dirname(file) or os.curdir
    root = repository_of(folder)
    if not os.path.lexists(os.path.join(root, ".git")) and is_below(folder, os.curdir):
        root = os.path.realpath(os.curdir)
    return Base(folder, root)


def repository_of(folder: str) -> str:
    """The real path of the Git repository that a folder is in, of the folder itself without one."""
    real = os.path.realpath(folder)
    at = real
    while True:
        if os.path.lexists(os.path.join(at, ".git")):
            return at
        parent = os.path.dirname(at)
        if parent == at:
            return real
        at = parent


class NamedPath(NamedTuple):
    """A path that a configuration names, as this process can open it; `root` is its tree."""

    name: str
    root: str


def expand_paths(
    paths: Sequence[str], where: str, base: Base = WORKING_DIRECTORY
) -> Iterator[NamedPath]:
    """What the paths and globs of a configuration name; nothing outside the tree.

    `where` is the field, for messages. Raises ConfigError.
    """
    for path in paths:
        import glob  # where no path is named, it is not needed

        root = _root_of(path, where, base)
        name = base.join(path)
        matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(path) else [name]
        if not matches:
            raise ConfigError(f"{where}: nothing matches {path} in {base}")
        if base.folder and matches == [name] and not os.path.lexists(name):
            raise _not_there(path, where, base)
        for match in matches:
            check_inside(match, root, where)
            yield NamedPath(match, root)


def _not_there(path: str, where: str, base: Base) -> ConfigError:
    """The error for a path that is not where the file that names it says."""
    reason = f"{where}: {base.join(path)} does not exist; a path in a file starts in its folder"
    if os.path.lexists(path):
        there = os.path.relpath(path, base.folder)
        reason += f": for {path} in the working directory write {there}"
    return ConfigError(reason)


def twins_here(paths: Sequence[str], base: Base) -> Iterator[str]:
    """Those of the paths that are something else in the working directory than in their base."""
    for path in paths:
        here = not os.path.isabs(path) and os.path.exists(path)
        if base.folder and here and os.path.realpath(path) != os.path.realpath(base.join(path)):
            yield path


def expand_path(path: str, where: str, base: Base = WORKING_DIRECTORY) -> str:
    """The one file or directory that a configuration names, which need not exist.

    Raises ConfigError for a path outside the tree.
    """
    root = _root_of(path, where, base)
    name = base.join(path)
    check_inside(name, root, where)
    return name


def _root_of(path: str, where: str, base: Base) -> str:
    """The tree that a path must not lead out of."""
    if ".." in path.replace("\\", "/").split("/") and not base.root:
        raise ConfigError(f"{where}: {path} leaves the tree; paths have no `..`")
    if not os.path.isabs(path):
        return base.root or base.folder or os.curdir
    normal = os.path.normpath(path)
    if normal != MOUNT and not normal.startswith(MOUNT + os.sep):
        start = "the folder of the file that names it" if base.folder else "the working directory"
        raise ConfigError(
            f"{where}: {path} is absolute; a path is relative to {start} ({base}), or below {MOUNT}"
        )
    return MOUNT


def check_inside(name: str, root: str, where: str) -> None:
    """Refuse what `..` or a symbolic link leads out of a tree. Raises ConfigError."""
    if not is_below(name, root):
        how = "by a symbolic link" if ".." not in name else "by `..`"
        raise ConfigError(f"{where}: {name} leads out of {os.path.realpath(root)} {how}")


def is_below(path: str, root: str) -> bool:
    """Whether a path is a folder or in it, symbolic links resolved."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def manifests(path: str) -> Iterator[str]:
    """A file, or the manifests in a directory and below, sorted; no dot folders.

    Raises InputError for one that a symbolic link leads out of the directory's repository.
    """
    if not os.path.isdir(path):
        yield path
        return
    root = ""
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.endswith(SUFFIXES) or name.startswith("."):
                continue
            file = os.path.join(folder, name)
            if os.path.islink(file):
                root = root or repository_of(path)
                if not is_below(file, root):
                    raise InputError(f"is a symbolic link that leads out of {root}", file)
            yield file
