"""Where manifests come from: files, directories, globs, standard input, kustomize.

A file that somebody names is a manifest, or an error. A directory is a repository as it is: what
other programs read is passed over and counted, and all that is wrong with the rest is told at once.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import click

from krm_fn.admission import Cause, Finding
from krm_fn.cli import renderers
from krm_fn.config.dialects import is_target
from krm_fn.config.found import read_found
from krm_fn.errors import InputError
from krm_fn.report.model import PassedOver, Report
from krm_fn.run.target import value_of
from krm_fn.system import progress
from krm_fn.system.files import looked_in
from krm_fn.system.folders import LeftOut, Why, walk
from krm_fn.system.ignoring import Patterns
from krm_fn.system.reading import read_file
from krm_fn.system.streams import is_terminal, read_stdin, say
from krm_fn.wire import Head, Item, Stream, read_stream

STDIN: Final = "-"
_NAMED: Final = 3


class Sources(NamedTuple):
    """What the command line names."""

    filenames: Sequence[str] = ()
    """Files, directories, globs, `-`; standard input without any, unless `kustomize` is given."""
    kustomize: str | None = None
    exclude: Sequence[str] = ()
    strict_files: bool = False
    """Whether everything in a directory must be a manifest that can be read."""


STANDARD_INPUT: Final = Sources()


@dataclass(slots=True)
class Manifests:
    """What was read, what was passed over, and what is odd about it."""

    streams: list[Stream] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def tell(self, report: Report) -> None:
        """Let a report say what is odd about its input."""
        report.findings += self.findings
        report.passed_over += self.passed_over


def read_manifests(sources: Sources) -> Manifests:
    """Read what the command line names. Raises ConfigError; InputError for all that is wrong."""
    reader = _Reader(sources)
    if sources.kustomize:
        reader.read_kustomization(sources.kustomize)
    for name in sources.filenames or (() if sources.kustomize else (STDIN,)):
        reader.read(name)
    return reader.done()


class _Reader:
    def __init__(self, sources: Sources) -> None:
        self._strict = sources.strict_files
        self._exclude = Patterns(sources.exclude)
        self._manifests = Manifests()
        self._problems: list[InputError] = []
        self._seen: set[str] = set()

    def done(self) -> Manifests:
        """All that was read. Raises InputError for everything that could not be."""
        raise_all(self._problems)
        items = [item for stream in self._manifests.streams for item in stream.items]
        self._manifests.findings += _twice(items)
        return self._manifests

    def read_kustomization(self, folder: str) -> None:
        self._take(read_stream(renderers.kustomize(folder), f"kustomize {folder}"))

    def read(self, name: str) -> None:
        """Read what an argument of `-f` names."""
        if name == STDIN:
            if self._is_new(STDIN):
                self._take(_read_stdin())
        elif os.path.isdir(name):
            self._read_folder(name)
        elif os.path.lexists(name) or not glob.has_magic(name):
            self._read_named(plain(name))
        else:
            matches = sorted(glob.glob(name, recursive=True))
            if not matches:
                self._problems.append(InputError(f"matches nothing {looked_in()}", name))
            for match in matches:
                if os.path.isdir(match):
                    self._read_folder(match)
                elif not self._exclude.fit(os.path.normpath(match)):
                    self._read_named(plain(match))

    def _read_named(self, file: str) -> None:
        if not self._is_new(file):
            return
        try:
            if not os.path.exists(file):
                raise InputError(f"does not exist {looked_in()}", file)
            if not _is_kustomization(file):
                self._take(read_stream(read_file(file), file))
        except InputError as error:
            self._problems.append(error)

    def _read_folder(self, folder: str) -> None:
        before = len(self._manifests.streams), len(self._problems)
        files: list[str] = []
        for found in walk(folder, self._exclude, everything=self._strict):
            if isinstance(found, str):
                files.append(plain(found))
            elif isinstance(found, LeftOut):
                self._leave_out(found)
            else:
                self._problems.append(found.error)
        # Of a file and links to it, the file counts.
        new = set(filter(self._is_new, sorted(files, key=os.path.islink)))
        progress.begin(f"reading {_folder(plain(folder))}, file", len(files))
        for file in files:
            progress.advance()
            if file in new:
                self._read_found(file)
        after = len(self._manifests.streams), len(self._problems)
        if after == before and len(new) == len(files):
            self._warn(f"no manifests in {_folder(folder)}")

    def _leave_out(self, found: LeftOut) -> None:
        path = plain(found.path)
        if found.why is Why.IGNORED:
            self._manifests.passed_over.append(PassedOver(path, _BY_KRMIGNORE))
        else:
            self._warn(
                f"{_folder(path)} is a Helm chart, and its templates are not read: render them, as "
                f"in helm template {path} | krm-fn check"
            )

    def _read_found(self, file: str) -> None:
        """Read a file of a directory, unless it is another program's."""
        try:
            if _is_kustomization(file):
                return
            stream = read_stream(read_file(file), file) if self._strict else read_found(file)
        except InputError as error:
            self._problems.append(error)
            return
        if stream is None or (stream.others and not stream.items):
            self._pass_over(file)
            return
        for line in stream.others:
            self._pass_over(f"{file}:{line}")
        if stream.items:
            self._take(stream)

    def _take(self, stream: Stream) -> None:
        self._manifests.streams.append(stream)

    def _pass_over(self, place: str) -> None:
        self._manifests.passed_over.append(PassedOver(place, _WITHOUT_OBJECTS))

    def _warn(self, message: str) -> None:
        self._manifests.findings.append(Finding(Cause.WARNING, False, message))

    def _is_new(self, name: str) -> bool:
        """Whether a file is named for the first time, by this name or another one."""
        key = name if name == STDIN else os.path.realpath(name)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


