"""`krm-fn check`: results only, no manifests."""

from __future__ import annotations

import click

from krm_fn.cli.flags import Flags, manifest_options
from krm_fn.cli.reports import write_reports
from krm_fn.cli.runs import admit_manifests
from krm_fn.config.options import Mode


@click.command()
@manifest_options
def check(flags: Flags) -> int:
    """Say what admission would do, and print no manifests.

    \b
    krm-fn check -f manifests/ -r rules/
    krm-fn check -f manifests/ -r rules/ --report json=report.json
    """
    mode = None if flags.mode else Mode.VALIDATE
    admitted = admit_manifests(flags, mode=mode)
    write_reports(flags, admitted.report)
    return 1 if admitted.report.denied else 0
