"""Admission policies under real kpt and kustomize: as functionConfig, in files, among items."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e_support import Shell

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "policies"
EXEC = """\
  annotations:
    config.kubernetes.io/function: |
      exec: {path: krm-fn}
"""
ADMISSION = f"""\
apiVersion: krm-fn.dev/v1alpha1
kind: Admission
metadata:
  name: rules
{EXEC}spec:
  rules:
  - paths: [policies/]
"""


def example(name: str, file: str) -> str:
    return (EXAMPLES / name / file).read_text()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    return folder


def policy_alone(name: str) -> str:
    """A policy of an example, without its binding, as a functionConfig with an exec function."""
    text = example(name, "policy.yaml").partition("---\n")[0]
    return text.replace(f"  name: {name}\n", f"  name: {name}\n{EXEC}", 1)


@pytest.mark.needs("kpt")
class TestKpt:
    def test_a_policy_is_the_function_config(
        self, package: Path, tmp_path: Path, shell: Shell
    ) -> None:
        (package / "web.yaml").write_text(example("run-as-non-root", "before.yaml"))
        config = tmp_path / "policy.yaml"
        config.write_text(policy_alone("run-as-non-root"))
        done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn", "--fn-config", config])
        assert done.status == 0, done.err
        assert (package / "web.yaml").read_text() == example("run-as-non-root", "after.yaml")

    def test_a_policy_and_its_binding_are_among_the_items(
        self, package: Path, shell: Shell
    ) -> None:
        (package / "web.yaml").write_text(example("seccomp-default", "before.yaml"))
        policy = example("seccomp-default", "policy.yaml")
        (package / "policy.yaml").write_text(policy)
        done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn"])
        assert done.status == 0, done.err
        assert (package / "web.yaml").read_text() == example("seccomp-default", "after.yaml")
        assert (package / "policy.yaml").read_text() == policy

    def test_a_denial_fails_the_run(self, package: Path, shell: Shell) -> None:
        (package / "web.yaml").write_text(example("no-node-ports", "before.yaml"))
        (package / "policy.yaml").write_text(example("no-node-ports", "policy.yaml"))
        done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn"])
        assert done.status == 1
        assert "use an Ingress or a LoadBalancer" in done.err


@pytest.mark.needs("kustomize")
class TestKustomize:
    BUILD = ("kustomize", "build", "--enable-alpha-plugins", "--enable-exec", ".")

    def test_a_policy_is_a_transformer(self, package: Path, shell: Shell) -> None:
        (package / "web.yaml").write_text(example("ingress-class", "before.yaml"))
        (package / "policy.yaml").write_text(policy_alone("ingress-class"))
        (package / "kustomization.yaml").write_text(
            "resources: [web.yaml]\ntransformers: [policy.yaml]\n"
        )
        done = shell(self.BUILD, cwd=package)
        assert done.status == 0, done.err
        assert "ingressClassName: internal" in done.out

    def test_policies_in_a_folder_change_and_refuse(self, package: Path, shell: Shell) -> None:
        (package / "policies").mkdir()
        for name in ("node-architecture", "memory-limits"):
            text = example(name, "policy.yaml")
            (package / "policies" / f"{name}.yaml").write_text(text)
        (package / "admission.yaml").write_text(ADMISSION)
        (package / "kustomization.yaml").write_text(
            "resources: [web.yaml]\ntransformers: [admission.yaml]\n"
        )
        (package / "web.yaml").write_text(example("memory-limits", "left-alone.yaml"))
        done = shell(self.BUILD, cwd=package)
        assert done.status == 0, done.err
        assert "kubernetes.io/arch: amd64" in done.out
        (package / "web.yaml").write_text(example("memory-limits", "before.yaml"))
        done = shell(self.BUILD, cwd=package)
        assert done.status != 0
        assert "no container may use more than 4Gi of memory" in done.err