_WITHOUT_OBJECTS: Final = "without Kubernetes objects"
_BY_KRMIGNORE: Final = "named in .krmignore"


def plain(path: str) -> str:
    """A path without `./` in front: CI systems know files by their paths in the repository."""
    while path.startswith("./") and len(path) > 2:
        path = path[2:].lstrip("/")
    return path


def _folder(path: str) -> str:
    return f"{path.rstrip(os.sep)}{os.sep}"


@contextlib.contextmanager
def all_at_once(streams: Sequence[Stream]) -> Iterator[None]:
    """Let an error about one object be one about all objects that cannot be read."""
    try:
        yield
    except InputError as first:
        raise_all([*_unreadable(streams)] or [first])
        raise


def _unreadable(streams: Sequence[Stream]) -> Iterator[InputError]:
    for item in (item for stream in streams for item in stream.items):
        try:
            value_of(item)
        except InputError as error:
            yield error


def raise_all(problems: Sequence[InputError]) -> None:
    """Raise all that is wrong with what was read, if anything is. Raises InputError."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise InputError.of(map(str, problems))


def _name(head: Head) -> str:
    return f"{head.kind} {'/'.join(part for part in (head.namespace, head.name) if part)}"


def _twice(items: Sequence[Item]) -> Iterator[Finding]:
    """A warning where objects are there more than once: in a cluster, the last one would count."""
    by_head: dict[tuple[str, str, str, str], list[Item]] = {}
    for item in items:
        head = item.head
        if head.name and is_target(head):
            key = (head.group, head.kind, head.namespace, head.name)
            by_head.setdefault(key, []).append(item)
    twice = [found for found in by_head.values() if len(found) > 1]
    if not twice:
        return
    named = [
        f"{_name(found[0].head)} ({' and '.join(str(item.origin) for item in found[:_NAMED])})"
        for found in twice[:_NAMED]
    ]
    named += ["..."] if len(twice) > _NAMED else []
    are = "object is" if len(twice) == 1 else "objects are"
    message = f"{len(twice)} {are} there more than once: {', '.join(named)}"
    yield Finding(Cause.WARNING, False, message)


def _is_kustomization(file: str) -> bool:
    """Whether a file is one that kustomize reads. Raises InputError."""
    name = os.path.basename(file)
    return name in renderers.KUSTOMIZATIONS and renderers.is_kustomization(read_file(file))


def _read_stdin() -> Stream:
    context = click.get_current_context()
    if isinstance(context.obj, bytes):
        data = context.obj
    else:
        if is_terminal("stdin"):
            say("reading manifests from standard input, up to Ctrl-D; -f names files instead")
        data = read_stdin()
    stream = read_stream(data)
    if not data.strip():
        raise InputError("is empty; give manifests or name them with -f", "standard input")
    return stream
