"""`krm-fn completion`: the script that a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from krm_fn.system.streams import put


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print the completion script of a shell.

    \b
    source <(krm-fn completion bash)
    """
    kind = get_completion_class(shell)
    assert kind is not None
    root = context.find_root()
    put(*kind(root.command, {}, "krm-fn", "_KRM_FN_COMPLETE").source().splitlines())
    return 0
