"""Kubewarden's resources through the whole chain: who is asked, what comes of it, what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from kw_support import annotated, wapc, wat

from krm_fn.config.options import Options, from_document
from krm_fn.errors import KrmFnError
from krm_fn.report.explaintext import object_lines
from krm_fn.report.model import Report
from krm_fn.run.admit import admit, stages_of
from krm_fn.run.explain import explain
from krm_fn.values import Json
from krm_fn.wire import read_stream

POD = """apiVersion: v1
kind: Pod
metadata:
  namespace: shop # where it lives
  name: web
  labels: {app: web}
spec:
  restartPolicy: Never
  containers:
  - image: nginx:1.25 # the image
    name: web
"""
PODS = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
    "operations": ["CREATE", "UPDATE"],
}
REJECT = '{"accepted":false,"message":"not today","code":403,"warnings":["w"]}'


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put("accept", wapc())
    put("reject", wapc(REJECT))
    put("trap", wapc(body="unreachable"))
    changed = yaml.safe_load(POD)
    changed["metadata"]["labels"] = {"app": "web", "team": "blue"}
    # Keys sorted, as policies in Go answer.
    put("label", wapc(json.dumps({"accepted": True, "mutated_object": changed}, sort_keys=True)))


def put(name: str, wasm: bytes, **metadata: Any) -> None:
    Path(f"{name}.wasm").write_bytes(annotated(wasm, **metadata))


def policy(name: str, kind: str = "ClusterAdmissionPolicy", /, **spec: Any) -> Json:
    metadata: Json = {"name": name}
    if kind.startswith("Admission"):
        metadata["namespace"] = "shop"
    return {
        "apiVersion": "policies.kubewarden.io/v1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"module": f"file://{name}.wasm", "mutating": True, "rules": [PODS], **spec},
    }


def group(expression: str, **modules: str) -> Json:
    members = {name: {"module": f"./{module}.wasm"} for name, module in modules.items()}
    spec = {"rules": [PODS], "expression": expression, "message": "no", "policies": members}
    return {
        "apiVersion": "policies.kubewarden.io/v1",
        "kind": "ClusterAdmissionPolicyGroup",
        "metadata": {"name": "group"},
        "spec": spec,
    }


def run(
    *rules: Json, objects: str = POD, object_form: str = "AsWritten", **options: Any
) -> tuple[str, Report]:
    """The objects after all rules, and the report."""
    spec = {
        "rules": [{"inline": yaml.safe_dump_all(rules)}],
        "objectForm": object_form,
        **options,
    }
    document = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "spec": spec}
    admission: Options = from_document(document, "test")
    stream = read_stream(objects.encode())
    report = admit([stream], stages_of(admission, [stream]))
    return stream.write(()).decode(), report


def said(report: Report) -> list[str]:
    return [f.message for entry in report.objects for f in entry.findings] + [
        f.message for f in report.findings
    ]


def test_a_mutation_keeps_the_order_of_keys_and_comments() -> None:
    text, report = run(policy("label"))
    assert text == POD.replace("{app: web}", "{app: web, team: blue}")
    assert not report.denied


def test_a_policy_that_may_not_mutate_is_asked_after_those_that_may() -> None:
    guard = policy("label", "AdmissionPolicy", mutating=False)
    guard["metadata"]["name"] = "a-guard"
    text, report = run(guard, policy("label"))
    assert "team: blue" in text
    assert not report.denied


def test_a_mutation_that_is_not_allowed_denies() -> None:
    text, report = run(policy("label", mutating=False))
    assert report.denied
    assert text == POD
    assert "currently configured to not allow mutations" in said(report)[0]


def test_a_rejection_passes_message_code_and_warnings_on() -> None:
    _, report = run(policy("reject"))
    findings = [f for entry in report.objects for f in entry.findings]
    assert [(f.message, f.code, f.denies) for f in findings] == [
        ("not today", 403, True),
        ("w", 0, False),
    ]


def test_a_message_of_the_resource_has_the_policys_as_its_detail() -> None:
    _, report = run(policy("reject", message="ask the platform team"))
    (finding, *_) = [f for entry in report.objects for f in entry.findings]
    assert finding.message == "ask the platform team"
    assert [detail.message for detail in finding.details] == ["message: not today"] or [
        detail.message for detail in finding.details
    ] == ["not today"]


def test_mode_monitor_only_warns() -> None:
    text, report = run(policy("reject", mode="monitor"))
    assert not report.denied
    assert text == POD
    assert "mode monitor; in mode protect it would reject: not today" in said(report)


@pytest.mark.parametrize("failure", ["Fail", "Ignore"])
def test_a_fault_denies_whatever_its_failure_policy(failure: str) -> None:
    _, report = run(policy("trap", failurePolicy=failure))
    assert report.denied
    assert said(report)[0].startswith("guest-trap: validate failed")


def test_a_fault_passes_where_the_run_says_so() -> None:
    _, report = run(policy("trap"), onRuleError="Warn")
    assert not report.denied
    assert "guest-trap" in said(report)[0]


def test_a_group_rejects_with_a_detail_for_each_member() -> None:
    _, report = run(group("a() || b()", a="reject", b="reject"))
    (finding, *_) = [f for entry in report.objects for f in entry.findings]
    assert finding.message == "no"
    assert [detail.message for detail in finding.details] == [
        "spec.policies.a: not today",
        "spec.policies.b: not today",
    ]


SILENT = r"""(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\0e\00\00\00") ;; an answer of 14 bytes at 16
  (data (i32.const 16) "{\"valid\":true}")
  (func (export "_start")
    (drop (call $sizes (i32.const 64) (i32.const 68)))
    (if (i32.lt_u (i32.load (i32.const 68)) (i32.const 30)) (then unreachable)) ;; validate
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 72)))))"""
"""A program that is happy with its settings, and traps without a word on a request."""


def test_a_detail_of_a_group_says_what_went_wrong_in_a_member() -> None:
    put("silent", wat(SILENT), mode="wasi")
    put("mute", wapc('{"accepted":false}'))
    _, report = run(group("a() || b() || c()", a="silent", b="mute", c="trap"))
    (finding, *_) = [f for entry in report.objects for f in entry.findings]
    silent, mute, trap = [detail.message for detail in finding.details]
    assert silent.startswith("spec.policies.a (guest-trap: validate failed")
    assert mute == "spec.policies.b"
    assert trap.startswith("spec.policies.c: internal server error: Guest call failure: ")


@pytest.mark.parametrize("text", ['{"accepted":false}', '{"accepted":false,"message":""}'])
def test_a_rejection_without_a_message_is_told_in_the_api_servers_words(text: str) -> None:
    put("mute", wapc(text))
    _, report = run(policy("mute"))
    assert said(report) == ["denied the request without explanation"]
    _, report = run(policy("mute", mode="monitor"))
    assert said(report) == [
        "mode monitor; in mode protect it would reject: denied the request without explanation"
    ]


# ---------------------------------------------------------------------------------- who is asked

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
"""
ELSEWHERE = POD.replace("namespace: shop", "namespace: other")
WITH_LABELS = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {env: prod}}\n---\n"
ASKED: dict[str, tuple[Json, str, bool]] = {
    "its kind": (policy("reject"), POD, True),
    "another kind": (policy("reject"), DEPLOYMENT, False),
    "another operation": (policy("reject", rules=[{**PODS, "operations": ["DELETE"]}]), POD, False),
    "any": (
        policy("reject", rules=[{k: ["*"] for k in PODS}]),
        DEPLOYMENT,
        True,
    ),
    "cluster scope": (policy("reject", rules=[{**PODS, "scope": "Cluster"}]), POD, False),
    "its own namespace": (policy("reject", "AdmissionPolicy"), POD, True),
    "another namespace": (policy("reject", "AdmissionPolicy"), ELSEWHERE, False),
    "object labels": (policy("reject", objectSelector={"matchLabels": {"app": "web"}}), POD, True),
    "other labels": (policy("reject", objectSelector={"matchLabels": {"app": "x"}}), POD, False),
    "namespace labels": (
        policy("reject", namespaceSelector={"matchLabels": {"env": "prod"}}),
        WITH_LABELS + POD,
        True,
    ),
    "namespace name": (
        policy("reject", namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "x"}}),
        POD,
        False,
    ),
    "Kubewarden's namespace": (
        policy("reject"),
        POD.replace("namespace: shop", "namespace: kubewarden"),
        False,
    ),
    "Kubewarden's namespace, allowed": (
        policy("reject", allowInsideAdmissionControllerNamespace=True),
        POD.replace("namespace: shop", "namespace: kubewarden"),
        True,
    ),
    "a condition that holds": (
        policy("reject", matchConditions=[{"name": "a", "expression": "object.kind == 'Pod'"}]),
        POD,
        True,
    ),
    "a condition that does not": (
        policy(
            "reject",
            matchConditions=[{"name": "a", "expression": "request.namespace == 'other'"}],
        ),
        POD,
        False,
    ),
}


