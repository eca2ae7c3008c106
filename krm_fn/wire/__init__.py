"""Bytes to values and back: YAML, JSON and the ResourceList. Knows no rule.

`read_stream` gives a `Stream` of `Item`s; items are edited in place; `Stream.write` gives the
bytes, in which everything that nobody touched is as it came.
"""

from krm_fn.wire.compose import YamlError
from krm_fn.wire.reading import read_stream
from krm_fn.wire.scan import Head
from krm_fn.wire.stream import Comment, Item, Origin, Stream

__all__ = ["Comment", "Head", "Item", "Origin", "Stream", "YamlError", "read_stream"]
