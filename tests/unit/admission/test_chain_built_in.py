"""Built-in plugins in the chain: seen by rules, written by nobody, called again after changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

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
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import Json, get, with_at
from krm_fn.wire import Head

Change = Callable[[Json], Json]
SERVED = Served(Schemas("1.36"))
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "team"},
    "spec": {"containers": [{"name": "app", "image": "app:1"}]},
}
HEAD = Head("v1", "Pod", "team", "p")
NOT_READY = {"key": "not-ready", "operator": "Exists", "effect": "NoExecute"}
TOLERATIONS = ("spec", "tolerations")
LIMITS = ("spec", "containers", 0, "resources")


class Asked:
    """A plugin that changes objects by a function, and keeps what it was shown."""

    prefilter = Prefilter([Selection()])
    scopes = ()

    def __init__(
        self,
        name: str,
        change: Change | None = None,
        phase: Phase = Phase.MUTATING_WEBHOOK,
        findings: tuple[Finding, ...] = (),
    ) -> None:
        self.name = name
        self.order = (name, name)
        self.phase = phase
        self.change = change
        self.findings = findings
        self.ref = RuleRef("test", "Rule", "", name)
        self.shown: list[Json] = []
        self.requests: list[Request] = []

    def admit(self, request: Request, cluster: Cluster, only: Any = None) -> Response:
        self.shown.append(request.object)
        self.requests.append(request)
        if self.change is None:
            return Response(findings=self.findings)
        changed = self.change(request.object)
        return Response(changed, (Step((self.ref,), changed),), self.findings)


def tolerating(pod: Json) -> Json:
    """As DefaultTolerationSeconds does it."""
    present = get(pod, TOLERATIONS) or []
    if any(one["key"] == "not-ready" for one in present):
        return pod
    return with_at(pod, TOLERATIONS, [*present, NOT_READY])


def limiting(pod: Json) -> Json:
    """As LimitRanger does it: requests and limits of containers that have none."""
    for n, container in enumerate(pod["spec"]["containers"]):
        if "limits" not in container["resources"]:
            resources = {"requests": {"cpu": "100m"}, "limits": {"cpu": "500m"}}
            pod = with_at(pod, ("spec", "containers", n, "resources"), resources)
    return pod


def built_in(change: Change, name: str = "BuiltIn") -> Asked:
    return Asked(name, change, Phase.MUTATING_BUILT_IN)


def admit(*plugins: Asked, writes: bool = False, value: Json = POD) -> Verdict:
    chain = Chain(plugins, RequestAttributes(writes_defaults=writes), SERVED)
    return chain.admit(Cluster().subject_of(HEAD), value, Cluster())


def test_rules_see_what_a_built_in_plugin_has_set_and_the_manifest_does_not_get_it() -> None:
    rule = Asked("rule")
    verdict = admit(built_in(tolerating), rule)
    assert get(rule.shown[0], TOLERATIONS) == [NOT_READY]
    assert verdict.object is POD
    assert verdict.changes == ()


def test_a_rule_after_a_rule_sees_both_what_was_set_and_what_was_written() -> None:
    def label(pod: Json) -> Json:
        return with_at(pod, ("metadata", "labels"), {"a": "b"})

    last = Asked("z")
    verdict = admit(built_in(tolerating), Asked("a", label), last)
    assert get(last.shown[0], TOLERATIONS) == [NOT_READY]
    assert get(last.shown[0], ("metadata", "labels")) == {"a": "b"}
    assert verdict.object == with_at(POD, ("metadata", "labels"), {"a": "b"})


def test_what_a_rule_appends_to_a_list_is_written_without_what_was_set_before_it() -> None:
    own = {"key": "gpu", "operator": "Exists"}

    def append(pod: Json) -> Json:
        return with_at(pod, TOLERATIONS, [*pod["spec"]["tolerations"], own])

    assert get(admit(built_in(tolerating), Asked("a", append)).object, TOLERATIONS) == [own]


def test_of_a_value_that_was_set_only_what_a_rule_changes_is_written() -> None:
    def shorten(pod: Json) -> Json:
        return with_at(pod, (*TOLERATIONS, 0, "tolerationSeconds"), 5)

    verdict = admit(built_in(tolerating), Asked("a", shorten))
    assert get(verdict.object, TOLERATIONS) == [{**NOT_READY, "tolerationSeconds": 5}]


def test_what_the_server_would_derive_of_a_rules_change_is_written_as_it_was_set() -> None:
    def raise_limit(pod: Json) -> Json:
        return with_at(pod, (*LIMITS, "limits", "cpu"), "800m")

    verdict = admit(built_in(limiting), Asked("a", raise_limit))
    assert get(verdict.object, LIMITS) == {"requests": {"cpu": "100m"}, "limits": {"cpu": "800m"}}


def inject(pod: Json) -> Json:
    containers = [*pod["spec"]["containers"], {"name": "proxy", "image": "proxy:1"}]
    return with_at(pod, ("spec", "containers"), containers)


def test_after_a_change_the_built_in_plugins_run_once_more_and_then_what_validates() -> None:
    filling, validating = built_in(limiting), Asked("v", phase=Phase.VALIDATING_BUILT_IN)
    verdict = admit(filling, Asked("a", inject), validating)
    assert len(filling.shown) == 2
    path = ("spec", "containers", 1, "resources", "limits")
    assert get(validating.shown[0], path) == {"cpu": "500m"}
    assert get(verdict.object, ("spec", "containers", 1)) == {"name": "proxy", "image": "proxy:1"}


def test_without_a_change_the_built_in_plugins_run_once() -> None:
    filling = built_in(limiting)
    admit(filling, Asked("a"))
    assert len(filling.shown) == 1


def test_a_rule_whose_change_is_undone_afterwards_is_told() -> None:
    def remove(pod: Json) -> Json:
        return with_at(pod, TOLERATIONS, [])

    verdict = admit(built_in(tolerating), Asked("a", remove))
    (note,) = verdict.findings
    assert note.cause is Cause.NOTE
    assert note.message == (
        "changing spec.tolerations has no effect: BuiltIn sets it again after the rules, as the "
        "API server does"
    )
    assert [rule.name for rule in note.rules] == ["a"]
    assert verdict.object is POD


def test_an_injected_container_that_is_filled_too_is_no_change_undone() -> None:
    assert admit(built_in(limiting), Asked("a", inject)).findings == ()


def test_what_built_in_plugins_set_is_written_where_that_is_asked_for() -> None:
    verdict = admit(built_in(tolerating), writes=True)
    assert get(verdict.object, TOLERATIONS) == [NOT_READY]
    assert [change.rules[0].name for change in verdict.changes] == ["BuiltIn"]


def test_the_verdict_says_what_was_set_and_by_whom() -> None:
    (change,) = admit(built_in(tolerating)).filled
    assert (change.path, change.rules[0].name) == (TOLERATIONS, "BuiltIn")


def test_an_object_that_cannot_be_decoded_is_shown_to_rules_and_to_no_built_in_plugin() -> None:
    broken = with_at(POD, ("spec", "containers"), "none")
    filling, rule = built_in(tolerating), Asked("a")
    admit(filling, rule, value=broken)
    assert (len(filling.shown), len(rule.shown)) == (0, 1)


ORDER = [
    (Phase.MUTATING_BUILT_IN, Phase.MUTATING_POLICY),
    (Phase.MUTATING_WEBHOOK, Phase.VALIDATING_BUILT_IN),
    (Phase.VALIDATING_BUILT_IN, Phase.VALIDATING_POLICY),
    (Phase.VALIDATING_WEBHOOK, Phase.QUOTA),
]


@pytest.mark.parametrize(("first", "second"), ORDER)
def test_phases_are_in_the_servers_order(first: Phase, second: Phase) -> None:
    asked: list[str] = []

    def note(name: str) -> Change:
        def change(value: Json) -> Json:
            asked.append(name)
            return value

        return change

    admit(Asked("second", note("second"), second), Asked("first", note("first"), first))
    assert asked[:2] == ["first", "second"]


def test_a_plugin_is_told_whether_the_object_is_refused_already_and_how_it_was_written() -> None:
    refusing = Asked("a", findings=(Finding(Cause.REJECTED, True, "no"),))
    last = Asked("q", phase=Phase.QUOTA)
    admit(refusing, last)
    assert last.requests[0].is_denied
    assert last.requests[0].written is POD
    assert not refusing.requests[0].is_denied


def test_an_object_that_a_rule_has_changed_is_no_longer_as_it_was_written() -> None:
    last = Asked("q", phase=Phase.QUOTA)
    admit(Asked("a", inject), last)
    assert last.requests[0].written is None
