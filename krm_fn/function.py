"""The main job on one page: read, configure, admit each item, write, report.

`admit` takes streams through all rules and edits their items in place; `run` is the KRM function
around it: a ResourceList in, the list with results out, and an exit status.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from krm_fn import limits
from krm_fn.admission import (
    Cause,
    Chain,
    Circumstances,
    Cluster,
    Dialect,
    Finding,
    Operation,
    Plugin,
    RuleRef,
    Trace,
    Verdict,
    net_changes,
)
from krm_fn.admission.checks import idempotence
from krm_fn.admission.cluster import Identity, resources_of_crds
from krm_fn.admission.views import HiddenAnnotations
from krm_fn.config.admission import (
    Admission,
    Idempotency,
    Mode,
    OnEmpty,
    OnReject,
    from_function_config,
)
from krm_fn.config.dialects import DIALECTS, DialectEntry, is_target
from krm_fn.config.sources import (
    IMAGE_RULES,
    RuleSet,
    check_real,
    collect,
    expand_paths,
    is_twin,
    manifests,
)
from krm_fn.errors import ConfigError, InputError, KrmFnError
from krm_fn.kube.resources import Resource, built_in
from krm_fn.report.model import ObjectReport, Outcome, Report
from krm_fn.report.results import results
from krm_fn.report.text import lines
from krm_fn.sdk import NotAResourceListError, ResourceList, parse_resource_list
from krm_fn.values import Json, get
from krm_fn.wire import Head, Item, Stream, read_stream
from krm_fn.wire.stream import head_of

NO_RULES: Final = """no rule anywhere: give one as functionConfig, in its spec.rules, among the \
items, or with -r. For example, as functionConfig:
  apiVersion: krm-fn.dev/v1alpha1
  kind: Admission
  metadata: {name: rules}
  spec:
    rules:
    - paths: [rules/]"""


@dataclass(frozen=True, slots=True)
class Done:
    """How the function ends: exit status, what goes to stdout, what goes to stderr."""

    status: int
    stdout: bytes
    stderr: str


def run(data: bytes, environment: Mapping[str, str]) -> Done:
    """The KRM function: a ResourceList in, the list with its results out.

    Exit status 0: admitted; 1: rejected (with the full list and its results), or the input, the
    configuration or a rule cannot be read (then stdout is empty). Raises NotAResourceListError for
    any other stream.
    """
    with limits.deep_stack():
        try:
            resource_list = parse_resource_list(data)
            report = process(resource_list, environment.get(IMAGE_RULES, ""))
            stdout = resource_list.to_yaml()
        except NotAResourceListError:
            raise
        except KrmFnError as error:
            if isinstance(error, InputError):
                error.at("standard input")
            return Done(1, b"", "".join(f"{line}\n" for line in error_lines(error)))
    said = "".join(f"{line}\n" for line in lines(report))
    return Done(1 if report.denied else 0, stdout, said)


def process(resource_list: ResourceList, image_rules: str = "") -> Report:
    """Admit a ResourceList as its functionConfig says, and put the results into it."""
    stream = resource_list.stream
    admission = from_function_config(stream.function_config)
    report = admit([stream], admission, stream.function_config, image_rules)
    if admission.kustomize_validator:
        resource_list.drop_all()
    resource_list.results = results(report)
    return report


def error_lines(error: KrmFnError) -> list[str]:
    """An error as lines: each problem starts with `error`, what belongs to it is indented."""
    return [line if line.startswith(" ") else f"error {line}" for line in str(error).splitlines()]


def admit(
    streams: Sequence[Stream],
    admission: Admission,
    function_config: Item | None = None,
    image_rules: str = "",
    rule_paths: Sequence[str] = (),
) -> Report:
    """Admit every item of the streams and edit them in place.

    Raises KrmFnError for what cannot be read; what rules say is in the report.
    """
    items = [item for stream in streams for item in stream.items]
    rules = collect(admission, items, function_config, image_rules, rule_paths)
    if not rules.rules:
        raise ConfigError(NO_RULES)
    cluster = _cluster(items, admission, rules)
    plugins, findings = _compile(rules, admission, cluster)
    context = admission.context
    chain = Chain(plugins, Circumstances(context.operation, context.user), Trace())
    targets = [item for item in items if _is_target(item, admission, function_config)]
    if admission.strict:
        for item in items:
            _value_of(item)
    report = Report(
        len(targets),
        len(rules.rules),
        findings=findings,
        with_changes=admission.results.changes,
        limit=admission.results.limit,
    )
    run_ = _Run(chain, admission, cluster, _old_objects(admission))
    reports = run_.admit_all(targets)
    report.objects = [reports[item] for item in targets if item in reports]
    heads = [(item.head, cluster.namespace_of(item.head)) for item in targets]
    if heads:
        for plugin in plugins:
            report.findings += plugin.unseen(heads)
    _check_empty(items, admission, report)
    return report


def lint(streams: Sequence[Stream], admission: Admission, rule_paths: Sequence[str]) -> Report:
    """What may be wrong with rules, all of it; on sample objects also what they do to them.

    Raises KrmFnError where a rule cannot be read or does not compile.
    """
    rules = collect(admission, [], None, "", rule_paths)
    cluster = _cluster([], admission, rules)
    _, findings = _compile(rules, admission, cluster, lint=True)
    report = Report(rules=len(rules.rules), with_changes=False)
    if any(stream.items for stream in streams):
        report = admit(streams, admission, rule_paths=rule_paths)
        known = {finding.message for finding in findings}
        report.findings = [f for f in report.findings if f.message not in known]
    report.findings = [*findings, *report.findings]
    return report


class _Run:
    """What all objects of a run share."""

    def __init__(
        self,
        chain: Chain,
        admission: Admission,
        cluster: Cluster,
        old_objects: Mapping[Identity, Json],
    ) -> None:
        self.chain = chain
        self.admission = admission
        self.cluster = cluster
        self.old_objects = old_objects
        self._told: set[tuple[tuple[RuleRef, ...], str]] = set()

    def admit_all(self, targets: Sequence[Item]) -> dict[Item, ObjectReport]:
        """Admit Namespaces first, since others are then seen in namespaces as admitted."""
        reports: dict[Item, ObjectReport] = {}
        admitted: dict[str, Json] = {}
        for item in targets:
            if _is_namespace(item.head):
                self._admit_into(reports, item)
                admitted[item.head.name] = _shown(item.value)
        self.cluster = self.cluster.with_admitted(admitted)
        for item in targets:
            if not _is_namespace(item.head):
                self._admit_into(reports, item)
        return reports

    def _admit_into(self, reports: dict[Item, ObjectReport], item: Item) -> None:
        head = item.head
        namespace = self.cluster.namespace_of(head)
        if not self.chain.wants(head, namespace):
            return
        value = _value_of(item)
        if _is_local(value) or not self.admission.match.fits(head, value):
            return
        old = self.old_objects.get((head.group, head.kind, namespace, head.name))
        verdict = self._judge(self.chain.admit(head, value, self.cluster, old), head, old)
        reports[item] = self._carry_out(item, namespace, verdict)

    def _judge(self, verdict: Verdict, head: Head, old: Json | None) -> Verdict:
        """The verdict with what the options make of it."""
        admission = self.admission
        if admission.idempotency is not Idempotency.OFF:
            denies = admission.idempotency is Idempotency.FAIL
            finding = idempotence(self.chain, head, verdict, self.cluster, old, denies)
            if finding is not None:
                verdict = replace(verdict, findings=(*verdict.findings, finding))
        verdict = replace(verdict, findings=tuple(filter(self._is_new, verdict.findings)))
        if admission.on_reject is OnReject.WARN or admission.mode is Mode.AUDIT:
            findings = tuple(replace(f, denies=False) for f in verdict.findings)
            verdict = replace(verdict, findings=findings)
        return verdict

    def _is_new(self, finding: Finding) -> bool:
        """What a rule needs to know and nobody does is told once, not for every object."""
        if finding.cause is not Cause.UNDECIDED:
            return True
        key = finding.rules, finding.message
        told = key in self._told
        self._told.add(key)
        return not told

    def _carry_out(self, item: Item, namespace: str, verdict: Verdict) -> ObjectReport:
        before = item.value
        if verdict.denied:
            if self.admission.on_reject is OnReject.DROP and _may_be_dropped(item.head):
                return self._drop(item, namespace, verdict)
            return ObjectReport(item, namespace, Outcome.REJECTED, verdict.findings)
        changes = tuple(net_changes(before, verdict.object, verdict.changes))
        outcome = Outcome.CHANGED if changes else Outcome.UNCHANGED
        if changes and self.admission.mode is Mode.MUTATE:
            item.replace(verdict.object)
        return ObjectReport(item, namespace, outcome, verdict.findings, changes)

    def _drop(self, item: Item, namespace: str, verdict: Verdict) -> ObjectReport:
        """The object leaves the list; its denials become warnings that say so."""
        if self.admission.mode is Mode.MUTATE:
            item.dropped = True
        findings = tuple(
            replace(f, denies=False, message=f"dropped: {f.message}") if f.denies else f
            for f in verdict.findings
        )
        return ObjectReport(item, namespace, Outcome.DROPPED, findings)


# ------------------------------------------------------------------------------------ preparation


def _compile(
    rules: RuleSet, admission: Admission, cluster: Cluster, *, lint: bool = False
) -> tuple[list[Plugin], list[Finding]]:
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
        }
        compiled = _load(entry).compile(mine, options, cluster)
        plugins += compiled.plugins
        findings += compiled.findings
    return plugins, findings


def _load(entry: DialectEntry) -> Dialect:
    module, _, name = entry.target.partition(":")
    dialect: Dialect = getattr(importlib.import_module(module), name)
    return dialect


def _cluster(items: Sequence[Item], admission: Admission, rules: RuleSet) -> Cluster:
    """What the run knows: the items, the context's objects, those that came with the rules."""
    context = admission.context
    given = [*context.namespaces, *context.objects, *rules.objects]
    namespaces = {
        str(get(value, ("metadata", "name"))): value
        for value in given
        if value.get("kind") == "Namespace" and value.get("apiVersion") == "v1"
    }
    namespaces |= {item.head.name: _shown(item.value) for item in items if _is_namespace(item.head)}
    resources: dict[tuple[str, str], Resource] = {}
    if any(built_in(item.head.group, item.head.kind) is None for item in items):
        crds = [item.value for item in items if item.head.kind == "CustomResourceDefinition"]
        crds += [value for value in given if value.get("kind") == "CustomResourceDefinition"]
        resources = resources_of_crds(crds)
    described = Cluster({}, namespaces, resources, context.default_namespace)
    objects: dict[Identity, Callable[[], Json]] = {}
    for value in given:
        head = head_of(value)
        objects[_identity(head, described)] = _constant(value)
    for item in items:
        objects[_identity(item.head, described)] = _loader(item)
    return Cluster(objects, namespaces, resources, context.default_namespace)


