"""The command line: one file a command. Only this package knows click."""

from __future__ import annotations

from collections.abc import Sequence

import click

from krm_fn import __version__
from krm_fn.cli.apply import apply
from krm_fn.cli.check import check
from krm_fn.cli.cmp import cmp
from krm_fn.cli.completion import completion
from krm_fn.cli.diff import diff
from krm_fn.cli.explain import explain
from krm_fn.cli.helm_plugin import helm_plugin
from krm_fn.cli.kustomize_plugin import kustomize_plugin
from krm_fn.cli.lint import lint
from krm_fn.cli.pull import pull
from krm_fn.cli.show import show
from krm_fn.cli.status import USAGE, status_of
from krm_fn.cli.test import test
from krm_fn.cli.version import version
from krm_fn.errors import KrmFnError, OutputError
from krm_fn.system.streams import put, say


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="As a KRM function, krm-fn takes no argument: a ResourceList on standard input goes "
    "out on standard output, with results. Exit status: 0 fine, 1 rejected, 2 usage, "
    "configuration or a rule that cannot be read, 3 a fault of the program, 4 input that cannot "
    "be read, or output that cannot be written.",
)
@click.version_option(__version__, prog_name="krm-fn", message="%(prog)s %(version)s")
def main() -> None:
    """Admit Kubernetes manifests as a cluster would, before anything reaches it.

    Rules (ModRules, admission policies, SidecarSets, Kubewarden policies, Meshes) mutate and
    reject manifests; what no rule changes stays byte for byte.
    """


for command in (
    apply,
    check,
    diff,
    show,
    explain,
    lint,
    test,
    pull,
    kustomize_plugin,
    helm_plugin,
    cmp,
    version,
    completion,
):
    main.add_command(command)


def run(arguments: Sequence[str], standard_input: bytes | None = None) -> int:
    """Run a command line; answers the exit status. `standard_input` is what was read of it."""
    try:
        status = main(list(arguments), "krm-fn", standalone_mode=False, obj=standard_input)
    except click.exceptions.NoArgsIsHelpError as error:
        put(*(error.ctx.get_help() if error.ctx else "").splitlines())
        return 0
    except click.ClickException as error:
        say(*_usage(error), f"Error: {error.format_message()}")
        return USAGE
    except click.Abort:
        raise KeyboardInterrupt from None
    except OutputError:
        raise
    except KrmFnError as error:
        say(*error.lines())
        return status_of(error)
    return status if isinstance(status, int) else 0


def _usage(error: click.ClickException) -> list[str]:
    """How the command is used, where that is what was wrong."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return []
    hint = f"Try '{context.command_path} {context.help_option_names[0]}' for help."
    return [*context.get_usage().splitlines(), hint, ""]
