"""One object on its way through the chain: what the manifest says, and what plugins see of it.

Plugins see the served form of the manifest. Built-in plugins may have set more, which the cluster
will set again and which is therefore not written; it lies over the served form. This module keeps
the two together and knows no plugin.
"""

from __future__ import annotations

from krm_fn.admission.objectview import ObjectView
from krm_fn.admission.threeway import merged
from krm_fn.admission.views import Unwritable
from krm_fn.values import MISSING, Json, diff, equal, get, with_at


class SeenObject:
    """A raw object (`value`) and the one that plugins see (`shown`)."""

    def __init__(self, view: ObjectView, value: Json) -> None:
        self.view = view
        self.value = value
        self._filled: Json | None = None

    @property
    def shown(self) -> Json:
        """What the next plugin sees."""
        return self.view.served(self.value) if self._filled is None else self._filled

    def fill(self, shown: Json) -> None:
        """Show something that is not written: what a built-in plugin has made of `shown`."""
        self._filled = shown

    def write(self, admitted: Json) -> tuple[Unwritable, ...]:
        """Write what a plugin has made of `shown`; what could not be written is the answer.

        What was filled in before stays out of the manifest, and is shown again where the plugin has
        not changed it. Raises KrmFnError for an object that the API server would not take.
        """
        if self._filled is None:
            self.value, unwritable = self.view.put(self.value, admitted)
            return unwritable
        wanted = merged(self._filled, self.view.served(self.value), admitted)
        value, unwritable = self.view.put(self.value, wanted)
        exact = _with_derived(wanted, admitted, self.view.served(value))
        if exact is not wanted:
            value, unwritable = self.view.put(self.value, exact)
        filled = self.view.decoded(merged(exact, admitted, self.view.served(value)))
        self.value, self._filled = value, filled
        return unwritable


def _with_derived(wanted: Json, admitted: Json, served: Json) -> Json:
    """What is to be written, with what the API server would derive of it and a plugin has set.

    A limit that a rule raises becomes the request where there is none; the plugin had set another
    one, which now must be written.
    """
    for edit in diff(wanted, served):
        kept = get(admitted, edit.path, MISSING)
        if edit.new is not MISSING and kept is not MISSING and not equal(kept, edit.new):
            wanted = with_at(wanted, edit.path, kept)
    return wanted
