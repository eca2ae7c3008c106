"""What a run needs before it meets an object: rules compiled, and what is known of the cluster.

The items, the context and what came with the rules are put together here, without parsing what
nobody asks for; dialects are loaded here, those of which there are rules.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from krm_fn.admission import Cluster, Dialect, Finding, Operation, Plugin
from krm_fn.admission.cluster import Identity, crds_by_kind
from krm_fn.admission.views import HiddenAnnotations
from krm_fn.config.admission import Admission, ObjectForm
from krm_fn.config.dialects import DIALECTS, DialectEntry
from krm_fn.config.sources import RuleSet, check_real, expand_paths, manifests
from krm_fn.errors import ConfigError
from krm_fn.kube.resources import built_in
from krm_fn.values import Json, get
from krm_fn.wire import Head, Item, read_stream
from krm_fn.wire.stream import head_of

if TYPE_CHECKING:
    from krm_fn.kube.served import Served


def compile_rules(
    rules: RuleSet,
    admission: Admission,
    cluster: Cluster,
    served: Served | None,
    *,
    lint: bool = False,
) -> tuple[list[Plugin], list[Finding]]:
    """The plugins of all rules, and what is to say of them; `served` from `served_form`.

    Raises KrmFnError.
    """
    plugins: list[Plugin] = []
    findings: list[Finding] = []
    for entry in DIALECTS:
        mine = [rule for rule in rules.rules if rule.ref.dialect == entry.name]
        section = admission.sections.get(entry.section)
        if not mine and section is None:
            continue
        options = {
            entry.section: section,
            "onRuleError": admission.on_rule_error,
            "lint": lint,
            "readable": [rule for rule in rules.readable if rule.ref.dialect == entry.name],
            "served": served,
            "kubernetesVersion": admission.context.kubernetes_version,
        }
        compiled = _load(entry).compile(mine, options, cluster)
        plugins += compiled.plugins
        findings += compiled.findings
    return plugins, findings


def _load(entry: DialectEntry) -> Dialect:
    module, _, name = entry.target.partition(":")
    dialect: Dialect = getattr(importlib.import_module(module), name)
    return dialect


def known_cluster(items: Sequence[Item], admission: Admission, rules: RuleSet) -> Cluster:
    """What the run knows: the items, the context's objects, those that came with the rules."""
    context = admission.context
    given = [*context.namespaces, *context.objects, *rules.objects]
    namespaces = {
        str(get(value, ("metadata", "name"))): value
        for value in given
        if value.get("kind") == "Namespace" and value.get("apiVersion") == "v1"
    }
    namespaces |= {
        item.head.name: without_marks(item.value) for item in items if is_namespace(item.head)
    }
    found: dict[tuple[str, str], Json] = {}
    if any(built_in(item.head.group, item.head.kind) is None for item in items):
        crds = [item.value for item in items if item.head.kind == "CustomResourceDefinition"]
        crds += [value for value in given if value.get("kind") == "CustomResourceDefinition"]
        found = crds_by_kind(crds)
    described = Cluster({}, namespaces, found, context.default_namespace)
    objects: dict[Identity, Callable[[], Json]] = {}
    for value in given:
        head = head_of(value)
        objects[identity_of(head, described)] = _constant(value)
    for item in items:
        objects[identity_of(item.head, described)] = _loader(item)
    return Cluster(objects, namespaces, found, context.default_namespace)


def served_form(admission: Admission, cluster: Cluster) -> Served | None:
    """What makes the form in which rules see objects; None for the one in which they are written.

    Imported here, since nothing of it is needed where no object is admitted.
    """
    if admission.object_form is ObjectForm.AS_WRITTEN:
        return None
    from krm_fn.kube.schema import Schemas
    from krm_fn.kube.served import Served

    return Served(Schemas(admission.context.kubernetes_version), cluster.crd)


def identity_of(head: Head, cluster: Cluster) -> Identity:
    return head.group, head.kind, cluster.namespace_of(head), head.name


def _loader(item: Item) -> Callable[[], Json]:
    return lambda: without_marks(item.original)


def _constant(value: Json) -> Callable[[], Json]:
    return lambda: value


def old_objects(admission: Admission) -> dict[Identity, Json]:
    """The objects that the items replace, for UPDATE."""
    context = admission.context
    if context.operation is not Operation.UPDATE:
        return {}
    described = Cluster(default_namespace=context.default_namespace)
    found: dict[Identity, Json] = {}
    for value in _files(context.old_objects):
        found[identity_of(head_of(value), described)] = value
    return found


def _files(paths: Sequence[str]) -> Iterator[Json]:
    where = "context.oldObjects.paths"
    for path in expand_paths(paths, where):
        for name in manifests(path):
            check_real(name, where)
            try:
                with open(name, "rb") as file:
                    yield from (item.value for item in read_stream(file.read(), name).items)
            except OSError as error:
                raise ConfigError(f"{where}: {name}: {error.strerror}") from None


def is_namespace(head: Head) -> bool:
    """Whether an object is a Namespace."""
    return head.kind == "Namespace" and head.group == ""


def without_marks(value: Json) -> Json:
    """An object without the annotations of the tools around us, as the cluster would hold it."""
    return HiddenAnnotations().get(value)
