"""What one of kube-apiserver's admission plugins is: two methods, and how it refuses.

A plugin sees a request and what a render knows of the cluster; it changes the object (`admit`, in
the mutating phase) or refuses it and warns of it (`validate`, in the validating phase). Objects are
in their served form, so that fields have the types of the API. This module knows no plugin.
Source: k8s.io/apiserver pkg/admission (interfaces.go, errors.go); docs/spec/builtin-admission.md
section (a).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from krm_fn.admission import (
    Cause,
    Finding,
    Prefilter,
    Request,
    Response,
    RuleRef,
    Selection,
    Step,
)
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, Path, get

Kinds = frozenset[tuple[str, str]]
"""(group, kind) of the objects that a plugin looks at."""

POD: Final = ("", "Pod")
PODS: Final[Kinds] = frozenset({POD})

NO_REASON: Final = ""
"""The reason of an error that is none of the API's: the server answers it with the code 500."""


class Denied(Exception):
    """A plugin refuses the request.

    `message` is the whole text of the server's answer, `code` and `reason` are its HTTP status and
    reason; `causes` are its parts, where it has any.
    """

    def __init__(
        self,
        message: str,
        code: int = 403,
        reason: str = "Forbidden",
        causes: Iterable[Finding] = (),
        field: Path | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.causes = tuple(causes)
        self.field = field


class Forbidden(Denied):
    """The usual refusal: 403, and a text that names the object before the detail."""

    def __init__(
        self,
        request: Request,
        detail: str,
        causes: Iterable[Finding] = (),
        field: Path | None = None,
    ) -> None:
        super().__init__(forbidden_text(request, detail), causes=causes, field=field)


class InternalError(Denied):
    """An error that is not made for the API: 500, without a reason, the text as it is."""

    def __init__(self, message: str, field: Path | None = None) -> None:
        super().__init__(message, 500, NO_REASON, field=field)


def qualified_resource(request: Request) -> str:
    """The resource as messages name it: `pods`, `deployments.apps`."""
    group = request.head.group
    return f"{request.resource.plural}.{group}" if group else request.resource.plural


def forbidden_text(request: Request, detail: str) -> str:
    """What the server says of a request that it forbids."""
    name = quote(object_name(request.object) or "Unknown")
    return f"{qualified_resource(request)} {name} is forbidden: {detail}"


def object_name(value: Json) -> str:
    """The name of an object, or what its name will begin with."""
    name = get(value, ("metadata", "name")) or get(value, ("metadata", "generateName"))
    return name if type(name) is str else ""


class BuiltIn:
    """A plugin that does nothing; each of the server's is a subclass.

    `kinds` is None for a plugin that looks at every kind, `subresources` are those that it looks
    at, "" for the object itself.
    """

    name: ClassVar[str]
    kinds: ClassVar[Kinds | None] = None
    subresources: ClassVar[frozenset[str]] = frozenset({""})

    @property
    def ref(self) -> RuleRef:
        """The plugin as findings name it."""
        return RuleRef("builtin", "AdmissionPlugin", "", self.name)

    def looks_at(self, request: Request) -> bool:
        """Whether a request is about something that the plugin is for."""
        kind = request.head.group, request.head.kind
        return (self.kinds is None or kind in self.kinds) and (
            request.subresource in self.subresources
        )

    def prefilter(self, listers: Listers) -> Prefilter:
        """Which objects the plugin could have anything to do with, told from their heads."""
        selections = [
            Selection(frozenset({group}), frozenset({kind})) for group, kind in self.kinds or ()
        ]
        return Prefilter(selections if self.kinds is not None else [Selection()])

    def admit(self, request: Request, listers: Listers) -> Response:
        """Change the object, in the mutating phase. Raises Denied."""
        return Response()

    def validate(self, request: Request, listers: Listers) -> Response:
        """Look at the final object, in the validating phase. Raises Denied."""
        return Response()

    def changed(self, request: Request, value: Json, *findings: Finding) -> Response:
        """The response that makes `value` of the request's object."""
        if value is request.object:
            return Response(findings=findings)
        return Response(value, (Step((self.ref,), value),), findings)

    def warning(self, message: str, field: Path | None = None) -> Finding:
        """A warning that the server sends along with its answer."""
        return Finding(Cause.WARNING, False, message, (self.ref,), field)

    def undecided(self, message: str, field: Path | None = None) -> Finding:
        """What a render cannot know; the message says what to add."""
        return Finding(Cause.UNDECIDED, False, message, (self.ref,), field)

    def denial(self, denied: Denied) -> Finding:
        """The finding of a refusal."""
        return Finding(
            Cause.REJECTED,
            True,
            denied.message,
            (self.ref,),
            denied.field,
            denied.code,
            denied.reason,
            denied.causes,
        )
