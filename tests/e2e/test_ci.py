"""The snippets of examples/ci, the action and the hooks, run as the CI that they are for runs them.

Each installs this checkout with pip into an environment of its own, as it would on a runner.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SNIPPETS = ROOT / "examples" / "ci"
MESSAGE = "Service web opens a port on every node; use an Ingress"

pytestmark = pytest.mark.installs


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of this checkout as a repository with one commit."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    commit(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's repository: manifests with a Service that the rules refuse, and the rules."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "argocd" / "sidecar" / "rules", folder / "rules")
    manifests = folder / "manifests"
    manifests.mkdir()
    text = (ROOT / "examples" / "argocd" / "app" / "web.yaml").read_text()
    (manifests / "web.yaml").write_text(
        text.replace("  ports:\n  - port", "  type: NodePort\n  ports:\n  - port")
    )
    commit(folder)
    return folder


def accept(project: Path) -> None:
    web = project / "manifests" / "web.yaml"
    web.write_text(web.read_text().replace("  type: NodePort\n", ""))
    commit(project)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def commit(folder: Path) -> None:
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "All")


def bash(script: str, cwd: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=cwd,
        env={**os.environ, "CI": "true", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


# ---------------------------------------------------------------- GitHub


class Action:
    """action.yml as a runner runs a composite action."""

    def __init__(self, checkout: Path, temporary: Path) -> None:
        self.description = yaml.safe_load((checkout / "action.yml").read_text())
        self.summary = temporary / "summary.md"
        self.summary.touch()
        self.environment = {
            "GITHUB_ACTION_PATH": str(checkout),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(temporary),
        }

    def step(self, n: int, cwd: Path, **given: str) -> subprocess.CompletedProcess[str]:
        step = self.description["runs"]["steps"][n]
        assert step["shell"] == "bash"
        inputs = {key: entry["default"] for key, entry in self.description["inputs"].items()}
        inputs |= given
        filled = {
            name: inputs[text.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, text in step.get("env", {}).items()
        }
        return bash(step["run"], cwd, {**self.environment, **filled})


@pytest.fixture(scope="module")
def action(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Action:
    made = Action(checkout, tmp_path_factory.mktemp("runner"))
    done = made.step(0, checkout)
    assert done.returncode == 0, done.stderr
    return made


def github_inputs() -> dict[str, str]:
    steps = yaml.safe_load((SNIPPETS / "github.yaml").read_text())["jobs"]["admit"]["steps"]
    given: dict[str, str] = steps[-1]["with"]
    return given


def test_the_action_puts_a_rejection_on_its_line(action: Action, project: Path) -> None:
    done = action.step(1, project, **github_inputs())
    assert done.returncode == 1
    line = (project / "manifests/web.yaml").read_text().splitlines().index("kind: Service")
    title = "v1/Service web (ModRule kubemod-system/no-node-ports)"
    annotation = f"::error file=manifests/web.yaml,line={line},title={title}::{MESSAGE}"
    assert annotation in done.stderr.splitlines()


def test_the_action_writes_a_summary(action: Action, project: Path) -> None:
    action.step(1, project, **github_inputs())
    assert MESSAGE in action.summary.read_text()


def test_the_action_passes_what_is_admitted(action: Action, project: Path) -> None:
    accept(project)
    done = action.step(1, project, **github_inputs())
    assert done.returncode == 0, done.stderr
    assert "::error" not in done.stderr


def test_the_action_can_fail_where_admission_would_change_a_file(
    action: Action, project: Path
) -> None:
    accept(project)
    done = action.step(1, project, **github_inputs(), command="diff")
    assert done.returncode == 1
    assert "+      topologySpreadConstraints:" in done.stdout


@pytest.mark.parametrize("text", ["apply; touch hacked", "apply", ""])
def test_an_input_is_never_a_script(text: str, action: Action, project: Path) -> None:
    done = action.step(1, project, command=text)
    assert done.returncode == 2
    assert not (project / "hacked").exists()


def test_several_files_and_options_come_a_line_each(action: Action, project: Path) -> None:
    accept(project)
    shutil.copy(project / "manifests" / "web.yaml", project / "it's more.yaml")
    done = action.step(
        1, project, files="manifests\nit's more.yaml\n", rules="rules", options="--mode\nValidate"
    )
    assert done.returncode == 0, done.stderr
    assert "4 objects" in done.stderr


def test_the_action_admits_this_repository_with_its_defaults(
    action: Action, checkout: Path
) -> None:
    done = action.step(1, checkout)
    assert done.returncode == 0, done.stderr
    assert "3 objects, 1 changed, 0 rejected" in done.stderr


# ---------------------------------------------------------------- GitLab


def test_the_gitlab_job_reports_code_quality(checkout: Path, project: Path) -> None:
    job = yaml.safe_load((SNIPPETS / "gitlab.yaml").read_text())["admission"]
    done = bash("\n".join(job["script"]), project, {"KRM_FN": str(checkout)})
    assert done.returncode == 1, done.stderr
    (entry,) = json.loads((project / job["artifacts"]["reports"]["codequality"]).read_text())
    assert entry["severity"] == "blocker"
    assert entry["location"]["path"] == "manifests/web.yaml"
    assert MESSAGE in entry["description"]


def test_the_gitlab_job_admits_this_repository(checkout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", str(checkout), str(folder))
    job = yaml.safe_load((SNIPPETS / "gitlab.yaml").read_text())["admission"]
    done = bash("\n".join(job["script"]), folder, {"KRM_FN": str(checkout)})
    assert done.returncode == 0, done.stderr
    assert "3 objects, 1 changed, 0 rejected" in done.stderr


# ---------------------------------------------------------------- pre-commit


@pytest.fixture(scope="module")
def hooks_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environments of hooks."""
    return tmp_path_factory.mktemp("pre-commit")


def pre_commit(
    project: Path, checkout: Path, home: Path, **hooks: Any
) -> subprocess.CompletedProcess[str]:
    config = yaml.safe_load((SNIPPETS / "pre-commit.yaml").read_text())
    config["repos"][0] |= {"repo": str(checkout), "rev": git(checkout, "rev-parse", "HEAD").strip()}
    config["repos"][0] |= hooks
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    return subprocess.run(
        ["pre-commit", "run", "--all-files"],
        cwd=project,
        env={**os.environ, "PRE_COMMIT_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.needs("pre-commit")
def test_the_hooks_refuse_what_admission_would(
    checkout: Path, project: Path, hooks_home: Path
) -> None:
    done = pre_commit(project, checkout, hooks_home)
    assert done.returncode == 1
    assert MESSAGE in done.stdout
    accept(project)
    done = pre_commit(project, checkout, hooks_home)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.needs("pre-commit")
def test_the_hooks_need_no_arguments(checkout: Path, hooks_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", str(checkout), str(folder))
    hooks = [{"id": "admit-check"}, {"id": "admit-lint"}]
    done = pre_commit(folder, checkout, hooks_home, hooks=hooks)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 2


@pytest.mark.needs("pre-commit")
def test_a_hook_writes_what_admission_would_change(
    checkout: Path, project: Path, hooks_home: Path
) -> None:
    accept(project)
    hooks = [{"id": "admit-apply", "args": ["-f", "manifests", "-r", "rules"]}]
    done = pre_commit(project, checkout, hooks_home, hooks=hooks)
    assert "files were modified by this hook" in done.stdout
    assert "topologySpreadConstraints" in (project / "manifests" / "web.yaml").read_text()
    assert pre_commit(project, checkout, hooks_home, hooks=hooks).returncode == 0
