"""A mapping inside an object, read with types and edited so that the text around it stays.

Values that are read must not be changed; writing goes through `set_nested` and its kin, so that
only what changed is written back, with comments, quoting and key order around it kept.
Source: kpt's Go SDK `go/fn` object.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from krm_fn.errors import KrmFnError
from krm_fn.values import MISSING, Json, Path, format_path, get, with_at
from krm_fn.wire import Comment, Item
from krm_fn.wire.wellknown import INTERNAL

UPSTREAM_IDENTIFIER: Final = "internal.kpt.dev/upstream-identifier"
_ANNOTATIONS: Final = ("metadata", "annotations")

Value = TypeVar("Value")


class InternalAnnotationError(KrmFnError):
    """A function may not write the annotations by which its caller knows objects again."""


class FieldTypeError(KrmFnError):
    """A field is there and has another type than was asked for."""


class Match(NamedTuple):
    """A value that `SubObject.find` found, and where: `set_nested(value, *match.path)` sets it."""

    path: Path
    value: Any


class SubObject:
    """A mapping inside an object (or the object itself), by its path."""

    def __init__(self, item: Item, path: Path = ()) -> None:
        self._item = item
        self._path = path

    @property
    def value(self) -> Json:
        """The mapping as a plain dict; empty where it is missing. Do not change it."""
        value = get(self._item.value, self._path, MISSING)
        return value if type(value) is dict else {}

    def is_empty(self) -> bool:
        return not self.value

    # ------------------------------------------------------------------------------- reading

    def nested(self, *fields: str | int) -> Any:
        """Returns the value at a path below, None where it is missing. Do not change it."""
        return get(self._item.value, (*self._path, *fields))

    def has_field(self, *fields: str | int) -> bool:
        """Returns whether there is anything at a path below, null included."""
        return get(self._item.value, (*self._path, *fields), MISSING) is not MISSING

    def nested_string(self, *fields: str | int) -> str | None:
        """Returns a string, None where it is missing. Raises FieldTypeError for another type."""
        return self._typed(fields, str)

    def nested_int(self, *fields: str | int) -> int | None:
        return self._typed(fields, int)

    def nested_bool(self, *fields: str | int) -> bool | None:
        return self._typed(fields, bool)

    def nested_float(self, *fields: str | int) -> float | None:
        """Returns a number with or without a fraction."""
        value = self.nested(*fields)
        if type(value) is int:
            return float(value)
        return self._typed(fields, float)

    def nested_slice(self, *fields: str | int) -> list[SubObject]:
        """Returns the elements of a list of mappings."""
        elements = self._typed(fields, list) or []
        for n, element in enumerate(elements):
            self._check((*fields, n), element, dict)
        return [SubObject(self._item, (*self._path, *fields, n)) for n in range(len(elements))]

    def nested_string_slice(self, *fields: str | int) -> list[str]:
        """Returns a list of strings, empty where it is missing."""
        elements = self._typed(fields, list) or []
        for n, element in enumerate(elements):
            self._check((*fields, n), element, str)
        return list(elements)

    def nested_string_map(self, *fields: str | int) -> dict[str, str]:
        """Returns a mapping of strings, empty where it is missing."""
        members = self._typed(fields, dict) or {}
        for key, member in members.items():
            self._check((*fields, key), member, str)
        return dict(members)

    def nested_subobject(self, *fields: str | int) -> SubObject:
        """Returns the mapping at a path below; it need not be there yet."""
        return SubObject(self._item, (*self._path, *fields))

    def find(self, jsonpath: str) -> list[Match]:
        """Returns what a JSONPath selects below, such as `$.spec.containers[?(@.name=="a")].image`.

        The language is that of jsonpath-ng with its extensions. Raises KrmFnError for an expression
        that cannot be read, or that computes values which stand nowhere.
        """
        from krm_fn.sdk.query import find  # loads jsonpath-ng

        return [Match(path, value) for path, value in find(jsonpath, self.value)]

    def decode(self, cls: type[Value]) -> Value:
        """Returns the mapping as an object of a class with annotations, such as a dataclass.

        Members that the class does not have are left out. Raises FieldTypeError.
        """
        from krm_fn.sdk.decode import decode

        return decode(cls, self.value, str(self._item.origin))

    # ------------------------------------------------------------------------------- writing

    def set_nested(self, value: Any, *fields: str | int) -> None:
        """Set the value at a path below; missing mappings are made.

        Raises InternalAnnotationError for an annotation that belongs to the function's caller.
        """
        self._replace(with_at(self._item.value, (*self._path, *fields), value))

    def update_nested(self, values: Mapping[str, Any], *fields: str | int) -> None:
        """Set several members of the mapping at a path below; the others stay."""
        for key, value in values.items():
            self.set_nested(value, *fields, key)

    def set_slice(self, elements: Iterable[SubObject | Json], *fields: str | int) -> None:
        """Set the list at a path below, of mappings or of parts of objects."""
        values = [one.value if isinstance(one, SubObject) else one for one in elements]
        self.set_nested(values, *fields)

    def upsert_map(self, *fields: str | int) -> SubObject:
        """Returns the mapping at a path below, made where it is missing."""
        if self.nested(*fields) is None:
            self.set_nested({}, *fields)
        return SubObject(self._item, (*self._path, *fields))

    def remove_nested_field(self, *fields: str | int) -> bool:
        """Remove the value at a path below; returns whether it was there."""
        if not self.has_field(*fields):
            return False
        self._replace(with_at(self._item.value, (*self._path, *fields), MISSING))
        return True

    def patch(self, operations: Sequence[Mapping[str, Any]]) -> None:
        """Apply a JSON Patch (RFC 6902), all of it or nothing: `[{"op": "add", "path": ...}]`.

        Raises KrmFnError where it is none or does not fit.
        """
        from krm_fn.sdk.query import patched  # loads jsonpatch

        try:
            value = patched(self.value, operations)
        except KrmFnError as error:
            raise error.at(str(self._item.origin)) from None
        self._replace(with_at(self._item.value, self._path, value) if self._path else value)

    # ------------------------------------------------------------------------------ comments

    def line_comment(self, *fields: str | int) -> str | None:
        """Returns the comment behind the value at a path below; None where there is no value."""
        return self._comment(fields, head=False)

    def head_comment(self, *fields: str | int) -> str | None:
        """Returns the comment lines right above the value at a path below; None without a value."""
        return self._comment(fields, head=True)

    def line_comments(self) -> dict[Path, str]:
        """Returns all comments behind values below, by the path of the value."""
        return dict(self._comments(head=False))

    def head_comments(self) -> dict[Path, str]:
        """Returns all comments above values below, by the path of the value."""
        return dict(self._comments(head=True))

    def set_line_comment(self, comment: str, *fields: str | int) -> None:
        """Put a comment behind the value at a path below, in place of the one there; "" removes it.

        It is set when the list is written, which raises KrmFnError where no comment can stand: in
        JSON, inside a mapping or list in flow style, behind what is not there.
        """
        if "\n" in comment or "\r" in comment:
            raise KrmFnError("a line comment is one line", str(self._item.origin))
        self._set_comment(Comment((*self._path, *fields), comment.strip()))

    def set_head_comment(self, comment: str, *fields: str | int) -> None:
        """Put lines of comment above the value at a path below; "" removes those there.

        They are set when the list is written, which raises KrmFnError as for a line comment, and
        where the value shares its line with the dash of a list.
        """
        self._set_comment(Comment((*self._path, *fields), comment.strip("\r\n"), head=True))

    def _comment(self, fields: Path, *, head: bool) -> str | None:
        path = (*self._path, *fields)
        if get(self._item.value, path, MISSING) is MISSING:
            return None
        new = self._item.comments.get((path, head))
        if new is not None:
            return new.text
        written = self._item.written_comments.get(path)
        if written is None:
            return ""
        return written.head if head else written.line

    def _comments(self, *, head: bool) -> Iterator[tuple[Path, str]]:
        item, depth = self._item, len(self._path)
        new = (path for path, is_head in item.comments if is_head is head)
        for path in dict.fromkeys((*item.written_comments, *new)):
            if path[:depth] == self._path:
                text = self._comment(path[depth:], head=head)
                if text:
                    yield path[depth:], text

    def _set_comment(self, comment: Comment) -> None:
        self._item.comments[comment.path, comment.head] = comment

    # --------------------------------------------------------------------------- small parts

    def _replace(self, value: Json) -> None:
        before, after = _internal(self._item.value), _internal(value)
        if before != after:
            key = next(k for k in (*before, *after) if before.get(k) != after.get(k))
            raise InternalAnnotationError(f"the annotation {key} is not for functions to write")
        self._item.replace(value)

    def _typed(self, fields: Iterable[str | int], kind: type[Value]) -> Value | None:
        value = self.nested(*fields)
        if value is None:
            return None
        self._check(tuple(fields), value, kind)
        result: Value = value
        return result

    def _check(self, fields: Path, value: Any, kind: type) -> None:
        if type(value) is not kind:
            path = format_path((*self._path, *fields))
            raise FieldTypeError(
                f"{path} is of type {type(value).__name__}, not {kind.__name__}",
                str(self._item.origin),
            )


def _internal(value: Json) -> dict[str, Any]:
    """The annotations that no function writes."""
    annotations = get(value, _ANNOTATIONS)
    if type(annotations) is not dict:
        return {}
    return {
        key: text
        for key, text in annotations.items()
        if key.startswith(INTERNAL) or key == UPSTREAM_IDENTIFIER
    }
