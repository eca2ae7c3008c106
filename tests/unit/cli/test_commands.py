"""What the commands print, where, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from in_process import Done, run

ROOT = str(Path(__file__).resolve().parents[3])
WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
LABEL = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: label}
spec:
  type: Patch
  match:
  - select: $.kind
    matchValue: Deployment
  patch:
  - {op: add, path: /metadata/labels/x, value: done}
"""
REFUSE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: refuse}
spec:
  type: Reject
  rejectMessage: not today
  match:
  - select: $.kind
    matchValue: Secret
"""
OTHERS = REFUSE.replace("refuse", "others").replace("Secret", "ConfigMap")
NOTHING = LABEL.replace("label", "passing", 1).replace(
    "{op: add, path: /metadata/labels/x, value: done}", "{op: remove, path: /metadata/labels/none}"
)
TRAP = LABEL.replace("label", "trap", 1).replace("$.kind\n    matchValue: Deployment", "$.a != 1")
COMMAND = [sys.executable, "-m", "krm_fn", "check", "-f", "m", "-r", "rules"]
UNKNOWN = WEB + "  replicsa: 2\n"
"""Warned of, whatever the rules say."""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    Path("m/web.yaml").write_text(WEB)
    Path("m/secret.yaml").write_text(SECRET)
    Path("rules").mkdir()
    for name, text in (("label", LABEL), ("refuse", REFUSE), ("others", OTHERS), ("p", NOTHING)):
        Path(f"rules/{name}.yaml").write_text(text)


def check(*arguments: str) -> Done:
    return run("check", "-f", "m", "-r", "rules", *arguments)


def test_version_is_an_option_and_a_command() -> None:
    assert run("--version").stdout == run("version").stdout
    assert run("--version").stdout.startswith("krm-fn 0.")


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (("check", "m", "-r", "rules"), "krm-fn check -f m -r rules"),
        (("check", "rules", "-r", "rules"), "krm-fn check -f rules -r rules"),
        (("diff", "-r", "rules", "m", "n o"), "krm-fn diff -f m -f 'n o' -r rules"),
        (("apply", "-f", "a.yaml", "b.yaml"), "krm-fn apply -f b.yaml -f a.yaml"),
        (("show", "m"), "krm-fn show -f m"),
    ],
)
def test_manifests_without_their_option_are_an_error_that_names_the_fix(
    arguments: tuple[str, ...], fix: str
) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.endswith(f"Error: manifests are named with -f: {fix}\n")


def test_lint_takes_rules_as_the_other_commands_do_and_asks_for_them() -> None:
    assert run("lint", "-r", "rules") == run("lint", "rules")
    none = run("lint")
    assert none.returncode == 2
    assert "name the rules: krm-fn lint rules/" in none.stderr


# ------------------------------------------------------------------------------- standard output


TABLE = """\
OBJECT          RULE             RESULT
Secret s        ModRule refuse   denied
Deployment web  ModRule label    changed
Deployment web  ModRule passing  passed
                ModRule others   not matched