def _identity(head: Head, cluster: Cluster) -> Identity:
    return head.group, head.kind, cluster.namespace_of(head), head.name


def _loader(item: Item) -> Callable[[], Json]:
    return lambda: _shown(item.original)


def _constant(value: Json) -> Callable[[], Json]:
    return lambda: value


def _old_objects(admission: Admission) -> dict[Identity, Json]:
    """The objects that the items replace, for UPDATE."""
    context = admission.context
    if context.operation is not Operation.UPDATE:
        return {}
    described = Cluster(default_namespace=context.default_namespace)
    found: dict[Identity, Json] = {}
    for value in _files(context.old_objects):
        found[_identity(head_of(value), described)] = value
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


# ------------------------------------------------------------------------------------ small facts


def _is_target(item: Item, admission: Admission, function_config: Item | None) -> bool:
    return (
        is_target(item.head)
        and admission.match.may_fit(item.head)
        and not is_twin(item, function_config)
    )


def _value_of(item: Item) -> Json:
    """The object; what is wrong with it says which object it is."""
    try:
        return item.value
    except InputError as error:
        error.message = f"{item.head}: {error.message}"
        raise


def _is_namespace(head: Head) -> bool:
    return head.kind == "Namespace" and head.group == ""


def _may_be_dropped(head: Head) -> bool:
    return head.kind not in ("Namespace", "CustomResourceDefinition", "Kptfile")


def _is_local(value: Json) -> bool:
    return bool(
        get(value, ("metadata", "annotations", "config.kubernetes.io/local-config")) == "true"
    )


def _shown(value: Json) -> Json:
    return HiddenAnnotations().get(value)


def _check_empty(items: Sequence[Item], admission: Admission, report: Report) -> None:
    """An empty list deletes everything that was there before: only when it is asked for."""
    if admission.on_empty is OnEmpty.ALLOW or not items or not all(i.dropped for i in items):
        return
    for item in items:
        item.dropped = False
    report.findings.append(
        Finding(
            Cause.FAILED,
            True,
            "every object would be dropped, and an empty list deletes what is deployed; "
            "set onEmpty: Allow if that is meant",
        )
    )
