"""Kubewarden's own example, built from source, under real kpt and kustomize and as a program."""

from __future__ import annotations

import difflib
import os
import shutil
from pathlib import Path

import pytest
from e2e_support import Shell

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "kubewarden"
UPDATE = os.environ.get("KPT_E2E_UPDATE_EXPECTED") == "true"
pytestmark = pytest.mark.needs("go")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example with its policy built, and compiled once for all tests."""
    folder = tmp_path_factory.mktemp("kubewarden") / "package"
    ignore = shutil.ignore_patterns(".expected", "*.wasm", ".krm-fn")
    shutil.copytree(EXAMPLE, folder, ignore=ignore)
    return folder


@pytest.fixture
def package(built: Path, tmp_path: Path, shell: Shell) -> Path:
    """A fresh copy of the built example."""
    if not (built / "capabilities.wasm").exists():
        done = shell(["sh", "build.sh"], cwd=built)
        assert done.status == 0, done.err
        done = shell(["krm-fn", "check", "-f", "pod.yaml", "--config", "admission.yaml"], cwd=built)
        assert done.status == 0, done.err
    return Path(shutil.copytree(built, tmp_path / "package"))


def expect_change(after: str) -> None:
    before = (EXAMPLE / "pod.yaml").read_text()
    lines = (text.splitlines(keepends=True) for text in (before, after))
    text = "".join(difflib.unified_diff(*lines, "a/pod.yaml", "b/pod.yaml"))
    file = EXAMPLE / ".expected" / "diff.patch"
    if UPDATE:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()


def test_the_example_gives_what_it_says(package: Path, shell: Shell) -> None:
    command = ["krm-fn", "apply", "-f", "pod.yaml", "--config", "admission.yaml"]
    done = shell(command, cwd=package)
    assert done.status == 0, done.err
    expect_change(done.out)
    again = shell([*command[:3], "-", *command[4:]], cwd=package, stdin=done.out.encode())
    assert again.out == done.out


@pytest.mark.needs("kpt")
def test_kpt_renders_the_example_twice(package: Path, shell: Shell) -> None:
    for _ in range(2):
        done = shell(["kpt", "fn", "render", "--allow-exec"], cwd=package)
        assert done.status == 0, done.err
        expect_change((package / "pod.yaml").read_text())


@pytest.mark.needs("kustomize")
def test_kustomize_builds_the_example_from_anywhere(package: Path, shell: Shell) -> None:
    command = ["kustomize", "build", "--enable-alpha-plugins", "--enable-exec"]
    done = shell([*command, package])
    assert done.status == 0, done.err
    assert (
        "        add:\n        - NET_ADMIN\n        - SYS_TIME\n        drop:\n        - BPF"
        in (done.out)
    )


@pytest.mark.needs("kpt")
def test_the_rejection_that_the_readme_shows(package: Path, shell: Shell) -> None:
    pod = package / "pod.yaml"
    before = pod.read_text().replace("SYS_TIME]", "SYS_TIME, SYS_ADMIN]")
    pod.write_text(before)
    done = shell(["kpt", "fn", "render", "--allow-exec"], cwd=package)
    lines = (EXAMPLE / "README.md").read_text().splitlines()
    (promised,) = (line.strip() for line in lines if line.strip().startswith("error "))
    assert done.status != 0
    assert promised in done.err
    assert pod.read_text() == before


def test_settings_that_the_policy_refuses_stop_the_run(package: Path, shell: Shell) -> None:
    config = package / "admission.yaml"
    config.write_text(config.read_text().replace("allowed_capabilities", "allow"))
    done = shell(["krm-fn", "apply", "-f", "pod.yaml", "--config", "admission.yaml"], cwd=package)
    assert (done.status, done.out) == (2, "")
    assert 'Policy settings are invalid: json: unknown field "allow"' in done.err
