"""`krm-fn show`: the objects as rules see them."""

from __future__ import annotations

import click

from krm_fn import limits
from krm_fn.cli.configuration import read_options
from krm_fn.cli.flags import choice, word
from krm_fn.cli.inputs import read_manifests
from krm_fn.cli.reports import write_lines
from krm_fn.config.options import ObjectForm, Options
from krm_fn.printable import json_text, log_line, visible
from krm_fn.report.redact import redact_any
from krm_fn.run.show import show as show_objects
from krm_fn.system.streams import write_stdout
from krm_fn.values import Json
from krm_fn.wire import read_stream


@click.command()
@click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    metavar="FILE|DIR|-",
    help="Manifests: a file, a directory (read recursively) or - for standard input. "
    "Repeatable; without it, standard input.",
)
@click.option("-k", "--kustomize", metavar="DIR", help="Manifests: what kustomize builds from DIR.")
@click.option("-n", "--namespace", metavar="NAME", help="The namespace of objects without one.")
@click.option("--config", metavar="FILE", help="An Admission (krm-fn.dev/v1alpha1).")
@click.option(
    "--object-form",
    type=choice(ObjectForm),
    help="As the API server shows objects (the default), or as they are written.",
)
@click.option("--strict", is_flag=True, help="Unknown fields and wrong types are errors.")
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["yaml", "json"], case_sensitive=False),
    default="yaml",
    show_default=True,
    help="How to print.",
)
@click.option("--show-secrets", is_flag=True, help="Do not hide the values of Secrets.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"], case_sensitive=False),
    default="auto",
    show_default=True,
    help="Colour messages.",
)
def show(
    filenames: tuple[str, ...],
    kustomize: str | None,
    namespace: str | None,
    config: str | None,
    object_form: str | None,
    strict: bool,
    form: str,
    show_secrets: bool,
    color: str,
) -> int:
    """Print objects as rules see them: typed and with the API server's defaults.

    What a rule matches is this, not the file. Warnings name what the API server would drop or
    refuse.

    \b
    krm-fn show -f deployment.yaml
    """
    options = read_options(config) if config else Options()
    if object_form is not None:
        options = options._replace(object_form=word(ObjectForm, object_form))
    if strict:
        options = options._replace(strict=True)
    if namespace:
        context = options.context._replace(default_namespace=namespace)
        options = options._replace(context=context)
    with limits.deep_stack():
        objects, report = show_objects(list(read_manifests(filenames, kustomize)), options)
        if not show_secrets:
            objects = [redact_any(value) for value in objects]
        write_stdout([_json(objects) if form == "json" else _yaml(objects)])
    report.show_secrets = show_secrets
    if report.objects:
        write_lines(report, color)
    return 1 if report.denied else 0


def _yaml(objects: list[Json]) -> bytes:
    stream = read_stream(b"")
    for value in objects:
        stream.add(value)
    lines = stream.write(()).decode().split("\n")
    return "\n".join(log_line(visible(line)) for line in lines).encode()


def _json(objects: list[Json]) -> bytes:
    shown = objects[0] if len(objects) == 1 else _list(objects)
    return json_text(shown).encode()


def _list(objects: list[Json]) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": objects}
