"""`krm-fn show`: the objects as rules see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from krm_fn import limits
from krm_fn.cli.configuration import read_options, with_admission_plugins, with_release
from krm_fn.cli.flags import (
    KUBERNETES_VERSION,
    ManifestCommand,
    choice,
    plugin_options,
    source_options,
    word,
)
from krm_fn.cli.inputs import Sources, read_manifests
from krm_fn.cli.reports import write_lines
from krm_fn.config.options import ObjectForm, Options
from krm_fn.errors import ConfigError
from krm_fn.printable import json_text, log_line, visible
from krm_fn.report.redact import redact_any
from krm_fn.run.show import Origin, show_with_origins
from krm_fn.system.streams import write_stdout
from krm_fn.values import Json
from krm_fn.wire import read_stream


@click.command(cls=ManifestCommand)
@source_options
@click.option("-n", "--namespace", metavar="NAME", help="The namespace of objects without one.")
@click.option("--config", metavar="FILE", help="An Admission (krm-fn.dev/v1alpha1).")
@click.option(
    "--object-form",
    type=choice(ObjectForm),
    help="As the API server shows objects (the default), or as they are written.",
)
@KUBERNETES_VERSION
@click.option("--strict", is_flag=True, help="Unknown fields and wrong types are errors.")
@click.option(
    "--explain-defaults",
    is_flag=True,
    help="Say behind each field that is not in the manifest who gave it: default, or the plugin.",
)
@plugin_options
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
    sources: Sources,
    namespace: str | None,
    config: str | None,
    kubernetes_version: str | None,
    object_form: str | None,
    strict: bool,
    explain_defaults: bool,
    enable_admission_plugins: str | None,
    disable_admission_plugins: str | None,
    form: str,
    show_secrets: bool,
    color: str,
) -> int:
    """Print objects as rules see them: typed and with the API server's defaults.

    What a rule matches is this, not the file. Warnings name what the API server would drop or
    refuse.

    \b
    krm-fn show -f deployment.yaml
    krm-fn show -f pod.yaml --admission-plugins "" --explain-defaults
    """
    if explain_defaults and form != "yaml":
        raise ConfigError("--explain-defaults writes comments, which JSON has not; use -o yaml")
    options = read_options(config) if config else Options()
    options = with_admission_plugins(options, enable_admission_plugins, disable_admission_plugins)
    if object_form is not None:
        options = options._replace(object_form=word(ObjectForm, object_form))
    if strict:
        options = options._replace(strict=True)
    context = with_release(options.context, kubernetes_version)
    if namespace:
        context = context._replace(default_namespace=namespace)
    options = options._replace(context=context)
    with limits.deep_stack():
        manifests = read_manifests(sources)
        objects, report = show_with_origins(manifests.streams, options)
        manifests.tell(report)
        if not show_secrets:
            objects = [one._replace(value=redact_any(one.value)) for one in objects]
        values = [one.value for one in objects]
        origins = [one.origins if explain_defaults else () for one in objects]
        write_stdout([_json(values) if form == "json" else _yaml(values, origins)])
    report.show_secrets = show_secrets
    if report.objects or report.findings or report.passed_over:
        write_lines(report, color)
    return 1 if report.denied else 0


def _yaml(objects: list[Json], origins: Sequence[Sequence[Origin]]) -> bytes:
    stream = read_stream(b"")
    for value in objects:
        stream.add(value)
    text = stream.write(()).decode()
    lines = text.split("\n")
    for line, names in _named(text, origins).items():
        lines[line - 1] += f"  # {', '.join(names)}"
    return "\n".join(log_line(visible(line)) for line in lines).encode()


def _named(text: str, origins: Sequence[Sequence[Origin]]) -> Mapping[int, Mapping[str, None]]:
    """Who gave what stands on the lines of a text, by the number of the line."""
    found: dict[int, dict[str, None]] = {}
    if any(origins):
        items = read_stream(text.encode()).items
        for item, own in zip(items, origins, strict=True):
            for path, name in own:
                found.setdefault(item.line(path), {})[name] = None
    return found


def _json(objects: list[Json]) -> bytes:
    shown = objects[0] if len(objects) == 1 else _list(objects)
    return json_text(shown).encode()


def _list(objects: list[Json]) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": objects}
