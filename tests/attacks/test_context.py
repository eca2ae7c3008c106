"""Context (docs/trust.md, section 2): what the operator says, no item can change.

The operator gives rules and context by -r, --config or a functionConfig; the author gives items,
which try to be a Namespace, a param, a definition or a binding that says otherwise, and files that
try to be a lock, a module or a rule of the operator's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_fn.run.function import run

Json = dict[str, Any]

POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"containers": [{"name": "app", "image": "app:1"}]},
}
REJECT_PODS = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: no-pods, namespace: kubemod-system}
spec:
  type: Reject
  targetNamespaceRegex: .*
  rejectMessage: no Pods here
  match: [{select: $.kind, matchValue: Pod}]
"""
SELECTIVE = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: strict}
spec:
  matchConstraints:
    namespaceSelector: {matchExpressions: [{key: exempt, operator: DoesNotExist}]}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations: [{expression: "false", message: no Pods here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: strict}
spec: {policyName: strict, validationActions: [Deny]}
"""
BY_PARAM = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limited}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations: [{expression: "params.data.pods == 'yes'", message: no Pods here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limited}
spec:
  policyName: limited
  validationActions: [Deny]
  paramRef: {name: limits, namespace: policy, parameterNotFoundAction: Deny}
"""


def namespace(name: str, annotations: Json | None = None, **labels: str) -> Json:
    metadata: Json = {"name": name, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def config_map(name: str, where: str, annotations: Json | None = None, **data: str) -> Json:
    metadata: Json = {"name": name, "namespace": where}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def crd(group: str, kind: str, plural: str, scope: str = "Namespaced", **schema: Any) -> Json:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or {"type": "object"}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "scope": scope,
            "versions": [version],
        },
    }


def function(
    rules: str, *items: Json, context: Json | None = None, **spec: Any
) -> tuple[int, str, Json]:
    """A run as a KRM function with rules inline: exit status, standard error, the list."""
    config = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "c"},
        "spec": {"rules": [{"inline": rules}], "context": context or {}, **spec},
    }
    resource_list = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": list(items),
    }
    done = run(json.dumps(resource_list).encode(), {})
    return done.status, done.stderr, json.loads(done.stdout or b"{}")


def command(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "krm_fn", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def write(path: Path, *objects: Json | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [o if isinstance(o, str) else yaml.safe_dump(o, sort_keys=False) for o in objects]
    path.write_text("---\n".join(texts))
    return path


# ----------------------------------------------------------------------------------- namespaces


def test_a_namespace_among_the_items_does_not_replace_the_operators() -> None:
    context = {"namespaces": [{"name": "shop"}]}
    status, stderr, _ = function(SELECTIVE, POD, namespace("shop", exempt="yes"), context=context)
    assert status == 1
    assert "no Pods here" in stderr
    assert "Namespace shop: rules see the one of the context, not the one among the items" in stderr


def test_nor_does_one_that_a_rule_labels_on_its_way() -> None:
    label = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: exempt, namespace: kubemod-system}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Namespace}]
  patch: [{op: add, path: /metadata/labels/exempt, value: "\\"yes\\""}]
