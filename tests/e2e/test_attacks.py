"""The attacks of tests/attacks by way of each consumer: pipe, files, kpt, kustomize, Helm, Argo CD.

Each manifest is a privileged Pod to some reader. Whoever renders it either fails, or prints nothing
that a reader of YAML 1.1 (kubectl, Helm, Argo CD) takes for a privileged Pod.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e_support import Shell

RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: unprivileged, namespace: kubemod-system}
spec:
  type: Reject
  targetNamespaceRegex: .*
  rejectMessage: no privileged containers
  match:
  - {select: $.kind, matchValue: Pod}
  - {select: '$.spec.containers[*].securityContext.privileged', matchValue: "true"}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
  - name: app
    image: app:1
    securityContext: {privileged: %s}
"""
NESTED = "".join(f"  {line}\n" for line in (POD % "true").splitlines()).replace("  api", "- api", 1)


def list_in(api_version: str, kind: str) -> str:
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\nitems:\n{NESTED}"


MANIFESTS = {
    "plain": POD % "true",
    "yes": POD % "yes",
    "On": POD % "On",
    "a tag": POD % "!!bool yes",
    "an anchor": POD.replace("privileged: %s", "privileged: &a yes, procMount: Default"),
    "a merge for the kind": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n"
        "x: &m {kind: Pod}\n<<: *m\n" + (POD % "true").partition("shop}\n")[2]
    ),
    "a merge for the field": POD % "false, <<: {privileged: true}",
    "items of a ConfigMap": list_in("v1", "ConfigMap"),
    "items of a List": list_in("v1", "List"),
    "items of a Kptfile": list_in("kpt.dev/v1", "Kptfile"),
    "items of a rule": list_in("api.kubemod.io/v1beta1", "ModRule"),
    "items of an Admission": list_in("krm-fn.dev/v1alpha1", "Admission"),
    "an element that takes the kind of its list": (
        "apiVersion: v1\nkind: PodList\nitems:\n"
        + NESTED.replace("- apiVersion: v1\n  kind: Pod\n  metadata", "- metadata")
    ),
    "another letter case": (POD % "true").replace("kind: Pod", "kind: ConfigMap\nKind: Pod"),
    "a second kind": (POD % "true").replace("kind: Pod", "kind: ConfigMap\nkind: Pod"),
}  # fmt: skip


def objects(value: Any, kind: str = "") -> Iterator[Any]:
    """The objects that kubectl makes of a document, and the document."""
    if type(value) is not dict:
        return
    yield {**value, "kind": value.get("Kind") or value.get("kind") or kind}
    items = value.get("items")
    for item in items if type(items) is list else ():
        yield from objects(item, str(value.get("kind", "")).removesuffix("List"))


def is_privileged(text: str) -> bool:
    """Whether a reader of YAML 1.1 finds a privileged Pod."""
    for document in yaml.safe_load_all(text):
        for value in objects(document):
            for container in (value.get("spec") or {}).get("containers") or ():
                context = container.get("securityContext") or {}
                if value["kind"] == "Pod" and context.get("privileged") is True:
                    return True
    return False


Render = Callable[[Shell, Path, str], Any]


def pipe(shell: Shell, folder: Path, text: str) -> Any:
    return shell(["krm-fn", "apply", "-r", folder / "rule.yaml"], stdin=text.encode())


def files(shell: Shell, folder: Path, text: str) -> Any:
    (folder / "m").mkdir()
    (folder / "m" / "m.yaml").write_text(text)
    return shell(["krm-fn", "apply", "-f", folder / "m", "-r", folder / "rule.yaml"])


def admission(folder: Path, *annotations: str) -> Path:
    indented = "".join(f"      {line}\n" for line in RULE.splitlines())
    config = folder / "admission.yaml"
    function = "".join(f"    {line}\n" for line in annotations)
    config.write_text(
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata:\n  name: c\n"
        + (f"  annotations:\n{function}" if annotations else "")
        + f"spec:\n  rules:\n  - inline: |\n{indented}"
    )
    return config


