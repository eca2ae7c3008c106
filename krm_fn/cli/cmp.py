"""`krm-fn cmp`: Argo CD's config management plugin.

Argo CD runs a command of the plugin in the Application's folder, without a shell and without
standard input; shows all of standard error when the command fails; and with pruning deletes
everything when it prints nothing. So: one process, a verdict of a few lines, never an empty answer.
Source: Argo CD cmpserver/plugin/plugin.go.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import click

from krm_fn import limits
from krm_fn.cli import renderers
from krm_fn.cli.argocd import (
    Application,
    announcement,
    application,
    author_rules,
    bring_rules,
    configured,
    helm_options,
)
from krm_fn.cli.configuration import options_of
from krm_fn.cli.flags import Flags, admission_options
from krm_fn.cli.output import render
from krm_fn.cli.reports import check_reports, write_files
from krm_fn.cli.runs import image_rules
from krm_fn.cli.status import status_of
from krm_fn.config.found import read_found
from krm_fn.config.options import Options
from krm_fn.config.sources import Stage, collect
from krm_fn.errors import InputError, KrmFnError
from krm_fn.printable import json_text, one_line
from krm_fn.report.model import Report, count
from krm_fn.report.text import lines
from krm_fn.run.admit import admit, staged
from krm_fn.system.deadline import deadline, seconds_of
from krm_fn.system.paths import WORKING_DIRECTORY, is_below, manifests
from krm_fn.system.streams import put, say, write_stdout
from krm_fn.values import get
from krm_fn.wire import Stream, read_stream
from krm_fn.wire.wellknown import LOCAL_CONFIG

Command = TypeVar("Command", bound=Callable[..., Any])

VERDICT_LINES: Final = 20
LINE_LENGTH: Final = 500
SHARE: Final = 0.8
"""Of the time that Argo CD gives: the rest is for saying that it was too little."""


@click.group()
def cmp() -> None:
    """Be Argo CD's config management plugin: render, admit, print.

    \b
    krm-fn cmp generate -r /rules     # in the Application's folder, as plugin.yaml says
    krm-fn cmp discover
    krm-fn cmp parameters -r /rules
    """


def _tool_options(command: Command) -> Command:
    for name, help_text in (
        ("helm", "An option for `helm template`. Repeatable."),
        ("kustomize", "An option for `kustomize build`. Repeatable."),
    ):
        command = click.option(f"--{name}-option", multiple=True, metavar="OPTION", help=help_text)(
            command
        )
    return command


@cmp.command()
@admission_options
@_tool_options
def generate(
    flags: Flags,
    kustomize_option: tuple[str, ...],
    helm_option: tuple[str, ...],
) -> int:
    """Print what the folder renders to, admitted.

    Without --timeout it gives up after 0.8 of ARGOCD_EXEC_TIMEOUT (90s).
    """
    try:
        check_reports(flags, "the manifests")
        given = os.environ.get("ARGOCD_EXEC_TIMEOUT", "")
        seconds = flags.timeout or SHARE * _seconds(given)
        with deadline(seconds, "ARGOCD_EXEC_TIMEOUT or --timeout gives more", 1):
            app = application(os.environ, flags)
            options = configured(app, flags, options_of(flags))
            with limits.deep_stack():
                namespace = options.context.default_namespace
                _refuse_links_out(app.root)
                streams = _rendered(app, namespace, kustomize_option, helm_option)
                left_out = _leave_out_local(streams)
                report = admit(streams, _stages(app, flags, options, streams))
                report.show_secrets = flags.show_secrets
                if not any(not item.dropped for stream in streams for item in stream.items):
                    raise InputError("renders to nothing: Argo CD would delete everything", ".")
                output = [] if report.denied else render("yaml", streams, report)
    except KrmFnError as error:
        _say([one_line(line) for line in error.lines()])
        return status_of(error)
    _say(_verdict(report, left_out))
    write_files(flags, report)
    write_stdout(output)
    return 1 if report.denied else 0


@cmp.command()
def discover() -> int:
    """Say what the folder is that `generate` would render; nothing where there is nothing."""
    tool = _tool(".")
    if tool:
        put(tool)
    return 0


@cmp.command()
@admission_options
@_tool_options
def parameters(
    flags: Flags, kustomize_option: tuple[str, ...], helm_option: tuple[str, ...]
) -> int:
    """Print what an Application may set, as Argo CD's UI shows it. Takes generate's options."""
    del kustomize_option, helm_option  # taken so that the plugin can give both commands the same
    write_stdout([json_text(announcement(flags)).encode()])
    return 0


def _stages(
    app: Application, flags: Flags, options: Options, streams: Sequence[Stream]
) -> list[Stage]:
    """The Application's own rules first, then the plugin's, then the image's.

    Without rules of the plugin those of the Application's folder are the only ones.
    """
    items = [item for stream in streams for item in stream.items]
    own = author_rules(app)
    stages = []
    if own is not None:
        author = options._replace(rules=(own,), base=WORKING_DIRECTORY)
        stages.append(Stage(author, collect(author, [])))
    if own is None or bring_rules(flags):
        rules = collect(options, items, None, flags.rules)
        stages.append(Stage(options, rules))
    return staged(*stages, image_rules=image_rules())


# -------------------------------------------------------------------------------- what is rendered


def _refuse_links_out(root: str) -> None:
    """Refuse a repository with a symbolic link that leads out of it, as Argo CD does.

    Source: Argo CD util/app/path CheckOutOfBoundsSymlinks.
    """
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            if os.path.islink(path) and not is_below(path, root):
                raise InputError("is a symbolic link that leads out of the repository", path)


def _tool(folder: str) -> str:
    """`kustomize`, `helm` or `directory`, in the order in which Argo CD decides; "" for none."""
    if any(os.path.isfile(os.path.join(folder, name)) for name in renderers.KUSTOMIZATIONS):
        return "kustomize"
    if os.path.isfile(os.path.join(folder, renderers.CHART)):
        return "helm"
    return "directory" if any(_files(folder, recurse=False)) else ""


def _files(folder: str, *, recurse: bool) -> Iterator[str]:
    for name in manifests(folder):
        if recurse or os.path.dirname(os.path.relpath(name, folder)) == "":
            yield os.path.normpath(name)


def _rendered(
    app: Application, namespace: str, kustomize: Sequence[str], helm: Sequence[str]
) -> list[Stream]:
    tool = app.text("tool") or _tool(".")
    if tool == "kustomize":
        return [read_stream(renderers.kustomize(".", kustomize), "kustomize build")]
    if tool == "helm":
        with tempfile.TemporaryDirectory(prefix="krm-fn-helm-") as home:
            found = renderers.helm(
                ".", app.name, namespace, [*helm_options(app), *helm], _helm_homes(home)
            )
        return [read_stream(found, "helm template")]
    recurse = app.text("directory-recurse") == "true"
    own = {os.path.normpath(path) for path in app.texts("rules")}
    streams = []
    for name in _files(".", recurse=recurse):
        if not any(name == path or name.startswith(path + os.sep) for path in own):
            # As Argo CD does, what is no manifest in a directory is another program's.
            stream = read_found(name)
            if stream is not None and stream.items:
                streams.append(stream)
    return streams


def _helm_homes(home: str) -> dict[str, str]:
    """Where Helm may write: a sidecar has no home."""
    homes = {f"HELM_{kind}_HOME": os.path.join(home, kind.lower()) for kind in _HELM_HOMES}
    return {name: path for name, path in homes.items() if name not in os.environ}


_HELM_HOMES: Final = ("CACHE", "CONFIG", "DATA")


def _leave_out_local(streams: Sequence[Stream]) -> int:
    """Drop what is not for the cluster, as kustomize does: admission does not look at it."""
    dropped = 0
    for stream in streams:
        for item in stream.items:
            if get(item.value, ("metadata", "annotations", LOCAL_CONFIG)) == "true":
                stream.drop(item)
                dropped += 1
    return dropped


# -------------------------------------------------------------------------------- what is said


def _verdict(report: Report, left_out: int) -> list[str]:
    word = "rejected" if report.denied else "admitted"
    local = f"; {count(left_out, 'object')} left out that are not for the cluster"
    *found, summary = lines(report)
    return [f"{word}: {summary}{local if left_out else ''}", *found]


def _say(found: Sequence[str]) -> None:
    """The first lines, each cut: Argo CD keeps all of it in one string and in its cache."""
    if len(found) > VERDICT_LINES:
        more = len(found) - VERDICT_LINES + 1
        found = [*found[: VERDICT_LINES - 1], f"... and {count(more, 'line')} more"]
    for line in found:
        say(line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 3] + "...")


# -------------------------------------------------------------------------------- time


_DEFAULT_SECONDS: Final = 90.0


def _seconds(text: str) -> float:
    """`1m30s` as seconds; where it is no duration the default, as in Argo CD."""
    try:
        return max(seconds_of(text), 1.0)
    except ValueError:
        return _DEFAULT_SECONDS
