"""The ResourceList: what a function gets, changes and gives back.

Source: the KRM functions specification; kpt's Go SDK `go/fn` resourcelist.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TextIO, TypeVar

from krm_fn.errors import ConfigError, KrmFnError
from krm_fn.printable import one_line
from krm_fn.sdk.object import KubeObject, new_from_typed
from krm_fn.sdk.objects import KubeObjects
from krm_fn.sdk.result import Results
from krm_fn.sdk.scopes import DefinedScopes
from krm_fn.sdk.subobject import FieldTypeError
from krm_fn.system.streams import say
from krm_fn.wire import Stream, read_stream

Config = TypeVar("Config")


class DuplicateResourceError(KrmFnError):
    """Two objects have the same group, kind, namespace and name."""


class MissingFnConfigError(KrmFnError):
    """The function needs a functionConfig and got none."""

    def __init__(self) -> None:
        super().__init__("the function needs a functionConfig")


class ResourceList:
    """Items, the function's configuration, and results. Items are edited in place.

    What is in `items` when the list is written leaves: objects that came in where they stood, new
    ones behind them.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._scopes = DefinedScopes(stream)
        self.items = KubeObjects(KubeObject(item, self._scopes) for item in stream.items)
        config = stream.function_config
        self.function_config = KubeObject(config) if config is not None else None
        self.results = Results()
        self._added: dict[int, KubeObject] = {}

    def add(self, obj: KubeObject | Mapping[str, Any]) -> KubeObject:
        """Let an object leave that did not come in; returns it."""
        added = obj if isinstance(obj, KubeObject) else new_from_typed(obj)
        self.items.append(added)
        return added

    def upsert(self, obj: KubeObject | Mapping[str, Any]) -> KubeObject:
        """Returns the object of the same identity with this value, or `obj`, added."""
        return self.items.upsert(obj if isinstance(obj, KubeObject) else new_from_typed(obj))

    def drop(self, obj: KubeObject) -> None:
        """Let an object not leave."""
        self.items.remove(obj)

    def drop_all(self) -> None:
        """Let no object leave."""
        self.items = KubeObjects()

    def config(self, cls: type[Config]) -> Config:
        """Returns the function's configuration as an object of an annotated class.

        It is filled from the data of a ConfigMap, from the spec of any other kind, or, without a
        spec, from what stands beside the metadata. Raises MissingFnConfigError without a
        functionConfig if the class needs one, and FieldTypeError for members that are missing,
        unknown or of another type.
        """
        from krm_fn.sdk.decode import decode  # not every function has one

        config = self.function_config
        if config is None or _is_placeholder(config):
            try:
                return decode(cls, {}, "functionConfig")
            except FieldTypeError:
                raise MissingFnConfigError from None
        if config.is_group_kind("", "ConfigMap"):
            data = config.nested_subobject("data").value
            return decode(cls, data, "functionConfig", ("data",), texts=True, strict=True)
        if config.has_field("spec"):
            spec = config.nested_subobject("spec").value
            return decode(cls, spec, "functionConfig", ("spec",), strict=True)
        value = {k: v for k, v in config.value.items() if k not in _META}
        return decode(cls, value, "functionConfig", strict=True)

    def to_yaml(self) -> bytes:
        """The list as it leaves: what nobody touched is byte for byte as it came."""
        self._settle()
        return self.stream.write(self.results.to_json())

    def _settle(self) -> None:
        """Tell the stream which objects are in `items`, and which no longer are."""
        now = {id(obj.item): obj for obj in self.items}
        for item in self.stream.items:
            if id(item) not in now:
                self.stream.drop(item)
        for key in list(self._added):
            if key not in now:
                self.stream.drop(self._added.pop(key).item)
        for key, obj in now.items():
            if obj.item.stream is not self.stream and key not in self._added:
                self._added[key] = obj
                self.stream.add(obj.item)

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


_META: Final = frozenset(("apiVersion", "kind", "metadata", "status"))


def _is_placeholder(config: KubeObject) -> bool:
    """Whether a functionConfig is what kpt hands in where there is none."""
    return (
        config.is_group_kind("", "ConfigMap")
        and config.name == "function-input"
        and not config.nested("data")
    )


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
