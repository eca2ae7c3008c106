"""Puts metadata into a policy, where `kwctl annotate` is not at hand: `annotate.py WASM JSON`."""

import json
import sys


def leb128(number: int) -> bytes:
    """An unsigned number as WebAssembly writes it."""
    out = bytearray()
    while True:
        number, byte = number >> 7, number & 0x7F
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)


def main(module: str, metadata: str) -> None:
    """Append a custom section `io.kubewarden.metadata`."""
    with open(metadata, encoding="utf-8") as file:
        text = json.dumps(json.load(file), separators=(",", ":")).encode()
    name = b"io.kubewarden.metadata"
    body = leb128(len(name)) + name + text
    with open(module, "ab") as file:
        file.write(b"\0" + leb128(len(body)) + body)


main(*sys.argv[1:])
