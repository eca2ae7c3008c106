"""The main job on one page: read, configure, admit each item, write, report.

`admit` takes streams through all rules and edits their items in place; `run` is the KRM function
around it: a ResourceList in, the list with results out, and an exit status.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

from krm_fn import limits, work
from krm_fn.admission import (
    Cause,
    Chain,
    Cluster,
    Finding,
    Plugin,
    RequestAttributes,
    RuleRef,
)
from krm_fn.admission.objectview import view_of
from krm_fn.config.dialects import is_configuration, is_target
from krm_fn.config.options import (
    Mode,
    OnEmpty,
    Options,
    PodTemplates,
    from_function_config,
)
from krm_fn.config.sources import (
    IMAGE_RULES,
    RuleSet,
    Stage,
    collect,
    image_stage,
    is_twin,
)
from krm_fn.errors import ConfigError, InputError, KrmFnError
from krm_fn.kube.podtemplates import has_templates
from krm_fn.printable import one_line
from krm_fn.report.model import ObjectReport, Outcome, Report
from krm_fn.report.redact import Redactor
from krm_fn.report.results import results
from krm_fn.report.text import lines
from krm_fn.run.judge import Runner, put_previews, value_of
from krm_fn.run.knowledge import Caller, compile_rules, known_cluster, not_served, old_objects
from krm_fn.sdk import NotAResourceListError, ResourceList, parse_resource_list
from krm_fn.system.deadline import deadline
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
    config = stream.function_config
    options = from_function_config(config)
    with deadline(options.limits.timeout, "spec.limits.timeout gives more"):
        stages = stages_of(options, [stream], (), config, image_rules)
        report = admit([stream], stages, config, Caller.FUNCTION)
    if options.kustomize_validator:
        resource_list.drop_all()
    resource_list.results = results(report)
    return report


def error_lines(error: KrmFnError) -> list[str]:
    """An error as lines: each problem starts with `error`, what belongs to it is indented."""
    return [one_line(line) for line in error.lines()]


def stages_of(
    options: Options,
    streams: Sequence[Stream],
    rule_paths: Sequence[str] = (),
    function_config: Item | None = None,
    image_rules: str = "",
) -> list[Stage]:
    """The stages of a run with one configuration: its own, and the image's behind it.

    `rule_paths` are those of the command line. Raises ConfigError and RuleError.
    """
    items = [item for stream in streams for item in stream.items]
    rules = collect(options, items, function_config, rule_paths)
    return staged(Stage(options, rules), image_rules=image_rules)


def staged(*stages: Stage, image_rules: str = "") -> list[Stage]:
    """The stages of a run, the least trusted first; the rules of the image come last.

    Raises ConfigError where there is no rule at all.
    """
    ordered = [stage for stage in stages if stage.rules.rules]
    if image_rules:
        image = image_stage(image_rules)
        for stage in ordered:
            stage.rules.leave_to(image.rules)
        ordered = [stage for stage in ordered if stage.rules.rules] + [image]
    if not ordered:
        raise ConfigError(NO_RULES, details=EXAMPLE.splitlines())
    return ordered


def admit(
    streams: Sequence[Stream],
    stages: Sequence[Stage],
    function_config: Item | None = None,
    caller: Caller = Caller.COMMAND,
    *,
    lint: bool = False,
) -> Report:
    """Admit every item of the streams and edit them in place, one stage after the other.

    `lint`: also look for what depends on the order of rules that have none.
    Raises KrmFnError for what cannot be read; what rules say is in the report.
    """
    report = Report()
    with _bounded(streams, stages):
        for n in range(len(stages)):
            # Only to those who wrote the functionConfig is its twin among the items no object.
            config = function_config if not stages[n].is_image else None
            one = _Stage(streams, stages[n:], config, caller, lint=lint).run()
            report = one if n == 0 else report.followed_by(one)
    if len(stages) > 1:
        order = {item: n for n, item in enumerate(i for s in streams for i in s.items)}
        report.objects.sort(key=lambda entry: order[entry.item])
    report.redactor = _redactor(streams, stages)
    return report


def _bounded(
    streams: Iterable[Stream], stages: Iterable[Stage]
) -> AbstractContextManager[work.Work]:
    """A run on what was read: the larger that is, the more its rules may do."""
    size = sum(len(stream.text) for stream in streams)
    return work.bounded(size + sum(stage.rules.size for stage in stages))


def _redactor(streams: Sequence[Stream], stages: Sequence[Stage]) -> Redactor:
    """What hides the Secrets that the rules could see."""
    items = [item for stream in streams for item in stream.items]
    objects = [value for s in stages for value in (*s.options.context.objects, *s.rules.objects)]
    rules = [rule.value for s in stages for rule in (*s.rules.rules, *s.rules.readable)]
    return Redactor(items, objects, rules)


_ROUNDS: Final = 4
"""How often a stage starts again because it dropped what it had decided by."""


class _Stage:
    """One stage: its rules compiled, and each item admitted by them."""

    def __init__(
        self,
        streams: Sequence[Stream],
        stages: Sequence[Stage],
        function_config: Item | None,
        caller: Caller,
        *,
        lint: bool,
    ) -> None:
        self.streams = streams
        self.items = [i for stream in streams for i in stream.items if not i.dropped]
        self.stages = stages
        self.options = stages[0].options
        self.rules = stages[0].rules
        self.caller = caller
        self.lint = lint
        static = self.rules.has_static
        self.targets = [
            item for item in self.items if _is_target(item, self.options, function_config, static)
        ]
        self.old_objects = old_objects(self.options)

    def run(self) -> Report:
        before = {item: item.replaced for item in self.items}
        dropped: dict[Item, ObjectReport] = {}
        for _ in range(_ROUNDS):
            report, read = self._admit(dropped)
            gone = {e.item: e for e in report.objects if e.outcome is Outcome.DROPPED}
            again = any(item in read for item in gone if item not in dropped)
            dropped = gone
            if not again:
                return report
            # Others were decided by an object that does not reach the cluster.
            for item in self.items:
                if item not in dropped:
                    item.replace(before[item] or item.original)
        message = "objects are dropped by which others were decided; set onReject: Fail to see them"
        report.findings.append(Finding(Cause.FAILED, True, message))
        return report

    def _admit(self, dropped: Mapping[Item, ObjectReport]) -> tuple[Report, Container[Item]]:
        options = self.options
        known = known_cluster(self.items, self.stages, self.caller)
        plugins, findings = compile_rules(
            self.rules, options, known.cluster, known.served, lint=self.lint
        )
        context = options.context
        attributes = RequestAttributes(context.operation, context.user, options.strict)
        chain = Chain(plugins, attributes, known.served)
        report = Report(
            len(self.targets),
            len(self.rules.rules),
            findings=[*self.rules.findings, *findings],
            with_changes=options.results.changes,
            limit=options.results.limit,
        )
        runner = Runner(chain, options, known.cluster, self.old_objects, self.caller)
        targets = [item for item in self.targets if item not in dropped]
        reports = {**dropped, **runner.admit_all(targets)}
        report.objects = [reports[item] for item in self.targets if item in reports]
        if options.pod_templates is PodTemplates.PREVIEW and options.mode is Mode.MUTATE:
            put_previews(self.streams, runner.previews)
        report.findings += not_served(self.targets, options.context.kubernetes_version)
        report.findings += runner.findings()
        report.findings += known.findings()
        report.findings += self._without_candidates(plugins, known.cluster)
        _check_empty(self.items, options, report)
        return report, known.stored.read

    def _without_candidates(self, plugins: Sequence[Plugin], cluster: Cluster) -> Iterator[Finding]:
        """What there is to say of rules that could see none of the objects."""
        options = self.options
        heads = [(item.head, cluster.namespace_of(item.head)) for item in self.targets]
        pods = [
            (head, (Head("v1", "Pod", namespace, ""), namespace))
            for head, namespace in heads
            if has_templates(head.group, head.kind, options.extra_pod_templates)
        ]
        told: set[RuleRef] = set()
        if options.pod_templates is PodTemplates.IGNORE:
            for note in _templates_left(plugins, pods):
                told.update(note.rules)
                yield note
        else:
            heads += [pod for _, pod in pods]
        if not heads:
            return
        for plugin in plugins:
            for finding in plugin.unseen(heads):
                if finding.cause is not Cause.NOTE or told.isdisjoint(finding.rules):
                    yield finding


def lint(streams: Sequence[Stream], options: Options, rule_paths: Sequence[str]) -> Report:
    """What may be wrong with rules, all of it; on sample objects also what they do to them.

    Raises KrmFnError where a rule cannot be read or does not compile.
    """
    stage = Stage(options, collect(options, [], None, rule_paths))
    known = known_cluster([], [stage])
    rules = stage.rules
    with _bounded([], [stage]):
        _, findings = compile_rules(rules, options, known.cluster, known.served, lint=True)
    report = Report(rules=len(rules.rules), with_changes=False)
    if any(stream.items for stream in streams):
        report = admit(streams, [stage], lint=True)
        messages = {finding.message for finding in findings}
        report.findings = [f for f in report.findings if f.message not in messages]
    report.findings = [*findings, *report.findings]
    return report


def show(streams: Sequence[Stream], options: Options) -> tuple[list[Json], Report]:
    """The objects as rules see them, and what is wrong with them. Nothing is edited.

    Raises KrmFnError for what cannot be read.
    """
    items = [item for stream in streams for item in stream.items]
    known = known_cluster(items, [Stage(options, RuleSet())])
    shown: list[Json] = []
    report = Report(with_changes=False, redactor=Redactor(items))
    for item in items:
        if not options.match.may_fit(item.head):
            continue
        value = value_of(item)
        if not options.match.fits(item.head, value):
            continue
        report.total += 1
        namespace = known.cluster.namespace_of(item.head)
        view = view_of(value, namespace, known.served, strict=options.strict)
        shown.append(view.served(value))
        if view.findings:
            outcome = Outcome.REJECTED if options.strict else Outcome.UNCHANGED
            report.objects.append(ObjectReport(item, namespace, outcome, view.findings))
    return shown, report


def _is_target(item: Item, options: Options, function_config: Item | None, static: bool) -> bool:
    return (
        (is_target(item.head) or (static and is_configuration(item.head)))
        and options.match.may_fit(item.head)
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


def _check_empty(items: Sequence[Item], options: Options, report: Report) -> None:
    """An empty list deletes everything that was there before: only when it is asked for."""
    if options.on_empty is OnEmpty.ALLOW or not items or not all(i.dropped for i in items):
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
