"""Files that somebody found in a directory, rather than named: not each of them is a manifest."""

from __future__ import annotations

from krm_fn.errors import InputError
from krm_fn.system.reading import read_bytes, read_file
from krm_fn.wire import Stream, read_stream
from krm_fn.wire.look import may_be_manifest


def read_found(file: str) -> Stream | None:
    """The objects of a file; its other documents are passed over (`Stream.others`).

    None for a text that cannot be read and that nobody takes for a manifest. Raises InputError.
    """
    try:
        return read_stream(read_file(file), file, tolerant=True)
    except InputError:
        if may_be(file):
            raise
        return None


def may_be(file: str) -> bool:
    """Whether a file that cannot be read here may be a manifest to somebody else."""
    try:
        return may_be_manifest(read_bytes(file))
    except InputError:
        return True
