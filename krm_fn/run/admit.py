"""The main job on one page: the rules of each owner are a stage; every stage admits every item.

Collect the rules, compile them, resolve the targets, admit each through the chain, judge the
verdict, report. What the parts do is theirs.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final

from krm_fn import work
from krm_fn.admission import Cause, Chain, Finding, Operation, Plugin, RequestAttributes
from krm_fn.admission.coverage import coverage
from krm_fn.admission.quotause import CountsQuotas
from krm_fn.config.options import Mode, OnEmpty, Options, PodTemplates
from krm_fn.config.sources import Stage, collect, image_stage
from krm_fn.errors import ConfigError
from krm_fn.report.model import ObjectReport, Outcome, Report
from krm_fn.report.redact import Redactor
from krm_fn.run.caller import Caller
from krm_fn.run.compile import SharedPlugins, compile_rules
from krm_fn.run.judge import Judge
from krm_fn.run.knowledge import knowledge_of
from krm_fn.run.oldobjects import old_objects
from krm_fn.run.previews import put_previews
from krm_fn.run.target import Target, coverage_of, targets_of
from krm_fn.run.versions import not_served
from krm_fn.wire import Item, Stream

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
    ordered = [stage for stage in stages if stage.asks]
    if image_rules:
        image = image_stage(image_rules)
        for stage in ordered:
            stage.rules.leave_to(image.rules)
        ordered = [stage for stage in ordered if stage.asks] + [image]
    if not ordered:
        if any(stage.options.strict for stage in stages):
            return list(stages[-1:])  # what the API server itself would refuse
        raise ConfigError(NO_RULES, details=EXAMPLE.splitlines())
    return ordered


def admit(
    streams: Sequence[Stream],
    stages: Sequence[Stage],
    function_config: Item | None = None,
    caller: Caller = Caller.COMMAND,
    *,
    lint: bool = False,
    explains: bool = False,
    shared: SharedPlugins | None = None,
) -> Report:
    """Admit every item of the streams and edit them in place, one stage after the other.

    `lint`: also look for what depends on the order of rules that have none. `explains`: every rule
    is asked about every object, and the reports have traces. `shared` are the plugins of earlier
    runs.
    Raises KrmFnError for what cannot be read; what rules say is in the report.
    """
    report = Report()
    with bounded(streams, stages, times=_EXPLAINING if explains else 1):
        for n in range(len(stages)):
            # Only to those who wrote the functionConfig is its twin among the items no object.
            config = function_config if not stages[n].is_image else None
            stage = _Stage(
                streams, stages[n:], config, caller, lint=lint, explains=explains, shared=shared
            )
            one = stage.run()
            report = one if n == 0 else report.followed_by(one)
    if len(stages) > 1:
        order = {item: n for n, item in enumerate(i for s in streams for i in s.items)}
        report.objects.sort(key=lambda entry: order[entry.item])
    report.redactor = _redactor(streams, stages)
    report.streams = tuple(streams)
    return report


def bounded(
    streams: Iterable[Stream], stages: Iterable[Stage], *, times: int = 1
) -> AbstractContextManager[work.Work]:
    """A run on what was read: the larger that is, the more its rules may do."""
    size = sum(len(stream.text) for stream in streams)
    return work.bounded(times * (size + sum(stage.rules.size for stage in stages)))


def _redactor(streams: Sequence[Stream], stages: Sequence[Stage]) -> Redactor:
    """What hides the Secrets that the rules could see."""
    items = [item for stream in streams for item in stream.items]
    objects = [value for s in stages for value in (*s.options.context.objects, *s.rules.objects)]
    rules = [rule.value for s in stages for rule in (*s.rules.rules, *s.rules.bindings)]
    return Redactor(items, objects, rules)


_EXPLAINING: Final = 4
"""How much more than others a run may do that explains."""

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
        explains: bool = False,
        shared: SharedPlugins | None = None,
    ) -> None:
        self._streams = streams
        self._items = [i for stream in streams for i in stream.items if not i.dropped]
        self._stages = stages
        self._options = stages[0].options
        self._rules = stages[0].rules
        self._function_config = function_config
        self._caller = caller
        self._lint = lint
        self._explains = explains
        self._shared = shared
        self._old_objects = old_objects(self._options)

    def run(self) -> Report:
        before = {item: item.replaced for item in self._items}
        dropped: dict[Item, ObjectReport] = {}
        for _ in range(_ROUNDS):
            report, read = self._admit(dropped)
            gone = {e.item: e for e in report.objects if e.outcome is Outcome.DROPPED}
            again = any(item in read for item in gone if item not in dropped)
            dropped = gone
            if not again:
                return report
            # Others were decided by an object that does not reach the cluster.
            for item in self._items:
                if item not in dropped:
                    item.replace(before[item] or item.original)
        message = "objects are dropped by which others were decided; set onReject: Fail to see them"
        report.findings.append(Finding(Cause.FAILED, True, message))
        return report

    def _admit(self, dropped: Mapping[Item, ObjectReport]) -> tuple[Report, Container[Item]]:
        """The report, and the items that rules have read beside the object they were asked about.

        `dropped` are the items that an earlier round has dropped.
        """
        options, rules = self._options, self._rules
        known = knowledge_of(self._items, self._stages, self._caller)
        plugins, findings = compile_rules(self._stages, known, lint=self._lint, shared=self._shared)
        targets = list(
            targets_of(self._items, options, rules, known.cluster, self._function_config)
        )
        attributes = RequestAttributes(
            options.context.operation,
            options.context.user,
            options.strict,
            options.write_defaults,
        )
        chain = Chain(plugins, attributes, known.served, explains=self._explains)
        judge = Judge(chain, options, known.cluster, self._old_objects, self._caller)
        reports = {**dropped, **judge.admit_all([t for t in targets if t.item not in dropped])}
        if options.pod_templates is PodTemplates.PREVIEW and options.mode is Mode.MUTATE:
            put_previews(self._streams, judge.previews)
        asked = [target for target in targets if target.item not in judge.skipped]
        unmatched = self._coverage(plugins, asked, reports.values())
        notes = [finding for finding in unmatched if finding.cause is Cause.NOTE]
        counting = [plugin for plugin in plugins if isinstance(plugin, CountsQuotas)]
        report = Report(
            len(targets),
            len(rules.rules),
            [reports[target.item] for target in targets if target.item in reports],
            [
                *rules.findings,
                *findings,
                *not_served(targets, options.context.kubernetes_version),
                *judge.findings(),
                *(finding for plugin in counting for finding in plugin.quota_findings()),
                *known.findings(),
                *(finding for finding in unmatched if finding.cause is not Cause.NOTE),
            ],
            with_changes=options.results.changes,
            limit=options.results.limit,
            unmatched=notes,
            refs=tuple(rule.ref for rule in rules.rules),
            quotas=[use for plugin in counting for use in plugin.quota_use()],
        )
        _check_empty(self._items, options, report)
        return report, known.stored.read

    def _coverage(
        self,
        plugins: Sequence[Plugin],
        targets: Sequence[Target],
        reports: Iterable[ObjectReport],
    ) -> list[Finding]:
        """What there is to say of rules that saw or matched none of the objects."""
        subjects, templates = coverage_of(targets, self._options, self._caller)
        matched = {ref for entry in reports for ref in entry.matched}
        operations = {self._operation(target) for target in targets}
        scopes = (scope for plugin in plugins for scope in plugin.scopes)
        return coverage(scopes, subjects, matched, operations, templates)

    def _operation(self, target: Target) -> Operation:
        operation = self._options.context.operation
        if operation is Operation.UPDATE and target.subject.identity not in self._old_objects:
            return Operation.CREATE
        return operation


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
