"""What a stage knows of the cluster: the items, the context, and what came with the rules.

Nothing is parsed that nobody asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from krm_fn.admission import Cause, Cluster, Finding
from krm_fn.admission.cluster import Identity
from krm_fn.config.builtin import may_speak, section_of, speaks
from krm_fn.config.dialects import is_target
from krm_fn.config.fields import Section
from krm_fn.config.sources import Stage
from krm_fn.kube.wellknown import METADATA_NAME
from krm_fn.run.caller import Caller, ReachesCluster
from krm_fn.run.definitions import Definitions
from krm_fn.run.stored import StoredForm, expected_types, served_form
from krm_fn.run.target import is_namespace, named, overruled, without_marks
from krm_fn.values import Json, equal, get
from krm_fn.wire import Item
from krm_fn.wire.stream import head_of

if TYPE_CHECKING:
    from krm_fn.kube.served import Served


class Knowledge(NamedTuple):
    """What a stage knows of the cluster."""

    cluster: Cluster
    served: Served | None
    definitions: Definitions
    stored: StoredForm
    contradictions: Sequence[Finding]
    built_in: Section | None
    """How the API server's own plugins are configured, None where they take no part."""

    def findings(self) -> list[Finding]:
        """Where items say otherwise than the operator; complete at the end of the stage."""
        passed_over = map(_not_leaving, self.stored.passed_over)
        return [*self.contradictions, *self.definitions.findings, *passed_over]


def knowledge_of(
    items: Sequence[Item], stages: Sequence[Stage], caller: Caller = Caller.COMMAND
) -> Knowledge:
    """What the first of these stages knows; the others are those after it, more trusted ones.

    First found wins: what the operator says (the last stage's context before that of earlier
    ones), then the items that leave the program in its output. Nothing that an item says changes
    what the operator says, and no item redefines what Kubernetes itself defines.
    Source: docs/trust.md, "Context".
    """
    options = stages[0].options
    default_namespace = options.context.default_namespace
    given = [value for stage in reversed(stages) for value in _told(stage)]
    leaving = ReachesCluster(caller)
    definitions = Definitions(items, given, leaving)
    for stream in {id(item.stream): item.stream for item in items}.values():
        stream.expect = expected_types(options, definitions)
    served = served_form(options, definitions)
    described = Cluster({}, {}, definitions, default_namespace)
    form = StoredForm(served, described)
    contradictions: list[Finding] = []
    namespaces: dict[str, Json] = {}
    objects: dict[Identity, Callable[[], Json | None]] = {}
    for value in given:
        head = head_of(value)
        objects.setdefault(described.subject_of(head).identity, form.of_context(value))
        if is_namespace(head):
            namespaces.setdefault(head.name, value)
    told, fixed = frozenset(objects), frozenset(namespaces)
    items_speak = False
    for item in items:
        if not items_speak and may_speak(item.head):
            items_speak = speaks(item.head, item.value) and leaving(item)
        identity = described.subject_of(item.head).identity
        if identity not in told:
            objects[identity] = form.of_item(item, leaving)
            if is_namespace(item.head) and leaving(item):
                namespaces[item.head.name] = without_marks(item.value)
            elif is_namespace(item.head):
                form.passed_over[item] = None
        elif is_target(item.head) and leaving(item):
            contradictions += _contradiction(item, objects[identity]())
    cluster = Cluster(objects, namespaces, definitions, default_namespace, fixed, form.namespace)
    built_in = section_of(stages, items_speak)
    return Knowledge(cluster, served, definitions, form, contradictions, built_in)


def _told(stage: Stage) -> Sequence[Json]:
    context = stage.options.context
    return [*context.namespaces, *context.objects, *stage.rules.objects]


def _contradiction(item: Item, told: Json | None) -> Iterator[Finding]:
    """A warning where an item says otherwise than the operator's copy of the object."""
    if is_namespace(item.head):
        if not equal(_labels(item.value), _labels(told or {})):
            yield overruled(item, "labels differ")
        return
    value = item.value
    for key in sorted({*value, *(told or {})} - _APART):
        if not equal(value.get(key), (told or {}).get(key)):
            yield overruled(item, f"{key} differs")
            return


_APART: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def _labels(namespace: Json) -> Json:
    labels: Json = get(namespace, ("metadata", "labels")) or {}
    return {key: text for key, text in labels.items() if key != METADATA_NAME}


def _not_leaving(item: Item) -> Finding:
    message = (
        f"{named(item.head)} ({item.origin}) does not reach the cluster, so that rules do not see "
        "it; give it in context.objects if the cluster has it"
    )
    return Finding(Cause.WARNING, False, message)
