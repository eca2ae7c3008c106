"""The READMEs of the examples: every command as it stands, in order, twice."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from e2e_support import Shell

ROOT = Path(__file__).resolve().parents[2]


class Readme(NamedTuple):
    """The commands of a README, run in a copy of its folder, or of the whole repository."""

    folder: str
    statuses: tuple[int, ...]
    """Of its commands, in order."""
    tools: tuple[str, ...] = ()
    whole: bool = False
    results: bool = False
    """Whether it says what the results are."""


READMES = [
    Readme("examples/kpt", (0, 0, 0), ("kpt",), results=True),
    Readme("examples/pods", (0, 0), ("kpt",), results=True),
    Readme("examples/appmesh", (0,), ("kpt",), results=True),
    Readme("examples/sidecarset", (0,), ("kpt",), results=True),
    Readme("examples/sdk", (0,), ("kpt",), results=True),
    Readme("examples/kustomize", (0, 0, 0), ("kustomize",)),
    Readme("examples/kubewarden", (0, 0, 0, 0), ("go", "kpt", "kustomize")),
    Readme("examples/demo", (1, 0, 1)),
    Readme("examples/policies", (1, 1), whole=True),
    Readme("examples/argocd", (0, 0), ("kustomize",)),
    Readme("function-config", (0,), ("kpt",)),
]


def commands(text: str) -> list[str]:
    """The commands of a README: indented lines, and those behind a prompt."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(line[2:])
        elif line.startswith("    ") and not line.strip().startswith("error "):
            found.append(line.strip())
    return found


@pytest.mark.parametrize(
    "readme",
    [
        pytest.param(readme, id=readme.folder, marks=[pytest.mark.needs(t) for t in readme.tools])
        for readme in READMES
    ],
)
def test_every_command_of_a_readme_works_as_it_stands_and_once_more(
    readme: Readme, shell: Shell, docker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ROOT if readme.whole else ROOT / readme.folder
    ignored = shutil.ignore_patterns(".git", ".venv", ".tools", "tests", "wasm", "__pycache__")
    folder = Path(shutil.copytree(source, tmp_path / "copy", ignore=ignored, symlinks=True))
    shutil.copytree(ROOT / "examples" / "kpt", tmp_path / "package")
    python = Path(sys.executable).parent
    monkeypatch.setenv("PATH", os.pathsep.join((str(python), os.environ["PATH"])))
    lines = commands((ROOT / readme.folder / "README.md").read_text())
    assert len(lines) == len(readme.statuses)
    for again in (False, True):
        cwd = folder
        for n, (line, status) in enumerate(zip(lines, readme.statuses, strict=True)):
            if line.startswith("cd "):
                cwd = cwd / line.removeprefix("cd ")
                continue
            done = shell(
                ["bash", "-c", line.replace("PACKAGE", str(tmp_path / "package"))], cwd=cwd
            )
            assert done.status == status, (again, line, done.err)
            if readme.results and not again and n == 0:
                expected = (folder / ".expected" / "results.yaml").read_text()
                assert (folder / "results" / "results.yaml").read_text() == expected


def test_every_readme_of_an_example_is_among_these() -> None:
    found = {str(path.parent.relative_to(ROOT)) for path in ROOT.glob("examples/**/README.md")}
    assert found | {"function-config"} == {readme.folder for readme in READMES}
