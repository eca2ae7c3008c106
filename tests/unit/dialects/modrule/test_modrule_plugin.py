from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from modrule_support import (
    admit,
    after,
    ask,
    config_map,
    kubemod,
    namespace,
    patch_rule,
    reject_rule,
    request_for,
    rules,
    said,
)

from krm_fn.admission import (
    Cause,
    Chain,
    Cluster,
    Finding,
    Operation,
    Phase,
    RequestAttributes,
    Subject,
)
from krm_fn.admission.coverage import Templates, coverage
from krm_fn.dialects.modrule.form import KubeModForm
from krm_fn.dialects.modrule.plugin import INVOCATION, KubeMod, in_order
from krm_fn.dialects.modrule.rule import CompiledRule, compile_rule
from krm_fn.dialects.modrule.scope import IGNORE_LABEL, ModRuleScope
from krm_fn.dialects.modrule.spec import decode
from krm_fn.values import Json
from krm_fn.wire import Head

COLOR = patch_rule("[{op: add, path: /metadata/labels/color, value: blue}]")
CLUSTER_COLOR = COLOR.replace("namespace: web", "namespace: kubemod-system")
EVERYWHERE = CLUSTER_COLOR + "  targetNamespaceRegex: .*\n"
WHY = "krm-fn explain --rule r says why"
SUBJECTS = [
    Cluster().subject_of(head)
    for head in (Head("v1", "ConfigMap", "web", "a"), Head("v1", "Node", "", "n"))
]


def reported(
    plugin: KubeMod, subjects: Sequence[Subject], operation: Operation = Operation.CREATE
) -> list[Finding]:
    """What a run says of rules that none of these objects met."""
    none = Templates((), "podTemplates: Mutate")
    return list(coverage(plugin.scopes, subjects, frozenset(), {operation}, none))


def colored(text: str, value: Json, **options: Any) -> bool:
    patched = after(text, value, **options)
    return bool(patched["metadata"].get("labels", {}).get("color") == "blue")


def elsewhere(value: Json, space: str) -> Json:
    return {**value, "metadata": {**value["metadata"], "namespace": space}}


# ------------------------------------------------------------------------------------------ scope


def test_a_rule_sees_the_objects_of_its_namespace() -> None:
    assert colored(COLOR, config_map())
    assert not colored(COLOR, elsewhere(config_map(), "shop"))


def test_a_cluster_rule_sees_what_is_cluster_scoped() -> None:
    node: Json = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert colored(CLUSTER_COLOR, node)
    assert colored(CLUSTER_COLOR, namespace("web"))
    assert not colored(CLUSTER_COLOR, config_map())


@pytest.mark.parametrize(("regex", "expected"), [("web", True), ("^we$", False), (".*", True)])
def test_a_cluster_rule_sees_the_namespaces_that_its_regex_finds(
    regex: str, expected: bool
) -> None:
    assert colored(f"{CLUSTER_COLOR}  targetNamespaceRegex: {regex}\n", config_map()) is expected


def test_a_rule_applies_once_also_inside_the_namespace_of_cluster_rules() -> None:
    rule = EVERYWHERE.replace("/metadata/labels/color", "/data/list/-1")
    value = elsewhere(config_map(), "kubemod-system")
    response = admit(rule, value, section={"ignoredNamespaces": ["kube-system"]})
    patched = response.object
    assert patched is not None
    assert said(response, Cause.NOTE) == [
        "KubeMod applies a cluster rule that finds kubemod-system twice there; here once"
    ]
    assert patched["data"] == {"list": ["blue"]}


def test_an_ignored_namespace_is_left_alone() -> None:
    assert not colored(EVERYWHERE, elsewhere(config_map(), "kube-system"))
    assert colored(
        EVERYWHERE, elsewhere(config_map(), "kube-system"), section={"ignoredNamespaces": []}
    )
    ignored = Cluster(namespaces={"web": namespace("web", **{IGNORE_LABEL: "true"})})
    assert not colored(COLOR, config_map(), cluster=ignored)


