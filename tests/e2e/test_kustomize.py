"""Under real kustomize: exec functions as transformers, generators and validators.

What comes out is compared with `krm-fn apply` on the same objects. Container functions (under
kustomize, kubectl and kpt) run through a `docker` script that stands first in PATH, asserts the
arguments that it is given, and runs the function on the same standard input.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e_support import Shell

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web
        image: nginx:1.25
        args: ["yes", 'on', "0755", "1e3"]
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  ports:
  - port: 80
"""
LABEL = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: team, namespace: shop}
spec:
  type: Patch
  match:
  - select: $.kind
    matchValue: Deployment
  patch:
  - op: add
    path: /metadata/labels/team
    value: checkout
"""
REFUSE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: no-services, namespace: shop}
spec:
  type: Reject
  rejectMessage: no services in {{ .Namespace }}
  match:
  - select: $.kind
    matchValue: Service
"""
BUILD = ["kustomize", "build", "--enable-alpha-plugins", "--enable-exec", "."]
EXEC = "exec: {path: krm-fn}"
CONTAINER = "container: {image: krm-fn:dev}"


def admission(rules: str, function: str = EXEC, spec: str = "") -> str:
    options = "".join(f"  {line}\n" for line in spec.splitlines())
    indented = "".join(f"      {line}\n" for line in rules.splitlines())
    return (
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata:\n  name: rules\n"
        f"  annotations:\n    config.kubernetes.io/function: |\n      {function}\n"
        f"spec:\n{options}  rules:\n  - inline: |\n{indented}"
    )


def objects(text: str) -> dict[tuple[str, str], Any]:
    """What a stream holds, by kind and name."""
    return {
        (value["kind"], value["metadata"]["name"]): value
        for value in yaml.load_all(text, yaml.CSafeLoader)
        if value
    }


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "web.yaml").write_text(WEB)
    return folder


def kustomization(package: Path, config: str, field: str = "transformers", more: str = "") -> None:
    (package / "admission.yaml").write_text(config)
    (package / "kustomization.yaml").write_text(
        f"resources: [web.yaml]\n{field}: [admission.yaml]\n{more}"
    )


def applied(shell: Shell, package: Path, rules: str, *flags: str) -> Any:
    """What the command line makes of the same objects."""
    (package.parent / "rules.yaml").write_text(rules)
    return shell(
        ["krm-fn", "apply", "-f", package / "web.yaml", "-r", package.parent / "rules.yaml", *flags]
    )


