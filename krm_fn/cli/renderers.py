"""What kustomize and Helm make of a folder: the programs on PATH, run as their users run them.

They get no standard input. What they print on standard error is told when they fail, and is
otherwise left out. A program that is running can be stopped from outside (`stop`), for those who
have only so much time.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Final

from krm_fn.errors import ConfigError, InputError, KrmFnError
from krm_fn.system.deadline import at_end
from krm_fn.system.reading import read_all
from krm_fn.wire.compose import compose

KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""Source: kustomize api/konfig RecognizedKustomizationFileNames."""

CHART: Final = "Chart.yaml"

_SAID: Final = 64 * 1024
"""Bytes of standard error that are told where a program fails."""

_running: list[subprocess.Popen[bytes]] = []


def kustomize(folder: str, options: Sequence[str] = ()) -> bytes:
    """What `kustomize build` (or `kubectl kustomize`) prints. Raises InputError, ConfigError."""
    for command in (["kustomize", "build"], ["kubectl", "kustomize"]):
        if shutil.which(command[0]):
            return _output([*command, *options, folder], " ".join(command), folder)
    raise ConfigError("a kustomization needs kustomize or kubectl on PATH; neither is there")


def helm(
    folder: str,
    release: str,
    namespace: str,
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """What `helm template` prints for a chart; its dependencies are fetched where they are missing.

    Raises InputError, ConfigError.
    """
    if not shutil.which("helm"):
        raise ConfigError("a chart needs helm on PATH; it is not there")
    template = ["helm", "template", release, folder, "--namespace", namespace, "--include-crds"]
    template += options
    try:
        return _output(template, "helm template", folder, environment)
    except InputError as error:
        if "missing in charts/ directory" not in error.message:
            raise
    build = ["helm", "dependency", "build", folder]
    _output(build, "helm dependency build", folder, environment)
    return _output(template, "helm template", folder, environment)


def _output(
    command: list[str], name: str, folder: str, environment: Mapping[str, str] | None = None
) -> bytes:
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            env={**os.environ, **(environment or {})},
        )
        _running.append(process)
        try:
            with process.stdout or io.BytesIO() as printed:
                output = read_all(printed, name)
        except InputError:
            process.kill()
            raise
        finally:
            process.wait()
            _running.remove(process)
        said.seek(0)
        reason = " ".join(said.read(_SAID).decode(errors="replace").split())
    if process.returncode:
        raise InputError(f"{name} failed: {reason or f'status {process.returncode}'}", folder)
    return output


def is_kustomization(data: bytes) -> bool:
    """Whether a file of that name is a kustomization, and nothing that kubectl would apply."""
    try:
        roots = compose(data.decode()).roots
    except (KrmFnError, UnicodeDecodeError):
        return False
    value = roots[0].value if len(roots) == 1 else None
    if type(value) is not dict or "items" in value:
        return False
    return value.get("kind", "Kustomization") in ("Kustomization", "Component")


def stop() -> None:
    """Kill what is running; whoever started it gets no answer any more."""
    for process in _running:
        with contextlib.suppress(ProcessLookupError):
            process.kill()


at_end.append(stop)