def test_a_namespace_with_the_label_is_left_alone_itself() -> None:
    assert not colored(EVERYWHERE, namespace("web", **{IGNORE_LABEL: "true"}))


@pytest.mark.parametrize(
    ("extra", "expected"), [([], False), (["networkpolicies"], True), (["*"], True)]
)
def test_other_resources_are_targets_only_if_the_configuration_says_so(
    extra: list[str], expected: bool
) -> None:
    policy = {**config_map(), "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"}
    assert colored(COLOR, policy, section={"targetResources": extra}) is expected


def test_a_kind_of_the_21_is_a_target_in_any_group() -> None:
    assert colored(
        COLOR, {**config_map(), "apiVersion": "serving.example.io/v1", "kind": "Service"}
    )


@pytest.mark.parametrize(
    ("operations", "operation", "expected"),
    [
        ("[CREATE]", Operation.CREATE, True),
        ("[CREATE]", Operation.UPDATE, False),
        ("[UPDATE]", Operation.CREATE, False),
        ("[]", Operation.UPDATE, True),
        ("[DELETE]", Operation.CREATE, False),
    ],
)
def test_a_rule_is_asked_on_its_operations(
    operations: str, operation: Operation, expected: bool
) -> None:
    plugin = kubemod(COLOR + f"  admissionOperations: {operations}\n")
    request = request_for(config_map(), Cluster(), operation)
    assert (plugin.admit(request, Cluster()).object is not None) is expected


def test_a_template_sees_the_namespace_of_the_request() -> None:
    rule = patch_rule("[{op: add, path: /data/ns, value: '{{ .Namespace }}'}]")
    assert after(rule, config_map())["data"] == {"ns": "web"}


# --------------------------------------------------------------------------------- synthetic refs

READS = [
    patch_rule(
        "[{op: add, path: /data/m,"
        " value: '{{ .Target.syntheticRefs.namespace.metadata.labels.mesh }}'}]"
    ),
    patch_rule(
        "[{op: add, path: /data/m, value: 'on'}]",
        match='$.syntheticRefs.namespace.metadata.labels.mesh == "on"',
    ),
]
KNOWN = Cluster(namespaces={"web": namespace("web", mesh="on")})


@pytest.mark.parametrize("rule", READS)
def test_rules_can_read_the_namespace_of_an_object(rule: str) -> None:
    assert after(rule, config_map(), cluster=KNOWN)["data"] == {"m": True}


@pytest.mark.parametrize("rule", READS)
def test_what_reads_a_namespace_that_nobody_describes_is_undecided(rule: str) -> None:
    assert said(ask(kubemod(rule), config_map()), Cause.UNDECIDED) == [
        "reads syntheticRefs, and the namespace web is not among the items or in "
        "context.namespaces: only its name is known"
    ]


@pytest.mark.parametrize(
    "match",
    [
        '$.syntheticRefs.namespace.metadata.name == "web"',
        '$.syntheticRefs.namespace.metadata.labels["kubernetes.io/metadata.name"] == "web"',
    ],
)
def test_the_name_of_a_namespace_is_always_known(match: str) -> None:
    rule = patch_rule("[{op: add, path: /data/a, value: b}]", match=match)
    assert after(rule, config_map())["data"] == {"a": "b"}


def test_what_reads_a_namespace_that_nobody_describes_is_evaluated_without_what_is_unknown() -> (
    None
):
    labels = "$.syntheticRefs.namespace.metadata.labels"
    for match, applies in ((f"isDefined({labels}.team)", False), (f"{labels}.team != 1", True)):
        rule = patch_rule("[{op: add, path: /data/a, value: b}]", match=match)
        response = ask(kubemod(rule), config_map())
        assert (response.object is not None) is applies
        assert [finding.denies for finding in response.findings] == [False]


