"""JSON Patch by RFC 6902, for patches that policies answer with and for Rego's `json.patch`.

Source: RFC 6902; what the API server refuses is refused.
"""

from __future__ import annotations

from typing import Any


class PatchError(Exception):
    """The patch is none, or does not apply."""


def apply(value: Any, operations: Any) -> Any:
    """A changed copy of a JSON value. Raises PatchError."""
    # Imported here: few policies patch, and it costs some milliseconds.
    import jsonpatch

    if type(operations) is not list or not all(isinstance(one, dict) for one in operations):
        raise PatchError("it is no list of operations")
    try:
        return jsonpatch.apply_patch(value, operations)
    except (
        jsonpatch.JsonPatchException,
        jsonpatch.JsonPointerException,
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise PatchError(str(error) or type(error).__name__) from None
