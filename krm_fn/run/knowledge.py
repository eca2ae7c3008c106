"""What a stage needs before it meets an object: rules compiled, and what is known of the cluster.

The items, the context and what came with the rules are put together here, without parsing what
nobody asks for; dialects are loaded here, those of which there are rules.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from krm_fn.admission import Cause, Cluster, Finding, Operation, Plugin
from krm_fn.admission.cluster import NAME_LABEL, Identity
from krm_fn.admission.diagnostics import Diagnostics
from krm_fn.admission.objectview import view_of
from krm_fn.admission.views import HiddenAnnotations
from krm_fn.config.dialect import CompileContext, Dialect
from krm_fn.config.dialects import DIALECTS, DialectEntry, is_target
from krm_fn.config.fields import Section
from krm_fn.config.options import ObjectForm, Options
from krm_fn.config.sources import RuleSet, Stage
from krm_fn.errors import ConfigError, InputError
from krm_fn.kube.resources import built_in_groups, from_crd, is_removed
from krm_fn.system.paths import Base, check_inside, expand_paths, manifests
from krm_fn.system.reading import read_file
from krm_fn.values import Json, Path, equal, get
from krm_fn.wire import Head, Item, read_stream
from krm_fn.wire.stream import head_of
from krm_fn.wire.words import Expect

if TYPE_CHECKING:
    from krm_fn.kube.served import Served


class Caller(StrEnum):
    """Who starts the program: kpt and kustomize, which drop local-config, or anybody else."""

    FUNCTION = "function"
    COMMAND = "command"


LOCAL_CONFIG: Final = "config.kubernetes.io/local-config"


def compile_rules(
    rules: RuleSet,
    options: Options,
    cluster: Cluster,
    served: Served | None,
    *,
    lint: bool = False,
) -> tuple[list[Plugin], list[Finding]]:
    """The plugins of all rules, and what is to say of them; `served` from `served_form`.

    Raises KrmFnError.
    """
    diagnostics = Diagnostics()
    plugins: list[Plugin] = []
    for entry in DIALECTS:
        own = [rule for rule in rules.rules if rule.ref.dialect == entry.name]
        section = options.sections.get(entry.section)
        if not own and section is None:
            continue
        section = section if section is not None else Section({}, entry.section)
        context = CompileContext(
            diagnostics,
            section,
            cluster,
            [rule for rule in rules.readable if rule.ref.dialect == entry.name],
            served,
            options.context.kubernetes_version,
            options.on_rule_error,
            options.strict,
            lint,
            options.base,
        )
        plugins += _load(entry).compile(own, context)
        section.done()
    diagnostics.raise_errors()
    return plugins, diagnostics.findings


def _load(entry: DialectEntry) -> Dialect:
    module, _, name = entry.target.partition(":")
    dialect: Dialect = getattr(importlib.import_module(module), name)
    return dialect


class Knowledge(NamedTuple):
    """What a stage knows of the cluster."""

    cluster: Cluster
    served: Served | None
    definitions: Definitions
    stored: StoredForm
    overruled: Sequence[Finding]

    def findings(self) -> list[Finding]:
        """Where items say otherwise than the operator; complete at the end of the stage."""
        passed_over = map(_not_leaving, self.stored.passed_over)
        return [*self.overruled, *self.definitions.findings, *passed_over]


def known_cluster(
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
    leaving = _Leaving(caller)
    definitions = Definitions(items, given, leaving)
    for stream in {id(item.stream): item.stream for item in items}.values():
        stream.expect = _expected(options, definitions)
    served = served_form(options, definitions)
    described = Cluster({}, {}, definitions, default_namespace)
    form = StoredForm(served, described)
    overruled: list[Finding] = []
    namespaces: dict[str, Json] = {}
    objects: dict[Identity, Callable[[], Json | None]] = {}
    for value in given:
        head = head_of(value)
        objects.setdefault(identity_of(head, described), form.of_context(value))
        if is_namespace(head):
            namespaces.setdefault(head.name, value)
    told, fixed = frozenset(objects), frozenset(namespaces)
    for item in items:
        identity = identity_of(item.head, described)
        if identity not in told:
            objects[identity] = form.of_item(item, leaving)
            if is_namespace(item.head) and leaving(item):
                namespaces[item.head.name] = without_marks(item.value)
            elif is_namespace(item.head):
                form.passed_over[item] = None
        elif is_target(item.head) and leaving(item):
            overruled += _contradiction(item, objects[identity]())
    cluster = Cluster(objects, namespaces, definitions, default_namespace, fixed, form.namespace)
    return Knowledge(cluster, served, definitions, form, overruled)


def _told(stage: Stage) -> Sequence[Json]:
    context = stage.options.context
    return [*context.namespaces, *context.objects, *stage.rules.objects]


class _Leaving:
    """Whether an object reaches the cluster by this program's output."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __call__(self, item: Item) -> bool:
        if item.dropped:
            return False
        annotations = get(item.value, ("metadata", "annotations"))
        if type(annotations) is not dict:
            return True
        hooks = annotations.get(_HOOK)
        if type(hooks) is str and "Skip" in (hook.strip() for hook in hooks.split(",")):
            return False
        return self._caller is not Caller.FUNCTION or annotations.get(LOCAL_CONFIG) != "true"


