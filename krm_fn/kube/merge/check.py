"""What a value is refused for before it is merged, as paths and sentences of the API server.

Source: structured-merge-diff v6.4 typed/validate.go and helpers.go; for atomic values, apiserver
v0.37 pkg/admission/plugin/policy/mutating/patch/smd.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from krm_fn.kube.cel.patches import NIL_LIST, Leaf
from krm_fn.kube.merge.atoms import DEDUCED, Atom, ListAtom, MapAtom
from krm_fn.kube.merge.gotext import as_source, key_text, plain, type_name
from krm_fn.lang.go.strconv import quote


class MergeRefusal(NamedTuple):
    """A sentence about the value at a path; `path` is "" for the root."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message

    def below(self, step: str) -> MergeRefusal:
        """The same, seen from one step above."""
        return MergeRefusal(step + self.path, self.message)


def is_list(value: Any) -> bool:
    return type(value) is list or value is NIL_LIST


def members(value: Any) -> list[Any]:
    """The elements of a list, which a null and Go's nil list do not have."""
    return value if type(value) is list else []


def narrowed(atom: Atom, value: Any) -> Atom:
    """The form that a value of this shape has to have; all of them where it has none."""
    if atom.scalar and type(value) in (str, bool, int, float):
        return Atom(atom.scalar)
    if atom.list is not None and is_list(value):
        return Atom(list=atom.list)
    if atom.map is not None and type(value) is dict:
        return Atom(map=atom.map)
    return atom


def refusals(atom: Atom, value: Any, *, duplicates: bool = False) -> Iterator[MergeRefusal]:
    """What is wrong with a value; `duplicates` in lists may be allowed."""
    form = narrowed(atom, value)
    if form.map is not None:
        yield from _of_map(form.map, value, duplicates)
    elif form.scalar:
        message = _of_scalar(form.scalar, value)
        if message:
            yield MergeRefusal("", message)
    elif form.list is not None:
        yield from _of_list(form.list, value, duplicates)


def _of_scalar(scalar: str, value: Any) -> str:
    kind = type(value)
    if value is None:
        return ""
    if scalar == "numeric":
        wrong = kind is not int and kind is not float
        return f"expected numeric (int or float), got {type_name(value)}" if wrong else ""
    if scalar == "string":
        if kind is str:
            return ""
        return f"expected string, got &value.valueUnstructured{{Value:{as_source(value)}}}"
    if scalar == "boolean":
        return "" if kind is bool else f"expected boolean, got {_shown(value)}"
    wrong = kind not in (str, bool, int, float)
    return f"expected any scalar, got {_shown(value)}" if wrong else ""


def _shown(value: Any) -> str:
    return f"&{{{plain(value)}}}"


def _of_map(atom: MapAtom, value: Any, duplicates: bool) -> Iterator[MergeRefusal]:
    if value is None:
        return
    if type(value) is not dict:
        yield MergeRefusal("", f"expected map, got {_shown(value)}")
        return
    for key, member in value.items():
        ref = atom.fields.get(key) or atom.element
        if ref is None:
            # Upstream stops here, too; in which order it comes to the others is left to chance.
            yield MergeRefusal(f".{key}", "field not declared in schema")
            return
        for refusal in refusals(ref(), member, duplicates=duplicates):
            yield refusal.below(f".{key}")


def _of_list(atom: ListAtom, value: Any, duplicates: bool) -> Iterator[MergeRefusal]:
    if value is None:
        return
    if not is_list(value):
        yield MergeRefusal("", f"expected list, got {_shown(value)}")
        return
    observed = set()
    for n, member in enumerate(members(value)):
        step = f"[{n}]"
        if atom.associative:
            try:
                identity, step = identity_of(atom, member)
            except NoIdentityError as error:
                yield MergeRefusal("", f"element {n}: {error}")
                return
            if identity in observed and not duplicates:
                yield MergeRefusal("", f"duplicate entries for key {step}")
            observed.add(identity)
        for refusal in refusals(atom.element(), member, duplicates=duplicates):
            yield refusal.below(step)


class NoIdentityError(Exception):
    """An element of an associative list cannot be told from others."""


Identity = tuple[Any, ...]


def identity_of(atom: ListAtom, member: Any) -> tuple[Identity, str]:
    """What tells an element of an associative list from others, and as a step of a path.

    Raises NoIdentityError.
    """
    if not atom.keys:
        return _of_set_element(member)
    if member is None:
        raise NoIdentityError("associative list with keys may not have a null element")
    if type(member) is not dict:
        raise NoIdentityError("associative list with keys may not have non-map elements")
    keys = {
        key: member[key] if key in member else atom.defaults[key]
        for key in sorted(atom.keys)
        if key in member or key in atom.defaults
    }
    if not keys:
        names = " ".join(map(quote, atom.keys))
        raise NoIdentityError(
            f"associative list with keys has an element that omits all key fields [{names}] (and "
            "doesn't have default values for any key fields)"
        )
    step = ",".join(f"{key}={key_text(value)}" for key, value in keys.items())
    return tuple((key, *_comparable(value)) for key, value in keys.items()), f"[{step}]"


def _of_set_element(member: Any) -> tuple[Identity, str]:
    if type(member) is dict:
        text = "associative list without keys has an element that's a map type"
        raise NoIdentityError(text)
    if is_list(member):
        raise NoIdentityError("not supported: associative list with lists as elements")
    if member is None:
        text = "associative list without keys has an element that's an explicit null"
        raise NoIdentityError(text)
    return _comparable(member), f"[={key_text(member)}]"


def _comparable(value: Any) -> Identity:
    """Equal for equal values, and true is not 1."""
    if type(value) in (int, float):
        return "number", value
    if type(value) in (str, bool):
        return type(value).__name__, value
    return "other", plain(value) if isinstance(value, Leaf) else as_source(value)


def atomics(atom: Atom, value: Any, path: str = "") -> Iterator[str]:
    """The paths in a patch of what merges as one value. Other keys of maps are not looked at.

    Where a kind's schema is not known, those are all lists.
    """
    if atom is DEDUCED:
        yield from _lists(value, path)
        return
    if atom.map is not None and type(value) is dict:
        if atom.map.atomic:
            yield path
        for key, member in value.items():
            if key in atom.map.fields:
                yield from atomics(atom.map.fields[key](), member, f"{path}.{key}")
    if atom.list is not None and is_list(value):
        if not atom.list.associative:
            yield path
        for n, member in enumerate(members(value)):
            yield from atomics(atom.list.element(), member, f"{path}[{n}]")


def _lists(value: Any, path: str) -> Iterator[str]:
    if is_list(value):
        yield path
    elif type(value) is dict:
        for key, member in value.items():
            yield from _lists(member, f"{path}.{key}")