"""


@pytest.mark.parametrize("option", [("-t",), ("-o", "table"), ("-o", "TABLE")])
def test_check_prints_a_table_of_what_each_rule_made_of_each_object(
    option: tuple[str, ...],
) -> None:
    Path("rules/p.yaml").write_text(NOTHING)
    done = check(*option)
    assert (done.returncode, done.stdout) == (1, TABLE)


def test_check_prints_a_report_and_nothing_else() -> None:
    as_json, as_yaml = check("-o", "json"), check("-o", "yaml")
    assert (as_json.returncode, as_json.stderr) == (1, "")
    report = json.loads(as_json.stdout)
    assert report == yaml.safe_load(as_yaml.stdout)
    assert report["summary"]["rejected"] == 1
    assert report["results"][0]["file"] == {"path": "m/secret.yaml", "line": 1}


def test_yaml_says_what_json_says_whatever_names_hold() -> None:
    name = "a\u202eb: 'c' \u00fc \U000e0041"
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"x": name, "y": "yes", "z": "010"},
    }
    rule = LABEL.replace("Deployment", "ConfigMap").replace(
        "/metadata/labels/x, value: done", "/data/x, value: new"
    )
    Path("m/c.yaml").write_text(yaml.safe_dump(config_map))
    Path("rule.yaml").write_text(rule)
    told = [run("check", "-f", "m", "-r", "rule.yaml", "-o", form) for form in ("json", "yaml")]
    assert "\u202e" not in told[1].stdout
    assert json.loads(told[0].stdout) == yaml.safe_load(told[1].stdout)
    assert name in [r["field"]["currentValue"] for r in json.loads(told[0].stdout)["results"]]


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_report_may_go_to_standard_output(name: str) -> None:
    done = check("--report", f"json={name}")
    assert json.loads(done.stdout)["kind"] == "AdmissionReport"
    assert done.stderr.startswith("error v1/Secret s: not today")


def test_a_report_to_the_file_that_standard_output_is_overwrites_nothing() -> None:
    with open("out", "wb") as out:
        out.write(b"before\n")
        out.flush()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "krm_fn",
                *["check", "-f", "m", "-r", "rules", "--report", "json=/dev/stdout"],
            ],
            stdout=out,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": ROOT},
            check=False,
        )
        out.write(b"after\n")
    text = Path("out").read_text()
    assert text.startswith("before\n{")
    assert text.endswith("}\nafter\n")


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("apply", "--report", "json=-"), "the manifests"),
        (("apply", "--report", "json=/dev/stdout"), "the manifests"),
        (("diff", "--report", "text=-"), "the diff"),
        (("check", "-o", "yaml", "--report", "json=-"), "the yaml"),
        (("check", "--report", "text=-", "--report", "json=-"), "the report text"),
    ],
)
def test_standard_output_holds_one_thing(arguments: tuple[str, ...], printed: str) -> None:
    done = run(arguments[0], "-f", "m", "-r", "rules", *arguments[1:])
    assert (done.returncode, done.stdout) == (2, "")
    assert f"standard output has {printed} already; name a file" in done.stderr


def test_lint_prints_reports_and_what_keeps_rules_from_loading_is_in_them() -> None:
    Path("rules/trap.yaml").write_text(TRAP)
    found = json.loads(run("lint", "rules", "-o", "json").stdout)
    assert [r["severity"] for r in found["results"]] == ["warning"]
    head, row = run("lint", "rules", "-o", "table").stdout.splitlines()
    assert head.split() == ["SEVERITY", "PLACE", "RULE", "MESSAGE"]
    assert row.startswith("warning   rules/trap.yaml:7  ModRule trap  ")
    Path("rules/trap.yaml").write_text(TRAP.replace("$.a", "$.["))
    broken = run("lint", "rules", "-o", "yaml")
    (result,) = yaml.safe_load(broken.stdout)["results"]
    assert (broken.returncode, result["severity"]) == (1, "error")
    assert "rules/trap.yaml:7" in result["message"]


# ------------------------------------------------------------------------------- how it ends


@pytest.mark.parametrize(
    ("fail_on", "status"), [((), 0), (("--fail-on", "error"), 0), (("--fail-on", "warning"), 1)]
)
def test_warnings_fail_a_run_where_that_is_asked_for(fail_on: tuple[str, ...], status: int) -> None:
    Path("m/web.yaml").write_text(UNKNOWN)
    done = run("check", "-f", "m", "-r", "rules/label.yaml", *fail_on)
    assert done.returncode == status
    assert "1 warning (1 rule)" in done.stderr
    Path("rules/label.yaml").write_text(TRAP)
    assert run("lint", "rules/label.yaml", *fail_on).returncode == status


def test_quiet_hides_notes_and_not_warnings() -> None:
    Path("m/web.yaml").write_text(UNKNOWN)
    Path("m/values.yaml").write_text("a: 1\n")
    loud, quiet = check(), check("-q")
    assert [line.split()[0] for line in quiet.stderr.splitlines()] == ["error", "warning"]
    assert set(quiet.stderr.splitlines()) < set(loud.stderr.splitlines())
    assert check("-q", "-v").stderr == quiet.stderr


# ------------------------------------------------------------------------------- releases, schemas


def test_the_release_whose_schemas_count_may_be_named() -> None:
    Path("m/web.yaml").write_text(WEB.replace("apps/v1", "resource.k8s.io/v1"))
    Path("m/web.yaml").write_text(
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: d}\nspec: {}\n"
    )
    assert "has no DeviceClass" not in check("--kubernetes-version", "1.37").stderr
    for version in ("1.33", "v1.33", "v1.33.2"):
        told = check("--kubernetes-version", version).stderr
        assert "Kubernetes 1.33 has no DeviceClass of resource.k8s.io/v1" in told


@pytest.mark.parametrize("command", [("check", "-r", "rules"), ("show",), ("lint", "rules")])
def test_what_is_no_release_is_refused(command: tuple[str, ...]) -> None:
    done = run(*command, "-f", "m", "--kubernetes-version", "new")
    assert done.returncode == 2
    assert done.stderr == "error --kubernetes-version: 'new' is no version such as 1.34\n"


def test_without_a_rule_strict_checks_manifests_against_the_schemas() -> None:
    assert "no rule anywhere" in run("check", "-f", "m").stderr
    fine = run("check", "-f", "m", "--strict")
    assert (fine.returncode, fine.stderr) == (
        0,
        "2 objects, 0 changed, 0 rejected, 0 warnings (0 rules)\n",
    )
    Path("m/web.yaml").write_text(UNKNOWN)
    wrong = run("check", "-f", "m", "--strict")
    assert wrong.returncode == 1
    assert "unknown field spec.replicsa" in wrong.stderr


# ------------------------------------------------------------------------------- --config

HEAD = "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nmetadata: {name: a}\nspec:\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + "  onReject: Fial\n", "c/a.yaml:5: spec.onReject: 'Fial' is not one of"),
        (HEAD + "  mode: Audit\n  onRejekt: Fail\n", "c/a.yaml:6: spec.onRejekt: unknown field"),
        (
            HEAD + "  context:\n    namespaces:\n    - name: x\n    - labels: {a: b}\n",
            "c/a.yaml:8: spec.context.namespaces[1].name is required",
        ),
        (HEAD + "  match: [a]\n", "c/a.yaml:5: spec.match is a list; it must be a map"),
        (HEAD + "  modRules:\n    sed: x\n", "c/a.yaml:6: spec.modRules.sed: unknown field"),
        (HEAD.replace("Admission", "Admision"), "c/a.yaml:2: kind Admision of krm-fn.dev/v1alpha1"),
        (HEAD.replace("v1alpha1", "v9"), "c/a.yaml:1: apiVersion krm-fn.dev/v9 is not known"),
        ("a: [\n", "c/a.yaml:2: not valid YAML"),
        ("a: b\n", "c/a.yaml:1: document 1 has no apiVersion"),
        (HEAD + "---\n" + HEAD, "c/a.yaml: must hold one Admission and nothing else"),
        (
            HEAD + "  rules:\n  - paths: [none/]\n",
            "c/a.yaml:6: spec.rules[0].paths: c/none/ does not exist; a path in a file starts in "
            "its folder\n",
        ),
        (
            HEAD + "  rules:\n  - paths: [rules/]\n",
            "c/a.yaml:6: spec.rules[0].paths: c/rules/ does not exist; a path in a file starts in "
            "its folder: for rules/ in the working directory write ../rules\n",
        ),
    ],
)
def test_what_is_wrong_with_a_configuration_is_told_with_file_and_line(
    text: str, told: str
) -> None:
    Path("c").mkdir()
    Path("c/a.yaml").write_text(text)
    done = run("check", "-f", "m", "-r", "rules", "--config", "c/a.yaml")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error {told}")


def test_paths_in_a_configuration_are_beside_it_and_a_note_says_where_that_matters() -> None:
    Path("c/rules").mkdir(parents=True)
    Path("c/rules/label.yaml").write_text(LABEL)
    Path("c/a.yaml").write_text(HEAD + "  rules:\n  - paths: [rules/]\n")
    done = run("check", "-f", "m", "--config", "c/a.yaml", "-v")
    assert done.stderr.splitlines()[0] == (
        "info: c/a.yaml:6: spec.rules[0].paths: rules/ is c/rules/, beside the file that names "
        "it, and not the one in the working directory"
    )
    Path("c/a.yaml").write_text(HEAD + "  rules:\n  - paths: [../rules/]\n")
    assert run("check", "-f", "m", "--config", "c/a.yaml").stderr == check().stderr


def test_the_table_in_the_documentation_is_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(ROOT) / "docs" / "commands.md").read_text()
    monkeypatch.chdir(Path(ROOT) / "examples" / "demo")
    block = text.split("    krm-fn check -f manifests -f rejected -r rules -t\n\n")[1]
    shown = [line[4:] for line in block.split("\n\n")[0].splitlines()]
    printed = run("check", "-f", "manifests", "-f", "rejected", "-r", "rules", "-t").stdout
    assert printed.splitlines() == shown
