"""The objects that the items replace, for UPDATE."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from krm_fn.admission import Cluster, Operation
from krm_fn.admission.cluster import Identity
from krm_fn.config.found import read_found
from krm_fn.config.options import Options
from krm_fn.errors import ConfigError, InputError
from krm_fn.system.paths import Base, check_inside, expand_paths, manifests
from krm_fn.system.reading import read_file
from krm_fn.values import Json
from krm_fn.wire import read_stream
from krm_fn.wire.stream import head_of


def old_objects(options: Options) -> dict[Identity, Json]:
    """The objects that the items replace, for UPDATE."""
    context = options.context
    if context.operation is not Operation.UPDATE:
        return {}
    described = Cluster(default_namespace=context.default_namespace)
    found: dict[Identity, Json] = {}
    for value in _files(context.old_objects, options.base):
        found[described.subject_of(head_of(value)).identity] = value
    return found


def _files(paths: Sequence[str], base: Base) -> Iterator[Json]:
    where = "context.oldObjects.paths"
    for path in expand_paths(paths, where, base):
        for name in manifests(path.name):
            check_inside(name, path.root, where)
            try:
                named = not os.path.isdir(path.name)
                stream = read_stream(read_file(name), name) if named else read_found(name)
            except InputError as error:
                raise ConfigError(f"{where}: {error}") from None
            yield from (item.value for item in stream.items) if stream is not None else ()