"""
    context = {"namespaces": [{"name": "shop"}]}
    rules = SELECTIVE + "---\n" + label
    status, _, _ = function(rules, POD, namespace("shop"), context=context)
    assert status == 1


def test_the_operators_namespace_beside_the_rules_counts_as_well() -> None:
    rules = SELECTIVE + "---\n" + yaml.safe_dump(namespace("shop"))
    status, stderr, _ = function(rules, POD, namespace("shop", exempt="yes"))
    assert (status, "no Pods here" in stderr) == (1, True)


NOT_DEPLOYED = {
    "local-config": {"config.kubernetes.io/local-config": "true"},
    "a skipped hook": {"argocd.argoproj.io/hook": "Skip"},
    "one hook of several": {"argocd.argoproj.io/hook": "PreSync, Skip"},
}


@pytest.mark.parametrize("annotations", NOT_DEPLOYED.values(), ids=NOT_DEPLOYED)
def test_a_namespace_that_is_not_deployed_exempts_nobody(annotations: Json) -> None:
    _, stderr, _ = function(SELECTIVE, POD, namespace("shop", annotations, exempt="yes"))
    assert "Namespace shop (items[1]) does not reach the cluster" in stderr
    # Whether the real Namespace is exempt is not known: the policy is undecided, and says so.
    assert "context.namespaces" in stderr


@pytest.mark.parametrize("annotations", NOT_DEPLOYED.values(), ids=NOT_DEPLOYED)
def test_a_param_that_is_not_deployed_is_none(annotations: Json) -> None:
    status, stderr, _ = function(
        BY_PARAM, POD, config_map("limits", "policy", annotations, pods="yes")
    )
    assert status == 1
    assert "ConfigMap policy/limits" in stderr
    assert "does not reach the cluster" in stderr


def test_a_param_that_is_deployed_counts_where_the_operator_has_none() -> None:
    assert function(BY_PARAM, POD, config_map("limits", "policy", pods="yes"))[0] == 0


def test_a_param_among_the_items_does_not_replace_the_operators() -> None:
    context = {"objects": [config_map("limits", "policy", pods="no")]}
    status, stderr, _ = function(
        BY_PARAM, POD, config_map("limits", "policy", pods="yes"), context=context
    )
    assert status == 1
    assert "ConfigMap policy/limits: rules see the one of the context" in stderr


def test_a_param_that_a_rule_drops_is_none() -> None:
    drop = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: no-maps, namespace: kubemod-system}
spec:
  type: Reject
  targetNamespaceRegex: .*
  match: [{select: $.kind, matchValue: ConfigMap}]
"""
    items = (POD, config_map("limits", "policy", pods="yes"), namespace("other"))
    _, stderr, answer = function(BY_PARAM + "---\n" + drop, *items, onReject="Drop")
    kinds = [item["kind"] for item in answer["items"]]
    assert kinds == ["Namespace"]
    assert "dropped" in stderr


# ---------------------------------------------------------------------------------- definitions

ON_PODS = SELECTIVE.replace(
    "    namespaceSelector: {matchExpressions: [{key: exempt, operator: DoesNotExist}]}\n", ""
)


@pytest.mark.parametrize(
    "definition",
    [
        crd("", "Pod", "foos"),
        crd("", "Pod", "foos", scope="Cluster"),
        crd("", "Pod", "pods", type="object", properties={"spec": {"type": "object"}}),
    ],
    ids=["another resource", "another scope", "fewer fields"],
)
def test_a_definition_cannot_redefine_a_built_in_kind(definition: Json) -> None:
    widget = {"apiVersion": "x.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    status, stderr, _ = function(ON_PODS, POD, widget, definition)
    assert status == 1
    assert "no Pods here" in stderr


@pytest.mark.parametrize("group", ["", "apps", "networking.k8s.io"])
def test_a_definition_in_a_group_of_kubernetes_is_refused(group: str) -> None:
    widget = {"apiVersion": f"{group}/v1" if group else "v1", "kind": "Widget"}
    widget["metadata"] = {"name": "w"}  # type: ignore[assignment]
    rules = REJECT_PODS
    status, stderr, _ = function(rules, widget, crd(group, "Widget", "widgets"))
    assert status == 1
    assert "Kubernetes' own, and the API server refuses it" in stderr


WIDGET = {
    "apiVersion": "x.example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "shop"},
    "spec": {"evil": True},
}
NO_EVIL = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: good}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [x.example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}
  validations: [{expression: "!has(object.spec.evil)", message: evil}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: good}
spec: {policyName: good, validationActions: [Deny]}
"""


def open_schema() -> Json:
    evil = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return crd("x.example.com", "Widget", "widgets", type="object", properties={"spec": evil})


@pytest.mark.parametrize(
    "definition",
    [
        crd("x.example.com", "Widget", "gadgets"),
        crd("x.example.com", "Widget", "widgets", type="object", properties={}),
    ],
    ids=["another resource", "a schema that hides the field"],
)
def test_a_definition_among_the_items_does_not_replace_the_operators(definition: Json) -> None:
    status, stderr, _ = function(NO_EVIL, WIDGET, definition, context={"objects": [open_schema()]})
    assert status == 1
    assert "evil" in stderr
    assert "rules see the one of the context" in stderr


# ------------------------------------------------------------------------------------- bindings

PRIVILEGES = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: role}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: "Object{metadata: Object.metadata{labels: {'role': params.data.role}}}"
"""
BINDING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec:
  policyName: role
  paramRef: {{name: {param}, namespace: {where}, parameterNotFoundAction: Deny}}
