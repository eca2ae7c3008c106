"""`krm-fn explain`: why rules matched objects, or did not, and who wrote a field."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from typing import Final

import click

from krm_fn.cli.flags import Flags, manifest_options
from krm_fn.cli.runs import explain_manifests
from krm_fn.errors import ConfigError, did_you_mean
from krm_fn.report.explaintext import (
    change_lines,
    history_lines,
    name_of,
    object_lines,
    overview,
)
from krm_fn.report.explanation import (
    ExplainedObject,
    ExplainedRule,
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
    chosen = _objects(explained, objects)
    if only:
        chosen = [_with_rules(one, only, explained) for one in chosen]
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
            lines = object_lines(one, columns, verbose=verbose)
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


# ------------------------------------------------------------------------------------- selection


def _objects(explained: Explanation, names: Sequence[str]) -> list[ExplainedObject]:
    """The objects that are named, all without names. Raises ConfigError for an unknown one."""
    if not names:
        return list(explained.objects)
    chosen: dict[int, ExplainedObject] = {}
    for name in names:
        found = [n for n, one in enumerate(explained.objects) if _is_named(one, name)]
        if not found:
            known = [_spelling(one) for one in explained.objects]
            hint = did_you_mean(name, known) or f"; there are {', '.join(known[:10])}"
            raise ConfigError(f"no object {name}{hint}")
        if "/" not in name and len(found) > 1:
            several = ", ".join(_spelling(explained.objects[n]) for n in found[:10])
            raise ConfigError(f"{name} is the name of several objects: {several}")
        chosen.update((n, explained.objects[n]) for n in found)
    return list(chosen.values())


def _spelling(one: ExplainedObject) -> str:
    return f"{one.head.kind.lower()}/{one.head.name}"


def _is_named(one: ExplainedObject, text: str) -> bool:
    kind, slash, name = text.rpartition("/")
    head = one.head
    if head.name != name:
        return False
    if not slash:
        return True
    wanted, _, group = kind.lower().partition(".")
    names = {head.kind.lower(), f"{head.kind.lower()}s"}
    return wanted in names and (not group or group == head.group)


def _with_rules(
    one: ExplainedObject, names: Sequence[str], explained: Explanation
) -> ExplainedObject:
    for name in names:
        if not any(_is_rule(rule, name) for rule in one.rules):
            known = sorted({rule.ref.name for rule in explained.rules})
            hint = did_you_mean(name, known) or f"; there are {', '.join(known[:10])}"
            raise ConfigError(f"no rule {name}{hint}")
    rules = tuple(rule for rule in one.rules if any(_is_rule(rule, name) for name in names))
    return one._replace(rules=rules)


def _is_rule(rule: ExplainedRule, text: str) -> bool:
    before, slash, name = text.rpartition("/")
    ref = rule.ref
    if ref.name != name:
        return False
    return not slash or before.lower() in (ref.kind.lower(), ref.namespace.lower())
