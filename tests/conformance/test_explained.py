"""Explaining changes nothing: the vectors once more, with plugins that record why.

Every rule that does not match has a criterion that ends it, and one that matches has none.
Source: docs/spec/explain.md section 6.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import run
from formats import appmesh, policy, sidecarset

from krm_fn.admission import Request, Response
from krm_fn.admission.trace import Trace
from krm_fn.dialects.appmesh.plugin import Injector
from krm_fn.dialects.modrule.engine import EngineOutcome, RuleEngine
from krm_fn.dialects.sidecarset.plugin import Kruise
from krm_fn.values import Json

HERE = Path(__file__).resolve().parent
FILES = [
    path
    for path in sorted(HERE.glob("*/*.jsonl"))
    if path.parent.name in ("appmesh", "policies", "sidecarset") or path.stem in ("rules", "scope")
]


def traced_request(*arguments: Any, **fields: Any) -> Request:
    return Request(*arguments, **fields)._replace(trace=Trace())


@pytest.fixture
def explaining(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the formats ask is asked with a trace, which is looked at afterwards."""
    for module in (appmesh, policy, sidecarset):
        monkeypatch.setattr(module, "Request", traced_request)
    for plugin in (Injector, Kruise):
        monkeypatch.setattr(plugin, "admit", checked(plugin.admit))
    run_rules = RuleEngine.run

    def traced(
        self: RuleEngine, document: Json, namespace: str, trace: Trace | None = None
    ) -> EngineOutcome:
        trace = Trace()
        outcome = run_rules(self, document, namespace, trace)
        rejects = {rule.ref for rule in self._rejects}
        for record in trace:
            if record.ref not in rejects:
                assert (record.failing is None) == (record.ref in outcome.matched)
        return outcome

    monkeypatch.setattr(RuleEngine, "run", traced)


def checked(admit: Callable[..., Response]) -> Callable[..., Response]:
    def asked(self: Any, request: Request, *arguments: Any, **named: Any) -> Response:
        response = admit(self, request, *arguments, **named)
        assert request.trace is not None
        for record in request.trace:
            if not any(finding.denies for finding in response.findings):
                held = record.failing is None or record.failing.held is None
                assert held == (record.ref in response.matched)
        return response

    return asked


@pytest.mark.usefixtures("explaining")
@pytest.mark.parametrize("path", FILES, ids=[f"{p.parent.name}/{p.name}" for p in FILES])
def test_an_explained_case_answers_as_the_real_system_did(path: Path) -> None:
    failures = []
    for line in run.lines(path):
        case = json.loads(line)
        verdict = run.check(run.format_of(path, case), case)
        if not verdict.ok and not verdict.skip:
            failures.append(f"{case['id']}: expected {verdict.expected}, got {verdict.actual}")
    assert not failures, f"{len(failures)} failed:\n" + "\n".join(failures[:20])
