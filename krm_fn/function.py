"""The main job on one page: read, configure, admit each item, write, report.

`admit` takes streams through all rules and edits their items in place; `run` is the KRM function
around it: a ResourceList in, the list with results out, and an exit status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from krm_fn import limits
from krm_fn.admission import (
    Cause,
    Chain,
    Circumstances,
    Finding,
    Plugin,
    RuleRef,
    Trace,
)
from krm_fn.admission.sight import look
from krm_fn.config.admission import (
    Admission,
    Mode,
    OnEmpty,
    PodTemplates,
    from_function_config,
)
from krm_fn.config.dialects import is_target
from krm_fn.config.sources import (
    IMAGE_RULES,
    RuleSet,
    collect,
    is_twin,
)
from krm_fn.errors import ConfigError, InputError, KrmFnError
from krm_fn.kube.podtemplates import has_templates
from krm_fn.prepare import compile_rules, known_cluster, old_objects, served_form
from krm_fn.report.model import ObjectReport, Outcome, Report
from krm_fn.report.results import results
from krm_fn.report.text import lines
from krm_fn.runner import Runner, put_previews, value_of
from krm_fn.saying import one_line
from krm_fn.sdk import NotAResourceListError, ResourceList, parse_resource_list
from krm_fn.values import Json
from krm_fn.wire import Head, Item, Stream

NO_RULES: Final = (
    "no rule anywhere: give one as functionConfig, in its spec.rules, among the items, or with -r. "
    "For example, as functionConfig:"
)
EXAMPLE: Final = """\
apiVersion: krm-fn.dev/v1alpha1
kind: Admission
metadata: {name: rules}
spec:
  rules:
  - paths: [rules/]"""


class Done(NamedTuple):
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
    return [one_line(line) for line in error.lines()]


def admit(
    streams: Sequence[Stream],
    admission: Admission,
    function_config: Item | None = None,
    image_rules: str = "",
    rule_paths: Sequence[str] = (),
    *,
    lint: bool = False,
) -> Report:
    """Admit every item of the streams and edit them in place.

    `lint`: also look for what depends on the order of rules that have none.
    Raises KrmFnError for what cannot be read; what rules say is in the report.
    """
    items = [item for stream in streams for item in stream.items]
    rules = collect(admission, items, function_config, image_rules, rule_paths)
    if not rules.rules:
        raise ConfigError(NO_RULES, details=EXAMPLE.splitlines())
    cluster = known_cluster(items, admission, rules)
    served = served_form(admission, cluster)
    plugins, findings = compile_rules(rules, admission, cluster, served, lint=lint)
    context = admission.context
    circumstances = Circumstances(context.operation, context.user, admission.strict)
    chain = Chain(plugins, circumstances, Trace(), served)
    targets = [item for item in items if _is_target(item, admission, function_config)]
    report = Report(
        len(targets),
        len(rules.rules),
        findings=findings,
        with_changes=admission.results.changes,
        limit=admission.results.limit,
    )
    runner = Runner(chain, admission, cluster, old_objects(admission))
    reports = runner.admit_all(targets)
    report.objects = [reports[item] for item in targets if item in reports]
    if admission.pod_templates is PodTemplates.PREVIEW and admission.mode is Mode.MUTATE:
        put_previews(streams, runner.previews)
    heads = [(item.head, cluster.namespace_of(item.head)) for item in targets]
    pods = [
        (head, (Head("v1", "Pod", namespace, ""), namespace))
        for head, namespace in heads
        if has_templates(head.group, head.kind, admission.extra_pod_templates)
    ]
    told: set[RuleRef] = set()
    if admission.pod_templates is PodTemplates.IGNORE:
        left = list(_templates_left(plugins, pods))
        told.update(rule for note in left for rule in note.rules)
        report.findings += left
    else:
        heads += [pod for _, pod in pods]
    if heads:
        unseen = (finding for plugin in plugins for finding in plugin.unseen(heads))
        report.findings += (
            f for f in unseen if f.cause is not Cause.NOTE or told.isdisjoint(f.rules)
        )
    _check_empty(items, admission, report)
    return report


def lint(streams: Sequence[Stream], admission: Admission, rule_paths: Sequence[str]) -> Report:
    """What may be wrong with rules, all of it; on sample objects also what they do to them.

    Raises KrmFnError where a rule cannot be read or does not compile.
    """
    rules = collect(admission, [], None, "", rule_paths)
    cluster = known_cluster([], admission, rules)
    served = served_form(admission, cluster)
    _, findings = compile_rules(rules, admission, cluster, served, lint=True)
    report = Report(rules=len(rules.rules), with_changes=False)
    if any(stream.items for stream in streams):
        report = admit(streams, admission, rule_paths=rule_paths, lint=True)
        known = {finding.message for finding in findings}
        report.findings = [f for f in report.findings if f.message not in known]
    report.findings = [*findings, *report.findings]
    return report


def show(streams: Sequence[Stream], admission: Admission) -> tuple[list[Json], Report]:
    """The objects as rules see them, and what is wrong with them. Nothing is edited.

    Raises KrmFnError for what cannot be read.
    """
    items = [item for stream in streams for item in stream.items]
    cluster = known_cluster(items, admission, RuleSet([], []))
    served = served_form(admission, cluster)
    shown: list[Json] = []
    report = Report(with_changes=False)
    for item in items:
        if not admission.match.may_fit(item.head):
            continue
        value = value_of(item)
        if not admission.match.fits(item.head, value):
            continue
        report.total += 1
        namespace = cluster.namespace_of(item.head)
        sight = look(value, namespace, served, strict=admission.strict)
        shown.append(sight.shown(value))
        if sight.findings:
            outcome = Outcome.REJECTED if admission.strict else Outcome.UNCHANGED
            report.objects.append(ObjectReport(item, namespace, outcome, sight.findings))
    return shown, report


def _is_target(item: Item, admission: Admission, function_config: Item | None) -> bool:
    return (
        is_target(item.head)
        and admission.match.may_fit(item.head)
        and not is_twin(item, function_config)
    )


_NAMED: Final = 3


def _templates_left(
    plugins: Sequence[Plugin], pods: Sequence[tuple[Head, tuple[Head, str]]]
) -> Iterator[Finding]:
    """A note for each rule that only Pods could match where templates are left as they are."""
    for plugin in plugins:
        rules = plugin.pods_only()
        if not rules:
            continue
        left = [workload for workload, pod in pods if plugin.prefilter.wants(*pod)]
        if not left:
            continue
        named = ", ".join(f"{head.kind} {head.name}" for head in left[:_NAMED])
        named += ", ..." if len(left) > _NAMED else ""
        message = (
            f"matches Pods only; templates of Pods stay as they are ({len(left)}: {named}); set "
            "podTemplates: Mutate or Preview to admit them as Pods"
        )
        yield from (Finding(Cause.NOTE, False, message, (rule,)) for rule in rules)


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
