"""From bytes to a stream: which kind of text it is, and whether it is text at all.

The one place that decides between JSON and YAML. Knows no object.
"""

from __future__ import annotations

import os
from typing import Final

from krm_fn import limits
from krm_fn.errors import InputError
from krm_fn.wire.compose import YamlError
from krm_fn.wire.scan import scan
from krm_fn.wire.stream import Stream
from krm_fn.wire.yamlstream import YamlStream

SWITCH: Final = "KRM_FN_WIRE"
"""Set to `reference`, nothing is read by its lines: for those who doubt that it is the same."""


def read_stream(data: bytes, name: str = "", *, tolerant: bool = False) -> Stream:
    """Read a ResourceList, YAML documents or JSON.

    `name` is the file's, for messages; "" for standard input. `tolerant` passes over documents that
    are no objects (`Stream.others`). Raises InputError (YamlError with a line) for what cannot be
    read. Objects are not parsed further than to their heads.
    """
    prefix, text = _decode(data, name)
    try:
        with limits.deep_stack():
            stream = _read_json(text, name, tolerant) if text.lstrip()[:1] in ("{", "[") else None
            if stream is None:
                quick = os.environ.get(SWITCH) != "reference"
                stream = YamlStream(text, name, quick=quick, tolerant=tolerant)
    except InputError as error:
        error.at(name)
        raise
    stream.prefix = prefix
    return stream


def _read_json(text: str, name: str, tolerant: bool) -> Stream | None:
    """The stream of a JSON text, or None for what starts like one and is YAML in flow style."""
    from krm_fn.wire.jsonstream import JsonStream
    from krm_fn.wire.jsontext import JsonSyntaxError

    try:
        return JsonStream(text, name, tolerant=tolerant)
    except JsonSyntaxError as error:
        try:
            scan(text)
        except YamlError:
            raise error from None
        return None


_BOM: Final = b"\xef\xbb\xbf"


def _decode(data: bytes, name: str) -> tuple[bytes, str]:
    if len(data) > limits.INPUT_BYTES:
        raise InputError(f"larger than {limits.INPUT_BYTES // 2**20} MiB", name or "input")
    prefix = _BOM if data.startswith(_BOM) else b""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("UTF-16, which is not supported here; save it as UTF-8", name or "input")
    try:
        return prefix, data[len(prefix) :].decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise YamlError(
            f"not valid UTF-8: byte 0x{data[len(prefix) + error.start]:02x}", line, name
        ) from None
