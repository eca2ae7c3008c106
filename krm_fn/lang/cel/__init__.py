"""Google's Common Expression Language, as Kubernetes' API server runs it.

    env = Environment({"x": types.DYN}, STANDARD)
    program = env.compile("x.a > 1 && x.b.all(c, c.startsWith('d'))", [types.BOOL])
    program.evaluate({"x": {"a": 2, "b": ["do"]}})    # True

An expression is read (`lexer`, `parser` with `macros`), checked against declared types (`checker`),
and compiled to closures (`compile`); `values` are Python's own where those will do, so that JSON is
read in place. What differs from release to release are the libraries that an environment is given.
The package knows no Kubernetes.
"""

from typing import Final

from krm_fn.lang.cel import lists, macros, optionals, stdlib, strings, types
from krm_fn.lang.cel.budget import Budget
from krm_fn.lang.cel.environment import Environment, Library, Program
from krm_fn.lang.cel.parser import is_identifier
from krm_fn.lang.cel.provider import TypeProvider
from krm_fn.lang.cel.unparse import unparse
from krm_fn.lang.cel.values import (
    NONE,
    Duration,
    ListView,
    MapView,
    Optional,
    Timestamp,
    UInt,
    Value,
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
    "Duration",
    "Environment",
    "Library",
    "ListView",
    "MapView",
    "Optional",
    "Program",
    "Timestamp",
    "TypeProvider",
    "UInt",
    "Value",
    "is_identifier",
    "types",
    "unparse",
    "view",
]

STANDARD: Final = Library(stdlib.functions(), macros.STANDARD)
STRINGS_0: Final = Library(strings.functions(0))
STRINGS: Final = Library(strings.functions(2))
SETS: Final = Library(lists.set_functions())
LISTS: Final = Library(lists.functions(), macros.LISTS)
OPTIONALS: Final = Library(optionals.functions(), macros.OPTIONALS, [types.optional_of(types.DYN)])
TWO_VARIABLES: Final = Library(lists.comprehension_functions(), macros.TWO_VARIABLES)
