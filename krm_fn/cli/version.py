"""`krm-fn version`."""

from __future__ import annotations

import json
import platform

import click
import yaml

from krm_fn import __version__
from krm_fn.system.streams import put


@click.command()
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text")
def version(output: str) -> int:
    """Print the version."""
    if output == "text":
        put(f"krm-fn {__version__}")
    else:
        facts = {
            "version": __version__,
            "python": platform.python_version(),
            "pyyaml": yaml.__version__,
        }
        put(json.dumps(facts))
    return 0
