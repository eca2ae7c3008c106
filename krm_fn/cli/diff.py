"""`krm-fn diff`: what admission would change, as a unified diff."""

from __future__ import annotations

import click

from krm_fn.cli.flags import Flags, ManifestCommand, manifest_options
from krm_fn.cli.reports import use_colour, write_reports
from krm_fn.cli.runs import admit_manifests
from krm_fn.config.options import Mode
from krm_fn.report.blame import blame_of, with_blame
from krm_fn.report.diff import unified
from krm_fn.system.streams import is_terminal, put

DIFFERENT = 1
REJECTED = 5


@click.command(cls=ManifestCommand)
@click.option(
    "--blame",
    type=click.Choice(["auto", "always", "never"]),
    is_flag=False,
    flag_value="auto",
    default="never",
    help="Name the rule beside each line that it wrote or removed: on a terminal, or always. "
    "Such a diff cannot be applied.",
)
@manifest_options
def diff(flags: Flags, blame: str) -> int:
    """Print what admission would change. Exit status: 0 nothing, 1 something, 5 rejected.

    \b
    krm-fn diff -f manifests/ -r rules/
    krm-fn diff -f manifests/ -r rules/ --blame
    """
    admitted = admit_manifests(flags, mode=Mode.MUTATE, printed="the diff")
    colour = use_colour(flags.color, is_terminal("stdout"))
    redactor = None if flags.show_secrets else admitted.report.redactor
    different = False
    for stream in admitted.streams:
        # A change that is hidden is one, too.
        different = different or stream.changed
        lines = unified(stream, redactor)
        if stream.changed and (blame == "always" or (blame == "auto" and is_terminal("stdout"))):
            for line, writer in with_blame(lines, blame_of(stream, admitted.report)):
                put(f"{line}  # {writer}" if writer else line, paint=_coloured if colour else str)
            continue
        for line in lines:
            put(line, paint=_coloured if colour else str)
    write_reports(flags, admitted.report)
    if admitted.report.denied:
        return REJECTED
    return DIFFERENT if different else 0


def _coloured(line: str) -> str:
    if line.startswith(("---", "+++")):
        return click.style(line, bold=True)
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return click.style(line, fg=colour) if colour else line
