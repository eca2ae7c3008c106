"""Where manifests come from: files, directories, standard input, kustomize."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import click

from krm_fn.cli import renderers
from krm_fn.errors import InputError
from krm_fn.system.files import looked_in
from krm_fn.system.paths import manifests
from krm_fn.system.reading import read_file
from krm_fn.system.streams import read_stdin
from krm_fn.wire import Stream, read_stream


def read_manifests(filenames: Sequence[str], kustomize: str | None) -> Iterator[Stream]:
    """What `-f` and `-k` name; standard input without either. Raises KrmFnError."""
    if kustomize:
        yield read_stream(renderers.kustomize(kustomize), f"kustomize {kustomize}")
    names = filenames or (() if kustomize else ("-",))
    for name in names:
        if name == "-":
            yield _read_stdin()
        else:
            yield from read_files(name)


def read_files(name: str) -> Iterator[Stream]:
    """The manifests of a file, or in a directory and below. Raises InputError."""
    if not os.path.exists(name):
        raise InputError(f"does not exist {looked_in()}", name)
    for file in manifests(name):
        data = _read(file)
        if os.path.basename(file) not in renderers.KUSTOMIZATIONS or not renderers.is_kustomization(
            data
        ):
            yield read_stream(data, file)


def _read_stdin() -> Stream:
    context = click.get_current_context()
    data = context.obj if isinstance(context.obj, bytes) else read_stdin()
    stream = read_stream(data)
    if not data.strip():
        raise InputError("is empty; give manifests or name them with -f", "standard input")
    return stream


def _read(file: str) -> bytes:
    try:
        return read_file(file)
    except InputError as problem:
        raise InputError(f"{problem.message} {looked_in()}", file) from None
