"""The exit statuses of the command line."""

from __future__ import annotations

from typing import Final

from krm_fn.errors import ConfigError, InputError, KrmFnError, OutputError

USAGE: Final = 2
UNREADABLE: Final = 4


def status_of(error: KrmFnError) -> int:
    """The exit status that an error has on the command line."""
    if isinstance(error, InputError | OutputError):
        return UNREADABLE
    return USAGE if isinstance(error, ConfigError) else 1
