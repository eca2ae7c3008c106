"""The examples and the sample functionConfigs, each run twice under the tool that it is for.

What an example gives stands in its `.expected/`, as in kpt's catalog; KPT_E2E_UPDATE_EXPECTED=true
records it anew, as there.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e_support import Shell, tree

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SAMPLES = ROOT / "function-config"
UPDATE = os.environ.get("KPT_E2E_UPDATE_EXPECTED") == "true"
KUSTOMIZE = ["kustomize", "build", "--enable-alpha-plugins"]
KUBECTL = ["kubectl", "kustomize", "--enable-alpha-plugins"]
EXTERNAL = "  externalIPs: [203.0.113.7]\n"


def copy(source: Path, target: Path) -> Path:
    """A copy of a folder of this repository, as a user would fetch it."""
    return Path(shutil.copytree(source, target, ignore=shutil.ignore_patterns(".expected")))


def difference(before: dict[str, str], after: dict[str, str]) -> str:
    """The patch from one tree to another; kpt keeps notes of its own in the Kptfile."""
    return "".join(
        line
        for path in sorted(before.keys() | after.keys())
        if path != "Kptfile"
        for line in difflib.unified_diff(
            before.get(path, "").splitlines(keepends=True),
            after.get(path, "").splitlines(keepends=True),
            f"a/{path}",
            f"b/{path}",
        )
    )


def expect(file: Path, text: str) -> None:
    if UPDATE:
        file.write_text(text)
    assert text == file.read_text()


def promised(name: str) -> str:
    """The rejection that the README of an example shows."""
    lines = (EXAMPLES / name / "README.md").read_text().splitlines()
    (line,) = (line.strip() for line in lines if line.strip().startswith("error "))
    return line


# ------------------------------------------------------------------------------------------- kpt


def render(shell: Shell, package: Path, results: Path) -> tuple[Any, str]:
    """Render twice; answers the results of the first run and what it changed."""
    command = ["kpt", "fn", "render", package, "--allow-exec", "--results-dir"]
    before = tree(package)
    done = shell([*command, results])
    assert done.status == 0, done.err
    after = tree(package)
    again = shell([*command, results / "again"])
    assert again.status == 0, again.err
    assert difference(after, tree(package)) == ""
    return (results / "results.yaml").read_text(), difference(before, after)


@pytest.mark.needs("kpt")
def test_the_kpt_example_gives_what_it_says(shell: Shell, tmp_path: Path) -> None:
    expected = EXAMPLES / "kpt" / ".expected"
    found, changed = render(shell, copy(EXAMPLES / "kpt", tmp_path / "kpt"), tmp_path / "results")
    expect(expected / "diff.patch", changed)
    expect(expected / "results.yaml", found)


@pytest.mark.needs("kpt")
def test_the_kpt_example_gives_the_same_with_the_image(
    shell: Shell, docker: Path, tmp_path: Path
) -> None:
    expected = EXAMPLES / "kpt" / ".expected"
    package = copy(EXAMPLES / "kpt", tmp_path / "kpt")
    (package / "Kptfile.image").rename(package / "Kptfile")
    found, changed = render(shell, package, tmp_path / "results")
    assert changed == (expected / "diff.patch").read_text()
    # kpt trims the standard error of a container.
    recorded = (expected / "results.yaml").read_text().replace("stderr: |\n", "stderr: |-\n")
    as_exec = re.sub(r"image: \S*krm-fn:dev", "exec: krm-fn", found)
    assert yaml.safe_load(as_exec) == yaml.safe_load(recorded)
    assert len(docker.read_text().splitlines()) == 4


@pytest.mark.needs("kpt")
def test_the_kpt_example_refuses_what_its_readme_says(shell: Shell, tmp_path: Path) -> None:
    package = copy(EXAMPLES / "kpt", tmp_path / "kpt")
    service = package / "service.yaml"
    service.write_text(service.read_text() + EXTERNAL)
    before = tree(package)
    done = shell(["kpt", "fn", "render", package, "--allow-exec"])
    assert done.status == 1
    assert promised("kpt") in done.err
    assert tree(package) == before


@pytest.mark.needs("kpt")
def test_a_function_written_with_the_sdk_gives_what_it_says(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = EXAMPLES / "sdk" / ".expected"
    package = copy(EXAMPLES / "sdk", tmp_path / "sdk")
    python = Path(sys.executable).parent
    monkeypatch.setenv("PATH", os.pathsep.join((str(package), str(python), os.environ["PATH"])))
    found, changed = render(shell, package, tmp_path / "results")
    expect(expected / "diff.patch", changed)
    expect(expected / "results.yaml", found)


# ------------------------------------------------------------------------------------- kustomize


@pytest.mark.parametrize(
    ("name", "before", "command"),
    [
        pytest.param("exec", "base", [*KUSTOMIZE, "--enable-exec"], id="exec"),
        pytest.param("validator", "exec", [*KUSTOMIZE, "--enable-exec"], id="validator"),
        pytest.param("container", "base", KUSTOMIZE, id="container"),
        pytest.param(
            "container", "base", KUBECTL, id="kubectl", marks=pytest.mark.needs("kubectl")
        ),
    ],
)
@pytest.mark.needs("kustomize")
def test_a_kustomize_example_gives_what_it_says(
    name: str, before: str, command: list[str], shell: Shell, docker: Path, tmp_path: Path
) -> None:
    expected = EXAMPLES / "kustomize" / name / ".expected"
    folder = copy(EXAMPLES / "kustomize", tmp_path / "kustomize")
    files = tree(folder)
    built = shell([*KUSTOMIZE, "--enable-exec", folder / before])
    assert built.status == 0, built.err
    done = shell([*command, folder / name])
    config = yaml.safe_load((expected / "config.yaml").read_text())
    assert done.status == config["exitCode"]
    assert done.err == config["stdErr"]
    expect(expected / "diff.patch", difference({"build": built.out}, {"build": done.out}))
    again = shell([*command, folder / name])
    assert again == done
    assert tree(folder) == files
    assert docker.exists() == (name == "container")


@pytest.mark.needs("kustomize")
def test_the_kustomize_validator_refuses_what_its_readme_says(shell: Shell, tmp_path: Path) -> None:
    folder = copy(EXAMPLES / "kustomize", tmp_path / "kustomize")
    (folder / "validator" / "kustomization.yaml").write_text(
        "resources: [../base]\nvalidators: [policy.yaml]\n"
    )
    done = shell([*KUSTOMIZE, "--enable-exec", folder / "validator"])
    assert done.status == 1
    assert done.out == ""
    assert done.err.startswith(promised("kustomize") + "\n")


# ------------------------------------------------------------------------------- function-config

ALL = sorted(path.name for path in SAMPLES.glob("*.yaml"))
VALIDATORS = [name for name in ALL if "validator" in name]
REJECTING = [name for name in ALL if not name.startswith(("rule", "configmap"))]
MUTATING = [name for name in ALL if name not in VALIDATORS]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A Deployment, a Service, and everything that a sample may refer to."""
    folder = copy(SAMPLES, tmp_path / "package")
    for name in ALL:
        (folder / name).unlink()
    for name in ("deployment.yaml", "service.yaml"):
        shutil.copy(EXAMPLES / "kustomize" / "base" / name, folder)
    return folder


