"""Sprig's functions of slash-separated paths; those of the operating system are the same on Linux.

Source: Go's path and path/filepath packages.
"""

from __future__ import annotations

import posixpath
from typing import Final

from krm_fn.lang.gotemplate.values import Family

FUNCTIONS: Final = Family()


@FUNCTIONS.function("base osBase", "string")
def base(path: str) -> str:
    """The last element; `.` of nothing, `/` of slashes alone."""
    if not path:
        return "."
    stripped = path.rstrip("/")
    return stripped.rpartition("/")[2] or "/"


@FUNCTIONS.function("dir osDir", "string")
def dir_(path: str) -> str:
    """All but the last element, clean."""
    return clean(path[: path.rfind("/") + 1])


@FUNCTIONS.function("clean osClean", "string")
def clean(path: str) -> str:
    """The shortest path that leads to the same place."""
    # Python keeps two leading slashes, which POSIX allows to mean something.
    return posixpath.normpath("/" + path.lstrip("/") if path.startswith("/") else path)


@FUNCTIONS.function("ext osExt", "string")
def ext(path: str) -> str:
    """From the last dot of the last element on."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""


@FUNCTIONS.function("isAbs osIsAbs", "string")
def is_abs(path: str) -> bool:
    return path.startswith("/")
