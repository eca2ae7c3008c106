"""The forms in which `apply` prints what was admitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krm_fn.printable import json_text
from krm_fn.report.model import Report
from krm_fn.report.results import results
from krm_fn.values import Json
from krm_fn.wire import Item, Stream, read_stream, wellknown

FORMATS = ("yaml", "json", "resourcelist", "patch", "name")

_PATH = wellknown.PATH[0]
_INDEX = wellknown.INDEX[0]


def render(form: str, streams: Sequence[Stream], report: Report) -> list[bytes]:
    """Standard output, in parts."""
    if form == "yaml":
        return _documents(streams, report)
    if form == "resourcelist":
        return [_resource_list(streams, report)]
    if form == "patch":
        return [_json(_patches(streams))]
    if form == "name":
        return [f"{_name(item)}\n".encode() for item in _left(streams)]
    objects = [item.own_value for item in _left(streams)]
    if len(objects) == 1:
        return [_json(objects[0])]
    return [_json({"apiVersion": "v1", "kind": "List", "items": objects})]


def _left(streams: Sequence[Stream]) -> list[Item]:
    return [item for stream in streams for item in stream.items if not item.dropped]


def _json(value: Any) -> bytes:
    return json_text(value).encode()


def _documents(streams: Sequence[Stream], report: Report) -> list[bytes]:
    """The streams one after the other, each as it is, with `---` where two would run together."""
    parts: list[bytes] = []
    for stream in streams:
        text = stream.write(results(report).to_json() if stream.is_resource_list else ())
        if not text.strip():
            continue
        if parts:
            if not parts[-1].endswith(b"\n"):
                parts.append(b"\n")
            if not text.startswith(b"---"):
                parts.append(b"---\n")
            text = text.removeprefix(b"\xef\xbb\xbf")
        parts.append(text)
    return parts


def _resource_list(streams: Sequence[Stream], report: Report) -> bytes:
    """One ResourceList with everything, each object with the path that it came from."""
    head = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
    made = read_stream(head)
    for stream in streams:
        for n, item in enumerate(i for i in stream.items if not i.dropped):
            made.add(_with_path(item.own_value, stream.name, n))
    return made.write(results(report).to_json())


def _with_path(value: Json, name: str, index: int) -> Json:
    if not name or name.startswith(("/", "..", "kustomize ")):
        return value
    metadata = value.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if _PATH in annotations:
        return value
    annotations = {**annotations, _PATH: name, _INDEX: str(index)}
    return {**value, "metadata": {**metadata, "annotations": annotations}}


def _patches(streams: Sequence[Stream]) -> list[Json]:
    """For each changed object its RFC 6902 patch from what came in."""
    import jsonpatch

    patches: list[Json] = []
    for item in _left(streams):
        if item.replaced is None:
            continue
        head = item.head
        reference: Json = {"apiVersion": head.api_version, "kind": head.kind, "name": head.name}
        if head.namespace:
            reference["namespace"] = head.namespace
        entry: Json = {"resourceRef": reference}
        if item.origin.file:
            entry["file"] = item.origin.file
        entry["patch"] = jsonpatch.make_patch(item.original, item.replaced).patch
        patches.append(entry)
    return patches


def _name(item: Item) -> str:
    """`deployment.apps/web`, as kubectl prints names."""
    head = item.head
    kind = head.kind.lower()
    return f"{kind}.{head.group}/{head.name}" if head.group else f"{kind}/{head.name}"
