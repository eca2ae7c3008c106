"""Under real kpt: `kpt fn eval --exec` and `kpt fn render --allow-exec`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from e2e_support import Shell, fixtures, tree

pytestmark = pytest.mark.needs("kpt")

DEPLOYMENT = """\
# The web front.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # its name
  namespace: shop
  labels:
    app: web
spec:
  replicas: 2
  template:
    spec:
      containers:
      # the server
      - name: web
        image: 'nginx:1.25'
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  ports: [{port: 80}] # flow
"""
CONFIG_JSON = """\
{
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {
    "name": "settings",
    "namespace": "shop"
  },
  "data": {
    "level": "info"
  }
}
"""
ADD_LABEL = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata:
  name: team
  namespace: shop
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  type: Patch
  match:
  - select: $.kind
    matchValues: [Deployment, ConfigMap]
  patch:
  - op: add
    path: /metadata/labels/team
    value: checkout
"""
REFUSE_SERVICES = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata:
  name: no-services
  namespace: shop
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  type: Reject
  rejectMessage: no services in {{ .Namespace }}
  match:
  - select: $.kind
    matchValue: Service
"""
ADMISSION = """\
apiVersion: krm-fn.dev/v1alpha1
kind: Admission
metadata:
  name: rules
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  onReject: {on_reject}
  rules:
  - inline: |
{rule}
"""
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop
  annotations:
    config.kubernetes.io/local-config: "true"
pipeline:
  mutators:
  - exec: krm-fn
    configPath: mutate.yaml
  validators:
  - exec: krm-fn
    configPath: validate.yaml
"""


def admission(rule: str, on_reject: str = "Fail") -> str:
    indented = "\n".join(f"      {line}" for line in rule.splitlines())
    return ADMISSION.format(rule=indented, on_reject=on_reject)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "deployment.yaml").write_text(DEPLOYMENT)
    (folder / "service.yaml").write_text(SERVICE)
    (folder / "settings.json").write_text(CONFIG_JSON)
    return folder


