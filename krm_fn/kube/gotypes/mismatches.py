"""What Go says of a value that the typed round trip could not hold.

Source: Go's encoding/json; apimachinery's resource.Quantity.
"""

from __future__ import annotations

from krm_fn.errors import DecodeError
from krm_fn.kube.gotypes.fold import folded
from krm_fn.kube.gotypes.leaves import BITS, LeafError, check_quantity, not_whole
from krm_fn.kube.gotypes.names import go_name, owner_name
from krm_fn.kube.schema import Field, Struct, Type, Value
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.lang.go.json.unmarshal import kind_of, type_error


def _field(struct: Struct, name: str) -> Field:
    """A field by the name that it has in a manifest, in any case."""
    field = struct.fields.get(name)
    if field is None:
        wanted = folded(name)
        field = next(one for one in struct.fields.values() if folded(one.name) == wanted)
    return field


def mismatch_error(mismatch: MismatchError, struct: Struct) -> DecodeError:
    """Go's error, with the path of the manifest."""
    path = tuple(reversed(mismatch.steps))
    owner, kind, go_type = "", Type(Value.STRUCT, struct=lambda: struct), ""
    fields: list[str] = []
    for step in path:
        if kind.value is Value.STRUCT and type(step) is str:
            field = _field(kind.struct, step)
            owner = owner_name(kind.struct)
            fields += (*field.embedded, field.name)
            kind, go_type = field.type, field.go_name
        elif kind.element is not None:
            kind, go_type = kind.element, ""
    value = mismatch.value
    if kind.value is Value.QUANTITY:
        try:
            check_quantity(value)
        except LeafError as error:
            return DecodeError(error.message, path)
    form = not_whole(value, BITS[kind.value]) if kind.value in BITS else kind_of(value)
    return DecodeError(
        type_error(form or kind_of(value), go_type or go_name(kind), owner, fields), path
    )
