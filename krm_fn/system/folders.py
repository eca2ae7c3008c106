"""The manifests of a directory and below, and what of it is left out, and why.

`krm_fn.system.paths.manifests` lists every file that may be one; here stands what people expect of
a whole repository, which holds more than manifests: `.krmignore` files and the folders of charts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from krm_fn.errors import InputError
from krm_fn.system.ignoring import NO_PATTERNS, Patterns, patterns_in
from krm_fn.system.paths import SUFFIXES, is_below, repository_of

_PACKAGE: Final = "Kptfile"
_CHART: Final = "Chart.yaml"
_OF_CHARTS: Final = ("templates", "charts")


class Why(StrEnum):
    """Why a path is left out."""

    IGNORED = "ignored"
    """A `.krmignore` names it."""
    CHART = "chart"
    """It is a Helm chart, whose templates are no YAML."""


class LeftOut(NamedTuple):
    """A file or folder (with a slash behind it) that is not read."""

    path: str
    why: Why


class Unreadable(NamedTuple):
    """A place that cannot be looked into, or that nobody may look into."""

    error: InputError


def walk(
    top: str, exclude: Patterns = NO_PATTERNS, *, everything: bool = False
) -> Iterator[str | LeftOut | Unreadable]:
    """The manifests in a directory and below, sorted; no dot folders.

    `exclude` is of paths as they are named here, and what it names is not told. `everything` leaves
    out nothing else. Raises InputError for a `.krmignore` that cannot be read.
    """
    root = repository_of(top)
    top = top.rstrip(os.sep) or os.sep
    errors: list[OSError] = []
    packages = {top: NO_PATTERNS if everything else patterns_in(top)}
    for folder, folders, files in os.walk(top, onerror=errors.append):
        package = folder
        while package not in packages:
            package = os.path.dirname(package)
        patterns = packages[package]
        if folder != top and _PACKAGE in files and not everything:
            package, patterns = folder, patterns_in(folder)
            packages[folder] = patterns
        if _CHART in files and not everything and any(name in folders for name in _OF_CHARTS):
            folders[:] = [name for name in folders if name not in _OF_CHARTS]
            yield LeftOut(folder, Why.CHART)
        kept = []
        for name in sorted(folders):
            path = os.path.join(folder, name)
            if name.startswith(".") or exclude.fit(os.path.normpath(path), folder=True):
                continue
            if patterns.fit(os.path.relpath(path, package), folder=True):
                yield LeftOut(path + os.sep, Why.IGNORED)
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not name.endswith(SUFFIXES) or name.startswith("."):
                continue
            if exclude.fit(os.path.normpath(path)):
                continue
            if patterns.fit(os.path.relpath(path, package)):
                yield LeftOut(path, Why.IGNORED)
            elif os.path.islink(path) and not is_below(path, root):
                reason = f"is a symbolic link that leads out of {root}"
                yield Unreadable(InputError(reason, path))
            else:
                yield path
    for error in errors:
        yield Unreadable(InputError(error.strerror or str(error), str(error.filename)))