def test_eval_changes_what_the_rule_changes_and_keeps_every_comment(
    package: Path, tmp_path: Path, shell: Shell
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(admission(ADD_LABEL))
    done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn", "--fn-config", config])
    assert done.status == 0, done.err
    expected = DEPLOYMENT.replace("    app: web\n", "    app: web\n    team: checkout\n", 1)
    assert (package / "deployment.yaml").read_text() == expected
    assert (package / "service.yaml").read_text() == SERVICE
    assert '"team": "checkout"' in (package / "settings.json").read_text()


def test_a_rule_itself_is_a_function_config(package: Path, tmp_path: Path, shell: Shell) -> None:
    config = tmp_path / "rule.yaml"
    config.write_text(ADD_LABEL)
    done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn", "--fn-config", config])
    assert done.status == 0, done.err
    assert "team: checkout" in (package / "deployment.yaml").read_text()


def test_rules_among_the_items_apply_and_stay_as_they_are(package: Path, shell: Shell) -> None:
    (package / "rule.yaml").write_text(ADD_LABEL)
    done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn"])
    assert done.status == 0, done.err
    assert "team: checkout" in (package / "deployment.yaml").read_text()
    assert (package / "rule.yaml").read_text() == ADD_LABEL


def test_a_rejection_fails_the_run_and_leaves_the_package_alone(
    package: Path, tmp_path: Path, shell: Shell
) -> None:
    config = tmp_path / "rule.yaml"
    config.write_text(REFUSE_SERVICES)
    before = tree(package)
    results = tmp_path / "results"
    run = ["kpt", "fn", "eval", package, "--exec", "krm-fn", "--fn-config", config]
    done = shell([*run, "--results-dir", results])
    assert done.status == 1
    assert "no services in shop" in done.err
    assert tree(package) == before
    assert "no services in shop" in (results / "results.yaml").read_text()


def test_a_warning_lets_the_run_pass_and_is_shown(
    package: Path, tmp_path: Path, shell: Shell
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(admission(REFUSE_SERVICES, "Warn"))
    done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn", "--fn-config", config])
    assert done.status == 0, done.err
    assert "[warning]" in done.err
    assert "no services in shop" in done.err


def test_a_dropped_object_leaves_its_file(package: Path, tmp_path: Path, shell: Shell) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(admission(REFUSE_SERVICES, "Drop"))
    done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn", "--fn-config", config])
    assert done.status == 0, done.err
    assert not (package / "service.yaml").exists()
    assert (package / "deployment.yaml").exists()


def test_options_come_as_key_and_value(package: Path, shell: Shell) -> None:
    (package / "rule.yaml").write_text(REFUSE_SERVICES)
    done = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn", "--", "onReject=Warn"])
    assert done.status == 0, done.err
    wrong = shell(["kpt", "fn", "eval", package, "--exec", "krm-fn", "--", "onRejekt=Warn"])
    assert wrong.status == 1
    assert "did you mean onReject?" in wrong.err


def test_render_runs_a_pipeline_and_keeps_the_kptfile(package: Path, shell: Shell) -> None:
    (package / "Kptfile").write_text(KPTFILE)
    (package / "mutate.yaml").write_text(admission(ADD_LABEL))
    (package / "validate.yaml").write_text(admission(ADD_LABEL).replace("Fail", "Warn"))
    done = shell(["kpt", "fn", "render", package, "--allow-exec"])
    assert done.status == 0, done.err
    # kpt notes in the Kptfile that it rendered the package; all that was written stays.
    assert (package / "Kptfile").read_text().startswith(KPTFILE)
    assert (package / "mutate.yaml").read_text() == admission(ADD_LABEL)
    assert "    team: checkout\n" in (package / "deployment.yaml").read_text()
    assert "# the server" in (package / "deployment.yaml").read_text()


def test_a_validator_that_refuses_stops_the_render(package: Path, shell: Shell) -> None:
    (package / "Kptfile").write_text(KPTFILE)
    (package / "mutate.yaml").write_text(admission(ADD_LABEL))
    (package / "validate.yaml").write_text(admission(REFUSE_SERVICES))
    done = shell(["kpt", "fn", "render", package, "--allow-exec"])
    assert done.status == 1
    assert "no services in shop" in done.err
    assert (package / "deployment.yaml").read_text() == DEPLOYMENT


def test_a_second_render_changes_nothing(package: Path, shell: Shell) -> None:
    (package / "Kptfile").write_text(KPTFILE)
    (package / "mutate.yaml").write_text(admission(ADD_LABEL))
    (package / "validate.yaml").write_text(admission(ADD_LABEL))
    assert shell(["kpt", "fn", "render", package, "--allow-exec"]).status == 0
    before = tree(package)
    done = shell(["kpt", "fn", "render", package, "--allow-exec"])
    assert done.status == 0, done.err
    assert tree(package) == before


LABEL_EVERYTHING = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata:
  name: label-everything
  namespace: kubemod-system
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  type: Patch
  targetNamespaceRegex: .*
  match:
  - select: $.kind
  patch:
  - op: add
    path: /metadata/labels/rendered
    value: krm-fn
"""


def writable_copy(name: str, target: Path) -> Path:
    """A real package, with krm-fn as its only function instead of images out of reach."""
    shutil.copytree(fixtures() / name, target)
    for path in [target, *target.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    for kptfile in target.rglob("Kptfile"):
        kptfile.write_text(kptfile.read_text().split("pipeline:\n")[0])
    pipeline = "pipeline:\n  mutators:\n  - exec: krm-fn\n    configPath: label-everything.yaml\n"
    (target / "Kptfile").write_text((target / "Kptfile").read_text() + pipeline)
    (target / "label-everything.yaml").write_text(LABEL_EVERYTHING)
    return target


@pytest.mark.parametrize("name", ["cert-manager", "kpt-wordpress", "kpt-ingress-nginx"])
def test_real_packages_render_in_place_twice_and_keep_every_comment(
    name: str, tmp_path: Path, shell: Shell
) -> None:
    # kpt lays out anew what it writes: compare with a render by a function that changes nothing.
    plain = writable_copy(name, tmp_path / "plain")
    (plain / "Kptfile").write_text(
        (plain / "Kptfile").read_text().replace("exec: krm-fn", "exec: cat")
    )
    assert shell(["kpt", "fn", "render", plain, "--allow-exec"]).status == 0
    package = writable_copy(name, tmp_path / "package")
    done = shell(["kpt", "fn", "render", package, "--allow-exec"])
    assert done.status == 0, done.err
    before, after = tree(plain), tree(package)
    assert before.keys() == after.keys()
    changed = 0
    for path, text in before.items():
        if path == "Kptfile":
            continue
        added = [line for line in after[path].splitlines() if line not in text.splitlines()]
        assert all(line.strip() in ("rendered: krm-fn", "labels:") for line in added), (path, added)
        comments = [line for line in text.splitlines() if line.lstrip().startswith("#")]
        kept = [line for line in after[path].splitlines() if line.lstrip().startswith("#")]
        assert comments == kept
        changed += bool(added)
    assert changed > 3
    again = shell(["kpt", "fn", "render", package, "--allow-exec"])
    assert again.status == 0, again.err
    assert tree(package) == after