@pytest.mark.parametrize(("rule", "objects", "asked"), ASKED.values(), ids=ASKED)
def test_a_policy_is_asked_about_what_the_api_server_would_send(
    rule: Json, objects: str, asked: bool
) -> None:
    _, report = run(rule, objects=objects)
    assert report.denied is asked


def test_labels_that_nobody_knows_leave_it_undecided() -> None:
    rule = policy("reject", namespaceSelector={"matchLabels": {"env": "prod"}})
    _, report = run(rule)
    assert not report.denied
    assert "context.namespaces" in said(report)[0]


FAILING = [{"name": "a", "expression": "object.nope.x == 1"}]


def test_a_condition_that_fails_denies() -> None:
    _, report = run(policy("accept", matchConditions=FAILING))
    assert report.denied
    assert "matchConditions cannot be evaluated" in said(report)[0]


def test_a_condition_that_fails_leaves_the_policy_out_where_failures_are_ignored() -> None:
    _, report = run(policy("reject", matchConditions=FAILING, failurePolicy="Ignore"))
    assert not report.denied


def test_a_policy_that_could_see_no_object_says_so() -> None:
    rule = policy("reject", rules=[{**PODS, "resources": ["services"]}])
    _, report = run(rule)
    assert any("its rules name other resources" in text for text in said(report))


