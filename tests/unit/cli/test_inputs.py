"""What the command line reads: a repository as it is, without dead ends and without silence."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import run

WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n"
RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: label}
spec:
  type: Patch
  match:
  - select: $.kind
    matchValues: [Deployment, ConfigMap]
  patch:
  - {op: add, path: /metadata/labels/x, value: done}
"""
BROKEN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n- b\n"
OTHERS = {
    "values.yaml": "replicas: 2\n",
    "action.yml": "name: x\nruns: {using: composite}\n",
    "docker-compose.yml": "services: {web: {image: nginx}}\n",
    "package.json": '{"name": "x"}\n',
    "list.yaml": "- a\n- b\n",
    "text.yaml": "just a text\n",
    "notes.tpl.yaml": "{{ if .x }}\na: b\n",
}
"""Files that every repository has, and that are no manifests."""


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("rules.yaml", RULE)
    write("k8s/web.yaml", WEB)


def write(name: str, text: str | bytes) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


def check(*arguments: str, stdin: bytes = b"") -> tuple[int, list[str]]:
    done = run("check", "-r", "rules.yaml", *arguments, stdin=stdin)
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


ONE = "1 object, 1 changed, 0 rejected, 0 warnings (1 rule)"

# ------------------------------------------------------------------------------- other programs


def test_files_of_other_programs_are_passed_over_and_counted() -> None:
    for name, text in OTHERS.items():
        write(name, text)
    write("icon.yaml", b"\x89PNG\x00\x01")
    assert check("-f", ".") == (
        0,
        [
            "skipped 8 files without Kubernetes objects: action.yml, docker-compose.yml, "
            "icon.yaml, ...; -v lists them, --strict-files reads them",
            ONE,
        ],
    )


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_that_is_named_stays_strict(name: str) -> None:
    write(name, OTHERS[name])
    status, (line,) = check("-f", name)
    assert status == 4
    assert line.startswith(f"error {name}:1: ")


def test_verbose_lists_what_was_passed_over() -> None:
    write("values.yaml", "replicas: 2\n")
    assert check("-f", ".", "-v")[1] == [
        "info values.yaml: skipped, without Kubernetes objects",
        ONE,
    ]


def test_strict_files_makes_each_of_them_an_error() -> None:
    write("values.yaml", "replicas: 2\n")
    write("package.json", '{"name": "x"}\n')
    status, lines = check("-f", ".", "--strict-files")
    assert status == 4
    assert [line.split(": ")[0] for line in lines] == [
        "error package.json:1",
        "error values.yaml:1",
    ]


def test_a_document_that_is_no_object_is_passed_over_beside_those_that_are() -> None:
    write("k8s/web.yaml", f"{WEB}---\nreplicas: 2\n")
    assert check("-f", "k8s")[1][0].startswith(
        "skipped 1 file without Kubernetes objects: k8s/web.yaml:6;"
    )


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("kind: Pod\nmetadata: {name: x}\n", "apiVersion"),
        ("apiVersion: v1\nmetadata: {name: x}\n", "kind"),
    ],
)
def test_half_a_head_is_no_other_programs_file(text: str, missing: str) -> None:
    write("k8s/x.yaml", text)
    status, (line,) = check("-f", "k8s")
    assert status == 4
    assert line.startswith(f"error k8s/x.yaml:1: document 1 has no {missing};")


def test_a_list_without_a_version_is_one_to_kubectl_and_so_it_is_here() -> None:
    entry = "".join(f"  {line}\n" for line in WEB.splitlines()).replace("  api", "- api", 1)
    write("k8s/web.yaml", f"kind: List\nitems:\n{entry}")
    assert check("-f", "k8s") == (0, [ONE])


def test_a_chart_file_has_an_api_version_and_is_no_manifest() -> None:
    write("Chart.yaml", "apiVersion: v2\nname: web\n")
    assert check("-f", ".")[1][0].startswith("skipped 1 file without Kubernetes objects: Chart.")


def test_a_report_says_what_was_passed_over() -> None:
    write("values.yaml", "replicas: 2\n")
    check("-f", ".", "--report", "json=report.json")
    messages = [r["message"] for r in json.loads(Path("report.json").read_text())["results"]]
    assert "skipped 1 file without Kubernetes objects: values.yaml" in messages


def test_apply_prints_manifests_only() -> None:
    write("k8s/values.yaml", "replicas: 2\n")
    done = run("apply", "-f", "k8s", "-r", "rules.yaml", "-o", "name")
    assert done.stdout == "deployment.apps/web\n"


# ------------------------------------------------------------------------------- all that is wrong


def test_all_files_that_cannot_be_read_are_told_not_only_the_first() -> None:
    write("k8s/a.yaml", BROKEN)
    write("k8s/b.yaml", "apiVersion: v1\nkind: {{ .Kind }}: x\n")
    write("k8s/c.yaml", "kind: Pod\nmetadata: {name: x}\n")
    status, lines = check("-f", "k8s", "-f", "nowhere.yaml")
    assert status == 4
    assert [line.split(": ")[0] for line in lines] == [
        "error k8s/a.yaml:4",
        "error k8s/b.yaml:2",
        "error k8s/c.yaml:1",
        "error nowhere.yaml",
    ]


