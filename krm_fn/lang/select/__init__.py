"""KubeMod's select language: JSONPath, an expression language around it, and fan-outs.

`compile_select` reads an expression once; the `Select` is then evaluated on any number of
documents. `compile_fanout` does the same for the select of a patch operation, whose matches each
carry the keys that lead to them. The language is its own: an undefined member is not null, texts
that read as numbers are compared as numbers, and what compiles is decided by Go's scanner. All of
that is kept, since a rule must decide here as it decides in the cluster.

The package knows values and texts; it knows no Kubernetes object and no rule.
Source: ModRule specification, sections 1 and 3.2.
"""

from krm_fn.lang.go.fmt import format_value as format_text
from krm_fn.lang.select.fanout import FanOut, Selected, compile_fanout, expand_path
from krm_fn.lang.select.select import Select, compile_select
from krm_fn.lang.select.values import UNDEFINED

__all__ = [
    "UNDEFINED",
    "FanOut",
    "Select",
    "Selected",
    "compile_fanout",
    "compile_select",
    "expand_path",
    "format_text",
]