_HOOK: Final = "argocd.argoproj.io/hook"


def _contradiction(item: Item, told: Json | None) -> Iterator[Finding]:
    """A warning where an item says otherwise than the operator's copy of the object."""
    if is_namespace(item.head):
        if not equal(_labels(item.value), _labels(told or {})):
            yield _overruled(item, "labels differ")
        return
    value = item.value
    for key in sorted({*value, *(told or {})} - _APART):
        if not equal(value.get(key), (told or {}).get(key)):
            yield _overruled(item, f"{key} differs")
            return


_APART: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def _labels(namespace: Json) -> Json:
    labels: Json = get(namespace, ("metadata", "labels")) or {}
    return {key: text for key, text in labels.items() if key != NAME_LABEL}


def _not_leaving(item: Item) -> Finding:
    message = (
        f"{_named(item.head)} ({item.origin}) does not reach the cluster, so that rules do not see "
        "it; give it in context.objects if the cluster has it"
    )
    return Finding(Cause.WARNING, False, message)


def _overruled(item: Item, difference: str) -> Finding:
    message = (
        f"{_named(item.head)}: rules see the one of the context, not the one among the items "
        f"({item.origin}): {difference}"
    )
    return Finding(Cause.WARNING, False, message)


def _named(head: Head) -> str:
    name = f"{head.namespace}/{head.name}" if head.namespace else head.name
    return f"{head.kind} {name}"