def test_templates_of_pods_are_asked_about_where_that_is_chosen() -> None:
    objects = DEPLOYMENT + (
        "spec:\n  selector: {matchLabels: {app: web}}\n  template:\n"
        "    metadata: {labels: {app: web}}\n    spec: {containers: [{name: c, image: i}]}\n"
    )
    _, ignored = run(policy("reject"), objects=objects)
    assert not ignored.denied
    _, report = run(policy("reject"), objects=objects, podTemplates="Mutate")
    assert report.denied


# ----------------------------------------------------------------------------------- what is wrong

INVALID: dict[str, tuple[Json, str]] = {
    "apiVersion": (
        {**policy("accept"), "apiVersion": "policies.kubewarden.io/v9"},
        "use policies.kubewarden.io/v1",
    ),
    "no module": (policy("accept", module=""), r"spec\.module is required"),
    "no file": (policy("accept", module="file://nope.wasm"), "looked in"),
    "not locked": (policy("accept", module="ghcr.io/x/y:v1"), "render never downloads"),
    "mode": (policy("accept", mode="enforce"), "must be protect or monitor"),
    "no rules": (policy("accept", rules=[]), "names nothing"),
    "rule": (policy("accept", rules=[{**PODS, "resources": []}]), r"rules\[0\]\.resources"),
    "settings": (policy("accept", settings=[1]), "must be a map"),
    "timeout": (policy("accept", timeoutEvalSeconds=99), "2 to 30"),
    "selector": (
        policy("accept", objectSelector={"matchExpressions": [{"key": "a", "operator": "X"}]}),
        "objectSelector",
    ),
    "condition": (
        policy("accept", matchConditions=[{"name": "a", "expression": "1 +"}]),
        r"matchConditions\[0\]\.expression",
    ),
    "group without message": (
        {**group("a()", a="accept"), "spec": {**group("a()", a="accept")["spec"], "message": ""}},
        r"spec\.message is required",
    ),
    "member name": (group("a()", **{"a-b": "accept"}), "no name of a member"),
    "expression": (group("a() + b()", a="accept", b="accept"), "bad-expression"),
}


@pytest.mark.parametrize(("rule", "reason"), INVALID.values(), ids=INVALID)
def test_a_resource_that_is_wrong_is_an_error_with_its_field(rule: Json, reason: str) -> None:
    with pytest.raises(KrmFnError, match=reason):
        run(rule)


def test_settings_are_checked_before_any_object() -> None:
    put("picky", wapc(settings='{"valid":false,"message":"need a team"}'))
    with pytest.raises(KrmFnError, match="Policy settings are invalid: need a team"):
        run(policy("picky"), objects=DEPLOYMENT)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(KrmFnError) as caught:
        run(policy("accept", mode="x"), group("x()", a="accept"))
    assert len(str(caught.value).splitlines()) == 2


def test_a_module_in_the_wrong_mode_names_what_is_missing() -> None:
    put("program", wapc(), mode="wasi")
    with pytest.raises(KrmFnError, match="wrong-abi"):
        run(policy("program"))


def test_an_unknown_mode_is_an_error() -> None:
    put("odd", wapc(), mode="cel")
    with pytest.raises(KrmFnError, match="unknown execution mode 'cel'"):
        run(policy("odd"))


def test_a_module_without_metadata_is_warned_of() -> None:
    Path("bare.wasm").write_bytes(wapc())
    _, report = run(policy("bare"))
    assert any("has no metadata" in text for text in said(report))


def test_an_unknown_field_is_warned_of() -> None:
    _, report = run(policy("accept", polcyServer="x"))
    assert any("polcyServer: unknown field; did you mean policyServer?" in t for t in said(report))


def test_a_fuel_and_a_memory_of_the_configuration_are_the_limits() -> None:
    put("loop", wapc(body="(loop $again (br $again))"))
    _, report = run(policy("loop"), kubewarden={"fuel": 1_000_000})
    assert "fuel of 1,000,000" in said(report)[0]
    put("big", wapc(memory='(memory (export "memory") 100)'))
    with pytest.raises(KrmFnError, match="memory-limit"):
        run(policy("big"), kubewarden={"memory": 1})


