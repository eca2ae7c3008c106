"""Real packages that nobody here wrote: Argo CD's install.yaml and three of kpt's examples."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import jsonpatch
import pytest
import yaml
from e2e_support import Shell, fixtures

from krm_fn.wire import read_stream

NOTHING = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: nothing, namespace: kubemod-system}
spec:
  type: Patch
  targetNamespaceRegex: .*
  match:
  - select: $.metadata.labels["no-such-label"]
    matchValue: x
  patch:
  - {op: add, path: /metadata/labels/x, value: z}
"""
WORKLOADS = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: workloads, namespace: kubemod-system}
spec:
  type: Patch
  targetNamespaceRegex: .*
  match:
  - select: $.kind
    matchValues: [Deployment, StatefulSet]
  - select: $.spec.template.spec.containers[*].name
    matchValue: proxy
    negate: true
  patch:
  - {op: add, path: /metadata/labels/owner, value: platform}
  - {op: add, path: /spec/template/metadata/annotations/example.com~1scrape, value: '"true"'}
  - op: add
    select: $.spec.template.spec.containers[*]
    path: /spec/template/spec/containers/#0/imagePullPolicy
    value: Always
  - {op: remove, path: /spec/template/spec/affinity}
  - op: add
    path: /spec/template/spec/containers/-1
    value: |-
      name: proxy
      image: registry.example.com/proxy:1.0
      command: [sh, -c, "exec proxy\\n"]
"""
REFUSE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: no-secrets, namespace: kubemod-system}
spec:
  type: Reject
  targetNamespaceRegex: .*
  rejectMessage: Secrets do not belong into git
  match:
  - select: $.kind
    matchValue: Secret
"""


@pytest.fixture
def install() -> Path:
    return fixtures() / "argo-cd" / "install.yaml"


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """(removed, added) lines of the textual diff."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))
    body = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    return (
        [line[1:] for line in body if line[0] == "-"],
        [line[1:] for line in body if line[0] == "+"],
    )


def test_rules_that_match_nothing_leave_every_byte(
    install: Path, tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / "rules.yaml").write_text(NOTHING)
    done = shell(["krm-fn", "apply", "-f", install, "-r", "rules.yaml"], cwd=tmp_path)
    assert done.status == 0, done.err
    assert done.out == install.read_text()


def test_as_a_function_every_byte_before_the_results_is_the_same(
    install: Path, tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / "rules.yaml").write_text(NOTHING)
    made = shell(
        ["krm-fn", "apply", "-f", install, "-r", "rules.yaml", "-o", "resourcelist"], cwd=tmp_path
    )
    source = made.out + "functionConfig:\n"
    source += "".join(f"  {line}\n" for line in NOTHING.splitlines())
    done = shell(["krm-fn"], stdin=source.encode())
    assert done.status == 0, done.err
    assert done.out.split("\nresults:\n")[0].rstrip("\n") == source.rstrip("\n")


def test_a_rule_for_some_objects_changes_their_lines_only(
    install: Path, tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / "rules.yaml").write_text(WORKLOADS)
    run = ["krm-fn", "apply", "-f", install, "-r", "rules.yaml"]
    done = shell(run, cwd=tmp_path)
    assert done.status == 0, done.err
    assert "59 objects, 7 changed" in done.err
    before = install.read_text()
    removed, added = changed_lines(before, done.out)
    # Nothing but the affinities leaves, and pull policies that said something else.
    assert all(
        line.strip() in ("imagePullPolicy: IfNotPresent", "affinity:")
        or any(line in block for block in before.split("affinity:")[1:])
        for line in removed
    )
    assert sum(line.strip() == "owner: platform" for line in added) == 7
    assert sum(line.strip() == "- name: proxy" for line in added) == 7
    assert len(added) < 7 * 15

    patches = json.loads(shell([*run, "-o", "patch"], cwd=tmp_path).out)
    assert len(patches) == 7
    old = {_name(d): d for d in yaml.load_all(before, yaml.CSafeLoader)}
    new = {_name(d): d for d in yaml.load_all(done.out, yaml.CSafeLoader)}
    assert old.keys() == new.keys()
    for entry in patches:
        name = (entry["resourceRef"]["kind"], entry["resourceRef"]["name"])
        old[name] = jsonpatch.apply_patch(old[name], entry["patch"])
    assert old == new


def _name(value: dict[str, dict[str, str]]) -> tuple[str, str]:
    return str(value["kind"]), value["metadata"]["name"]


def test_a_second_run_changes_nothing(install: Path, tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "rules.yaml").write_text(WORKLOADS)
    first = shell(["krm-fn", "apply", "-f", install, "-r", "rules.yaml"], cwd=tmp_path)
    again = shell(["krm-fn", "apply", "-r", "rules.yaml"], cwd=tmp_path, stdin=first.out.encode())
    assert again.out == first.out


def test_a_refused_object_is_named_on_the_first_line_and_files_stay(
    install: Path, tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / "rules.yaml").write_text(WORKLOADS + "---\n" + REFUSE)
    copy = tmp_path / "install.yaml"
    copy.write_text(install.read_text())
    done = shell(["krm-fn", "apply", "-i", "-f", copy, "-r", "rules.yaml"], cwd=tmp_path)
    assert done.status == 1
    assert "Secrets do not belong into git" in done.err.splitlines()[0]
    assert done.err.splitlines()[0].startswith("error v1/Secret ")
    assert copy.read_text() == install.read_text()


@pytest.mark.parametrize("name", ["cert-manager", "kpt-ingress-nginx", "kpt-wordpress"])
def test_packages_pass_unchanged_and_every_object_can_be_read(
    name: str, tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / "rules.yaml").write_text(NOTHING)
    package = fixtures() / name
    done = shell(["krm-fn", "apply", "-f", package, "-r", "rules.yaml", "--strict"], cwd=tmp_path)
    assert done.status == 0, done.err
    for path in package.rglob("*.yaml"):
        text = path.read_text()
        assert text in done.out
        assert read_stream(text.encode()).write() == text.encode()


@pytest.mark.parametrize("name", ["argo-cd", "cert-manager", "kpt-ingress-nginx", "kpt-wordpress"])
def test_every_object_of_a_package_can_be_shown_as_rules_see_it(
    name: str, tmp_path: Path, shell: Shell
) -> None:
    package = fixtures() / name
    done = shell(["krm-fn", "show", "-f", package], cwd=tmp_path)
    assert done.status == 0, done.err
    assert "error " not in done.err
    written = [
        (item.value["kind"], item.value["metadata"]["name"])
        for path in sorted(package.rglob("*.yaml"))
        for item in read_stream(path.read_bytes()).items
    ]
    shown = [
        (item.value["kind"], item.value["metadata"]["name"])
        for item in read_stream(done.out.encode()).items
    ]
    assert sorted(shown) == sorted(written)