class Definitions(Mapping[tuple[str, str], Json]):
    """The CustomResourceDefinitions by (group, kind) of what they define.

    They are read when somebody asks for a kind that Kubernetes itself does not have.
    """

    def __init__(
        self, items: Sequence[Item], given: Sequence[Json], leaving: Callable[[Item], bool]
    ) -> None:
        self.findings: list[Finding] = []
        self._items = [item for item in items if item.head.kind == _CRD]
        self._given = [value for value in given if value.get("kind") == _CRD]
        self._leaving = leaving
        self._by_kind: dict[tuple[str, str], Json] | None = None

    def __getitem__(self, key: tuple[str, str]) -> Json:
        return self._read()[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[tuple[str, str], Json]:
        if self._by_kind is None:
            self._by_kind = {}
            for value in self._given:
                described = from_crd(value)
                if described is None:
                    continue
                if described[0][0] in built_in_groups():
                    name = get(value, ("metadata", "name"))
                    raise ConfigError(f"{_CRD} {name}: {_own_group(described[0][0])}; remove it")
                self._by_kind.setdefault(described[0], value)
            told = frozenset(self._by_kind)
            for item in filter(self._leaving, self._items):
                self._take(item, told)
        return self._by_kind

    def _take(self, item: Item, told: Container[tuple[str, str]]) -> None:
        assert self._by_kind is not None
        described = from_crd(item.value)
        if described is None:
            return
        if described[0][0] in built_in_groups():
            message = f"{_CRD} {item.head.name} ({item.origin}): {_own_group(described[0][0])}"
            self.findings.append(Finding(Cause.FAILED, True, message))
        elif described[0] not in told:
            self._by_kind[described[0]] = without_marks(item.value)
        elif not equal(item.value.get("spec"), self._by_kind[described[0]].get("spec")):
            self.findings.append(_overruled(item, "spec differs"))


_CRD: Final = "CustomResourceDefinition"


def _own_group(group: str) -> str:
    return f"the group {group or 'core'!r} is Kubernetes' own, and the API server refuses it"


class StoredForm:
    """Objects as a cluster holds them: served, in the namespace that they are admitted in.

    Each is made when somebody asks for it, once.
    """

    def __init__(self, served: Served | None, described: Cluster) -> None:
        self._served = served
        self._described = described
        self.read: set[Item] = set()
        """The items that rules have read, beside the object that they were asked about."""
        self.passed_over: dict[Item, None] = {}
        """The items that rules have asked for and that do not reach the cluster."""

    def of_context(self, value: Json) -> Callable[[], Json | None]:
        """What makes an object of the context, which is in the cluster already."""

        @cache
        def make() -> Json:
            made = self._made(value, created=False)
            metadata = value.get("metadata")
            kept = metadata if type(metadata) is dict else {}
            system = {key: kept[key] for key in _SYSTEM if key in kept}
            return {**made, "metadata": {**made["metadata"], **system}} if system else made

        return make

    def of_item(self, item: Item, leaving: Callable[[Item], bool]) -> Callable[[], Json | None]:
        """What makes the object of an item, None where it does not reach the cluster."""
        before = item.replaced  # as this stage finds it, whatever becomes of it

        @cache
        def make() -> Json | None:
            if not leaving(item):
                self.passed_over[item] = None
                return None
            self.read.add(item)
            return self._made(without_marks(before or item.original), created=True)

        return make

    def namespace(self, value: Json) -> Json:
        """A Namespace as it is, once it was created."""
        return self._made(value, created=True)

    def _made(self, value: Json, *, created: bool) -> Json:
        namespace = self._described.namespace_of(head_of(value))
        view = view_of(value, namespace, self._served)
        shown = view.served(value)
        return view.stored(shown) if created else shown


_SYSTEM: Final = ("creationTimestamp", "deletionTimestamp", "generation", "resourceVersion", "uid")


def served_form(options: Options, crds: Mapping[tuple[str, str], Json]) -> Served | None:
    """What makes the form in which rules see objects; None for the one in which they are written.

    Imported here, since nothing of it is needed where no object is admitted.
    """
    if options.object_form is ObjectForm.AS_WRITTEN:
        return None
    from krm_fn.kube.schema import Schemas
    from krm_fn.kube.served import Served

    def find_crd(group: str, kind: str) -> Json | None:
        return crds.get((group, kind))

    user = options.context.user
    info = {
        "username": user.username,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {name: list(values) for name, values in user.extra.items()},
    }
    return Served(Schemas(options.context.kubernetes_version), find_crd, info)


def _expected(options: Options, definitions: Definitions) -> Expect:
    """The types of fields, for words such as `yes`; loaded when the first of these is met."""
    expected: Expect | None = None

    def expect(api_version: str, kind: str, path: Path) -> type | None:
        nonlocal expected
        if expected is None:
            from krm_fn.kube.expected import Expected
            from krm_fn.kube.schema import Schemas

            schemas = Schemas(options.context.kubernetes_version)
            expected = Expected(schemas, lambda group, kind: definitions.get((group, kind)))
        return expected(api_version, kind, path)

    return expect


def not_served(targets: Sequence[Item], kubernetes_version: str) -> Iterator[Finding]:
    """A warning for each kind of a group of Kubernetes' own that the release does not serve.

    The server refuses such objects, and rules, which name resources that it serves, do not see
    them: `extensions/v1beta1` in place of `apps/v1`.
    """
    from krm_fn.kube.schema import Schemas

    schemas = Schemas(kubernetes_version)
    by_kind: dict[tuple[str, str], list[Item]] = {}
    for item in targets:
        by_kind.setdefault((item.head.api_version, item.head.kind), []).append(item)
    for (api_version, kind), items in by_kind.items():
        group = items[0].head.group
        if schemas.kind(api_version, kind) is not None and not is_removed(api_version, kind):
            continue
        if group != _RETIRED_GROUP and group not in built_in_groups():
            continue
        versions = [one.version for one in schemas.versions(group, kind) if one.plural]
        served = [f"{group}/{version}" if group else version for version in versions]
        served = [version for version in served if not is_removed(version, kind)]
        served += _SUCCESSORS.get(kind, ()) if group == _RETIRED_GROUP else ()
        remedy = f"; write {' or '.join(served)}" if served else ""
        number = f" ({len(items)} objects)" if len(items) > 1 else ""
        message = (
            f"{_named(items[0].head)} ({items[0].origin}){number}: "
            f"Kubernetes {schemas.release} has no {kind} of {api_version}, "
            f"so that rules may not see it{remedy}"
        )
        yield Finding(Cause.WARNING, False, message)


_RETIRED_GROUP: Final = "extensions"
_SUCCESSORS: Final = {
    "DaemonSet": ("apps/v1",),
    "Deployment": ("apps/v1",),
    "Ingress": ("networking.k8s.io/v1",),
    "NetworkPolicy": ("networking.k8s.io/v1",),
    "ReplicaSet": ("apps/v1",),
}


def identity_of(head: Head, cluster: Cluster) -> Identity:
    return head.group, head.kind, cluster.namespace_of(head), head.name


def old_objects(options: Options) -> dict[Identity, Json]:
    """The objects that the items replace, for UPDATE."""
    context = options.context
    if context.operation is not Operation.UPDATE:
        return {}
    described = Cluster(default_namespace=context.default_namespace)
    found: dict[Identity, Json] = {}
    for value in _files(context.old_objects, options.base):
        found[identity_of(head_of(value), described)] = value
    return found


def _files(paths: Sequence[str], base: Base) -> Iterator[Json]:
    where = "context.oldObjects.paths"
    for path in expand_paths(paths, where, base):
        for name in manifests(path.name):
            check_inside(name, path.root, where)
            try:
                data = read_file(name)
            except InputError as error:
                raise ConfigError(f"{where}: {error}") from None
            yield from (item.value for item in read_stream(data, name).items)


def is_namespace(head: Head) -> bool:
    """Whether an object is a Namespace."""
    return head.kind == "Namespace" and head.group == ""


def without_marks(value: Json) -> Json:
    """An object without the annotations of the tools around us, as the cluster would hold it."""
    return HiddenAnnotations().get(value)
