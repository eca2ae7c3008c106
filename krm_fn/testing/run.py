"""Run the cases of a suite: each is one run of the main job over what the case admits.

The rules of a suite are read and compiled once. A case edits nothing but its own objects, so that
cases are independent of each other and of their order.
Source: docs/spec/test.md sections 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from krm_fn import limits
from krm_fn.admission import Rule
from krm_fn.config.dialects import dialect_of, reader_of
from krm_fn.config.options import ObjectForm
from krm_fn.config.sources import RuleSet, Stage, collect
from krm_fn.errors import ConfigError, InputError, KrmFnError, RuleError, did_you_mean
from krm_fn.report.explanation import explanation, key_of
from krm_fn.run.admit import admit
from krm_fn.run.compile import SharedPlugins
from krm_fn.testing.compare import Admitted, Failure, compare
from krm_fn.testing.coverage import Coverage
from krm_fn.testing.reasons import reasons
from krm_fn.testing.suite import Case, Source, Suite
from krm_fn.testing.verdicts import compare_verdict
from krm_fn.wire import Item, Stream, read_stream


class CaseResult(NamedTuple):
    """What became of one case."""

    suite: Suite
    case: Case
    failures: tuple[Failure, ...] = ()
    error: str = ""
    """Why the case could not be run: a rule or an object that cannot be read."""

    @property
    def skipped(self) -> bool:
        return self.case.skip is not None

    @property
    def passed(self) -> bool:
        return not (self.failures or self.error or self.skipped)

    @property
    def place(self) -> str:
        """Where the case stands: `rules/krm-fn-test.yaml:12`."""
        return self.suite.place(self.case.path)


class Runner:
    """Runs cases of one suite, and keeps what they share: rules as read, plugins as compiled."""

    def __init__(
        self,
        suite: Suite,
        coverage: Coverage | None = None,
        *,
        replacing: Mapping[tuple[str, str, str, str], Rule] | None = None,
        explains: bool = True,
    ) -> None:
        """`replacing` are rules to be run in place of those of their names; `explains` says
        whether failures have reasons."""
        self._suite = suite
        self._coverage = coverage
        self._replacing = replacing or {}
        self._explains = explains
        self._plugins = SharedPlugins()
        self._rules: dict[object, RuleSet] = {}

    def run(self, case: Case) -> CaseResult:
        """Run one case; what is wrong with it is in the result."""
        result = CaseResult(self._suite, case)
        if case.skip is not None:
            return result
        try:
            with limits.deep_stack():
                admitted = self.admit(case, explains=self._coverage is not None)
                if self._coverage is not None:
                    self._coverage.add(admitted)
                failures = tuple(_failures(case, admitted))
                return result._replace(failures=self._with_reasons(case, failures))
        except RuleError as error:
            if case.expect.invalid is None:
                return result._replace(error=str(error))
            wanted = case.expect.invalid
            if wanted.check(str(error)):
                return result
            failure = Failure(("expect", "invalid"), f"invalid: {wanted}", (f"+{error}",))
            return result._replace(failures=(failure,))
        except KrmFnError as error:
            return result._replace(error=str(error))

    def rules(self) -> list[Rule]:
        """The rules that cases have named, once any of them has run."""
        rules = (rule for rule_set in self._rules.values() for rule in rule_set.rules)
        return list({key_of(rule.ref): rule for rule in rules}.values())

    def finish(self) -> None:
        """Leave out of the coverage what the suite gives a reason for."""
        if self._coverage is not None:
            self._coverage.excuse(self._suite.uncovered, self.rules())

    def _with_reasons(self, case: Case, failures: Sequence[Failure]) -> tuple[Failure, ...]:
        """The failures with the explanation of the rules concerned: the case runs once more."""
        if not failures or not self._explains:
            return tuple(failures)
        admitted = self.admit(case, explains=True)
        explained = explanation(admitted.report, admitted.rules)
        notes = self._departures(case)
        return tuple(
            failure._replace(why=(*reasons(case, failure, explained), *notes))
            for failure in failures
        )

    def _departures(self, case: Case) -> tuple[str, ...]:
        """Whether a result of Kyverno's holds where objects are seen as they are written."""
        options = case.options._replace(object_form=ObjectForm.AS_WRITTEN)
        if case.expect.verdict is None or options == case.options:
            return ()
        as_written = case._replace(options=options)
        if any(_failures(as_written, self.admit(as_written))):
            return ()
        return (
            "Kyverno sees objects without what the API server fills in, and so it would hold: "
            "--object-form AsWritten",
        )

    def admit(self, case: Case, *, explains: bool = False) -> Admitted:
        """Admit what a case names; `explains` records why rules matched.

        Raises KrmFnError for what cannot be read.
        """
        streams = list(_streams(case.sources))
        items = [item for stream in streams for item in stream.items if not item.dropped]
        stage = Stage(case.options, self._rules_of(case, items))
        if not stage.asks:
            raise ConfigError(f"no rule: name some in {self._suite.file} as spec.rules")
        before = {item: item.original for item in items}
        report = admit(streams, [stage], shared=self._plugins, explains=explains)
        return Admitted(items, before, report, stage.rules.rules)

    def _rules_of(self, case: Case, items: list[Item]) -> RuleSet:
        options = case.options
        named = bool(options.rules or case.rule_paths)
        if not named or any(dialect_of(i.head) or reader_of(i.head) for i in items):
            return collect(options, items, None, case.rule_paths)
        key = options.rules, case.rule_paths, options.base, options.context.static_manifests
        if key not in self._rules:
            rules = collect(options, (), None, case.rule_paths)
            rules.rules = [self._replacing.get(key_of(rule.ref), rule) for rule in rules.rules]
            self._rules[key] = rules
        return self._rules[key]


def _failures(case: Case, admitted: Admitted) -> Iterator[Failure]:
    if case.expect.verdict is not None:
        return compare_verdict(case.expect.verdict, admitted)
    return compare(case, admitted)


def _streams(sources: tuple[Source, ...]) -> Iterator[Stream]:
    """What a case admits, read anew: a run edits its streams."""
    for source in sources:
        stream = read_stream(source.text.data, source.text.name)
        if source.name:
            _pick(stream, source)
        yield stream


def _pick(stream: Stream, source: Source) -> None:
    """Leave one object of a stream. Raises InputError where it is not there."""
    known = [f"{item.head.kind}/{item.head.name}" for item in stream.items]
    kept = [
        item
        for item in stream.items
        if (source.kind or item.head.kind, source.name) == (item.head.kind, item.head.name)
    ]
    if len(kept) != 1:
        wanted = f"{source.kind}/{source.name}" if source.kind else source.name
        hint = did_you_mean(wanted, known) or f"; there are {', '.join(known[:_NAMED])}"
        raise InputError(f"holds {len(kept) or 'no'} {wanted}{hint}", source.text.name)
    for item in stream.items:
        if item is not kept[0]:
            item.dropped = True


_NAMED: Final = 10

Wanted = Callable[[str], bool]


def run_suite(
    suite: Suite,
    wanted: Wanted,
    *,
    fail_fast: bool = False,
    coverage: Coverage | None = None,
) -> Iterator[CaseResult]:
    """The results of a suite's cases in order; `wanted` is asked about "suite/case".

    `coverage` takes what the cases have tried of the rules.
    """
    runner = Runner(suite, coverage)
    for case in suite.cases:
        if not wanted(f"{suite.name}/{case.name}"):
            continue
        result = runner.run(case)
        yield result
        if fail_fast and (result.failures or result.error):
            break
    runner.finish()
