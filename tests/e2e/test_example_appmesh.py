"""The package with a Mesh of AWS App Mesh, under the tool that it is for."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e_support import Shell, tree
from test_examples import EXAMPLES, copy, expect, promised, render


@pytest.mark.needs("kpt")
def test_the_appmesh_example_gives_what_it_says(shell: Shell, tmp_path: Path) -> None:
    expected = EXAMPLES / "appmesh" / ".expected"
    package = copy(EXAMPLES / "appmesh", tmp_path / "appmesh")
    found, changed = render(shell, package, tmp_path / "results")
    expect(expected / "diff.patch", changed)
    expect(expected / "results.yaml", found)


@pytest.mark.needs("kpt")
def test_the_appmesh_example_refuses_what_its_readme_says(shell: Shell, tmp_path: Path) -> None:
    package = copy(EXAMPLES / "appmesh", tmp_path / "appmesh")
    deployment = package / "deployment.yaml"
    text = deployment.read_text()
    deployment.write_text(text.replace("        mesh.example.com/node: checkout-v2\n", ""))
    before = tree(package)
    done = shell(["kpt", "fn", "render", package, "--allow-exec"])
    assert done.status == 1
    assert promised("appmesh") in done.err
    assert tree(package) == before