@pytest.mark.needs("kustomize")
class TestExec:
    def test_a_transformer_gives_what_apply_gives(self, package: Path, shell: Shell) -> None:
        kustomization(package, admission(LABEL))
        done = shell(BUILD, cwd=package)
        assert done.status == 0, done.err
        assert objects(done.out) == objects(applied(shell, package, LABEL).out)
        assert "1 changed" in done.err

    def test_apply_admits_what_kustomize_builds(self, package: Path, shell: Shell) -> None:
        (package / "kustomization.yaml").write_text("resources: [web.yaml]\nnamePrefix: a-\n")
        (package.parent / "rules.yaml").write_text(LABEL)
        done = shell(["krm-fn", "apply", "-k", package, "-r", package.parent / "rules.yaml"])
        assert done.status == 0, done.err
        assert objects(done.out)["Deployment", "a-web"]["metadata"]["labels"] == {
            "team": "checkout"
        }

    def test_a_kustomization_that_does_not_build_is_exit_4_with_its_reason(
        self, package: Path, shell: Shell
    ) -> None:
        (package / "kustomization.yaml").write_text("resources: [nowhere.yaml]\n")
        (package.parent / "rules.yaml").write_text(LABEL)
        done = shell(["krm-fn", "apply", "-k", package, "-r", package.parent / "rules.yaml"])
        assert (done.status, done.out) == (4, "")
        assert "nowhere.yaml" in done.err

    def test_rules_may_stand_in_a_folder_beside_the_kustomization(
        self, package: Path, shell: Shell
    ) -> None:
        config = admission(LABEL)
        config = config[: config.index("  rules:")] + "  rules: [{paths: [rules/]}]\n"
        (package / "rules").mkdir()
        (package / "rules" / "label.yaml").write_text(LABEL)
        kustomization(package, config)
        done = shell(BUILD, cwd=package)
        assert done.status == 0, done.err
        assert objects(done.out)["Deployment", "web"]["metadata"]["labels"] == {"team": "checkout"}

    def test_a_function_config_may_stand_inline(self, package: Path, shell: Shell) -> None:
        inline = "".join(f"    {line}\n" for line in admission(LABEL).splitlines())
        (package / "kustomization.yaml").write_text(
            f"resources: [web.yaml]\ntransformers:\n- |-\n{inline}"
        )
        done = shell(BUILD, cwd=package)
        assert done.status == 0, done.err
        assert "team: checkout" in done.out

    def test_a_rejection_fails_the_build_and_is_shown(self, package: Path, shell: Shell) -> None:
        kustomization(package, admission(REFUSE))
        done = shell(BUILD, cwd=package)
        assert done.status == 1
        assert done.out == ""
        assert (
            "error v1/Service shop/web: no services in shop (ModRule shop/no-services)" in done.err
        )

    def test_a_warning_is_shown_and_the_build_goes_on(self, package: Path, shell: Shell) -> None:
        kustomization(package, admission(REFUSE, spec="onReject: Warn"))
        done = shell(BUILD, cwd=package)
        assert done.status == 0, done.err
        assert "warning v1/Service shop/web: no services in shop" in done.err
        assert objects(done.out) == objects(WEB)

    def test_a_dropped_object_is_not_built(self, package: Path, shell: Shell) -> None:
        kustomization(package, admission(REFUSE, spec="onReject: Drop"))
        done = shell(BUILD, cwd=package)
        assert done.status == 0, done.err
        expected = applied(shell, package, REFUSE, "--on-reject", "drop")
        assert objects(done.out) == objects(expected.out)
        assert ("Service", "web") not in objects(done.out)

    def test_the_origin_of_an_object_is_named(self, package: Path, shell: Shell) -> None:
        kustomization(package, admission(REFUSE), more="buildMetadata: [originAnnotations]\n")
        done = shell(BUILD, cwd=package)
        assert done.status == 1
        assert "[web.yaml]" in done.err

    def test_a_validator_that_admits_lets_every_object_pass(
        self, package: Path, shell: Shell
    ) -> None:
        config = admission(LABEL, spec="mode: Validate\nkustomizeValidator: true")
        kustomization(package, config, "validators")
        done = shell(BUILD, cwd=package)
        assert done.status == 0, done.err
        assert objects(done.out) == objects(WEB)

    def test_a_validator_that_refuses_fails_the_build(self, package: Path, shell: Shell) -> None:
        config = admission(REFUSE, spec="mode: Validate\nkustomizeValidator: true")
        kustomization(package, config, "validators")
        done = shell(BUILD, cwd=package)
        assert done.status == 1
        assert "no services in shop" in done.err

    def test_a_generator_has_nothing_to_admit_and_adds_nothing(
        self, package: Path, shell: Shell
    ) -> None:
        kustomization(package, admission(LABEL), "generators")
        done = shell(BUILD, cwd=package)
        assert done.status == 0, done.err
        assert objects(done.out) == objects(WEB)

    def test_a_mistake_in_the_configuration_is_one_sentence(
        self, package: Path, shell: Shell
    ) -> None:
        kustomization(package, admission(LABEL, spec="onRejct: Warn"))
        done = shell(BUILD, cwd=package)
        assert done.status == 1
        assert "spec.onRejct: unknown field; did you mean onReject?" in done.err


KUSTOMIZE_ARGUMENTS = (
    "run --rm -i -a STDIN -a STDOUT -a STDERR --network none --user nobody "
    "--security-opt=no-new-privileges -e LOG_TO_STDERR=true -e STRUCTURED_RESULTS=true krm-fn:dev"
)
KPT_ARGUMENTS = (
    "run --rm -i --network none --user nobody --security-opt=no-new-privileges --pull missing "
    # kpt takes an image without a registry for one of its own catalog.
    "gcr.io/kpt-fn/krm-fn:dev"
)