def test_all_objects_that_cannot_be_read_are_told_not_only_the_first() -> None:
    twice = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {k: a, k: b}\n"
    write("k8s/twice.yaml", (twice % "a") + "---\n" + (twice % "b"))
    status, lines = check("-f", "k8s")
    assert status == 4
    assert lines == [
        f"error k8s/twice.yaml:{line}: v1/ConfigMap {name}: the key 'k' is there twice in one map"
        for line, name in ((4, "a"), (9, "b"))
    ]


def test_all_rules_that_cannot_be_read_are_told_not_only_the_first() -> None:
    write("rules/a.yaml", BROKEN)
    write("rules/b.yaml", "apiVersion: v1\nkind: [\n")
    status, lines = check("-r", "rules", "-f", "k8s")
    assert status == 2
    assert [line.split(": ")[0] for line in lines] == [
        "error rules/a.yaml:4",
        "error rules/b.yaml:3",
    ]


def test_a_folder_of_rules_may_hold_files_of_other_programs() -> None:
    write("rules/rule.yaml", RULE.replace("name: label", "name: other"))
    for name, text in OTHERS.items():
        write(f"rules/{name}", text)
    assert check("-r", "rules", "-f", "k8s") == (0, [ONE.replace("1 rule", "2 rules")])


# ------------------------------------------------------------------------------- what is left out


def test_what_krmignore_names_is_counted() -> None:
    write("old/web.yaml", WEB)
    write(".krmignore", "old/\n")
    assert check("-f", ".") == (
        0,
        ["skipped 1 path named in .krmignore: old/; -v lists them, --strict-files reads them", ONE],
    )


def test_exclude_leaves_out_without_a_word() -> None:
    write("old/web.yaml", "apiVersion: v1\nkind: [\n")
    assert check("-f", ".", "--exclude", "old/", "--strict-files") == (0, [ONE])


def test_the_templates_of_a_chart_are_a_warning_that_says_what_to_do() -> None:
    write("web/Chart.yaml", "apiVersion: v2\nname: web\n")
    write("web/templates/d.yaml", "apiVersion: apps/v1\nkind: {{ .Values.kind }}\n")
    status, lines = check("-f", ".", "--exclude", "Chart.yaml")
    assert status == 0
    assert lines[0] == (
        "warning: web/ is a Helm chart, and its templates are not read: render them, as in "
        "helm template web | krm-fn check"
    )


# ------------------------------------------------------------------------------- nothing, and twice


def test_a_directory_without_manifests_is_a_warning() -> None:
    Path("empty").mkdir()
    status, lines = check("-f", "empty")
    assert (status, lines[0]) == (0, "warning: no manifests in empty/")


def test_having_no_object_is_an_error_where_one_is_required() -> None:
    Path("empty").mkdir()
    assert check("-f", "empty", "--require-objects") == (
        4,
        ["error no object to admit, and --require-objects asks for one"],
    )
    assert check("-f", "k8s", "--require-objects") == (0, [ONE])


def test_a_file_that_is_named_twice_is_read_once() -> None:
    os.symlink("web.yaml", "k8s/link.yaml")
    assert check("-f", "k8s/web.yaml", "-f", "./k8s/web.yaml", "-f", "k8s") == (0, [ONE])


def test_of_a_file_and_a_link_to_it_the_file_counts() -> None:
    os.symlink("web.yaml", "k8s/a.yaml")
    assert run("apply", "-i", "-f", "k8s", "-r", "rules.yaml").returncode == 0
    assert "x: done" in Path("k8s/web.yaml").read_text()
    assert Path("k8s/a.yaml").is_symlink()


def test_an_object_that_is_there_twice_is_a_warning() -> None:
    write("k8s/web2.yaml", WEB)
    assert check("-f", "k8s")[1][0] == (
        "warning: 1 object is there more than once: Deployment web (k8s/web.yaml:1 and "
        "k8s/web2.yaml:1)"
    )


def test_globs_are_expanded_and_their_files_are_strict() -> None:
    write("k8s/values.yaml", "replicas: 2\n")
    assert check("-f", "k8s/w*.yaml") == (0, [ONE])
    assert check("-f", "k8s/*.yaml")[0] == 4
    assert check("-f", "k8s/*.yaml", "--exclude", "values.yaml") == (0, [ONE])


def test_a_glob_that_matches_nothing_is_an_error() -> None:
    status, (line,) = check("-f", "none/*.yaml")
    assert status == 4
    assert line.startswith("error none/*.yaml: matches nothing (looked in ")


def test_paths_are_told_as_ci_systems_know_them() -> None:
    write("k8s/web2.yaml", WEB)
    assert "(k8s/web.yaml:1 and k8s/web2.yaml:1)" in check("-f", "./k8s/")[1][0]