def test_a_node_that_nobody_describes_is_undecided() -> None:
    rule = reject_rule(match="isDefined($.syntheticRefs.node)")
    metadata = {"name": "p", "namespace": "web", "annotations": {"ref.kubemod.io/nodename": "n1"}}
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    assert said(ask(kubemod(rule), pod, KNOWN), Cause.UNDECIDED) == [
        "reads syntheticRefs, and the node n1 is not among the items or in context.objects"
    ]


# --------------------------------------------------------------------------------------- response


def test_steps_are_in_the_form_of_the_request() -> None:
    response = ask(kubemod(COLOR), config_map())
    assert response.object is not None
    assert "syntheticRefs" not in response.steps[0].object
    assert response.object == response.steps[0].object
    assert response.reinvocable == {INVOCATION}


def test_the_plugin_stands_where_the_webhook_stands() -> None:
    plugin = kubemod(COLOR)
    assert plugin.phase is Phase.MUTATING_WEBHOOK
    assert plugin.order[0] == "kubemod-mutating-webhook-configuration"


def test_a_chain_admits_with_it() -> None:
    head = Head("v1", "ConfigMap", "", "a")
    value: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    rule = COLOR.replace("namespace: web", "namespace: default")
    subject = Cluster().subject_of(head)
    verdict = Chain([kubemod(rule)], RequestAttributes()).admit(subject, value, Cluster())
    assert verdict.object["metadata"] == {"name": "a", "labels": {"color": "blue"}}


# -------------------------------------------------------------------------------------- prefilter


def wanted(text: str, kind: str, space: str, name: str = "a", **options: Any) -> bool:
    return kubemod(text, **options).prefilter.wants(Head("v1", kind, space, name), space)


@pytest.mark.parametrize(
    ("match", "more", "kind", "space", "name", "expected"),
    [
        ("$.spec", "", "ConfigMap", "web", "a", True),
        ("$.spec", "", "ConfigMap", "shop", "a", False),
        ("$.spec", "", "Widget", "web", "a", False),
        ("$.kind", "matchValue: Pod", "Pod", "web", "a", True),
        ("$.kind", "matchValue: Pod", "Secret", "web", "a", False),
        ("$.kind", "matchValues: [Pod, Job]", "Job", "web", "a", True),
        ("$.kind", "matchValue: Widget", "Widget", "web", "a", False),
        ("$.kind", "matchValue: Pod, negate: true", "Secret", "web", "a", True),
        ("$.kind", "matchRegex: Pod", "Secret", "web", "a", True),
        ("$.metadata.name", "matchValue: x", "Secret", "web", "x", True),
        ("$.metadata.name", "matchValue: x", "Secret", "web", "y", False),
    ],
)
def test_only_what_a_rule_could_match_by_its_head_is_wanted(
    match: str, more: str, kind: str, space: str, name: str, expected: bool
) -> None:
    criterion = f"select: '{match}'" + (f", {more}" if more else "")
    rule = reject_rule().replace("select: '$.kind'", criterion)
    assert wanted(rule, kind, space, name) is expected


def test_any_rule_that_wants_an_object_is_enough() -> None:
    rules_ = reject_rule(name="a").replace("select: '$.kind'", "select: '$.kind', matchValue: Pod")
    assert wanted(rules_ + COLOR, "Secret", "web")


def test_a_cluster_rule_may_want_every_namespace() -> None:
    assert wanted(EVERYWHERE, "ConfigMap", "shop")
    assert wanted(EVERYWHERE, "Node", "")


def test_with_other_target_resources_every_kind_may_be_wanted() -> None:
    assert wanted(COLOR, "Widget", "web", section={"targetResources": ["widgets"]})


def test_what_is_not_wanted_is_not_asked_about() -> None:
    chain = Chain([kubemod(COLOR)], RequestAttributes())
    assert not chain.wants(Head("v1", "ConfigMap", "shop", "a"), "shop")


