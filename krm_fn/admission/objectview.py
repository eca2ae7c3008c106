"""How plugins see one object: which views lie between it and them, and what that already tells.

Decoding an object as the API server does finds what is wrong with it, whether a rule matches it or
not. This module puts the views together; what each of them does is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.admission.response import Cause, Finding
from krm_fn.admission.views import (
    DefaultNamespace,
    HiddenAnnotations,
    ServedForm,
    Unwritable,
    View,
    Views,
)
from krm_fn.errors import DecodeError
from krm_fn.values import Json

if TYPE_CHECKING:
    from krm_fn.kube.served import Served


class ObjectView:
    """The views of one object, and the findings of decoding it."""

    def __init__(
        self,
        views: Views,
        served: Served | None = None,
        findings: tuple[Finding, ...] = (),
        *,
        is_decoded: bool = True,
    ) -> None:
        self._views = views
        self._served = served
        self.findings = findings
        self.is_decoded = is_decoded
        """Whether the API server could read the object, as far as its kind is known."""

    @property
    def denied(self) -> bool:
        """Whether what is wrong with the object is an error."""
        return any(finding.denies for finding in self.findings)

    def served(self, value: Json) -> Json:
        """What a mutating plugin sees of a raw object."""
        return self._views.get(value)

    def decoded(self, shown: Json) -> Json:
        """A shown object that was changed, as the API server decodes it. Raises DecodeError."""
        return self._served.form(shown).object if self._served is not None else shown

    def stored(self, served: Json) -> Json:
        """What a validating plugin sees where a mutating one would see `served`."""
        return self._served.validating(served) if self._served is not None else served

    def put(self, value: Json, admitted: Json) -> tuple[Json, tuple[Unwritable, ...]]:
        """The raw object with what plugins changed. Raises DecodeError for what no kind holds."""
        return self._views.put(value, admitted)


def _unknown(value: Json) -> Finding:
    named = f"{value.get('kind')} ({value.get('apiVersion')})"
    message = (
        f"nothing here says what a {named} is, so that rules see it as it is written; add its "
        "CustomResourceDefinition to the items or to context.objects"
    )
    return Finding(Cause.NOTE, False, message)


def view_of(
    value: Json, namespace: str, served: Served | None, *, strict: bool = False
) -> ObjectView:
    """How plugins see a raw object that is admitted in `namespace` ("" where it lives in none).

    An object that cannot be decoded is seen as it is written. What is wrong with it are warnings,
    or errors if `strict`.
    """
    views: list[View] = [HiddenAnnotations(), DefaultNamespace(namespace)]
    if served is None:
        return ObjectView(Views(views), is_decoded=False)
    cause = Cause.FAILED if strict else Cause.WARNING
    try:
        written = Views(views).get(value)
        form = served.form(written)
    except DecodeError as error:
        message = f"{error.message}; the API server refuses it, and rules see it as it is written"
        finding = Finding(cause, strict, message, field=error.path)
        return ObjectView(Views(views), None, (finding,), is_decoded=False)
    if not form.known:
        return ObjectView(Views(views), None, (_unknown(value),))
    findings = tuple(
        Finding(cause, strict, finding.message, field=finding.path) for finding in form.findings
    )
    last = written, form.object
    views.append(ServedForm(lambda shown: served.form(shown).object, last))
    return ObjectView(Views(views), served, findings)
