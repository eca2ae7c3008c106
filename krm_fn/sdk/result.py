"""Results: what a function says of the objects, as kpt and others show and store it.

Those print messages, names and paths to a terminal as they are, and authors of manifests write
names: so what leaves is one line each, without control characters.
Source: the KRM functions specification, `results`; kpt's Go SDK `go/fn` result.go.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.printable import one_line
from krm_fn.values import MISSING, Json, Path, format_path

if TYPE_CHECKING:
    from krm_fn.sdk.object import KubeObject


class Severity(StrEnum):
    """How serious a result is. An error makes the run fail (see `Results.failed`)."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class ResourceRef(NamedTuple):
    """The object that a result is about."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    def to_json(self) -> Json:
        found = {"apiVersion": one_line(self.api_version), "kind": one_line(self.kind)}
        if self.namespace:
            found["namespace"] = one_line(self.namespace)
        return {**found, "name": one_line(self.name)}


@dataclass(frozen=True, slots=True)
class File:
    """The file that an object comes from, and its index among the documents there."""

    path: str
    index: int = 0

    def to_json(self) -> Json:
        path = one_line(self.path)
        return {"path": path, "index": self.index} if self.index else {"path": path}


class Field(NamedTuple):
    """A field of the object, dotted with `[i]` for indexes, with its value and the proposed one."""

    path: str
    current_value: Any = MISSING
    proposed_value: Any = MISSING

    @classmethod
    def at(cls, path: Path, current_value: Any = MISSING, proposed_value: Any = MISSING) -> Field:
        """Returns the field at a path such as `("spec", "containers", 0, "image")`."""
        return cls(format_path(path), current_value, proposed_value)

    def to_json(self) -> Json:
        found: Json = {"path": one_line(self.path)}
        for name, value in (
            ("currentValue", self.current_value),
            ("proposedValue", self.proposed_value),
        ):
            if value is not MISSING:
                found[name] = value
        return found


@dataclass(frozen=True, slots=True)
class Result:
    """One result. `str()` is the line that `ResourceList.log_result` prints."""

    message: str
    severity: Severity = Severity.ERROR
    resource_ref: ResourceRef | None = None
    field: Field | None = None
    file: File | None = None
    tags: dict[str, str] = dataclasses.field(default_factory=dict)

    def to_json(self) -> Json:
        found: Json = {"message": one_line(self.message), "severity": self.severity.value}
        for name, part in (
            ("resourceRef", self.resource_ref),
            ("field", self.field),
            ("file", self.file),
        ):
            if part is not None:
                found[name] = part.to_json()
        if self.tags:
            found["tags"] = {key: one_line(text) for key, text in self.tags.items()}
        return found

    def __str__(self) -> str:
        parts = [f"[{self.severity.value}]"]
        if self.resource_ref is not None:
            ref = self.resource_ref
            place = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
            parts.append(f"{ref.api_version}/{ref.kind} {place}")
        if self.field is not None:
            parts.append(self.field.path)
        return " ".join(parts) + f": {self.message}"


def general_result(message: str, severity: Severity) -> Result:
    """A result about no object."""
    return Result(message, severity)


def config_object_result(message: str, obj: KubeObject, severity: Severity) -> Result:
    """A result about an object, with the file that it comes from."""
    ref = ResourceRef(obj.api_version, obj.kind, obj.name, obj.namespace)
    path = obj.path_annotation
    file = File(path, max(obj.index_annotation, 0)) if path else None
    return Result(message, severity, ref, file=file)


def config_file_result(message: str, path: str, severity: Severity) -> Result:
    """A result about a file."""
    return Result(message, severity, file=File(path))


def error_result(error: BaseException) -> Result:
    """An error as a result."""
    return general_result(str(error), Severity.ERROR)


def error_config_object_result(error: BaseException, obj: KubeObject) -> Result:
    """An error about an object as a result."""
    return config_object_result(str(error), obj, Severity.ERROR)


def error_config_file_result(error: BaseException, path: str) -> Result:
    """An error about a file as a result."""
    return config_file_result(str(error), path, Severity.ERROR)


class Results(list[Result]):
    """The results of a run, in order. A message may be about an object, and a field of it."""

    def info(self, message: str, obj: KubeObject | None = None, field: Field | None = None) -> None:
        """Append a note."""
        self._say(message, obj, field, Severity.INFO)

    def warning(
        self, message: str, obj: KubeObject | None = None, field: Field | None = None
    ) -> None:
        """Append a warning."""
        self._say(message, obj, field, Severity.WARNING)

    def error(
        self, message: str, obj: KubeObject | None = None, field: Field | None = None
    ) -> None:
        """Append an error, which makes the function fail."""
        self._say(message, obj, field, Severity.ERROR)

    def error_e(self, error: BaseException) -> None:
        """Append an error from an exception."""
        self.append(error_result(error))

    def warning_e(self, error: BaseException) -> None:
        """Append a warning from an exception that the function gets over."""
        self.append(general_result(str(error), Severity.WARNING))

    def _say(
        self, message: str, obj: KubeObject | None, field: Field | None, severity: Severity
    ) -> None:
        result = general_result(message, severity)
        if obj is not None:
            result = config_object_result(message, obj, severity)
        self.append(dataclasses.replace(result, field=field))

    @property
    def exit_code(self) -> int:
        """1 if there is an error among them, else 0."""
        return int(self.failed)

    @property
    def failed(self) -> bool:
        """Whether there is an error among them."""
        return any(result.severity is Severity.ERROR for result in self)

    def sort_results(self) -> None:
        """Errors first, then by file, object, field and message, as the Go SDK sorts them."""
        order = list(Severity)
        self.sort(key=lambda r: (order.index(r.severity), *_sort_key(r)))

    def to_json(self) -> list[Json]:
        return [result.to_json() for result in self]


def _sort_key(result: Result) -> Iterator[Any]:
    yield (result.file.path, result.file.index) if result.file else ("", 0)
    ref = result.resource_ref
    yield (ref.api_version, ref.kind, ref.namespace, ref.name) if ref else ("", "", "", "")
    yield result.field.path if result.field else ""
    yield result.message
