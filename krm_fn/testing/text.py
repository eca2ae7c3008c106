"""Results for people: a line a suite, failures in full, the closing line.

A failure says, in this order: the case, what was expected, what came (as a diff), why, and where.
Source: docs/spec/test.md section 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.printable import one_line
from krm_fn.report.model import count
from krm_fn.testing.compare import Failure
from krm_fn.testing.run import CaseResult
from krm_fn.testing.suite import Suite


def suite_lines(suite: Suite, results: Sequence[CaseResult], *, verbose: bool) -> Iterator[str]:
    """What there is to say of one suite: `ok   rules/images  6 cases`, and what failed."""
    bad = [result for result in results if result.failures or result.error]
    skipped = [result for result in results if result.skipped]
    word = "FAIL" if bad else "ok  "
    cases = count(len(results), "case")
    left_out = f", {len(skipped)} skipped" if skipped else ""
    yield f"{word} {one_line(suite.file)} ({one_line(suite.name)})  {cases}{left_out}"
    if verbose:
        for result in results:
            state = "skip" if result.skipped else "ok" if result.passed else "FAIL"
            why = f" ({one_line(result.case.skip or '')})" if result.case.skip else ""
            yield f"  {state:4} {one_line(result.case.name)}{why}"
    for result in bad:
        yield ""
        yield from case_lines(result)
    if bad:
        yield ""


def case_lines(result: CaseResult) -> Iterator[str]:
    """A case that failed, in full."""
    yield f"FAIL {one_line(result.suite.name)}: {one_line(result.case.name)}"
    if result.error:
        for n, line in enumerate(result.error.splitlines()):
            yield f"  {'error' if n == 0 else '':9} {one_line(line)}"
        yield f"  {'where':9} {one_line(result.place)}"
        return
    for failure in result.failures:
        yield from _failure_lines(result, failure)


def _failure_lines(result: CaseResult, failure: Failure) -> Iterator[str]:
    yield f"  {'expected':9} {one_line(failure.expected)}"
    for n, line in enumerate(failure.came):
        yield f"  {'came' if n == 0 else '':9} {one_line(line)}"
    for n, line in enumerate(failure.why):
        yield f"  {'why' if n == 0 else '':9} {one_line(line)}"
    places = [result.suite.place((*result.case.path, *failure.field))]
    places += [f"{ref} [{ref.origin}]" for ref in failure.rules if ref.origin is not None]
    for n, place in enumerate(places):
        yield f"  {'where' if n == 0 else '':9} {one_line(place)}"


def summary(results: Sequence[CaseResult], unreadable: int = 0, covered: str = "") -> str:
    """`12 passed, 1 failed, 0 skipped (90 % of rules' criteria covered)`."""
    failed = sum(bool(result.failures or result.error) for result in results)
    skipped = sum(result.skipped for result in results)
    text = f"{len(results) - failed - skipped} passed, {failed} failed, {skipped} skipped"
    if unreadable:
        text += f", {count(unreadable, 'suite')} unreadable"
    return f"{text} ({covered})" if covered else text
