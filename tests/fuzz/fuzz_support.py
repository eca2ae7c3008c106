"""What the properties share: how long they run, the vectors' texts, trees as they can be compared.

The number of examples is `KRM_FN_FUZZ_EXAMPLES` (for each test), else one that takes some seconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

VECTORS = Path(__file__).parents[1] / "conformance" / "modrule"
WHERE = frozenset(("pos", "start"))
"""Fields that say where in the text a part of a tree stands."""


def bounded(examples: int) -> settings:
    wanted = os.environ.get("KRM_FN_FUZZ_EXAMPLES")
    return settings(
        max_examples=int(wanted) if wanted else examples,
        deadline=None,
        derandomize=wanted is None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def vectors(name: str) -> Iterator[dict[str, Any]]:
    """The cases of one file of vectors."""
    for line in (VECTORS / f"{name}.jsonl").read_bytes().split(b"\n"):
        if line:
            yield json.loads(line)


def shape(part: Any, leaves: tuple[type, ...] = ()) -> Any:
    """A part of a tree as plain tuples, without places; of a leaf only the name counts."""
    if isinstance(part, leaves):
        return type(part).__name__, getattr(part, "name", "")
    if isinstance(part, tuple):
        return tuple(shape(each, leaves) for each in part)
    if isinstance(part, dict):
        return tuple((key, shape(part[key], leaves)) for key in sorted(part))
    fields = getattr(part, "_fields", None)
    if fields is None:
        return type(part).__name__, repr(part)
    return type(part).__name__, *(
        shape(getattr(part, name), leaves) for name in fields if name not in WHERE
    )
