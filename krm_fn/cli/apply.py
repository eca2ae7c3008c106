"""`krm-fn apply`: mutate and check; manifests to standard output, or back into their files."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence

import click

from krm_fn.cli.common import (
    Options,
    admit_manifests,
    manifest_options,
    write_reports,
)
from krm_fn.cli.output import FORMATS, render
from krm_fn.config.admission import PodTemplates
from krm_fn.errors import ConfigError
from krm_fn.sdk.run import write_stdout
from krm_fn.wire import Stream


@click.command()
@manifest_options
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(FORMATS, case_sensitive=False),
    default="yaml",
    show_default=True,
    help="How to print what was admitted.",
)
@click.option("-i", "--in-place", is_flag=True, help="Write changed files back instead.")
def apply(options: Options, form: str, in_place: bool) -> int:
    """Mutate and check manifests; print them, or write them back with -i.

    \b
    krm-fn apply -f manifests/ -r rules/
    helm template web chart | krm-fn apply -r rules/ | kubectl apply -f -
    krm-fn apply -f manifests/ -r rules/ -i
    """
    if in_place and ("-" in options.filenames or not options.filenames or options.kustomize):
        raise ConfigError("-i writes files; name them with -f (not standard input, not -k)")
    admitted = admit_manifests(options)
    report = admitted.report
    if in_place and admitted.admission.pod_templates is PodTemplates.PREVIEW:
        raise ConfigError("-i does not write previews of Pods into files; leave out -i")
    if in_place:
        if not report.denied:
            _write_back(admitted.streams)
    elif not report.denied:
        write_stdout(render(form.lower(), admitted.streams, report))
    write_reports(options, report)
    return 1 if report.denied else 0


def _write_back(streams: Sequence[Stream]) -> None:
    """Each changed file by rename, its mode kept; untouched files are not written."""
    for stream in streams:
        if not stream.changed:
            continue
        mode = os.lstat(stream.name).st_mode
        if stat.S_ISLNK(mode):
            raise ConfigError("is a symbolic link; -i does not follow it", stream.name)
    for stream in streams:
        if stream.changed:
            _replace(stream.name, stream.write())


def _replace(name: str, data: bytes) -> None:
    folder = os.path.dirname(name) or "."
    descriptor, temporary = tempfile.mkstemp(prefix=".krm-fn-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, stat.S_IMODE(os.stat(name).st_mode))
        os.replace(temporary, name)
    except BaseException:
        os.unlink(temporary)
        raise