def build(shell: Shell, package: Path, name: str) -> Any:
    """kustomize with a sample as transformer or validator; only a program needs --enable-exec."""
    resources = ["deployment.yaml", "service.yaml"]
    if name.startswith("from-items"):
        resources += [f"rules/{path.name}" for path in sorted((package / "rules").iterdir())]
    shutil.copy(SAMPLES / name, package)
    field = "validators" if name in VALIDATORS else "transformers"
    (package / "kustomization.yaml").write_text(
        yaml.safe_dump({"resources": resources, field: [name]})
    )
    flags = [] if "container" in name else ["--enable-exec"]
    return shell([*KUSTOMIZE, *flags, "."], cwd=package)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.needs("kustomize")
def test_a_sample_works_under_kustomize(
    name: str, package: Path, shell: Shell, docker: Path
) -> None:
    done = build(shell, package, name)
    assert done.status == 0, done.err
    assert [value["kind"] for value in yaml.safe_load_all(done.out)] == ["Service", "Deployment"]
    assert ("runAsNonRoot: true" in done.out) == (name not in VALIDATORS)
    assert docker.exists() == ("container" in name)
    assert build(shell, package, name) == done


@pytest.mark.parametrize("name", REJECTING)
@pytest.mark.needs("kustomize")
def test_a_sample_that_rejects_does_so_under_kustomize(
    name: str, package: Path, shell: Shell, docker: Path
) -> None:
    with (package / "service.yaml").open("a") as service:
        service.write(EXTERNAL)
    done = build(shell, package, name)
    assert done.status == 1
    assert "external IPs are not allowed: 203.0.113.7" in done.err


@pytest.mark.parametrize("name", MUTATING)
@pytest.mark.needs("kpt")
def test_a_sample_works_under_kpt(
    name: str, package: Path, shell: Shell, docker: Path, tmp_path: Path
) -> None:
    if not name.startswith("from-items"):
        (package / "rules").rename(tmp_path / "rules")
    run = ["--image", "krm-fn:dev"] if "container" in name else ["--exec", "krm-fn"]
    if name == "admission-paths-container.yaml":
        run += ["--mount", f"type=bind,src={tmp_path}/rules,dst=/rules"]
    command = ["kpt", "fn", "eval", package, *run, "--fn-config", SAMPLES / name]
    done = shell(command, cwd=tmp_path)
    assert done.status == 0, done.err
    after = tree(package)
    assert "runAsNonRoot: true" in after["deployment.yaml"]
    assert docker.exists() == ("container" in name)
    again = shell(command, cwd=tmp_path)
    assert again.status == 0, again.err
    assert tree(package) == after


@pytest.mark.parametrize("name", ["configmap.yaml", "configmap-container.yaml"])
@pytest.mark.needs("kpt")
def test_the_config_map_warns_of_what_it_would_reject(
    name: str, package: Path, shell: Shell, docker: Path
) -> None:
    with (package / "service.yaml").open("a") as service:
        service.write(EXTERNAL)
    run = ["--image", "krm-fn:dev"] if "container" in name else ["--exec", "krm-fn"]
    done = shell(["kpt", "fn", "eval", package, *run, "--fn-config", SAMPLES / name])
    assert done.status == 0, done.err
    assert "[warning]" in done.err
    assert "external IPs are not allowed" in done.err
