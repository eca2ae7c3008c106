"""Explaining is the same admission: whole runs over the examples, with and without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from krm_fn.cli.configuration import read_options
from krm_fn.config.options import Mode, Options, PodTemplates
from krm_fn.report.explanation import RuleOutcome, explanation, key_of
from krm_fn.report.model import ObjectReport, Report
from krm_fn.run.admit import admit, stages_of
from krm_fn.wire import Stream, read_stream

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def cases() -> Iterator[tuple[str, list[Path], list[Path], Path | None]]:
    for folder in sorted((EXAMPLES / "policies").iterdir()):
        if folder.is_dir():
            manifests = [p for p in sorted(folder.glob("*.yaml")) if p.name != "policy.yaml"]
            yield folder.name, manifests, [folder / "policy.yaml"], None
    yield (
        "demo",
        sorted((EXAMPLES / "demo/manifests").glob("*.yaml")),
        [EXAMPLES / "demo/rules"],
        None,
    )
    for name in ("sidecarset", "appmesh", "pods"):
        folder = EXAMPLES / name
        manifests = sorted(folder.glob("*deployment.yaml")) + sorted(folder.glob("cronjob.yaml"))
        rules = [p for p in sorted(folder.glob("*.yaml")) if p.name in RULES]
        yield name, manifests, rules, folder / "admission.yaml"


RULES = ("mesh.yaml", "sidecarsets.yaml", "rules.yaml")
CASES = list(cases())


def ran(
    manifests: list[Path],
    rules: list[Path],
    config: Path | None,
    templates: PodTemplates,
    *,
    explains: bool,
) -> tuple[Report, list[Stream]]:
    streams = [read_stream(path.read_bytes(), str(path)) for path in manifests]
    options = Options() if config is None else read_options(str(config))
    options = options._replace(mode=Mode.VALIDATE, pod_templates=templates, rules=())
    stages = stages_of(options, streams, [str(path) for path in rules])
    return admit(streams, stages, explains=explains), streams


def told(entry: ObjectReport) -> tuple[object, ...]:
    changes = [(change.path, change.new, change.rules) for change in entry.changes]
    return entry.outcome, entry.findings, changes, entry.matched


@pytest.mark.parametrize("templates", list(PodTemplates))
@pytest.mark.parametrize(
    ("manifests", "rules", "config"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_an_explained_run_says_and_does_the_same(
    manifests: list[Path], rules: list[Path], config: Path | None, templates: PodTemplates
) -> None:
    plain, _ = ran(manifests, rules, config, templates, explains=False)
    traced, _ = ran(manifests, rules, config, templates, explains=True)
    assert traced.findings == plain.findings
    assert traced.unmatched == plain.unmatched
    by_head = {(entry.head, str(entry.item.origin)): entry for entry in plain.objects}
    for entry in traced.objects:
        before = by_head.pop((entry.head, str(entry.item.origin)), None)
        if before is None:
            assert not entry.findings
            assert not entry.changes
        else:
            assert told(entry) == told(before)
    assert not by_head


@pytest.mark.parametrize(
    ("manifests", "rules", "config"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_rule_that_did_not_match_has_one_criterion_that_ends_it(
    manifests: list[Path], rules: list[Path], config: Path | None
) -> None:
    traced, _ = ran(manifests, rules, config, PodTemplates.MUTATE, explains=True)
    for one in explanation(traced, ()).objects:
        matched = {key_of(ref) for ref in one.entry.matched}
        for rule in one.rules:
            if rule.outcome is RuleOutcome.NOT_MATCHED:
                assert rule.failing is not None
                assert rule.criteria[-1] is rule.failing or rule.ref.dialect == "policies"
            elif rule.outcome in (RuleOutcome.CHANGED, RuleOutcome.DENIED):
                assert rule.failing is None
                assert key_of(rule.ref) in matched
