"""`krm-fn helm-plugin`: Helm 4's post-renderer, which must be an installed plugin.

Helm 3 starts any program after `--post-renderer`; Helm 4 only plugins of type `postrenderer/v1`,
and it loses what they write to standard error, so the verdict goes to a file beside the plugin,
too. A Helm 3 that finds such a plugin in its own folder complains or does not start: the two must
not share one.
Source: Helm v4.3.1 internal/plugin (metadata_v1.go, runtime_subprocess.go).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from krm_fn import __version__
from krm_fn.cli.flags import Flags, admission_options
from krm_fn.cli.output import render
from krm_fn.cli.programs import install_file, program
from krm_fn.cli.reports import write_files
from krm_fn.cli.runs import admit_manifests
from krm_fn.cli.status import status_of
from krm_fn.errors import ConfigError, KrmFnError, OutputError
from krm_fn.printable import one_line
from krm_fn.report.text import lines
from krm_fn.system.files import write_file
from krm_fn.system.streams import put, say, write_stdout

_MARK: Final = "# Written by `krm-fn helm-plugin install`."
_VERDICT: Final = "verdict.txt"
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_OLD_NAME: Final = re.compile(r"helm([-_]?v?3.*)?")

_HOME = click.option(
    "--home", metavar="DIR", help="Helm 4's plugin folder, instead of that of the helm on PATH."
)
_PLUGIN = click.option(
    "--name", default="krm-fn", show_default=True, metavar="NAME", help="The plugin's name."
)


@click.group("helm-plugin")
def helm_plugin() -> None:
    """Be Helm 4's post-renderer (Helm 3 needs no plugin).

    \b
    krm-fn helm-plugin install -- --rules /srv/rules
    helm template web ./chart --post-renderer krm-fn        # Helm 4
    krm-fn helm-plugin verdict                              # what it said
    """


@helm_plugin.command()
@_HOME
@_PLUGIN
@click.argument("options", nargs=-1, metavar="[-- OPTIONS OF APPLY]")
def install(home: str | None, name: str, options: tuple[str, ...]) -> int:
    """Write the plugin, with options that it always has."""
    for option in options:
        if "$" in option:
            raise ConfigError(f"{option} holds a $, which Helm would expand; leave it out")
    folder = _folder(home, name)
    file = folder / "plugin.yaml"
    if folder.exists() and not _is_ours(file):
        raise ConfigError("is there already and is not krm-fn's; remove it first", str(folder))
    install_file(file, _manifest(name, options), 0o644)
    put(str(file))
    return 0


def _manifest(name: str, options: Sequence[str]) -> str:
    first, *rest = program()
    command = {"command": first, "args": [*rest, "helm-plugin", "post-render", *options]}
    fields = {
        "apiVersion": "v1",
        "type": "postrenderer/v1",
        "name": name,
        "version": __version__,
        "runtime": "subprocess",
        "runtimeConfig": {"platformCommand": [command]},
    }
    # JSON is YAML, and quotes what a path may hold.
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
    return f"{_MARK}\n{text}"


@helm_plugin.command()
@_HOME
@_PLUGIN
def uninstall(home: str | None, name: str) -> int:
    """Remove the plugin that `install` has written."""
    folder = _folder(home, name, installing=False)
    if _is_ours(folder / "plugin.yaml"):
        shutil.rmtree(folder)
        put(str(folder))
    return 0


@helm_plugin.command()
@_HOME
@_PLUGIN
def verdict(home: str | None, name: str) -> int:
    """Print what the plugin said last."""
    file = _folder(home, name, installing=False) / _VERDICT
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        raise ConfigError("is not there: the plugin has not run yet", str(file)) from None
    put(*text.splitlines())
    return 0


@helm_plugin.command("post-render")
@admission_options
def post_render(flags: Flags) -> int:
    """What the plugin runs: `apply -f -`, with its verdict in a file, too."""
    try:
        admitted = admit_manifests(flags, printed="the manifests")
        report = admitted.report
        output = [] if report.denied else render("yaml", admitted.streams, report)
    except KrmFnError as error:
        _say(error.lines())
        return status_of(error)
    _say(lines(report))
    write_files(flags, report)
    write_stdout(output)
    return 1 if report.denied else 0


def _say(said: Sequence[str]) -> None:
    say(*said)
    folder = os.environ.get("HELM_PLUGIN_DIR", "")
    if not folder:
        return
    text = "".join(f"{one_line(line)}\n" for line in said).encode()
    # A plugin that was installed for all users may stand in a folder that is not ours to write;
    # then, and without a terminal, the verdict is on standard error only.
    for place in (os.path.join(folder, _VERDICT), "/dev/tty"):
        with contextlib.suppress(ConfigError, OutputError):
            write_file(place, text)


# ------------------------------------------------------------------------------------------ places


def _is_ours(file: Path) -> bool:
    return file.is_file() and file.read_bytes().startswith(_MARK.encode())


def _folder(home: str | None, name: str, *, installing: bool = True) -> Path:
    """The plugin's folder. Raises ConfigError where no Helm 4 says where plugins are."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name} is no name of a plugin; use letters, digits, - and _")
    if home:
        return Path(home, name)
    helm = shutil.which("helm")
    if helm is None:
        raise ConfigError("helm is not on PATH; name Helm 4's plugin folder with --home")
    if installing:
        for old in _old_helms(helm):
            raise ConfigError(
                f"{old} is Helm 3, which such a plugin in its folder would break and which needs "
                "none (helm ... --post-renderer krm-fn); name a folder of its own with --home, "
                "and set HELM_PLUGINS to it for Helm 4"
            )
    plugins = _ask(helm, "env", "HELM_PLUGINS").split(os.pathsep)[0]
    if not plugins:
        raise ConfigError(f"{helm} env HELM_PLUGINS says nothing; name the folder with --home")
    return Path(plugins, name)


def _old_helms(helm: str) -> Iterator[str]:
    """Every Helm 3 on PATH, `helm` first."""
    found = [helm]
    for folder in dict.fromkeys(os.environ.get("PATH", "").split(os.pathsep)):
        with contextlib.suppress(OSError):
            names = sorted(name for name in os.listdir(folder or ".") if _OLD_NAME.fullmatch(name))
            found += [os.path.join(folder, name) for name in names]
    for path in dict.fromkeys(found):
        if os.access(path, os.X_OK) and re.match(r"v?3\b", _ask(path, "version", "--short")):
            yield path


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
