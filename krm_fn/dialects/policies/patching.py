"""What a mutation does to an object: merge an apply configuration, or apply a JSON patch.

Both end as the API server ends them: the result is decoded into the kind's type, with the errors
that this has, and gets the defaults of its version again. It knows objects and patches, and no
policy.
Source: apiserver v0.37, pkg/admission/plugin/policy/mutating/patch and dispatcher.go (dispatchOne).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from krm_fn import work
from krm_fn.dialects.policies.denial import internal_error, unavailable
from krm_fn.errors import DecodeError, EvaluationError
from krm_fn.kube.cel.patches import NIL_LIST
from krm_fn.kube.gotypes.convert import ConversionError, converted
from krm_fn.kube.gotypes.strict import decode_error
from krm_fn.kube.merge import DEDUCED, Atom, MergeError, apply_configuration, of_custom, of_struct
from krm_fn.kube.schema import KindSchema, Schemas
from krm_fn.kube.served.serve import FindCrd, Form
from krm_fn.kube.writeback import write_back
from krm_fn.lang.go.json.encode import marshal
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.patch.apiserver import apply_server
from krm_fn.values import Json, check_size, get

SCHEME: Final = "pkg/api/legacyscheme/scheme.go:30"
"""What the API server invocations its table of types; an error shows it."""

NIL: Final[list[Any]] = []
"""Go's nil list in an object of a custom kind: an empty list to CEL, null in JSON.

Told from other empty lists by identity.
"""


class Changed(NamedTuple):
    """An object that a mutation changed: as it is served, and as the mutation left it.

    The latter has no defaults but those that were there before.
    """

    object: Json
    raw: Json


class Serves(Protocol):
    """Makes the form in which the API server shows objects, as `kube.served.Served` does."""

    def form(self, value: Json, namespace: str = "") -> Form: ...


class Objects:
    """Changes objects as the API server would.

    `deduce`: a kind of which nobody knows a schema merges by what its values are. `guard`: what
    merges as one value may not be set.
    """

    def __init__(
        self, schemas: Schemas, find_crd: FindCrd, served: Serves, *, deduce: bool, guard: bool
    ) -> None:
        self._schemas = schemas
        self._find_crd = find_crd
        self._served = served
        self._deduce = deduce
        self._guard = guard
        self._atoms: dict[tuple[str, str], Atom | None] = {}

    def check_known(self, value: Json) -> None:
        """Raise MutationRefusedError where nobody knows the schema of an object's kind."""
        if self._atom(value) is None:
            raise unavailable(
                f"Resource kind {gvk_text(value)} not found. There can be a delay between when "
                "CustomResourceDefinitions are created and when they are available."
            )

    def merge(self, live: Json, patch: Json) -> Changed:
        """The object with an apply configuration merged in. Raises EvaluationError."""
        atom = self._atom(live)
        assert atom is not None
        schema = self._schema(live)
        if schema is not None:
            patch = as_json(patch)
        stamped = {**patch, "apiVersion": live["apiVersion"], "kind": live["kind"]}
        try:
            merged = apply_configuration(
                atom, live, stamped, guard=self._guard, typed=schema is not None
            )
        except MergeError as error:
            raise EvaluationError(f"error applying patch: {error.message}") from None
        if _has_nil(patch):
            merged = _replaced(merged, NIL if schema is None else None)
        if schema is None:
            return self._settled(merged)
        try:
            return self._settled(merged)
        except DecodeError:
            return self._settled(_converted(merged, schema))

    def patch(self, live: Json, operations: Iterable[Mapping[str, Any]]) -> Changed:
        """The object after a JSON patch; the object itself where a `test` of it fails.

        Raises EvaluationError, and MutationRefusedError for a result that does not fit the type of
        the kind.
        """
        schema = self._schema(live)
        document = live if schema is not None else as_json(live)
        try:
            patched = apply_server(document, operations)
        except EvaluationError as error:
            raise EvaluationError(f"JSON Patch: {error.message}") from None
        if patched is document:
            return Changed(live, live)
        if patched is None and schema is not None:
            patched = {}
        _check_kind(patched)
        if schema is None:
            if not patched or not patched.get("kind"):
                raise internal_error(f"Object 'Kind' is missing in '{marshal(patched)}'")
            return self._settled(patched)
        patched = self._decoded(live, patched)
        return self._settled(patched)

    def _decoded(self, live: Json, patched: Json) -> Json:
        """What a patch made of an object of a built-in kind, strictly decoded."""
        names = {name: patched.get(name) or live[name] for name in ("apiVersion", "kind")}
        patched = {**patched, **names}
        schema = self._schema(patched)
        if schema is None:
            kind, version = names["kind"], names["apiVersion"]
            raise EvaluationError(
                f"no kind {quote(kind)} is registered for version {quote(version)} in scheme "
                f"{quote(SCHEME)}"
            )
        wrong = decode_error(patched, schema.struct)
        if wrong:
            raise internal_error(wrong)
        before = self._schema(live)
        assert before is not None
        if schema is not before:
            kinds = [one.struct.name.rpartition("/")[2] for one in (schema, before)]
            raise internal_error(
                f"failed to convert object: converting ({kinds[0]}) to ({kinds[1]}): unknown "
                "conversion"
            )
        return patched

    def _settled(self, value: Json) -> Changed:
        """The round trip, and what the API server fills in. Raises LimitError."""
        check_size(value)
        return Changed(self._served.form(value).object, value)

    def carried(self, lean: Json, before: Json, raw: Json) -> Json:
        """What has to be said for the API server to show `raw`.

        `lean` shows as `before`, which a mutation made `raw` of.
        """
        if lean is before or raw is before:
            return raw if lean is before else lean
        return write_back(lean, before, raw, lambda value: self._served.form(value).object).written

    def _schema(self, value: Json) -> KindSchema | None:
        return self._schemas.kind(value["apiVersion"], value["kind"])

    def _atom(self, value: Json) -> Atom | None:
        key = value["apiVersion"], value["kind"]
        if key not in self._atoms:
            self._atoms[key] = self._find_atom(value, *key)
        return self._atoms[key]

    def _find_atom(self, value: Json, api_version: str, kind: str) -> Atom | None:
        schema = self._schema(value)
        if schema is not None:
            return of_struct(schema.struct)
        group, _, version = api_version.rpartition("/")
        crd = self._find_crd(group, kind) if group else None
        versions = get(crd, ("spec", "versions"), []) if crd is not None else []
        for one in versions if type(versions) is list else ():
            if get(one, ("name",)) == version:
                custom = get(one, ("schema", "openAPIV3Schema"), {})
                return of_custom(custom, self._schemas.struct("meta/v1.ObjectMeta"))
        return DEDUCED if self._deduce else None


