"""What Kubernetes' own Go types say of each kind: fields, values, merging, plurals, scopes.

The one source of schema facts for matching, strict decoding, merging, typing of expressions and the
served form. The facts are a table a release, written by `tools/schema` from Kubernetes' libraries;
nothing of it is read before somebody asks for a kind. Knows no object and no rule.
"""

from __future__ import annotations

from krm_fn.kube.schema.model import Field, KindSchema, Struct, Type, Value
from krm_fn.kube.schema.schemas import NEWEST, OLDEST, RELEASES, Schemas, field_names

__all__ = [
    "NEWEST",
    "OLDEST",
    "RELEASES",
    "Field",
    "KindSchema",
    "Schemas",
    "Struct",
    "Type",
    "Value",
    "field_names",
]
