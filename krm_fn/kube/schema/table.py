"""Read a table of schema facts: the whole index, and of the rest only what is asked for.

The format, as `tools/schema` writes it: four bytes with the length of the head, the head, chunks.
Head and chunks are JSON, compressed with zlib. The head has

    kubernetes  the release, "1.37.2"
    kinds       "apps/v1/Deployment": "apps/v1.Deployment deployments true": the struct type; the
                plural and whether it is namespaced, where the kind is a resource
    chunks      "core/v1": [offset behind the head, length]

and a chunk, one for each Go package,

    types       "Container": one text a field, in Go's order: name, code, flags, merge
    atomic      the types that server-side apply takes as one value
    go          "Volume": {"emptyDir": "VolumeSource"}: by type and field, what Go's errors call a
                field: the embedded structs on the way (`-` for none), then the name of its type
                where a scalar in it has one: "- v1.PullPolicy"

- code: `*` pointer, `[` list, `{` map with text keys, then one of the letters of `model.Value`, or
  `#Type` for a struct of the same package, `#core/v1.Type` for one of another;
- flags: e omitempty, z omitzero, - none;
- merge: `atomic`, `separable`, `set`, or the keys of a map list, with their defaults:
  `containerPort,protocol=TCP`.

The chunk `names` is a list of the names of all fields.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import Any, Final

_FOLDER: Final = os.path.dirname(__file__)

NAMES: Final = "names"
"""The chunk that holds the names of all fields."""


class Table:
    """The table of one release, such as "1.37"."""

    def __init__(self, release: str) -> None:
        with open(os.path.join(_FOLDER, f"{release}.bin"), "rb") as file:
            data = file.read()
        start = 4 + int.from_bytes(data[:4], "big")
        head = _unpack(data[4:start])
        self.kubernetes: str = head["kubernetes"]
        self.kinds: dict[str, str] = head["kinds"]
        self._chunks: dict[str, list[int]] = head["chunks"]
        self._data = data[start:]

    def chunk(self, name: str) -> Any:
        """A chunk, decoded anew each time."""
        offset, length = self._chunks[name]
        return _unpack(self._data[offset : offset + length])


def _unpack(packed: bytes) -> Any:
    return json.loads(zlib.decompress(packed))
