"""CEL as Kubernetes' API server runs it: the language, and what admission policies add to it.

    from krm_fn import cel

    env = cel.Environment({"x": cel.types.DYN}, [cel.STANDARD])
    env.compile("x.a > 1", [cel.types.BOOL]).evaluate({"x": {"a": 2}})    # True

This is the public face of `krm_fn.lang.cel`, which knows no Kubernetes, and of `krm_fn.kube.cel`.
Source: docs/cel.md.
"""

from krm_fn.errors import CompileError, EvaluationError, LimitError
from krm_fn.kube.cel import (
    Pool,
    PoolError,
    Variables,
    environment,
    evaluate,
    json_patch,
    object_patch,
    version_of_new,
)
from krm_fn.lang.cel import (
    LISTS,
    NONE,
    OPTIONALS,
    SETS,
    STANDARD,
    STRINGS,
    STRINGS_0,
    TWO_VARIABLES,
    Budget,
    Duration,
    Environment,
    Library,
    ListView,
    MapView,
    Optional,
    Program,
    Timestamp,
    TypeProvider,
    UInt,
    Value,
    is_identifier,
    types,
    unparse,
    view,
)

__all__ = [
    "LISTS",
    "NONE",
    "OPTIONALS",
    "SETS",
    "STANDARD",
    "STRINGS",
    "STRINGS_0",
    "TWO_VARIABLES",
    "Budget",
    "CompileError",
    "Duration",
    "Environment",
    "EvaluationError",
    "Library",
    "LimitError",
    "ListView",
    "MapView",
    "Optional",
    "Pool",
    "PoolError",
    "Program",
    "Timestamp",
    "TypeProvider",
    "UInt",
    "Value",
    "Variables",
    "environment",
    "evaluate",
    "is_identifier",
    "json_patch",
    "object_patch",
    "types",
    "unparse",
    "version_of_new",
    "view",
]