def gvk_text(value: Json) -> str:
    """A kind as Go prints it: `apps/v1, Kind=Deployment`."""
    group, _, version = value["apiVersion"].rpartition("/")
    return f"{group}/{version}, Kind={value['kind']}"


def _converted(merged: Json, schema: KindSchema) -> Json:
    try:
        return converted(merged, schema.struct)
    except ConversionError as error:
        text = f"unable to convert unstructured object to {gvk_text(merged)}: {error.message}"
        raise EvaluationError(text) from None


_ANONYMOUS: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


def _check_kind(patched: Any) -> None:
    """Raise MutationRefusedError for what has no apiVersion and kind that could be read."""
    text = "couldn't get version/kind; json parse error: json: cannot unmarshal"
    if patched is None:
        return
    if type(patched) is not dict:
        raise internal_error(f"{text} array into Go value of type {_ANONYMOUS}")
    for name in ("apiVersion", "kind"):
        value = patched.get(name)
        if value is not None and type(value) is not str:
            form = {bool: "bool", list: "array", dict: "object"}.get(type(value), "number")
            raise internal_error(f"{text} {form} into Go struct field .{name} of type string")
    if (patched.get("apiVersion") or "").count("/") > 1:
        raise internal_error(f"unexpected GroupVersion string: {patched['apiVersion']}")


def _has_nil(value: Any) -> bool:
    """Whether there is a `NIL_LIST` in a patch."""
    if type(value) is dict:
        return any(_has_nil(member) for member in value.values())
    if type(value) is list:
        return any(_has_nil(member) for member in value)
    return value is NIL_LIST


def _replaced(value: Any, nil: Any) -> Any:
    """A merged value with something else for `NIL_LIST`; itself where it has none."""
    if value is NIL_LIST:
        return nil
    if type(value) is dict:
        changed = {}
        for key, member in value.items():
            after = _replaced(member, nil)
            if after is not member:
                changed[key] = after
        return {**value, **changed} if changed else value
    if type(value) is list and value:
        members = [_replaced(member, nil) for member in value]
        same = all(a is b for a, b in zip(members, value, strict=True))
        return value if same else members
    return value


_JSON_PART: Final = 5
"""Steps of a value that is written as JSON and read again."""


def as_json(value: Any) -> Any:
    """An object of a custom kind as its JSON reads back: whole floats are integers, `NIL` null."""
    if value is NIL:
        return None
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if type(value) is dict:
        work.spend(_JSON_PART * len(value))
        members = {key: as_json(member) for key, member in value.items()}
        same = all(members[key] is value[key] for key in value)
        return value if same else members
    if type(value) is list:
        work.spend(_JSON_PART * len(value))
        elements = [as_json(element) for element in value]
        same = all(a is b for a, b in zip(elements, value, strict=True))
        return value if same else elements
    return value
