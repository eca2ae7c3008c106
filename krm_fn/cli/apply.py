"""`krm-fn apply`: mutate and check; manifests to standard output, or back into their files."""

from __future__ import annotations

from collections.abc import Sequence

import click

from krm_fn.cli.flags import Flags, ManifestCommand, manifest_options
from krm_fn.cli.output import FORMATS, render
from krm_fn.cli.reports import write_reports
from krm_fn.cli.runs import admit_manifests
from krm_fn.config.options import PodTemplates
from krm_fn.errors import ConfigError
from krm_fn.system.files import Write, write_files
from krm_fn.system.streams import write_stdout
from krm_fn.wire import Stream


@click.command(cls=ManifestCommand)
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
def apply(flags: Flags, form: str, in_place: bool) -> int:
    """Mutate and check manifests; print them, or write them back with -i.

    \b
    krm-fn apply -f manifests/ -r rules/
    helm template web chart | krm-fn apply -r rules/ | kubectl apply -f -
    krm-fn apply -f manifests/ -r rules/ -i
    """
    sources = flags.sources
    if in_place and ("-" in sources.filenames or not sources.filenames or sources.kustomize):
        raise ConfigError("-i writes files; name them with -f (not standard input, not -k)")
    admitted = admit_manifests(flags, printed="" if in_place else "the manifests")
    report = admitted.report
    if in_place and admitted.options.pod_templates is PodTemplates.PREVIEW:
        raise ConfigError("-i does not write previews of Pods into files; leave out -i")
    if in_place:
        if not report.denied:
            _write_back(admitted.streams)
    elif not report.denied:
        write_stdout(render(form.lower(), admitted.streams, report))
    write_reports(flags, report)
    return 1 if report.denied else 0


def _write_back(streams: Sequence[Stream]) -> None:
    """All changed files, or none; untouched files are not written."""
    write_files([Write(s.name, s.write(), s.source()) for s in streams if s.changed])
