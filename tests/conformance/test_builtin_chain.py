"""The vectors of built-in plugins through the whole chain, as a run calls it.

The format `builtin` asks the plugins themselves; here the dialect hands them to the chain, which
calls them around a webhook. Nothing that they set may be written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonpatch
import pytest
import run
from compiling import compile_with
from formats.builtin import Server, head_of, without_chance

from krm_fn.admission import (
    Cause,
    Chain,
    Cluster,
    Finding,
    Phase,
    Prefilter,
    Request,
    RequestAttributes,
    Response,
    RuleRef,
    Selection,
    Step,
    Verdict,
)
from krm_fn.config.options import COMPLETABLE
from krm_fn.dialects.builtin import DIALECT
from krm_fn.values import Json

HERE = Path(__file__).resolve().parent / "builtin"
FILES = sorted(HERE.glob("*.jsonl"))


class Webhook:
    """A webhook that makes a patch once, and keeps what it was shown last."""

    name = "webhook"
    phase = Phase.MUTATING_WEBHOOK
    prefilter = Prefilter([Selection()])
    scopes = ()
    ref = RuleRef("test", "Webhook", "", "webhook")

    def __init__(self, name: str, patch: Any = None) -> None:
        self.order = (name, name)
        self.patch = patch
        self.shown: Json = {}

    def admit(self, request: Request, cluster: Cluster, only: Any = None) -> Response:
        self.shown = request.object
        if self.patch is None:
            return Response(reinvocable=frozenset({"again"}))
        patched = jsonpatch.apply_patch(request.object, self.patch)
        return Response(patched, (Step((self.ref,), patched),))


def chain_of(
    server: Server, case: dict[str, Any], *webhooks: Webhook, writes: bool = False
) -> Chain:
    compiled = compile_with(
        DIALECT,
        [],
        server.cluster,
        case.get("plugins"),
        served=server.served,
        kubernetes_version=".".join(case["kubernetes"].split(".")[:2]),
        complete=frozenset(COMPLETABLE),
    )
    attributes = RequestAttributes(writes_defaults=writes)
    return Chain([*compiled.plugins, *webhooks], attributes, server.served)


def admitted(case: dict[str, Any]) -> tuple[Verdict, Json]:
    """The verdict on a case's object, and what the last webhook was shown at last."""
    server, last = Server(case), Webhook("last")
    chain = chain_of(server, case, Webhook("first", case.get("webhookPatch")), last)
    subject = server.cluster.subject_of(head_of(case["object"]))
    return chain.admit(subject, case["object"], server.cluster), last.shown


def is_creation(case: dict[str, Any]) -> bool:
    return case.get("operation") == "CREATE" and not case.get("subresource")


def has_spent_quota(case: dict[str, Any]) -> bool:
    """Whether a quota says what is used; without that a render counts for itself."""
    quotas = [one for one in case["context"] if one["kind"] == "ResourceQuota"]
    return all((one.get("status") or {}).get("used") for one in quotas)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_chain_answers_as_the_server_and_writes_nothing(path: Path) -> None:
    for case in run.load(path):
        if "object" in case and is_creation(case) and has_spent_quota(case):
            _check(case)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_admitting_once_more_changes_nothing_more(path: Path) -> None:
    for case in run.load(path):
        if "object" not in case or not is_creation(case) or case.get("webhookPatch"):
            continue
        server, last = Server(case), Webhook("last")
        chain = chain_of(server, case, last, writes=True)
        subject = server.cluster.subject_of(head_of(case["object"]))
        first = chain.admit(subject, case["object"], server.cluster)
        if first.denied:
            continue
        shown = last.shown
        again = chain.admit(subject, first.object, server.cluster)
        assert again.object is first.object, case["id"]
        assert last.shown == shown, case["id"]
        assert not again.denied, case["id"]


def _check(case: dict[str, Any]) -> None:
    verdict, shown = admitted(case)
    expect = case["expect"]
    denied = expect.get("denied")
    if case.get("webhookPatch") is None:
        assert verdict.object is case["object"], case["id"]
    if "object" in expect:
        assert without_chance(shown) == expect["object"], case["id"]
    if denied and denied["by"] == "validation":
        return
    assert _first_denial(verdict) == _expected_denial(case), case["id"]
    if not denied:
        warned = [one.message for one in verdict.findings if _is_warning(one)]
        assert warned == expect["warnings"], case["id"]


def _first_denial(verdict: Verdict) -> Any:
    for finding in verdict.findings:
        if finding.denies:
            said = (finding.code, finding.reason, finding.message, finding.rules[0].name)
            return without_chance(said)
    return None


def _expected_denial(case: dict[str, Any]) -> Any:
    denied = case["expect"].get("denied")
    if not denied:
        return None
    name = case["object"]["metadata"].get("generateName")
    message = denied["message"].replace(f'"{name}xxxxx"', f'"{name}"')
    return [denied["code"], denied["reason"] or "", message, denied["by"]]


def _is_warning(finding: Finding) -> bool:
    return finding.cause is Cause.WARNING and any(r.dialect == "builtin" for r in finding.rules)
