"""`krm-fn kustomize-plugin`: run inside kustomize and `kubectl kustomize` without a container.

kubectl runs no exec functions; its legacy exec plugins are the one way in. Such a plugin is a
program at a fixed path below kustomize's configuration; it gets a file with its configuration as
argument and the objects as a YAML stream on standard input.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Final

import click

from krm_fn.cli.programs import install_file, program
from krm_fn.config.dialects import DIALECTS
from krm_fn.config.options import API_VERSION
from krm_fn.errors import ConfigError
from krm_fn.system.streams import put

_MARK: Final = "# Written by `krm-fn kustomize-plugin install`."


@click.group("kustomize-plugin")
def kustomize_plugin() -> None:
    """Run inside `kubectl kustomize` without a container.

    \b
    krm-fn kustomize-plugin install
    kubectl kustomize --enable-alpha-plugins .   # an Admission under transformers: now runs
    """


@kustomize_plugin.command()
@click.option("--home", metavar="DIR", help="kustomize's plugin folder, instead of the usual one.")
def install(home: str | None) -> int:
    """Write the plugins, one a kind of configuration."""
    for path, option in _plugins(home):
        if path.exists() and not _is_ours(path):
            raise ConfigError("is there already and is not krm-fn's; remove it first", str(path))
        text = f'#!/bin/sh\n{_MARK}\nexec {shlex.join(program())} apply -f - {option} "$1"\n'
        install_file(path, text, 0o755)
        put(str(path))
    return 0


@kustomize_plugin.command()
@click.option("--home", metavar="DIR", help="kustomize's plugin folder, instead of the usual one.")
def uninstall(home: str | None) -> int:
    """Remove the plugins that `install` has written."""
    for path, _ in _plugins(home):
        if path.exists() and _is_ours(path):
            path.unlink()
            put(str(path))
    return 0


def _is_ours(path: Path) -> bool:
    return path.is_file() and _MARK.encode() in path.read_bytes()


def _plugins(home: str | None) -> list[tuple[Path, str]]:
    """(path, option that the configuration file is passed with) for each kind."""
    root = Path(home) if home else _plugin_home()
    kinds = [(API_VERSION, "Admission", "--config")]
    for entry in DIALECTS:
        kinds += [(version, kind, "-r") for version in entry.versions for kind in entry.kinds]
    return [(root / version / kind.lower() / kind, option) for version, kind, option in kinds]


def _plugin_home() -> Path:
    """Where kustomize looks for plugins.

    Source: kustomize api/konfig DefaultAbsPluginHome.
    """
    for name, more in (
        ("KUSTOMIZE_PLUGIN_HOME", ()),
        ("XDG_CONFIG_HOME", ("kustomize", "plugin")),
        ("HOME", (".config", "kustomize", "plugin")),
    ):
        if os.environ.get(name):
            return Path(os.environ[name], *more)
    raise ConfigError("neither XDG_CONFIG_HOME nor HOME is set; name the folder with --home")
