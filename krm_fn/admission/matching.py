"""Which requests a rule of the API server's kind is about: resource rules, selectors, names.

The one matching for all who register as Kubernetes' own policies and webhooks do. It knows requests
and what a render knows of the cluster; it knows no dialect, and matchConditions are elsewhere
(`conditions`), since those need CEL.
Source: k8s.io/apiserver pkg/admission/plugin/policy/matching and plugin/webhook/predicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from krm_fn.admission.cluster import Cluster
from krm_fn.admission.plugin import Prefilter
from krm_fn.admission.request import Request
from krm_fn.admission.trace import RuleTrace
from krm_fn.kube.podtemplates import controller_labels
from krm_fn.kube.selectors import Labels, Selector, SelectorError, from_label_selector, texts
from krm_fn.kube.wellknown import METADATA_NAME
from krm_fn.values import Json, Path, get
from krm_fn.wire import Head


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """Operations on resources; `*` is any. `names` empty is any name."""

    operations: tuple[str, ...]
    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[tuple[str, str], ...]
    """(resource, subresource)"""
    scope: str = "*"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constraints:
    """What requests must be like. A selector that cannot be read is its error."""

    rules: tuple[ResourceRule, ...] = ()
    excluded: tuple[ResourceRule, ...] = ()
    namespaces: Selector | SelectorError = field(default_factory=Selector)
    objects: Selector | SelectorError = field(default_factory=Selector)
    exact: bool = False
    """Whether other versions of a resource do not count (matchPolicy: Exact)."""


class Matched(NamedTuple):
    """The resource and kind that a rule matched: those of the request, or an equivalent."""

    group: str
    version: str
    kind: str
    resource: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


class MatchResult(NamedTuple):
    """Whether constraints match; `matched` is None where they do not.

    `undecided` says why nobody can know; then nothing matched. `notes` say what was taken for
    granted, whether that led to a match or not.
    """

    matched: Matched | None = None
    undecided: str = ""
    notes: tuple[str, ...] = ()


_NO: Final = MatchResult()


def read_constraints(value: Mapping[str, Any]) -> Constraints:
    """Constraints from `MatchResources` as the API has it.

    A webhook's `rules` go in as resourceRules. What is missing has the API's defaults. Never
    raises: a selector that is wrong is an error only if everything else matches.
    """
    return Constraints(
        _rules(value.get("resourceRules")),
        _rules(value.get("excludeResourceRules")),
        _selector(value.get("namespaceSelector")),
        _selector(value.get("objectSelector")),
        value.get("matchPolicy") == "Exact",
    )


def _rules(value: Sequence[Mapping[str, Any]] | None) -> tuple[ResourceRule, ...]:
    return tuple(
        ResourceRule(
            tuple(rule.get("operations") or ()),
            tuple(rule.get("apiGroups") or ()),
            tuple(rule.get("apiVersions") or ()),
            tuple(_halves(resource) for resource in rule.get("resources") or ()),
            rule.get("scope") or "*",
            tuple(rule.get("resourceNames") or ()),
        )
        for rule in value or ()
    )


def _halves(resource: str) -> tuple[str, str]:
    name, _, subresource = resource.partition("/")
    return name, subresource


def _selector(value: Mapping[str, Any] | None) -> Selector | SelectorError:
    try:
        return from_label_selector(value)
    except SelectorError as error:
        return error


def own_namespace(head: Head, namespace: str) -> str:
    """The namespace of a request as the API server has it: a Namespace is in itself."""
    return head.name if _is_namespace(head) else namespace


def _is_namespace(head: Head) -> bool:
    return head.kind == "Namespace" and head.group == ""


def match(
    constraints: Constraints,
    request: Request,
    cluster: Cluster,
    record: RuleTrace | None = None,
    field: Path = (),
) -> MatchResult:
    """Whether a request is one that constraints are about.

    `record` takes each criterion as it is decided; `field` is where the constraints stand in the
    rule. Raises SelectorError for a selector that is wrong, if everything else matches.
    """
    if record is not None:
        from krm_fn.admission import why
    by_namespace = _in_namespace(constraints.namespaces, request, cluster)
    if record is not None:
        why.ask_namespace(record, field, constraints.namespaces, by_namespace, request, cluster)
    if by_namespace is False:
        return _NO
    by_labels = _with_labels(constraints.objects, request)
    assumed = _assumed(constraints.objects, request)
    if record is not None:
        why.ask_labels(record, field, constraints.objects, by_labels, request)
    if by_labels is False and not assumed:
        return _NO
    excluded = _by_rules(constraints.excluded, constraints.exact, request, cluster)
    if record is not None:
        why.ask_rules(record, field, constraints, *excluded[:2], request, excluded=True)
    if excluded.matched is not None or excluded.undecided:
        return MatchResult(undecided=excluded.undecided)
    if constraints.rules:
        answer = _by_rules(constraints.rules, constraints.exact, request, cluster)
    else:
        answer = MatchResult(_asked(request))
    if record is not None:
        why.ask_rules(record, field, constraints, *answer[:2], request, excluded=False)
    if answer.matched is None:
        return answer
    for one in (by_namespace, by_labels):
        if isinstance(one, SelectorError):
            raise one
    if not by_labels:
        return MatchResult(notes=(assumed,))
    if isinstance(by_namespace, str):
        return MatchResult(undecided=by_namespace)
    return MatchResult(answer.matched, notes=(assumed,) if assumed else ())


def _asked(request: Request) -> Matched:
    head = request.head
    version = head.api_version.rpartition("/")[2]
    return Matched(head.group, version, head.kind, request.resource.plural)


# Selectors


def _in_namespace(
    selector: Selector | SelectorError, request: Request, cluster: Cluster
) -> bool | str | SelectorError:
    """Whether the request's namespace has the labels; a sentence where nobody knows them all."""
    if not request.namespace and not _is_namespace(request.head):
        return True
    if isinstance(selector, SelectorError) or not selector.requirements:
        return selector if isinstance(selector, SelectorError) else True
    if _is_namespace(request.head):
        return selector.matches(_labels(request.object))
    namespace = cluster.namespace(request.namespace)
    if namespace.complete:
        return selector.matches(namespace.labels)
    known = [one for one in selector.requirements if one.key == METADATA_NAME]
    if not all(one.matches(namespace.labels) for one in known):
        return False
    unknown = sorted({one.key for one in selector.requirements} - {METADATA_NAME})
    if not unknown:
        return True
    return (
        f"whether namespace {request.namespace} has what its namespaceSelector asks for "
        f"({', '.join(unknown)}) is not known; add the Namespace to the items or its labels to "
        "context.namespaces"
    )