def in_container(shell: Shell, package: Path, command: list[str]) -> Any:
    return shell([*command, "."], cwd=package)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            ["kustomize", "build", "--enable-alpha-plugins"],
            marks=pytest.mark.needs("kustomize"),
            id="kustomize",
        ),
        pytest.param(
            ["kubectl", "kustomize", "--enable-alpha-plugins"],
            marks=pytest.mark.needs("kubectl"),
            id="kubectl",
        ),
        pytest.param(
            ["newer-kubectl", "kustomize", "--enable-alpha-plugins"],
            marks=pytest.mark.needs("newer-kubectl"),
            id="newer-kubectl",
        ),
    ],
)
class TestContainer:
    def test_a_container_function_gives_what_apply_gives(
        self, command: list[str], package: Path, shell: Shell, docker: Path
    ) -> None:
        kustomization(package, admission(LABEL, CONTAINER))
        done = in_container(shell, package, command)
        assert done.status == 0, done.err
        assert objects(done.out) == objects(applied(shell, package, LABEL).out)
        assert docker.read_text().strip() == KUSTOMIZE_ARGUMENTS

    def test_a_declared_mount_is_passed_read_only(
        self, command: list[str], package: Path, shell: Shell, docker: Path
    ) -> None:
        (package / "rules").mkdir()
        function = (
            "container:\n        image: krm-fn:dev\n        mounts:\n"
            "        - {type: bind, src: rules, dst: /rules}"
        )
        kustomization(package, admission(LABEL, function))
        done = in_container(shell, package, command)
        assert done.status == 0, done.err
        source = os.path.realpath(package / "rules")
        mount = f"--mount type=bind,source={source},target=/rules,readonly"
        assert mount in docker.read_text()

    @pytest.mark.parametrize(
        ("spec", "status", "said"),
        [("", 1, "no services"), ("onReject: Warn", 0, "no services"), ("onReject: Drop", 0, "dr")],
    )
    def test_rejections_warnings_and_drops_are_those_of_exec(
        self,
        command: list[str],
        package: Path,
        shell: Shell,
        docker: Path,
        spec: str,
        status: int,
        said: str,
    ) -> None:
        kustomization(package, admission(REFUSE, CONTAINER, spec))
        done = in_container(shell, package, command)
        assert done.status == status
        assert said in done.err
        assert docker.exists()


@pytest.mark.needs("kpt")
def test_kpt_runs_the_image_and_gives_what_apply_gives(
    package: Path, shell: Shell, docker: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(admission(LABEL))
    run = ["kpt", "fn", "eval", package, "--image", "krm-fn:dev", "--fn-config", config]
    done = shell([*run, "-o", "unwrap"])
    assert done.status == 0, done.err
    assert objects(done.out) == objects(applied(shell, package, LABEL).out)
    assert docker.read_text().strip() == KPT_ARGUMENTS


LEGACY = [
    pytest.param(
        ["kustomize", "build", "--enable-alpha-plugins"],
        marks=pytest.mark.needs("kustomize"),
        id="kustomize",
    ),
    pytest.param(
        ["kubectl", "kustomize", "--enable-alpha-plugins"],
        marks=pytest.mark.needs("kubectl"),
        id="kubectl",
    ),
    pytest.param(
        ["newer-kubectl", "kustomize", "--enable-alpha-plugins"],
        marks=pytest.mark.needs("newer-kubectl"),
        id="newer-kubectl",
    ),
]


@pytest.mark.parametrize("command", LEGACY)
class TestLegacyPlugin:
    """`krm-fn kustomize-plugin install`: no container, also inside kubectl."""

    def test_an_admission_without_a_function_annotation_runs_as_a_plugin(
        self, command: list[str], package: Path, shell: Shell, tmp_path: Path
    ) -> None:
        home = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
        assert shell(["krm-fn", "kustomize-plugin", "install"], **home).status == 0
        kustomization(package, _without_function(admission(LABEL)))
        done = shell([*command, "."], cwd=package, **home)
        assert done.status == 0, done.err
        assert objects(done.out) == objects(applied(shell, package, LABEL).out)

    def test_a_rule_itself_runs_as_a_plugin(
        self, command: list[str], package: Path, shell: Shell, tmp_path: Path
    ) -> None:
        home = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
        shell(["krm-fn", "kustomize-plugin", "install"], **home)
        kustomization(package, LABEL)
        done = shell([*command, "."], cwd=package, **home)
        assert done.status == 0, done.err
        assert objects(done.out)["Deployment", "web"]["metadata"]["labels"] == {"team": "checkout"}

    def test_a_rejection_fails_the_build_and_is_shown(
        self, command: list[str], package: Path, shell: Shell, tmp_path: Path
    ) -> None:
        home = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
        shell(["krm-fn", "kustomize-plugin", "install"], **home)
        kustomization(package, _without_function(admission(REFUSE)))
        done = shell([*command, "."], cwd=package, **home)
        assert done.status == 1
        assert "no services in shop" in done.err

    def test_uninstall_removes_what_install_wrote(
        self, command: list[str], package: Path, shell: Shell, tmp_path: Path
    ) -> None:
        home = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
        written = shell(["krm-fn", "kustomize-plugin", "install"], **home).out.split()
        assert all(Path(path).exists() for path in written)
        shell(["krm-fn", "kustomize-plugin", "uninstall"], **home)
        assert not any(Path(path).exists() for path in written)


def _without_function(config: str) -> str:
    start = config.index("  annotations:")
    return config[:start] + config[config.index("spec:") :]