def test_on_a_terminal_it_says_that_it_reads_standard_input() -> None:
    ours, theirs = pty.openpty()
    root = str(Path(__file__).resolve().parents[3])
    process = subprocess.Popen(
        [sys.executable, "-m", "krm_fn", "check", "-r", "rules.yaml"],
        stdin=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    )
    os.close(theirs)
    assert process.stderr is not None
    with process.stderr as said:
        first = said.readline().decode()
        os.write(ours, WEB.encode() + b"\x04")
        rest = said.read().decode()
    os.close(ours)
    assert process.wait(timeout=60) == 0
    assert first == "reading manifests from standard input, up to Ctrl-D; -f names files instead\n"
    assert rest == f"{ONE}\n"


# ------------------------------------------------------------------------------- no false green


PODS_ONLY = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: pods}
spec:
  type: Reject
  rejectMessage: not here
  match:
  - {select: $.kind, matchValue: Pod}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: logs}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: log, image: log:1}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: images}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}
  validations: [{expression: "true"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: images}
spec: {policyName: images, validationActions: [Deny]}
"""
LEFT = (
    "matches Pods only, and templates of Pods stay as they are (1: Deployment web); "
    "--pod-templates mutate or preview admits them as Pods"
)


def test_rules_for_pods_alone_are_one_warning_where_only_templates_are_there() -> None:
    write("rules.yaml", PODS_ONLY)
    status, lines = check("-f", "k8s")
    assert status == 0
    (line,) = (line for line in lines if "matches Pods only" in line)
    assert line.startswith(f"warning: {LEFT} (")
    for name in ("ModRule pods", "SidecarSet logs", "ValidatingAdmissionPolicy images"):
        assert name in line
    assert check("-f", "k8s", "--fail-on", "warning")[0] == 1


CERTIFICATE = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\n"


@pytest.mark.parametrize(
    ("rule", "manifest", "severity", "told"),
    [
        pytest.param(
            RULE.replace("Deployment, ConfigMap", "Certificate"),
            CERTIFICATE,
            "warning",
            "does not concern the object here (Certificate): it matches Certificate only; "
            "KubeMod's webhook is called for 21 resources, and these are others: "
            "modRules.targetResources: [certificates] adds them",
            id="a kind beyond KubeMod's 21",
        ),
        pytest.param(
            RULE.replace("name: label", "name: label, namespace: kube-system"),
            WEB.replace("name: web", "name: web, namespace: kube-system"),
            "warning",
            "did not see Deployment web; it is in kube-system. KubeMod's webhook ignores "
            "kube-system (modRules.ignoredNamespaces).",
            id="an ignored namespace",
        ),
        pytest.param(
            RULE.replace("name: label", "name: label, namespace: shop"),
            WEB,
            "warning",
            "did not see Deployment web; it is in default. Set metadata.namespace or "
            "context.defaultNamespace, or targetNamespaceRegex in kubemod-system.",
            id="another namespace",
        ),
        pytest.param(
            RULE.replace("  match:", "  admissionOperations: [UPDATE]\n  match:"),
            WEB,
            "warning",
            "applies on UPDATE only, and the objects are admitted as CREATE (context.operation)",
            id="another operation",
        ),
        pytest.param(
            RULE.replace("  patch:", "  - {select: $.spec.paused}\n  patch:"),
            WEB,
            "info",
            "did not match the object that it was asked about; krm-fn explain --rule label says "
            "why",
            id="a match item that selected nothing",
        ),
        pytest.param(
            RULE.replace("Deployment, ConfigMap", "Service"),
            WEB,
            "info",
            "does not concern the object here (Deployment): it matches Service only",
            id="another kind",
        ),
    ],
)
def test_a_rule_that_matched_nothing_says_why(
    rule: str, manifest: str, severity: str, told: str
) -> None:
    write("rules.yaml", rule)
    write("k8s/web.yaml", manifest)
    status, lines = check("-f", "k8s", "-v")
    assert status == 0
    (line,) = (line for line in lines if told in line)
    assert line.startswith(f"{severity}:")
    told_once = check("-f", "k8s")[1]
    assert any(told in line for line in told_once) == (severity == "warning")
    if severity == "info":
        assert (
            "the rule matched no object here; -v lists them, and 'krm-fn explain' says why"
            in told_once
        )
    assert told in run("lint", "rules.yaml", "-f", "k8s").stdout


def test_many_rules_that_matched_nothing_are_one_line() -> None:
    rules = [
        RULE.replace("label", f"r{n}").replace("Deployment, ConfigMap", "Service") for n in range(9)
    ]
    write("rules.yaml", "---\n".join([RULE, *rules]))
    assert check("-f", "k8s") == (
        0,
        [
            "9 of 10 rules matched no object here; -v lists them, and 'krm-fn explain' says why",
            ONE.replace("1 rule", "10 rules"),
        ],
    )
