"""Constraints of the API server's kind as criteria: what they want, and what they saw.

Loaded only where somebody asks why; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from krm_fn.admission.cluster import Cluster
from krm_fn.admission.matching import Constraints, Matched, ResourceRule, own_namespace
from krm_fn.admission.request import Request
from krm_fn.admission.trace import RuleTrace
from krm_fn.kube.selectors import Labels, Selector, SelectorError, texts
from krm_fn.values import Path, get

_METADATA_LABELS: Path = ("metadata", "labels")


def selector_text(selector: Selector) -> str:
    """A selector as kubectl's --selector takes it: `app=web,tier in (a, b),!legacy`."""
    shown = []
    for one in selector.requirements:
        values = ", ".join(sorted(one.values))
        if one.operator in ("In", "NotIn") and len(one.values) == 1:
            shown.append(f"{one.key}{'=' if one.operator == 'In' else '!='}{values}")
        elif one.operator in ("In", "NotIn"):
            shown.append(f"{one.key} {'in' if one.operator == 'In' else 'notin'} ({values})")
        else:
            shown.append(one.key if one.operator == "Exists" else f"!{one.key}")
    return ",".join(shown)


def labels_text(selector: Selector, labels: Labels) -> str:
    """The labels that a selector misses by, or all that it looked at where it matches."""
    missed = [one for one in selector.requirements if not one.matches(labels)]
    keys = dict.fromkeys(one.key for one in missed or selector.requirements)
    return ", ".join(f"{key}={labels[key]}" if key in labels else f"no {key}" for key in keys)


def ask_namespace(
    record: RuleTrace,
    field: Path,
    selector: Selector | SelectorError,
    result: bool | str | SelectorError,
    request: Request,
    cluster: Cluster,
) -> None:
    """Record a namespaceSelector, with the labels that it saw."""
    if isinstance(selector, SelectorError) or isinstance(result, SelectorError):
        return
    if not selector.requirements:
        return
    wants = f"namespace has {selector_text(selector)}"
    path = (*field, "namespaceSelector")
    name = own_namespace(request.head, request.namespace)
    if not name:
        record.ask(wants, "a cluster-scoped object, to which it does not apply", True, field=path)
        return
    if isinstance(result, str):
        saw = f"{name}, of which the labels are not known"
        record.ask(wants, saw, None, field=path, hint=result)
        return
    if name == request.head.name and request.head.kind == "Namespace":
        labels = texts(get(request.object, _METADATA_LABELS))
    else:
        labels = cluster.namespace(name).labels
    record.ask(wants, f"{name}: {labels_text(selector, labels)}", result, field=path)


def ask_labels(
    record: RuleTrace,
    field: Path,
    selector: Selector | SelectorError,
    result: bool | SelectorError,
    request: Request,
) -> None:
    """Record an objectSelector, with the labels that it saw."""
    if isinstance(selector, SelectorError) or isinstance(result, SelectorError):
        return
    if not selector.requirements:
        return
    labels = texts(get(request.object, _METADATA_LABELS))
    record.ask(
        f"object has {selector_text(selector)}",
        labels_text(selector, labels),
        result,
        field=(*field, "objectSelector"),
        path=_METADATA_LABELS,
    )


def ask_rules(
    record: RuleTrace,
    field: Path,
    constraints: Constraints,
    matched: Matched | None,
    undecided: str,
    request: Request,
    *,
    excluded: bool,
) -> None:
    """Record resource rules: the operation and the resource that the request is about."""
    rules = constraints.excluded if excluded else constraints.rules
    if not rules:
        return
    name = "excludeResourceRules" if excluded else "resourceRules"
    saw = request_text(request)
    if matched is not None and matched.version != _version(request):
        saw += f", matched as {matched.api_version}"
    held: bool | None = None if undecided else (matched is None) is excluded
    wants = " or ".join(map(rule_text, rules))
    record.ask(
        f"not {wants}" if excluded else wants,
        saw,
        held,
        field=(*field, name),
        hint=undecided or ("" if held else _near_rule(rules, request)),
    )


def request_text(request: Request) -> str:
    """`CREATE of apps/v1 deployments`."""
    return f"{request.operation} of {request.head.api_version} {request.resource.plural}"


def rule_text(rule: ResourceRule) -> str:
    """`CREATE, UPDATE of apps/v1 deployments, statefulsets`."""
    groups = [_group_version(group, version) for group in rule.groups for version in rule.versions]
    resources = ["/".join(part for part in resource if part) for resource in rule.resources]
    text = f"{_any(rule.operations, 'any operation')} of {_any(groups, 'any group')} "
    text += _any(resources, "resources")
    if rule.names:
        text += f" named {', '.join(rule.names)}"
    return text if rule.scope == "*" else f"{text} ({rule.scope})"


def _any(given: Iterable[str], everything: str) -> str:
    named = list(given)
    return everything if "*" in named else ", ".join(named)


def _group_version(group: str, version: str) -> str:
    if group == "*" and version == "*":
        return "*"
    if version == "*":
        return f"{group or 'core'}/any"
    return f"{group}/{version}" if group else version


def _version(request: Request) -> str:
    return request.head.api_version.rpartition("/")[2]


def _near_rule(rules: Sequence[ResourceRule], request: Request) -> str:
    """The one thing that keeps a rule from matching, where it is one thing."""
    head, plural = request.head, request.resource.plural
    for rule in rules:
        misses = [
            what
            for what, given, wanted in (
                ("operation", rule.operations, str(request.operation)),
                ("API group", rule.groups, head.group),
                ("version", rule.versions, _version(request)),
                ("resource", [name for name, _ in rule.resources], plural),
            )
            if "*" not in given and wanted not in given
        ]
        if len(misses) == 1:
            return f"only the {misses[0]} differs"
    return ""


def differing(wanted: Mapping[str, str], labels: Labels) -> str:
    """The labels that differ from those that are wanted: `app=api, no tier`."""
    return ", ".join(
        f"{key}={labels[key]}" if key in labels else f"no {key}"
        for key, text in wanted.items()
        if labels.get(key) != text
    )
