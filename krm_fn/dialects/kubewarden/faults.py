"""What goes wrong with a policy, by kind.

A fault in an evaluation denies; one in loading is an error.

Knows neither WebAssembly nor Kubernetes.
"""

from __future__ import annotations

from enum import StrEnum

from krm_fn.errors import KrmFnError


class FaultKind(StrEnum):
    """Why there is no answer from a policy."""

    BAD_MODULE = "bad-module"
    """The file is no WebAssembly module, or one that cannot be compiled within the limits."""
    WRONG_ABI = "wrong-abi"
    """The module does not keep to the interface of its execution mode."""
    MISSING_BUILTIN = "missing-builtin"
    BAD_EXPRESSION = "bad-expression"
    GUEST_ERROR = "guest-error"
    """The policy says itself that it failed."""
    GUEST_TRAP = "guest-trap"
    OUT_OF_FUEL = "out-of-fuel"
    TIMEOUT = "timeout"
    MEMORY_LIMIT = "memory-limit"
    BAD_RESPONSE = "bad-response"
    """The policy answered with something that is no answer."""


class Fault(KrmFnError):
    """A policy gave no answer.

    `message` is a sentence for the user; `said` is what the policy server answers in this case,
    where that is another text (in mode wasi whatever the policy wrote to stderr, even nothing).
    """

    def __init__(self, kind: FaultKind, message: str, said: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.said = message if said is None else said
