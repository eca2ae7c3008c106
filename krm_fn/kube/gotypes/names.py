"""The names of Go types in errors: `[]v1.Container`."""

from __future__ import annotations

from typing import Final

from krm_fn.kube.schema import Struct, Type, Value

GO_NAMES: Final = {
    Value.STRING: "string",
    Value.BOOLEAN: "bool",
    Value.INT32: "int32",
    Value.INT64: "int64",
    Value.NUMBER: "float64",
    Value.BYTES: "[]uint8",
    Value.QUANTITY: "resource.Quantity",
    Value.INT_OR_STRING: "intstr.IntOrString",
    Value.TIME: "v1.Time",
    Value.MICRO_TIME: "v1.MicroTime",
}
"""The names of types of single values."""


def struct_name(struct: Struct) -> str:
    """`v1.Container`. What stands behind a space tells types apart that are one to Go."""
    return struct.name.rpartition("/")[2].partition(" ")[0]


def owner_name(struct: Struct) -> str:
    """`Container`, as the owner of a field is called."""
    return struct_name(struct).rpartition(".")[2]


def go_name(kind: Type) -> str:
    """The name of a Go type, as Go prints it: `[]v1.Container`."""
    if kind.value is Value.STRUCT:
        return struct_name(kind.struct)
    if kind.rounded:
        return "v1.ResourceList"
    if kind.value is Value.LIST or kind.value is Value.MAP:
        assert kind.element is not None
        pointer = "*" if kind.element.pointer else ""
        prefix = "[]" if kind.value is Value.LIST else "map[string]"
        return f"{prefix}{pointer}{go_name(kind.element)}"
    return GO_NAMES.get(kind.value, "interface {}")