"""


def test_a_binding_among_the_items_does_not_bind_the_operators_policy() -> None:
    rules = PRIVILEGES + "---\n" + BINDING.format(name="role", param="role", where="policy")
    context = {"objects": [config_map("role", "policy", role="restricted")]}
    own = yaml.safe_load(BINDING.format(name="zz", param="role", where="shop"))
    mine = config_map("role", "shop", role="cluster-admin")
    status, _, answer = function(rules, POD, own, mine, context=context)
    assert status == 0
    assert answer["items"][0]["metadata"]["labels"] == {"role": "restricted"}


def test_nor_does_one_that_bears_the_name_of_the_operators() -> None:
    rules = PRIVILEGES + "---\n" + BINDING.format(name="role", param="role", where="policy")
    context = {"objects": [config_map("role", "policy", role="restricted")]}
    own = yaml.safe_load(BINDING.format(name="role", param="role", where="shop"))
    mine = config_map("role", "shop", role="cluster-admin")
    status, stderr, answer = function(rules, POD, own, mine, context=context)
    assert status == 0
    assert answer["items"][0]["metadata"]["labels"] == {"role": "restricted"}
    assert "has another one among the items" in stderr


def test_the_operator_may_let_bindings_among_the_items_count() -> None:
    own = yaml.safe_load(BINDING.format(name="zz", param="role", where="shop"))
    mine = config_map("role", "shop", role="viewer")
    _, _, answer = function(PRIVILEGES, POD, own, mine, bindingsFromItems=True)
    assert answer["items"][0]["metadata"]["labels"] == {"role": "viewer"}


# ---------------------------------------------------------------------------------------- files


@pytest.fixture
def author(tmp_path: Path) -> Path:
    """The author's folder, which is the working directory."""
    write(tmp_path / "author" / "web.yaml", POD)
    return tmp_path / "author"


def admission(**spec: Any) -> Json:
    return {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Admission",
        "metadata": {"name": "operator"},
        "spec": spec,
    }


def test_paths_of_a_configuration_start_in_its_own_folder(tmp_path: Path, author: Path) -> None:
    config = write(tmp_path / "operator" / "c.yaml", admission(rules=[{"paths": ["rules/"]}]))
    write(tmp_path / "operator" / "rules" / "r.yaml", REJECT_PODS)
    write(author / "rules" / "r.yaml", REJECT_PODS.replace("matchValue: Pod", "matchValue: Node"))
    done = command("check", "-f", ".", "--config", str(config), cwd=author)
    assert done.returncode == 1
    assert "no Pods here" in done.stderr


def test_old_objects_of_a_configuration_start_there_too(tmp_path: Path, author: Path) -> None:
    spec = {
        "rules": [{"inline": REJECT_PODS}],
        "context": {"operation": "UPDATE", "oldObjects": {"paths": ["old.yaml"]}},
    }
    config = write(tmp_path / "operator" / "c.yaml", admission(**spec))
    write(author / "old.yaml", POD)
    done = command("check", "-f", "web.yaml", "--config", str(config), cwd=author)
    assert done.returncode == 2
    assert "old.yaml" in done.stderr


POLICY = """\
apiVersion: policies.kubewarden.io/v1
kind: ClusterAdmissionPolicy
metadata: {{name: p}}
spec:
  module: {module}
  rules: [{{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}}]
"""


@pytest.mark.parametrize("module", ["./p.wasm", "file://p.wasm"])
def test_a_module_is_beside_the_operators_rule(module: str, tmp_path: Path, author: Path) -> None:
    rule = write(tmp_path / "operator" / "p.yaml", POLICY.format(module=module))
    (author / "p.wasm").write_bytes(b"\0asm\1\0\0\0")
    done = command("check", "-f", "web.yaml", "-r", str(rule), cwd=author)
    assert done.returncode == 2
    assert f"p.wasm: No such file or directory (looked in {rule.parent})" in done.stderr


def test_a_lock_is_beside_the_operators_rule(tmp_path: Path, author: Path) -> None:
    address = "registry://ghcr.io/org/p:v1"
    rule = write(tmp_path / "operator" / "p.yaml", POLICY.format(module=address))
    lock = {"version": 1, "modules": {address: "sha256:" + "0" * 64}}
    (author / "policies.lock.json").write_text(json.dumps(lock))
    done = command("check", "-f", "web.yaml", "-r", str(rule), cwd=author)
    assert done.returncode == 2
    assert f"is not in {rule.parent}/policies.lock.json" in done.stderr
    assert f"krm-fn pull --lock {rule.parent}/policies.lock.json {address}" in done.stderr


