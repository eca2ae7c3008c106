"""Read a configuration strictly: every field is asked for by name, and what is left over is wrong.

Texts are taken for other types where the configuration comes from a ConfigMap or from flags, which
know only texts. Words such as `Off` are what is asked for: texts, or booleans. Knows no field
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from krm_fn.errors import ConfigError, did_you_mean
from krm_fn.values import Path, parse_path
from krm_fn.wire.words import KUBECTL, TEXTS, settled

Choice = TypeVar("Choice", bound=StrEnum)


class Section:
    """A map of the configuration; `path` is where it stands (`spec.context`)."""

    def __init__(
        self,
        value: Any,
        path: str,
        where: str = "",
        *,
        texts: bool = False,
        line: Callable[[Path], int] | None = None,
    ) -> None:
        """`line` is on which line of the file `where` a member stands; None where it is no file."""
        self._value = value
        self._path = path
        self._where = where
        self._texts = texts
        self._line = line
        self._known: list[str] = []
        if type(value) is not dict:
            place = self._place(path)
            raise ConfigError(f"{path} is {describe(value)}; it must be a map", place)

    def __contains__(self, name: str) -> bool:
        return self._value.get(name) is not None

    def replaced(self, members: dict[str, Any]) -> Section:
        """The section with these members in place of its own."""
        value = {**self._value, **members}
        return Section(value, self._path, self._where, texts=self._texts, line=self._line)

    @property
    def members(self) -> Mapping[str, Any]:
        """All members as they are, for somebody else to read: words such as `Off` are undecided."""
        return dict(self._value)

    @property
    def where(self) -> str:
        """What the configuration stands in: a file, or the functionConfig."""
        return self._where

    def path(self, name: str) -> str:
        """The path of a member, for messages."""
        return f"{self._path}.{name}" if self._path else name

    def error(self, name: str, message: str) -> ConfigError:
        """An error about a member."""
        path = self.path(name)
        return ConfigError(f"{path}{message}", self._place(path))

    def told(self, name: str) -> str:
        """The path of a member, for messages of those who know no file: with its file and line."""
        path = self.path(name)
        return path if self._line is None else f"{self._place(path)}: {path}"

    def _place(self, path: str) -> str:
        if self._line is None:
            return self._where
        try:
            steps = parse_path(path)
        except ValueError:  # a key of the user's own
            steps = ()
        return f"{self._where}:{self._line(steps)}"

    def raw(self, name: str) -> Any:
        """A member as kubectl reads it, None where it is missing."""
        return settled(self._member(name), KUBECTL)

    def _member(self, name: str) -> Any:
        """A member as it is: words such as `Off` are booleans or texts, as it is asked for."""
        self._known.append(name)
        return self._value.get(name)

    def _text(self, name: str) -> Any:
        """A member, as a text where it is a word."""
        return settled(self._member(name), TEXTS)

    def choice(self, name: str, default: Choice) -> Choice:
        """One of an enumeration's words, in any case."""
        value = self._text(name)
        if value is None:
            return default
        words = list(type(default))
        for word in words:
            if type(value) is str and word.value.lower() == value.lower():
                return word
        options = ", ".join(word.value for word in words)
        hint = did_you_mean(value, [w.value for w in words]) if type(value) is str else ""
        raise self.error(name, f": {value!r} is not one of {options}{hint}")

    def string(self, name: str, default: str = "") -> str:
        value = self._text(name)
        if value is None:
            return default
        if type(value) is not str:
            raise self.error(name, f" is {describe(value)}; it must be a string (quote it)")
        return str(value)

    def boolean(self, name: str, default: bool) -> bool:
        value = self.raw(name)
        if self._texts and type(value) is str and value.lower() in ("true", "false"):
            return value.lower() == "true"
        if value is None:
            return default
        if type(value) is not bool:
            raise self.error(name, f" is {describe(value)}; it must be true or false")
        return bool(value)

    def integer(self, name: str, default: int) -> int:
        value = self.raw(name)
        if self._texts and type(value) is str and value.isdecimal():
            return int(value)
        if value is None:
            return default
        if type(value) is not int or value < 0:
            raise self.error(name, f" is {describe(value)}; it must be a whole number")
        return int(value)

    def strings(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of strings; as a text, separated by commas."""
        value = self._text(name)
        if value is None:
            return default
        if self._texts and type(value) is str:
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if type(value) is not list:
            raise self.error(name, f" is {describe(value)}; it must be a list of strings")
        for n, part in enumerate(value):
            if type(part) is not str:
                raise self.error(f"{name}[{n}]", f" is {describe(part)}; it must be a string")
        return tuple(value)

    def labels(self, name: str) -> dict[str, str]:
        """A map of strings."""
        value = self._text(name)
        if value is None:
            return {}
        if type(value) is not dict or not all(type(v) is str for v in value.values()):
            raise self.error(name, " must be a map of strings (quote numbers and booleans)")
        return dict(value)

    def section(self, name: str) -> Section:
        """A map, empty where it is missing."""
        value = self._member(name)
        return self._below(name, {} if value is None else value)

    def sections(self, name: str) -> list[Section]:
        """A list of maps."""
        value = self._member(name)
        if value is None:
            return []
        if type(value) is not list:
            raise self.error(name, f" is {describe(value)}; it must be a list")
        return [self._below(f"{name}[{n}]", member) for n, member in enumerate(value)]

    def _below(self, name: str, value: Any) -> Section:
        path = self.path(name)
        return Section(value, path, self._where, texts=self._texts, line=self._line)

    def done(self) -> None:
        """Refuse what nobody asked for."""
        for name in self._value:
            if name not in self._known:
                hint = did_you_mean(name, self._known)
                if not hint and self._known:
                    hint = f"; known here: {', '.join(dict.fromkeys(self._known))}"
                raise self.error(name, f": unknown field{hint}")


def describe(value: Any) -> str:
    """What a value is, in a sentence: `null`, `the number 5`, `a list`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string {value!r}" if len(value) <= 40 else "a string"
    return "a list" if isinstance(value, list) else "a map"
