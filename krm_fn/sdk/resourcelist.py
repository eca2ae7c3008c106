"""The ResourceList: what a function gets, changes and gives back.

Source: the KRM functions specification; kpt's Go SDK `go/fn` resourcelist.go.
"""

from __future__ import annotations

from typing import TextIO

from krm_fn.errors import ConfigError, KrmFnError
from krm_fn.printable import one_line
from krm_fn.sdk.object import KubeObject, KubeObjects
from krm_fn.sdk.result import Results
from krm_fn.system.streams import say
from krm_fn.values import Json
from krm_fn.wire import Stream, read_stream


class DuplicateResourceError(KrmFnError):
    """Two objects have the same group, kind, namespace and name."""


class ResourceList:
    """Items, the function's configuration, and results. Items are edited in place."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.items = KubeObjects(KubeObject(item) for item in stream.items)
        config = stream.function_config
        self.function_config = KubeObject(config) if config is not None else None
        self.results = Results()

    def add(self, value: Json) -> None:
        """Let an object leave that did not come in."""
        self.stream.add(value)

    def drop(self, obj: KubeObject) -> None:
        """Let an object not leave."""
        self.stream.drop(obj.item)
        self.items.remove(obj)

    def drop_all(self) -> None:
        """Let no object leave."""
        for obj in list(self.items):
            self.drop(obj)

    def to_yaml(self) -> bytes:
        """The list as it leaves: what nobody touched is byte for byte as it came."""
        return self.stream.write(self.results.to_json())

    def sort(self) -> None:
        """Sort the results; objects keep the order in which they came."""
        self.results.sort_results()

    def log_result(self, file: TextIO | None = None) -> None:
        """Print every result as a line, to standard error."""
        for result in self.results:
            if file is None:
                say(str(result))
            else:
                file.write(f"{one_line(str(result))}\n")


class NotAResourceListError(ConfigError):
    """The input can be read and is no ResourceList."""


def parse_resource_list(data: bytes) -> ResourceList:
    """Read a ResourceList from YAML or JSON. Raises KrmFnError (NotAResourceListError)."""
    stream = read_stream(data)
    if not stream.is_resource_list:
        raise NotAResourceListError("standard input is no ResourceList")
    return ResourceList(stream)


def check_resource_duplication(resource_list: ResourceList) -> None:
    """Raise DuplicateResourceError where two objects have the same identity."""
    seen: dict[tuple[str, str, str, str], KubeObject] = {}
    for obj in resource_list.items:
        other = seen.setdefault(obj.get_id(), obj)
        if other is not obj:
            raise DuplicateResourceError(
                f"{obj.short_string()} is there twice: {other.item.origin} and {obj.item.origin}"
            )
