"""Every limit of the program with its number, in one place.

Input is hostile: a pull request can carry manifests and rules. Each bound here is far above what
real packages need and far below what would exhaust a build machine. The numbers are part of the
documented interface; a test that needs another number passes it explicitly where that is possible.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

INPUT_BYTES: Final = 512 * 1024 * 1024
"""The largest input (stdin, or one file) that is read, in bytes."""

NESTING: Final = 1_000
"""How deep YAML and JSON values may nest."""

LISTS: Final = 32
"""How deep lists of objects may stand in objects."""

TAG_DIRECTIVES: Final = 1_000
"""`%TAG` directives of one text."""

ALIAS_FACTOR: Final = 10
"""Expanded aliases may make a document at most this many times larger (in nodes) than written."""

ALIAS_NODES: Final = 1_000_000
"""And never larger than this many nodes."""

RUN_STEPS: Final = 20_000_000
"""What all rules of a run may do, in steps of `krm_fn.work`, besides the share of the input."""

RUN_STEPS_PER_BYTE: Final = 15
"""What each byte of the first megabyte of manifests adds to that."""

RUN_STEPS_PER_BYTE_BEYOND: Final = 300
"""What each byte beyond it adds: small inputs end soon, large ones get what they need."""

SELECT_STEPS: Final = 1_000_000
"""Evaluation steps of one select expression on one object."""

TEMPLATE_STEPS: Final = 1_000_000
"""Evaluation steps of one template on one object."""

TEMPLATE_OUTPUT: Final = 1024 * 1024
"""Characters that one template may print."""

TEMPLATE_DEPTH: Final = 1_000
"""How deep templates may call each other."""

ESCAPE_STEPS: Final = 300_000
"""Steps that it may take to find what an HTML template must escape."""

TEMPLATE_TEXT: Final = 256 * 1024
"""Characters of one Jinja template."""

TEMPLATE_PARTS: Final = 10_000
"""Parts (texts, names, operators, tags ...) that one Jinja template may consist of."""

NUMBER_BITS: Final = 1_024
"""Bits of a whole number that a Jinja template may compute."""

LIST_PADDING: Final = 100_000
"""Elements that one patch operation may add to a list to reach its index."""

PATCH_PADDING: Final = 300_000
"""Elements that the operations of one patch may add to lists together to reach their indexes."""

PATCH_COPIES: Final = 300_000
"""Values that the operations of one patch may put into an object together."""

OBJECT_PARTS: Final = 300_000
"""Values that an object may consist of when a rule has changed it; no cluster takes larger ones."""

WRITERS: Final = 100
"""Rules that are named as the writers of one value: the last ones."""

RESOURCE_EXPRESSION: Final = 10_000
"""Characters of one expression of a SidecarSet's resources policy."""

SIDECAR_PARTS: Final = 100_000
"""Mounts, devices and variables that the sidecars of one Pod may get from its containers."""

EXPRESSION_NESTING: Final = 200
"""How deep an expression of one of the languages may nest."""

CEL_STEPS: Final = 1_000_000
"""Cost of one CEL expression on one object, counted as the API server counts it."""

CEL_WORK: Final = 12_000_000
"""Steps that one CEL expression may take besides its cost, which counts some calls as cheap."""

CEL_SOURCE: Final = 100_000
"""Code points of one CEL expression."""

CEL_DEPTH: Final = 250
"""How deep a CEL expression may nest, and how many of its operators may lean on each other."""

CEL_COPIES: Final = 4_000
"""Nodes of an expression that `optMap` and `optFlatMap` may double."""

QUANTITY_LENGTH: Final = 1_000
"""Characters of one quantity."""

QUANTITY_EXPONENT: Final = 1_000
"""The largest exponent of one quantity, such as 3 in 1e3; upstream computes without end."""

STRICT_FINDINGS: Final = 100
"""Unknown fields that are told of one object, as the API server does; and words that readers take
differently."""

WASM_MODULE: Final = 64 * 1024 * 1024
"""The largest WebAssembly module, in bytes."""

WASM_FUEL: Final = 2_000_000_000
"""What one call of a WebAssembly policy may burn: about one unit an instruction."""

WASM_MEMORY: Final = 256 * 1024 * 1024
"""Linear memory of one instance of a WebAssembly policy, in bytes."""

WASM_TABLE: Final = 1_000_000
"""Elements of one table of a WebAssembly policy."""

WASM_SECONDS: Final = 30.0
"""Wall clock of one call of a WebAssembly policy; the fuel ends before, if all is well."""

WASM_STACK: Final = 1024 * 1024
"""Stack of a WebAssembly policy, in bytes."""

WASM_RESPONSE: Final = 32 * 1024 * 1024
"""Bytes that one call of a WebAssembly policy may answer, and write to its standard streams."""

WASM_NESTING: Final = 2_000
"""How deep the JSON of a WebAssembly policy may nest, unused members included."""

WASM_HOST_CALLS: Final = 10_000
"""Host calls of one call of a WebAssembly policy."""

WASM_HOST_CALL_FUEL: Final = 5_000
"""What calling any function of the host burns, besides the guest's own instructions."""

WASM_HOST_BYTE_FUEL: Final = 20
"""What each byte burns that the host reads from a guest's memory or writes to it."""

WASM_COMPILE_MEMORY: Final = 1024 * 1024 * 1024
"""Address space of the process that compiles a WebAssembly module, in bytes."""

WASM_COMPILE_SECONDS: Final = 60
"""Processor time of the process that compiles a WebAssembly module."""

_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)


def json_too_deep(text: str, limit: int = NESTING) -> int | None:
    """Where a JSON text nests deeper than `limit`, before a decoder recurses into it, or None."""
    if text.count("[") + text.count("{") <= limit:
        return None
    depth = 0
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket in "[{":
            depth += 1
            if depth > limit:
                return match.start()
        elif bracket in "]}":
            depth -= 1
    return None


_STACK_FRAMES: Final = 20_000


class _Stack:
    """Python's recursion limit. All threads share it: the last block to end lowers it again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._before = 0

    def raise_limit(self) -> None:
        with self._lock:
            self._blocks += 1
            if self._blocks == 1:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, _STACK_FRAMES))

    def lower_limit(self) -> None:
        with self._lock:
            self._blocks -= 1
            if self._blocks == 0:
                sys.setrecursionlimit(self._before)


_STACK: Final = _Stack()


@contextmanager
def deep_stack() -> Iterator[None]:
    """Raise Python's recursion limit so that values nested to `NESTING` can be walked.

    Python 3.11+ keeps Python frames off the C stack, so this costs heap only.
    """
    _STACK.raise_limit()
    try:
        yield
    finally:
        _STACK.lower_limit()