def _with_labels(selector: Selector | SelectorError, request: Request) -> bool | SelectorError:
    """Whether the object or the old one has the labels."""
    if isinstance(selector, SelectorError) or not selector.requirements:
        return selector if isinstance(selector, SelectorError) else True
    objects = (
        [request.object] if request.old_object is None else [request.object, request.old_object]
    )
    return any(selector.matches(_labels(value)) for value in objects)


def _assumed(selector: Selector | SelectorError, request: Request) -> str:
    """What was taken for granted of a template's Pod, where the answer hangs on it alone."""
    if request.workload is None or isinstance(selector, SelectorError):
        return ""
    labels = _labels(request.object)
    missing = [
        key
        for key in controller_labels(one.key for one in selector.requirements)
        if key not in labels
    ]
    known = (one for one in selector.requirements if one.key not in missing)
    if not missing or not all(one.matches(labels) for one in known):
        return ""
    return (
        f"its objectSelector asks for a controller-added label ({', '.join(missing)}), which no "
        "template has; it is taken for absent"
    )


def _labels(value: Json) -> Labels:
    return texts(get(value, ("metadata", "labels")))


# Resource rules


def _by_rules(
    rules: Sequence[ResourceRule], exact: bool, request: Request, cluster: Cluster
) -> MatchResult:
    asked = _asked(request)
    for rule in rules:
        if _fits(rule, request, asked) and _named(rule, request.head.name):
            return MatchResult(asked)
    if exact or not rules:
        return _NO
    others = [one for one in equivalents(request.head, cluster) if one.matched != asked]
    for rule in rules:
        for matched, converts in others:
            if _fits(rule, request, matched) and _named(rule, request.head.name):
                if converts:
                    return MatchResult(matched)
                return MatchResult(undecided=_no_conversion(request.head, matched))
    return _NO


def _no_conversion(head: Head, matched: Matched) -> str:
    return (
        f"it is about {matched.resource} of {matched.api_version}, and only the API server can "
        f"convert {head.api_version} to that; name {head.api_version} in its rules"
    )


def _fits(rule: ResourceRule, request: Request, asked: Matched) -> bool:
    return _in_scope(rule.scope, request, asked) and (
        _any_or(rule.operations, request.operation) and _covers(rule, asked)
    )