@pytest.mark.parametrize("option", ["lock", "store", "answers", "cache"])
def test_files_of_a_configuration_do_not_leave_its_tree(
    option: str, tmp_path: Path, author: Path
) -> None:
    spec = {"rules": [{"inline": REJECT_PODS}], "kubewarden": {option: "../../author/x"}}
    config = write(tmp_path / "operator" / "deep" / "c.yaml", admission(**spec))
    done = command("check", "-f", "web.yaml", "--config", str(config), cwd=author)
    assert done.returncode == 2
    assert "leads out of" in done.stderr


@pytest.mark.parametrize("name", ["secret.yaml", "folder/secret.yaml"])
def test_a_linked_manifest_outside_the_tree_is_not_read(
    name: str, tmp_path: Path, author: Path
) -> None:
    secret = write(tmp_path / "elsewhere" / "secret.yaml", config_map("s", "shop", a="b"))
    link = author / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(secret)
    rule = write(tmp_path / "operator" / "r.yaml", REJECT_PODS)
    done = command("apply", "-f", ".", "-r", str(rule), cwd=author)
    assert (done.returncode, done.stdout) == (4, "")
    assert "symbolic link that leads out of" in done.stderr


# --------------------------------------------------------------------------------------- Argo CD


def generate(author: Path, *arguments: str, parameters: Sequence[Json] = (), **env: str) -> Any:
    environment = {"ARGOCD_APP_NAME": "web", "ARGOCD_APP_NAMESPACE": "shop", **env}
    if parameters:
        environment["ARGOCD_APP_PARAMETERS"] = json.dumps(list(parameters))
    return command("cmp", "generate", *arguments, cwd=author, **environment)


@pytest.mark.parametrize("annotations", NOT_DEPLOYED.values(), ids=NOT_DEPLOYED)
def test_an_application_exempts_itself_by_nothing_that_is_left_out(
    annotations: Json, tmp_path: Path, author: Path
) -> None:
    operator = write(tmp_path / "operator" / "r.yaml", SELECTIVE, namespace("shop"))
    write(author / "ns.yaml", namespace("shop", annotations, exempt="yes"))
    done = generate(author, "-r", str(operator))
    assert (done.returncode, done.stdout) == (1, "")
    assert "no Pods here" in done.stderr


VALUES = {
    "two names in one": "values.yaml,/etc",
    "an address": "http://127.0.0.1:1/values.yaml",
    "a scheme": "file:///etc/passwd",
    "an option": "-x.yaml",
    "a control character": "a\nb.yaml",
    "outside": "../../etc/passwd",
}


@pytest.mark.parametrize("name", VALUES.values(), ids=VALUES)
def test_a_values_file_is_one_file_of_the_repository(name: str, tmp_path: Path) -> None:
    author = tmp_path / "author"
    write(author / "Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
    write(author / "templates" / "m.yaml", config_map("m", "shop"))
    for part in ("values.yaml,", "http:"):
        (author / part).mkdir(exist_ok=True)
    rule = write(tmp_path / "r.yaml", REJECT_PODS)
    done = generate(
        author, "-r", str(rule), parameters=[{"name": "helm-values-files", "array": [name]}]
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "parameter helm-values-files" in done.stderr


@pytest.mark.needs("helm3")
@pytest.mark.parametrize("text", ["a,b=c", "{a,b}", "a\\,b", "x=y", "[0]", "\\", 'a"b', ",", "{"])
def test_a_chart_value_is_one_text_whatever_it_holds(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    tools = tmp_path / "bin"
    tools.mkdir()
    helm = shutil.which("helm3")
    assert helm is not None
    (tools / "helm").symlink_to(Path(helm).resolve())
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    author = tmp_path / "author"
    write(author / "Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
    template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n"
    template += "data: {value: {{ .Values.a | toJson }}, b: {{ .Values.b | toJson }}}\n"
    write(author / "templates" / "m.yaml", template.replace("{value: ", "{ value: "))
    rule = write(tmp_path / "r.yaml", REJECT_PODS)
    done = generate(author, "-r", str(rule), parameters=[{"name": "helm-set", "map": {"a": text}}])
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["data"] == {"value": text, "b": None}


def test_the_path_of_a_chart_value_cannot_set_another(tmp_path: Path) -> None:
    author = tmp_path / "author"
    write(author / "Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
    rule = write(tmp_path / "r.yaml", REJECT_PODS)
    done = generate(
        author, "-r", str(rule), parameters=[{"name": "helm-set", "map": {"a=1,b": "x"}}]
    )
    assert done.returncode == 2
    assert "parameter helm-set" in done.stderr