def kpt(shell: Shell, folder: Path, text: str) -> Any:
    package = folder / "package"
    package.mkdir()
    (package / "m.yaml").write_text(text)
    config = admission(folder)
    done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn", "--fn-config", config])
    return type(done)(done.status, (package / "m.yaml").read_text(), done.err)


def kustomize(shell: Shell, folder: Path, text: str) -> Any:
    (folder / "m.yaml").write_text(text)
    admission(folder, "config.kubernetes.io/function: |", "  exec: {path: krm-fn}")
    (folder / "kustomization.yaml").write_text(
        "resources: [m.yaml]\ntransformers: [admission.yaml]\n"
    )
    return shell(["kustomize", "build", "--enable-alpha-plugins", "--enable-exec", folder])


def chart(folder: Path, text: str) -> Path:
    (folder / "chart" / "templates").mkdir(parents=True)
    (folder / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (folder / "chart" / "templates" / "m.yaml").write_text(text)
    return folder / "chart"


def helm_3(shell: Shell, folder: Path, text: str) -> Any:
    command = ["helm3", "template", "r", chart(folder, text), "--post-renderer", "krm-fn"]
    for argument in ("apply", "-r", folder / "rule.yaml"):
        command += ["--post-renderer-args", argument]
    return shell(command)


def helm_4(shell: Shell, folder: Path, text: str) -> Any:
    tools = folder / "tools"
    tools.mkdir()
    (tools / "helm").symlink_to(Path(str(shutil.which("helm4"))).resolve())
    path = f"{tools}{os.pathsep}/usr/bin{os.pathsep}/bin"
    rule = str(folder / "rule.yaml")
    # The shell fixture puts krm-fn in front of what PATH is.
    os.environ["PATH"] = path
    install = ["krm-fn", "helm-plugin", "install", "--", "--rules", rule]
    plugins = str(folder / "plugins")
    done = shell(install, HELM_PLUGINS=plugins)
    assert done.status == 0, done.err
    command = ["helm", "template", "r", chart(folder, text), "--post-renderer", "krm-fn"]
    return shell(command, HELM_PLUGINS=plugins)


def argo_cd(shell: Shell, folder: Path, text: str) -> Any:
    application = folder / "application"
    application.mkdir()
    (application / "m.yaml").write_text(text)
    command = ["krm-fn", "cmp", "generate", "-r", folder / "rule.yaml"]
    return shell(command, cwd=application)


CONSUMERS = [
    pytest.param(pipe, id="pipe"),
    pytest.param(files, id="files"),
    pytest.param(kpt, id="kpt", marks=pytest.mark.needs("kpt")),
    pytest.param(kustomize, id="kustomize", marks=pytest.mark.needs("kustomize")),
    pytest.param(helm_3, id="helm3", marks=pytest.mark.needs("helm3")),
    pytest.param(helm_4, id="helm4", marks=pytest.mark.needs("helm4")),
    pytest.param(argo_cd, id="argocd"),
]


@pytest.mark.parametrize("text", MANIFESTS.values(), ids=MANIFESTS)
@pytest.mark.parametrize("render", CONSUMERS)
def test_no_privileged_pod_comes_out_of_a_render(
    render: Render, text: str, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.environ["PATH"])
    (tmp_path / "rule.yaml").write_text(RULE)
    done = render(shell, tmp_path, text)
    assert done.status != 0 or not is_privileged(done.out), done.out


@pytest.mark.parametrize("render", CONSUMERS)
def test_an_ordinary_pod_comes_out(
    render: Render, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.environ["PATH"])
    (tmp_path / "rule.yaml").write_text(RULE)
    done = render(shell, tmp_path, POD % "false")
    assert done.status == 0, done.err
    assert "app:1" in done.out


def test_the_manifests_are_privileged_pods_to_some_reader() -> None:
    # Merges mean more to Go's reader than to this one.
    merges = {"a merge for the field", "a merge for the kind"}
    assert {name for name, text in MANIFESTS.items() if not is_privileged(text)} <= merges
