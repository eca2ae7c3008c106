"""`krm-fn explain`: why rules matched objects, or did not, and who wrote a field."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from typing import Final

import click

from krm_fn.cli.flags import Flags, manifest_options
from krm_fn.cli.runs import explain_manifests
from krm_fn.errors import ConfigError
from krm_fn.report.explaintext import (
    change_lines,
    history_lines,
    name_of,
    object_lines,
    overview,
)
from krm_fn.report.explanation import (
    ExplainedObject,
    Explanation,
    changed_fields,
    data,
    history,
)
from krm_fn.system.streams import put, write_stdout
from krm_fn.values import Path, parse_path

_WIDTHS: Final = (80, 200)


@click.command()
@click.argument("objects", nargs=-1, metavar="[KIND/NAME ...]")
@click.option(
    "--rule",
    "only",
    multiple=True,
    metavar="NAME",
    help="Only these rules, in full depth: NAME, NAMESPACE/NAME or KIND/NAME; repeatable.",
)
@click.option("--field", metavar="PATH", help="Who wrote this field, oldest first.")
@click.option("--changes", is_flag=True, help="Every changed field with the rule that wrote it.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.option("--width", type=click.IntRange(*_WIDTHS), help="Columns; by default the terminal's.")
@manifest_options
def explain(
    flags: Flags,
    objects: tuple[str, ...],
    only: tuple[str, ...],
    field: str | None,
    changes: bool,
    output: str,
    width: int | None,
) -> int:
    """Say why rules matched objects, or did not; or who wrote a field.

    Without an object: every rule against every object. Exit status 0, whatever rules decide.

    \b
    krm-fn explain -f manifests/ -r rules/
    krm-fn explain deployment/web -f manifests/ -r rules/
    krm-fn explain deployment/web --rule images -f manifests/ -r rules/
    krm-fn explain deployment/web --field spec.replicas -f manifests/ -r rules/
    """
    explained = explain_manifests(flags)
    chosen = list(explained.objects)
    if objects:
        named = (one for name in objects for one in explained.select(name))
        chosen = list({id(one): one for one in named}.values())
    if only:
        chosen = [explained.only(one, only) for one in chosen]
    columns = width or min(max(shutil.get_terminal_size((100, 0)).columns, _WIDTHS[0]), _WIDTHS[1])
    if output == "json":
        text = json.dumps(data(explained, chosen), indent=2, ensure_ascii=False)
        write_stdout([f"{text}\n".encode()])
    elif field:
        _put_history(explained, chosen, field, columns)
    elif changes:
        _put_changes(explained, chosen, columns)
    elif objects or only:
        verbose = flags.verbose or bool(only)
        for n, one in enumerate(chosen):
            lines = object_lines(one, columns, verbose=verbose, fields=flags.verbose)
            put(*([""] if n else []), *lines)
    else:
        put(*overview(chosen, columns, verbose=flags.verbose))
    return 0


def _put_history(
    explained: Explanation, chosen: Sequence[ExplainedObject], field: str, width: int
) -> None:
    path = _path(field)
    for one in chosen:
        writes = history(one, path, explained)
        put(f"{name_of(one.head)} {field}")
        if writes:
            put(*history_lines(writes, width))
        else:
            put("  nobody wrote it: neither the manifest, nor the API server, nor a rule")


def _put_changes(explained: Explanation, chosen: Sequence[ExplainedObject], width: int) -> None:
    for one in chosen:
        writes = changed_fields(one, explained)
        if writes:
            put(name_of(one.head), *change_lines(writes, width))


def _path(field: str) -> Path:
    try:
        return parse_path(field)
    except ValueError as error:
        raise ConfigError(f"--field {field}: {error}") from None
