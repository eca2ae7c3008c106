"""The command line, as a user starts it: a process, its streams, its exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from krm_fn.wire import read_stream

DEPLOYMENT = """\
# The web front.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # its name
spec:
  replicas: 2
"""
SECRET = '{\n  "apiVersion": "v1",\n  "kind": "Secret",\n  "metadata": {"name": "s"}\n}\n'
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
  - op: add
    path: /metadata/labels/x
    value: done
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
CHANGED = DEPLOYMENT.replace("# its name\n", "# its name\n  labels:\n    x: done\n")
ROOT = Path(__file__).resolve().parents[3]


def krm_fn(*arguments: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "krm_fn", *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        timeout=60,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    Path("m/web.yaml").write_text(DEPLOYMENT)
    Path("rules.yaml").write_text(LABEL)
    Path("refuse.yaml").write_text(REFUSE)


def test_apply_prints_the_manifests_as_admitted() -> None:
    done = krm_fn("apply", "-f", "m", "-r", "rules.yaml")
    assert (done.returncode, done.stdout) == (0, CHANGED)
    assert done.stderr == "1 object, 1 changed, 0 rejected, 0 warnings (1 rule)\n"


def test_apply_reads_standard_input() -> None:
    done = krm_fn("apply", "-r", "rules.yaml", stdin=DEPLOYMENT.encode())
    assert (done.returncode, done.stdout) == (0, CHANGED)


def test_without_arguments_a_stream_is_applied_with_the_rules_in_it() -> None:
    done = krm_fn(stdin=f"{DEPLOYMENT}---\n{LABEL}".encode())
    assert (done.returncode, done.stdout) == (0, f"{CHANGED}---\n{LABEL}")


def test_without_arguments_a_resource_list_is_the_function() -> None:
    source = (
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n"
        + "".join(f"  {line}\n" for line in LABEL.splitlines())
    )
    done = krm_fn(stdin=source.encode())
    assert (done.returncode, done.stdout) == (0, source)


def test_a_resource_list_is_known_in_any_layout() -> None:
    rule = read_stream(LABEL.encode()).items[0].value
    source = json.dumps(
        {
            "apiVersion": "config.kubernetes.io/v1",
            "kind": "ResourceList",
            "items": [],
            "functionConfig": rule,
        }
    )
    assert krm_fn(stdin=source.encode()).stdout == source


def test_a_stream_that_only_speaks_of_resource_lists_is_applied() -> None:
    source = DEPLOYMENT.replace("# The web", "# kind: ResourceList")
    done = krm_fn(stdin=f"{source}---\n{LABEL}".encode())
    assert done.returncode == 0
    assert "x: done" in done.stdout


def test_several_files_are_printed_as_documents() -> None:
    Path("m/secret.json").write_text(SECRET)
    done = krm_fn("apply", "-f", "m", "-r", "rules.yaml")
    assert done.stdout == f"{SECRET}---\n{CHANGED}"


def test_a_rejection_prints_no_manifests_so_that_a_pipe_applies_nothing() -> None:
    Path("m/secret.json").write_text(SECRET)
    done = krm_fn("apply", "-f", "m", "-r", "rules.yaml", "-r", "refuse.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0] == (
        "error v1/Secret s: not today (ModRule refuse) [m/secret.json:1]"
    )


def test_in_place_writes_the_changed_files_and_keeps_their_mode() -> None:
    Path("m/other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n")
    os.chmod("m/web.yaml", 0o640)
    before = os.stat("m/other.yaml").st_mtime_ns
    done = krm_fn("apply", "-i", "-f", "m", "-r", "rules.yaml")
    assert (done.returncode, done.stdout) == (0, "")
    assert Path("m/web.yaml").read_text() == CHANGED
    assert os.stat("m/web.yaml").st_mode & 0o777 == 0o640
    assert os.stat("m/other.yaml").st_mtime_ns == before
    assert sorted(os.listdir("m")) == ["other.yaml", "web.yaml"]


def test_in_place_writes_nothing_where_anything_is_rejected() -> None:
    Path("m/secret.json").write_text(SECRET)
    done = krm_fn("apply", "-i", "-f", "m", "-r", "rules.yaml", "-r", "refuse.yaml")
    assert done.returncode == 1
    assert Path("m/web.yaml").read_text() == DEPLOYMENT


def test_in_place_does_not_follow_symbolic_links() -> None:
    os.rename("m/web.yaml", "m/target")
    os.symlink("target", "m/web.yaml")
    done = krm_fn("apply", "-i", "-f", "m", "-r", "rules.yaml")
    assert done.returncode == 2
    assert "symbolic link" in done.stderr
    assert Path("m/target").read_text() == DEPLOYMENT


def test_check_prints_no_manifests_and_answers_by_its_status() -> None:
    assert krm_fn("check", "-f", "m", "-r", "rules.yaml").stdout == ""
    Path("m/secret.json").write_text(SECRET)
    assert krm_fn("check", "-f", "m", "-r", "refuse.yaml").returncode == 1


def test_diff_answers_0_for_nothing_1_for_changes_5_for_a_rejection() -> None:
    changed = krm_fn("diff", "-f", "m", "-r", "rules.yaml")
    assert changed.returncode == 1
    assert "+    x: done" in changed.stdout.splitlines()
    assert krm_fn("diff", "-f", "m", "-r", "refuse.yaml").returncode == 0
    Path("m/secret.json").write_text(SECRET)
    rejected = krm_fn("diff", "-f", "m", "-r", "rules.yaml", "-r", "refuse.yaml")
    assert rejected.returncode == 5
    assert "+    x: done" in rejected.stdout.splitlines()


def test_diff_hides_the_values_of_secrets() -> None:
    Path("m/s.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: aHVudGVyMg==\n"
    )
    Path("rules.yaml").write_text(
        LABEL.replace("Deployment", "Secret").replace("/metadata/labels/x", "/data/a")
    )
    hidden = krm_fn("diff", "-f", "m", "-r", "rules.yaml").stdout
    assert "aHVudGVyMg==" not in hidden
    assert "(redacted, after)" in hidden
    shown = krm_fn("diff", "-f", "m", "-r", "rules.yaml", "--show-secrets").stdout
    assert "aHVudGVyMg==" in shown


def test_colour_is_for_terminals_or_when_told() -> None:
    assert "\x1b[" not in krm_fn("diff", "-f", "m", "-r", "rules.yaml").stdout
    told = krm_fn("diff", "-f", "m", "-r", "rules.yaml", "--color", "always")
    assert "\x1b[32m" in told.stdout


def test_a_json_report_goes_to_a_file() -> None:
    krm_fn("check", "-f", "m", "-r", "rules.yaml", "--report", "json=report.json")
    report = json.loads(Path("report.json").read_text())
    assert report["admitted"] is True
    assert report["summary"]["changed"] == 1
    assert report["results"][0]["field"]["path"] == "metadata.labels"
    assert report["results"][0]["file"] == {"path": "m/web.yaml", "line": 4}


def test_output_as_names_is_as_kubectl_prints_them() -> None:
    done = krm_fn("apply", "-f", "m", "-r", "rules.yaml", "-o", "name")
    assert done.stdout == "deployment.apps/web\n"


def test_output_as_patches_names_object_and_file() -> None:
    done = krm_fn("apply", "-f", "m", "-r", "rules.yaml", "-o", "patch")
    assert json.loads(done.stdout) == [
        {
            "resourceRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "file": "m/web.yaml",
            "patch": [{"op": "add", "path": "/metadata/labels", "value": {"x": "done"}}],
        }
    ]


def test_output_as_json_is_the_object_or_a_list() -> None:
    one = json.loads(krm_fn("apply", "-f", "m", "-r", "rules.yaml", "-o", "json").stdout)
    assert one["metadata"]["labels"] == {"x": "done"}
    Path("m/secret.json").write_text(SECRET)
    two = json.loads(krm_fn("apply", "-f", "m", "-r", "rules.yaml", "-o", "json").stdout)
    assert [item["kind"] for item in two["items"]] == ["Secret", "Deployment"]


def test_output_as_a_resource_list_is_input_for_the_function() -> None:
    made = krm_fn("apply", "-f", "m", "-r", "rules.yaml", "-o", "resourcelist").stdout
    assert "internal.config.kubernetes.io/path: m/web.yaml" in made
    again = krm_fn("apply", "-r", "rules.yaml", stdin=made.encode())
    assert again.returncode == 0
    assert "0 changed" in again.stderr


def test_options_may_come_from_an_admission_and_flags_win() -> None:
    Path("config.yaml").write_text(
        "apiVersion: krm-fn.dev/v1alpha1\nkind: Admission\nspec:\n  onReject: Warn\n"
        "  rules: [{paths: [refuse.yaml]}]\n"
    )
    Path("m/secret.json").write_text(SECRET)
    assert krm_fn("check", "-f", "m", "--config", "config.yaml").returncode == 0
    flag = krm_fn("check", "-f", "m", "--config", "config.yaml", "--on-reject", "FAIL")
    assert flag.returncode == 1


WRONG = [
    (("apply", "-f", "nowhere", "-r", "rules.yaml"), 4, "nowhere: does not exist (looked in"),
    (("apply", "-f", "m", "-r", "nowhere"), 2, "nowhere does not exist (looked in"),
    (("apply", "-f", "m"), 2, "no rule anywhere"),
    (("apply", "-i", "-r", "rules.yaml"), 2, "-i writes files"),
    (("apply", "-f", "m", "-r", "m"), 2, "m holds no rule"),
    (("apply", "-f", "m", "-r", "rules.yaml", "--mode", "x"), 2, "Invalid value for '--mode'"),
    (("apply", "-f", "m", "-r", "rules.yaml", "--report", "pdf"), 2, "unknown format"),
    (("aply",), 2, "No such command 'aply'"),
    (("apply", "-r", "rules.yaml"), 4, "standard input: is empty"),
]


@pytest.mark.parametrize(("arguments", "status", "part"), WRONG)
def test_what_is_wrong_is_one_sentence_with_its_exit_status(
    arguments: tuple[str, ...], status: int, part: str
) -> None:
    done = krm_fn(*arguments)
    assert (done.returncode, done.stdout) == (status, "")
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_unreadable_manifests_are_exit_4_with_file_and_line() -> None:
    Path("m/web.yaml").write_text("apiVersion: v1\nkind: [\n")
    done = krm_fn("apply", "-f", "m", "-r", "rules.yaml")
    assert done.returncode == 4
    assert done.stderr.startswith("error m/web.yaml:3: not valid YAML")


def test_kustomization_files_pass_unread() -> None:
    Path("m/kustomization.yaml").write_text("resources: [web.yaml]\n")
    assert krm_fn("apply", "-f", "m", "-r", "rules.yaml").returncode == 0


def test_version_and_completion_answer() -> None:
    assert krm_fn("version").stdout.startswith("krm-fn ")
    assert "version" in json.loads(krm_fn("version", "-o", "json").stdout)
    for shell in ("bash", "zsh", "fish"):
        assert "_KRM_FN_COMPLETE" in krm_fn("completion", shell).stdout
    words = krm_fn(_KRM_FN_COMPLETE="bash_complete", COMP_WORDS="krm-fn a", COMP_CWORD="1")
    assert words.stdout == "plain,apply\n"


def test_help_names_every_command() -> None:
    done = krm_fn("--help")
    assert done.returncode == 0
    for command in ("apply", "check", "diff", "version", "completion"):
        assert f"  {command} " in done.stdout


def test_an_interrupt_ends_the_run_without_a_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "krm_fn"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(b"apiVersion: v1\n")
    process.stdin.flush()
    for _ in range(100):
        if _waits_for_input(process.pid):
            break
    process.send_signal(signal.SIGINT)
    said = process.stderr.read().decode()
    process.stdin.close()
    process.stderr.close()
    assert process.wait(timeout=30) == 130
    assert said == "interrupted\n"


def _waits_for_input(pid: int) -> bool:
    """Whether the process sleeps in a read: then Python has set up its signal handler."""
    import time

    time.sleep(0.02)
    try:
        return Path(f"/proc/{pid}/wchan").read_text() in ("pipe_read", "anon_pipe_read")
    except OSError:
        return False


TRAPS = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: traps}
spec:
  type: Patch
  match:
  - select: $.kind == "Deployment"
  - select: $.spec.paused != true
  patch:
  - op: add
    path: /spec/template/spec/hostIPC
    value: 'on'
  - op: add
    path: /metadata/finalizers/-1
    value: x
"""


def test_lint_says_what_may_be_wrong_with_file_line_and_field() -> None:
    Path("traps.yaml").write_text(TRAPS)
    done = krm_fn("lint", "traps.yaml")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("warning: spec.match[1].select: 1:15: != is true, too, where the")
    assert lines[0].endswith("(ModRule traps) [traps.yaml:8]")
    assert lines[1].startswith("warning: spec.patch[0].value: on is the boolean true; quote it")
    assert len(lines) == 2
    assert done.stderr == "1 rule in 1 file, 2 warnings\n"


def test_lint_tries_rules_on_samples_where_given() -> None:
    Path("traps.yaml").write_text(TRAPS)
    done = krm_fn("lint", "traps.yaml", "-f", "m")
    assert "not idempotent" in done.stdout
    assert Path("m/web.yaml").read_text() == DEPLOYMENT


def test_lint_fails_for_a_rule_that_does_not_load() -> None:
    Path("traps.yaml").write_text(TRAPS.replace("'on'", "8080"))
    done = krm_fn("lint", "traps.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert "traps.yaml:12: ModRule traps: spec.patch[0].value" in done.stderr