@pytest.mark.parametrize("section", [{"fuel": 0}, {"store": "../x"}, {"cache": "/nope"}, {"x": 1}])
def test_an_option_that_cannot_be_used_is_an_error(section: Json) -> None:
    with pytest.raises(KrmFnError):
        run(policy("accept"), kubewarden=section)


def test_the_same_input_gives_the_same_bytes_and_the_same_request() -> None:
    echo = wapc(
        body="(call $request (i32.const 40000) (i32.const 41000))"
        "(call $error (i32.const 41000) (local.get $len)) (return (i32.const 0))"
    )
    put("echo", echo)
    runs = {tuple(said(run(policy("echo"))[1])) for _ in range(3)}
    assert len(runs) == 1
    assert '"uid":"' in runs.pop()[0]


def test_an_answer_that_a_render_cannot_give_is_told_in_the_results() -> None:
    payload = '"db.example.test"'
    names = "kubewardennetv1/dns_lookup_host" + payload
    data = f'(data (i32.const 64) "{names.replace(chr(34), chr(92) + "22")}")'
    asking = wapc(
        body="(drop (call $host_call (i32.const 64) (i32.const 10) (i32.const 74) (i32.const 3)"
        f" (i32.const 77) (i32.const 18) (i32.const 95) (i32.const {len(payload)})))",
        extra=data,
    )
    put("asks", asking)
    _, report = run(policy("asks"))
    assert any("asked for net/v1/dns_lookup_host" in text for text in said(report))
    Path("answers.yaml").write_text(
        "- {path: net/v1/dns_lookup_host, request: db.example.test, response: {ips: []}}"
    )
    _, report = run(policy("asks"), kubewarden={"answers": "answers.yaml"})
    assert not any("asked for" in text for text in said(report))


def test_without_wasmtime_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    with pytest.raises(KrmFnError, match=r"pip install 'krm-fn\[kubewarden\]'") as caught:
        run(policy("accept"))
    assert "\n" not in str(caught.value)


def test_nothing_of_webassembly_is_imported_without_a_policy() -> None:
    program = (
        "import sys, krm_fn.dialects.kubewarden.dialect\n"
        "sys.exit('wasmtime' in sys.modules or 'jsonpatch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_rego_is_asked_in_its_mode() -> None:
    put("wasm", wat('(module (memory (export "memory") 1))'), mode="opa")
    with pytest.raises(KrmFnError, match="it is no Rego policy"):
        run(policy("wasm"))


def test_the_command_line_sets_fuel_and_memory() -> None:
    put("loop", wapc(body="(loop $again (br $again))"))
    Path("pod.yaml").write_text(POD)
    Path("rules.yaml").write_text(yaml.safe_dump(policy("loop")))
    arguments = ["check", "-f", "pod.yaml", "-r", "rules.yaml", "--fuel", "1000000"]
    done = subprocess.run(
        [sys.executable, "-m", "krm_fn", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "fuel of 1,000,000" in done.stderr


# ---------------------------------------------------------------------------------------- explain


def explained(*rules: Json) -> list[str]:
    """What `krm-fn explain` says of the Pod."""
    spec = {"rules": [{"inline": yaml.safe_dump_all(rules)}]}
    document = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "spec": spec}
    stream = read_stream(POD.encode())
    stages = stages_of(from_document(document, "test"), [stream])
    (one,) = explain([stream], stages).objects
    return list(object_lines(one, 80, verbose=True))


def test_a_group_is_explained_by_the_members_that_were_asked() -> None:
    lines = explained(group("first() && second()", first="accept", second="reject"))
    told = [line.strip() for line in lines]
    assert "→ spec.policies.first: member first" in " ".join(told)
    assert told[told.index("accepts") + 2] == "rejects"
    assert any("rejects: no" in line for line in told)


def test_a_policy_that_was_not_asked_says_which_of_its_rules_keeps_it_from_the_object() -> None:
    services = [{**PODS, "resources": ["services"]}]
    told = [line.strip() for line in explained(policy("accept", rules=services))]
    assert any(line.startswith("not matched: ClusterAdmissionPolicy accept") for line in told)
    assert "saw CREATE of v1 pods" in told
    assert "only the resource differs" in told


def test_a_condition_of_a_policy_is_explained_by_its_parts() -> None:
    conditions = [{"name": "c", "expression": "object.metadata.name == 'db'"}]
    told = [line.strip() for line in explained(policy("reject", matchConditions=conditions))]
    assert any(line.startswith("✗ spec.matchConditions[0]") for line in told)
    assert any(line.startswith("object.metadata.name ") and '"web"' in line for line in told)
