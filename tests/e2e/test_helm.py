"""Behind Helm 3's --post-renderer, and as Helm 4's plugin, with both real Helms."""

from __future__ import annotations

import difflib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e_support import Shell, tree

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # the shop's front
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: 'web:{{ .Values.tag }}'}
"""
HOOK = """\
apiVersion: v1
kind: Pod
metadata:
  name: prepare
  annotations: {helm.sh/hook: pre-install}
spec:
  containers:
  - {name: prepare, image: 'web:{{ .Values.tag }}'}
"""
RULES = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: team, namespace: kubemod-system}
spec:
  type: Patch
  targetNamespaceRegex: .*
  match: [{select: $.kind, matchRegex: Deployment|Pod}]
  patch: [{op: add, path: /metadata/labels/team, value: shop}]
---
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: no-latest, namespace: kubemod-system}
spec:
  type: Reject
  targetNamespaceRegex: .*
  rejectMessage: "{{ .Target.metadata.name }} runs the latest image"
  match: [{select: '$..image', matchRegex: ':latest$'}]
---
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: sees-what-is-helms, namespace: kubemod-system}
spec:
  type: Reject
  targetNamespaceRegex: .*
  rejectMessage: a rule sees an annotation of Helm's own
  match: [{select: '$.metadata.annotations["postrenderer.helm.sh/postrender-filename"]'}]
"""
LATEST = "error apps/v1/Deployment web: web runs the latest image"
LINE = "# Source: web/templates/"
HELM_3 = shutil.which("helm3") or ""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    folder = tmp_path / "chart"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (folder / "values.yaml").write_text("tag: 1.4.2\n")
    (folder / "templates" / "web.yaml").write_text(WEB)
    (folder / "templates" / "hook.yaml").write_text(HOOK)
    (tmp_path / "rules.yaml").write_text(RULES)
    return folder


def documents(text: str) -> dict[str, Any]:
    return {value["kind"]: value for value in yaml.safe_load_all(text) if value}


def changed(before: str, after: str) -> list[str]:
    """The lines that were taken away and added."""
    compared = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in compared if line.startswith(("- ", "+ "))]


@pytest.mark.needs("helm3")
class TestHelm3:
    """krm-fn is the program after --post-renderer."""

    ARGS = ("apply", "-f", "-", "-r", "rules.yaml")

    def template(self, shell: Shell, folder: Path, *more: str) -> Any:
        command = ["helm3", "template", "r", "chart", "--post-renderer", "krm-fn", *more]
        for argument in self.ARGS:
            command += ["--post-renderer-args", argument]
        return shell(command, cwd=folder)

    def test_what_it_renders_is_admitted(self, chart: Path, tmp_path: Path, shell: Shell) -> None:
        plain = shell(["helm3", "template", "r", "chart"], cwd=tmp_path)
        done = self.template(shell, tmp_path)
        assert done.status == 0, done.err
        assert changed(plain.out, done.out) == ["+   labels:", "+     team: shop"]
        assert documents(done.out)["Deployment"]["metadata"]["labels"] == {"team": "shop"}

    def test_hooks_do_not_pass_by(self, chart: Path, tmp_path: Path, shell: Shell) -> None:
        done = self.template(shell, tmp_path)
        assert "labels" not in documents(done.out)["Pod"]["metadata"]

    def test_a_rejection_stops_it_and_is_shown(
        self, chart: Path, tmp_path: Path, shell: Shell
    ) -> None:
        done = self.template(shell, tmp_path, "--set", "tag=latest")
        assert done.status != 0
        assert done.out == ""
        assert LATEST in done.err