def _covers(rule: ResourceRule, asked: Matched) -> bool:
    """Whether a rule is about a resource itself, whatever the operation."""
    return (
        _any_or(rule.groups, asked.group)
        and _any_or(rule.versions, asked.version)
        and any(
            name in ("*", asked.resource) and subresource in ("*", "")
            for name, subresource in rule.resources
        )
    )


def _any_or(given: Iterable[str], wanted: str) -> bool:
    return any(one in ("*", wanted) for one in given)


def _in_scope(scope: str, request: Request, asked: Matched) -> bool:
    if scope == "*":
        return True
    is_namespace = asked[:2] == ("", "v1") and asked.resource == "namespaces"
    in_none = is_namespace or not own_namespace(request.head, request.namespace)
    if scope == "Namespaced":
        return not in_none
    return scope == "Cluster" and in_none


def _named(rule: ResourceRule, name: str) -> bool:
    return not rule.names or name in rule.names


class Equivalent(NamedTuple):
    """A resource that holds the same objects, and whether a render can convert to its version."""

    matched: Matched
    converts: bool


def equivalents(head: Head, cluster: Cluster) -> Iterator[Equivalent]:
    """The versions that a kind is defined in, in that order.

    Custom kinds without a conversion of their own differ in nothing but the version.
    """
    resource = cluster.resource_for(head.group, head.kind).plural
    crd = cluster.crd(head.group, head.kind)
    if crd is None:
        for version in _TWICE.get((head.group, head.kind), ()):
            yield Equivalent(Matched(head.group, version, head.kind, resource), False)
        return
    converts = get(crd, ("spec", "conversion", "strategy"), "None") == "None"
    versions = get(crd, ("spec", "versions"), [])
    for version in versions if type(versions) is list else ():
        name = get(version, ("name",))
        if type(name) is str:
            yield Equivalent(Matched(head.group, name, head.kind, resource), converts)


_TWICE: Final = {("autoscaling", "HorizontalPodAutoscaler"): ("v1", "v2")}
"""The built-in kinds that a cluster serves in several versions by default (but for Events)."""


# Before an object is parsed


class ResourcePrefilter(Prefilter):
    """The objects that constraints could match, told from heads."""

    __slots__ = ("_cluster", "_constraints", "_kinds")

    def __init__(self, constraints: Iterable[Constraints], cluster: Cluster) -> None:
        super().__init__(())
        self._constraints = tuple(constraints)
        self._cluster = cluster
        self._kinds: dict[tuple[str, str], list[ResourceRule]] = {}

    def wants(self, head: Head, namespace: str) -> bool:
        """Whether any of the constraints could match an object with this head."""
        key = (head.group, head.kind)
        rules = self._kinds.get(key)
        if rules is None:
            rules = self._kinds[key] = [
                rule
                for constraints in self._constraints
                for rule in constraints.rules or (_EVERYTHING,)
                if _may_cover(rule, head, self._cluster)
            ]
        return any(_named(rule, head.name) for rule in rules)


_EVERYTHING: Final = ResourceRule(("*",), ("*",), ("*",), (("*", "*"),))


def may_match(constraints: Constraints, head: Head, cluster: Cluster) -> bool:
    """Whether constraints could match an object with this head, whatever its labels."""
    rules = constraints.rules or (_EVERYTHING,)
    return any(_may_cover(rule, head, cluster) and _named(rule, head.name) for rule in rules)


def _may_cover(rule: ResourceRule, head: Head, cluster: Cluster) -> bool:
    """Whether a rule is about a kind in any version."""
    resource = cluster.resource_for(head.group, head.kind)
    in_scope = rule.scope == "*" or (rule.scope == "Namespaced") == resource.namespaced
    any_version = next(iter(rule.versions), "")
    return in_scope and _covers(rule, Matched(head.group, any_version, head.kind, resource.plural))


def operations_of(constraints: Constraints) -> frozenset[str]:
    """The operations that a rule names; empty is any."""
    named = {operation for rule in constraints.rules for operation in rule.operations}
    return frozenset() if "*" in named else frozenset(named)


def only_pods(constraints: Constraints) -> bool:
    """Whether nothing but Pods could match."""
    rules = constraints.rules
    names = {name for rule in rules for name, _ in rule.resources}
    return names == {"pods"} and all(_any_or(rule.groups, "") for rule in rules)