# ----------------------------------------------------------------------------------------- unseen


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            COLOR,
            f"did not match the object that it was asked about; {WHY}",
        ),
        (
            CLUSTER_COLOR,
            f"did not match the object that it was asked about; {WHY}",
        ),
        (
            EVERYWHERE,
            f"matched none of the 2 objects that it was asked about; {WHY}",
        ),
        (
            COLOR.replace("namespace: web", "namespace: shop"),
            "ModRule r (shop) saw none of the 2 objects; they are in web. Set metadata.namespace "
            "or context.defaultNamespace, or targetNamespaceRegex in kubemod-system.",
        ),
        (
            COLOR.replace(", namespace: web", ""),
            "ModRule r (no namespace: taken as default) saw none of the 2 objects; they are in "
            "web. Set metadata.namespace or context.defaultNamespace, or targetNamespaceRegex in "
            "kubemod-system.",
        ),
        (
            CLUSTER_COLOR + "  targetNamespaceRegex: ^shop$\n",
            "ModRule r (kubemod-system) saw none of the 2 objects; they are in web. Its "
            "targetNamespaceRegex finds none of them.",
        ),
    ],
)
def test_a_rule_that_no_object_could_meet_says_so(rule: str, message: str) -> None:
    (finding,) = reported(kubemod(rule), SUBJECTS)
    assert finding.message == message


def test_a_cluster_rule_without_a_regex_says_what_it_needs_to_see_namespaced_objects() -> None:
    (finding,) = reported(kubemod(CLUSTER_COLOR), SUBJECTS[:1])
    assert finding.message == (
        "ModRule r (kubemod-system) did not see ConfigMap a; it is in web. Without "
        "targetNamespaceRegex a rule in kubemod-system sees cluster-scoped objects only; set it "
        "(.* for all)."
    )


def test_a_rule_for_another_operation_says_so() -> None:
    plugin = kubemod(COLOR + "  admissionOperations: [UPDATE]\n")
    assert [finding.message for finding in reported(plugin, SUBJECTS)] == [
        "applies on UPDATE only, and the objects are admitted as CREATE (context.operation)"
    ]


# ------------------------------------------------------------------------------------------ order


def test_rules_stand_in_the_order_of_a_restarted_operator() -> None:
    names = [("web", "b"), ("kubemod-system", "z"), ("web", "a"), ("", "c"), ("shop", "a")]
    made: list[CompiledRule] = []
    for home, name in names:
        (rule,) = rules(COLOR)
        compiled = compile_rule(
            rule.ref.__class__("modrule", "ModRule", home, name), decode(rule.value["spec"])
        )
        assert isinstance(compiled, CompiledRule)
        made.append(compiled)
    assert [f"{r.ref.namespace}/{r.ref.name}" for r in in_order(made, ModRuleScope())] == [
        "kubemod-system/z",
        "/c",
        "shop/a",
        "web/a",
        "web/b",
    ]


def test_the_form_is_made_of_what_the_request_refers_to() -> None:
    shown = KubeModForm({"namespace": {}}).get(config_map())
    assert shown["syntheticRefs"] == {"namespace": {}}


def test_a_rule_for_what_controllers_make_takes_effect_only_in_the_cluster() -> None:
    pods = EVERYWHERE.replace("select: '$.kind'", "select: $.kind, matchValue: Pod")
    deployments = [Cluster().subject_of(Head("apps/v1", "Deployment", "web", "x"))]
    (finding,) = reported(kubemod(pods), deployments)
    assert finding.cause is Cause.NOTE
    assert finding.message.startswith("takes effect only in the cluster: Pod objects")
    pod = Cluster().subject_of(Head("v1", "Pod", "web", "y"))
    (finding,) = reported(kubemod(pods), [*deployments, pod])
    assert finding.message == f"did not match the object that it was asked about; {WHY}"
