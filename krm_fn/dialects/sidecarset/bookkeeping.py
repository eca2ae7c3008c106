"""The annotations by which Kruise's controllers know what was injected into a Pod.

A template that carries them would tell a controller of sidecars that no webhook put there, so that
they are written on demand only; those of hot pairs are not bookkeeping, since containers read them.
Source: OpenKruise v1.9.0 pkg/webhook/pod/mutating/sidecarset.go buildSidecars; the SidecarSet
specification, A11 and A14.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from krm_fn.dialects.sidecarset.build import Built, version_annotations
from krm_fn.dialects.sidecarset.refused import InjectionRefusedError
from krm_fn.dialects.sidecarset.sets import HASH, HASH_WITHOUT_IMAGE, SidecarSet, is_native
from krm_fn.kube.served.times import TimeError, time
from krm_fn.lang.go.json.encode import marshal
from krm_fn.lang.go.json.scanner import Members, Node, NotJsonError, parse, string
from krm_fn.lang.go.json.unmarshal import kind_of_node, type_error
from krm_fn.values import Json, get

INJECTED_LIST: Final = "kruise.io/sidecarset-injected-list"
WORKING: Final = "kruise.io/sidecarset-working-hotupgrade-container"

_NIL_MAP: Final = "panic: assignment to entry in nil map [recovered]"

Records = dict[str, Json] | None
"""What is known of each set by name; None where the annotation was null, which crashes Kruise."""


def hot_annotations(built: Iterable[Built], annotations: Mapping[str, str]) -> dict[str, str]:
    """The annotations of all hot pairs. Raises InjectionRefusedError."""
    result: dict[str, str] = {}
    working: dict[str, str] | None = None
    for one in built:
        for name in one.hot:
            if working is None:
                working = _working(annotations, one.set)
            working[name] = f"{name}-1"
            result.update(version_annotations(name))
    if working is not None:
        result[WORKING] = marshal(dict(sorted(working.items())), sort=False)
    return result


def _working(annotations: Mapping[str, str], sidecar_set: SidecarSet) -> dict[str, str]:
    """Which container of each pair works; of what cannot be read, nothing is kept."""
    text = annotations.get(WORKING)
    if text is None:
        return {}
    try:
        node = parse(text)
    except NotJsonError:
        return {}
    if node == "null":
        raise InjectionRefusedError(_NIL_MAP, (sidecar_set.ref,), f"annotation {WORKING} is null")
    if type(node) is not Members:
        return {}
    return {key: string(one) if _is_string(one) else "" for key, one in node.pairs}


def listed(annotations: Mapping[str, str], names: Iterable[str]) -> str:
    """The names of all sets that match, with those that are there already."""
    known = annotations.get(INJECTED_LIST, "")
    return ",".join(sorted({*(known.split(",") if known else ()), *names}))


class Hashes:
    """The two annotations with hashes, read before anything is built, since they may not be read.

    Raises InjectionRefusedError.
    """

    def __init__(self, pod: Json, annotations: Mapping[str, str], matched: Sequence[Any]) -> None:
        rules = tuple(one.ref for one in matched)
        self._records = {
            key: _records(pod, key, annotations.get(key, ""), rules)
            for key in (HASH, HASH_WITHOUT_IMAGE)
        }
        self._rules = rules

    def written(self, built: Iterable[Built], timestamp: str) -> dict[str, str]:
        """Both annotations, with the sets that inject."""
        result: dict[str, str] = {}
        injecting = [one.set for one in built if one.injects]
        for key, records in self._records.items():
            if records is None:
                raise InjectionRefusedError(_NIL_MAP, self._rules, f"annotation {key} is null")
            for one in injecting:
                records[one.name] = _record(one, key, timestamp)
            result[key] = marshal(dict(sorted(records.items())), sort=False)
        return result


def _record(sidecar_set: SidecarSet, key: str, timestamp: str) -> Json:
    spec = sidecar_set.spec
    native = [c for c in spec.get("initContainers", ()) if is_native(c)]
    names = {container["name"] for container in (*native, *spec.get("containers", ()))}
    record: Json = {
        "updateTimestamp": timestamp,
        "hash": sidecar_set.annotations.get(key, ""),
        "sidecarSetName": sidecar_set.name,
        "sidecarList": sorted(names),
    }
    if key == HASH and sidecar_set.latest_revision:
        record["controllerRevision"] = sidecar_set.latest_revision
    return record


def _records(pod: Json, key: str, text: str, rules: tuple[Any, ...]) -> Records:
    if not text:
        return {}
    try:
        node = parse(text)
        if node == "null":
            return None
        try:
            return _current(node)
        except _MismatchError:
            return _older(node)
    except (NotJsonError, _MismatchError) as error:
        metadata = get(pod, ("metadata",)) or {}
        owner = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        reason = f"value {text}, unmarshal failed: {error}"
        message = f"pod({owner}) invalid annotations[{key}] {reason}"
        raise InjectionRefusedError(message, rules) from None


class _MismatchError(Exception):
    """JSON of another type than a field has."""


def _is_string(node: Node) -> bool:
    return type(node) is str and node.startswith('"')


def _older(node: Node) -> Records:
    """Kruise's first form: the hash alone."""
    if type(node) is not Members:
        raise _MismatchError(type_error(kind_of_node(node), "map[string]string"))
    records: dict[str, Json] = {}
    for name, value in node.pairs:
        text = _text(value)
        records[name] = {
            "updateTimestamp": None,
            "hash": text,
            "sidecarSetName": name,
            "sidecarList": None,
        }
    return records


def _text(node: Node) -> str:
    if node == "null":
        return ""
    if not _is_string(node):
        raise _MismatchError(type_error(kind_of_node(node), "string"))
    return string(node)


_FIELDS: Final = ("updateTimestamp", "hash", "sidecarSetName", "sidecarList", "controllerRevision")


def _current(node: Node) -> Records:
    if type(node) is not Members:
        raise _MismatchError(kind_of_node(node))
    return {name: _spec(value) for name, value in node.pairs}


def _spec(node: Node) -> Json:
    if type(node) is not Members and node != "null":
        raise _MismatchError(kind_of_node(node))
    given = {} if node == "null" else _by_field(node)
    record: Json = {
        "updateTimestamp": _moment(given.get("updateTimestamp", "null")),
        "hash": _text(given.get("hash", "null")),
        "sidecarSetName": _text(given.get("sidecarSetName", "null")),
        "sidecarList": _texts(given.get("sidecarList", "null")),
    }
    revision = _text(given.get("controllerRevision", "null"))
    if revision:
        record["controllerRevision"] = revision
    return record


def _by_field(node: Members) -> dict[str, Node]:
    """Go finds a field in any case."""
    folded = {name.lower(): name for name in _FIELDS}
    return {folded[key.lower()]: value for key, value in node.pairs if key.lower() in folded}


def _moment(node: Node) -> str | None:
    text = _text(node)
    if node == "null":
        return None
    try:
        return time(text)
    except TimeError:
        raise _MismatchError("no time") from None


def _texts(node: Node) -> list[str] | None:
    if node == "null":
        return None
    if type(node) is not list:
        raise _MismatchError(kind_of_node(node))
    return [_text(element) for element in node]