@pytest.mark.needs("helm4")
class TestHelm4:
    """krm-fn is an installed plugin."""

    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chart: Path) -> Path:
        """Helm 4 as `helm` on PATH, and no other Helm; answers its plugin folder."""
        tools = tmp_path / "tools"
        tools.mkdir()
        (tools / "helm").symlink_to(Path(str(shutil.which("helm4"))).resolve())
        monkeypatch.setenv("PATH", f"{tools}{os.pathsep}/usr/bin{os.pathsep}/bin")
        monkeypatch.setenv("HELM_PLUGINS", str(tmp_path / "plugins"))
        return tmp_path / "plugins"

    @pytest.fixture
    def installed(self, home: Path, tmp_path: Path, shell: Shell) -> Path:
        rules = str(tmp_path / "rules.yaml")
        done = shell(["krm-fn", "helm-plugin", "install", "--", "--rules", rules], cwd=tmp_path)
        assert done.status == 0, done.err
        assert done.out == f"{home}/krm-fn/plugin.yaml\n"
        return home / "krm-fn"

    def template(self, shell: Shell, folder: Path, *more: str) -> Any:
        command = ["helm", "template", "r", "chart", "--post-renderer", "krm-fn", *more]
        return shell(command, cwd=folder)

    def test_what_it_renders_is_admitted_hooks_included(
        self, installed: Path, tmp_path: Path, shell: Shell
    ) -> None:
        done = self.template(shell, tmp_path)
        assert done.status == 0, done.err
        found = documents(done.out)
        assert found["Deployment"]["metadata"]["labels"] == {"team": "shop"}
        assert found["Pod"]["metadata"]["labels"] == {"team": "shop"}

    def test_helm_knows_again_what_came_from_which_file(
        self, installed: Path, tmp_path: Path, shell: Shell
    ) -> None:
        plain = shell(["helm", "template", "r", "chart"], cwd=tmp_path)
        done = self.template(shell, tmp_path)
        sources = [line for line in plain.out.splitlines() if line.startswith(LINE)]
        assert [line for line in done.out.splitlines() if line.startswith(LINE)] == sources
        assert "generated-by-postrender" not in done.out
        assert "postrender-filename" not in done.out

    def test_a_rejection_stops_it_and_is_in_a_file(
        self, installed: Path, tmp_path: Path, shell: Shell
    ) -> None:
        done = self.template(shell, tmp_path, "--set", "tag=latest")
        assert done.status != 0
        assert done.out == ""
        assert LATEST not in done.err  # the reason why there is a file
        said = shell(["krm-fn", "helm-plugin", "verdict"], cwd=tmp_path)
        assert LATEST in said.out

    def test_the_verdict_is_that_of_the_last_run(
        self, installed: Path, tmp_path: Path, shell: Shell
    ) -> None:
        self.template(shell, tmp_path, "--set", "tag=latest")
        self.template(shell, tmp_path)
        said = shell(["krm-fn", "helm-plugin", "verdict"], cwd=tmp_path)
        assert said.out == "2 objects, 2 changed, 0 rejected, 0 warnings (3 rules)\n"

    def test_a_mistake_in_a_rule_is_in_the_file(
        self, installed: Path, tmp_path: Path, shell: Shell
    ) -> None:
        (tmp_path / "rules.yaml").write_text("kind: ModRule\n")
        assert self.template(shell, tmp_path).status != 0
        assert "rules.yaml" in (installed / "verdict.txt").read_text()

    def test_helm_hands_on_more_options(
        self, installed: Path, tmp_path: Path, shell: Shell
    ) -> None:
        more = ("--post-renderer-args", "--on-reject", "--post-renderer-args", "Warn")
        done = self.template(shell, tmp_path, "--set", "tag=latest", *more)
        assert done.status == 0, done.err
        assert "web:latest" in done.out

    def test_an_install_takes_what_is_admitted(
        self, installed: Path, tmp_path: Path, shell: Shell
    ) -> None:
        command = ["helm", "install", "r", "chart", "--dry-run=client", "--post-renderer", "krm-fn"]
        done = shell(command, cwd=tmp_path)
        assert done.status == 0, done.err
        assert "team: shop" in done.out

    def test_it_can_be_installed_twice_and_removed(
        self, installed: Path, home: Path, tmp_path: Path, shell: Shell
    ) -> None:
        assert shell(["krm-fn", "helm-plugin", "install"], cwd=tmp_path).status == 0
        assert "rules.yaml" not in (installed / "plugin.yaml").read_text()
        done = shell(["krm-fn", "helm-plugin", "uninstall"], cwd=tmp_path)
        assert done.out == f"{installed}\n"
        assert tree(home) == {}

    def test_a_plugin_of_someone_else_stays(self, home: Path, tmp_path: Path, shell: Shell) -> None:
        (home / "krm-fn").mkdir(parents=True)
        (home / "krm-fn" / "plugin.yaml").write_text("name: other\n")
        before = tree(home)
        done = shell(["krm-fn", "helm-plugin", "install"], cwd=tmp_path)
        assert done.status == 2
        assert "is there already and is not krm-fn's" in done.err
        shell(["krm-fn", "helm-plugin", "uninstall"], cwd=tmp_path)
        assert tree(home) == before

    @pytest.mark.needs("helm3")
    def test_beside_a_helm_3_it_needs_a_folder_of_its_own(
        self, home: Path, tmp_path: Path, shell: Shell
    ) -> None:
        old = tmp_path / "tools" / "helm3"
        old.symlink_to(Path(HELM_3).resolve())
        done = shell(["krm-fn", "helm-plugin", "install"], cwd=tmp_path)
        assert done.status == 2
        assert f"{old} is Helm 3" in done.err
        assert not home.exists()
        own = tmp_path / "own"
        command = ["krm-fn", "helm-plugin", "install", "--home", own]
        assert shell(command, cwd=tmp_path).status == 0
        assert shell(["helm3", "plugin", "list"], cwd=tmp_path).err == ""

    def test_without_a_helm_the_folder_must_be_named(
        self, home: Path, tmp_path: Path, shell: Shell
    ) -> None:
        (tmp_path / "tools" / "helm").unlink()
        done = shell(["krm-fn", "helm-plugin", "install"], cwd=tmp_path)
        assert done.status == 2
        assert "name Helm 4's plugin folder with --home" in done.err

    @pytest.mark.parametrize("name", ["../x", "a/b", ""])
    def test_a_name_leads_to_no_other_folder(
        self, name: str, home: Path, tmp_path: Path, shell: Shell
    ) -> None:
        done = shell(["krm-fn", "helm-plugin", "install", "--name", name], cwd=tmp_path)
        assert done.status == 2
        assert not home.exists()
