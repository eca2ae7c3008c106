"""The order of plugins, what each of them sees, and what becomes of their answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from krm_fn.admission import (
    Cause,
    Chain,
    Cluster,
    Finding,
    Operation,
    Phase,
    Prefilter,
    Request,
    RequestAttributes,
    Response,
    RuleRef,
    Selection,
    Step,
    net_changes,
)
from krm_fn.admission.checks import idempotence
from krm_fn.admission.coverage import RuleScope
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import Json
from krm_fn.wire import Head
from krm_fn.wire.stream import head_of

POD = Head("v1", "Pod", "", "x")
RULE = RuleRef("fake", "Rule", "", "r")


@dataclass
class Fake:
    """A plugin that does what a function says, and notes what it was asked."""

    name: str
    change: Callable[[Json], Json] = lambda value: value
    phase: Phase = Phase.MUTATING_WEBHOOK
    findings: tuple[Finding, ...] = ()
    reinvocable: frozenset[str] = frozenset()
    dirty: bool = False
    prefilter: Prefilter = field(default_factory=lambda: Prefilter([Selection()]))
    asked: list[Request] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    @property
    def order(self) -> tuple[str, str]:
        return self.name, self.name

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        self.asked.append(request)
        self.log.append(f"{self.name}{'' if only is None else ' again'}")
        value = self.change(request.object)
        changed = value != request.object
        return Response(
            value if changed else None,
            (Step((RULE,), value),) if changed else (),
            self.findings,
            self.reinvocable,
            self.dirty,
        )

    @property
    def scopes(self) -> Sequence[RuleScope]:
        return ()


def chain(*plugins: Fake, operation: Operation = Operation.CREATE) -> Chain:
    log: list[str] = []
    for plugin in plugins:
        plugin.log = log
    return Chain(plugins, RequestAttributes(operation))


def pod(**more: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, **more}


def setting(key: str, value: Any) -> Callable[[Json], Json]:
    return lambda old: {**old, key: value}


def test_plugins_are_asked_by_phase_then_by_name() -> None:
    plugins = (
        Fake("c", phase=Phase.VALIDATING_WEBHOOK),
        Fake("b"),
        Fake("z", phase=Phase.MUTATING_POLICY),
        Fake("a"),
        Fake("d", phase=Phase.VALIDATING_POLICY),
    )
    chain(*plugins).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert plugins[0].log == ["z", "a", "b", "d", "c"]


def test_each_plugin_sees_what_the_one_before_it_left() -> None:
    first, second = Fake("a", setting("x", 1)), Fake("b")
    chain(first, second).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert second.asked[0].object["x"] == 1


def test_a_plugin_that_does_not_want_the_object_is_not_asked() -> None:
    plugin = Fake("a", prefilter=Prefilter([Selection(kinds=frozenset({"Service"}))]))
    assert not chain(plugin).wants(POD, "default")
    chain(plugin).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert plugin.asked == []


def test_a_plugin_is_asked_again_if_a_later_one_changed_the_object() -> None:
    first = Fake("a", reinvocable=frozenset({"a"}))
    chain(first, Fake("b", setting("x", 1))).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert first.log == ["a", "b", "a again"]


def test_a_plugin_is_not_asked_again_if_nothing_changed_after_it() -> None:
    first = Fake("a", setting("x", 1), reinvocable=frozenset({"a"}))
    chain(first, Fake("b")).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert first.log == ["a", "b"]


def test_a_dirty_plugin_is_asked_again_in_any_case() -> None:
    plugin = Fake("a", reinvocable=frozenset({"a"}), dirty=True)
    chain(plugin).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert plugin.log == ["a", "a again"]


def test_what_validates_sees_the_object_as_it_would_be_stored() -> None:
    mutating, validating = Fake("a"), Fake("b", phase=Phase.VALIDATING_POLICY)
    served = Served(Schemas("1.37"))
    whole = Chain([mutating, validating], RequestAttributes(), served)
    value = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    whole.admit(Cluster().subject_of(head_of(value)), value, Cluster())
    assert "finalizers" not in mutating.asked[0].object["spec"]
    assert validating.asked[0].object["spec"] == {"finalizers": ["kubernetes"]}
    assert validating.asked[0].object["status"] == {"phase": "Active"}


def test_what_validates_cannot_change_the_object() -> None:
    plugin = Fake("a", setting("x", 1), phase=Phase.VALIDATING_POLICY)
    assert "x" not in chain(plugin).admit(Cluster().subject_of(POD), pod(), Cluster()).object


def test_a_denial_does_not_stop_the_chain_and_later_ones_are_marked() -> None:
    no = (Finding(Cause.REJECTED, True, "no"),)
    first, second = Fake("a", findings=no), Fake("b", findings=no)
    verdict = chain(first, second).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert verdict.denied
    assert [f.message for f in verdict.findings] == [
        "no",
        "after a denial; the API server would not have come this far: no",
    ]


def test_denials_of_one_plugin_are_one_answer() -> None:
    no = (Finding(Cause.REJECTED, True, "one"), Finding(Cause.REJECTED, True, "two"))
    verdict = chain(Fake("a", findings=no)).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert [f.message for f in verdict.findings] == ["one", "two"]


def test_an_update_without_an_old_object_is_a_create() -> None:
    plugin = Fake("a")
    update = chain(plugin, operation=Operation.UPDATE)
    update.admit(Cluster().subject_of(POD), pod(), Cluster())
    update.admit(Cluster().subject_of(POD), pod(), Cluster(), pod(old=1))
    assert [request.operation for request in plugin.asked] == ["CREATE", "UPDATE"]
    assert plugin.asked[1].old_object is not None


def test_the_request_says_where_the_object_would_be_created() -> None:
    plugin = Fake("a")
    cluster = Cluster(default_namespace="web")
    chain(plugin).admit(cluster.subject_of(POD), pod(), cluster)
    node = Cluster().subject_of(Head("v1", "Node", "", "n"))
    chain(plugin).admit(node, {"kind": "Node"}, Cluster())
    assert [request.namespace for request in plugin.asked] == ["web", ""]
    assert plugin.asked[0].object["metadata"]["namespace"] == "web"
    assert plugin.asked[0].resource.plural == "pods"


def test_moving_an_object_is_a_failure_that_names_the_rule() -> None:
    def move(value: Json) -> Json:
        return {**value, "metadata": {**value["metadata"], "namespace": "other"}}

    verdict = chain(Fake("a", move)).admit(Cluster().subject_of(POD), pod(), Cluster())
    assert verdict.denied
    assert verdict.findings[0].rules == (RULE,)
    assert verdict.object == pod()
    assert verdict.changes == ()


def test_net_changes_name_the_rules_that_wrote_there() -> None:
    plugin = Fake("a", setting("spec", {"a": 1}))
    verdict = chain(plugin).admit(Cluster().subject_of(POD), pod(), Cluster())
    changes = net_changes(pod(), verdict.object, verdict.changes)
    assert [(change.path, change.new, change.rules) for change in changes] == [
        (("spec",), {"a": 1}, (RULE,))
    ]


def test_what_grows_at_every_admission_is_not_idempotent() -> None:
    def append(value: Json) -> Json:
        return {**value, "list": [*value.get("list", ()), 1]}

    growing, constant = chain(Fake("a", append)), chain(Fake("a", setting("x", 1)))
    for subject, found in ((growing, True), (constant, False)):
        admit = partial(subject.admit, Cluster().subject_of(POD), cluster=Cluster())
        finding = idempotence(admit, admit(pod()), False)
        assert (finding is not None) is found
