"""A repository as it is, beside the tools that read it, too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from e2e_support import Shell

NAMES = [
    *("a", "b", "sub/a", "sub/b", "sub/deep/a", "plain/a", "plain/b", "plain/deep/a"),
    *("plain/deep/b", "out/a", "out/x/a"),
]
MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"
PACKAGE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a package in it (`sub`) and folders that are none."""
    folder = tmp_path / "p"
    for name in NAMES:
        file = folder / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(MANIFEST.format(name.replace("/", "-")))
    (folder / "Kptfile").write_text(PACKAGE)
    (folder / "sub" / "Kptfile").write_text(PACKAGE)
    return folder


@pytest.mark.parametrize(
    "ignore",
    [
        *("a.yaml", "/a.yaml", "out/", "out", "sub", "plain/a.yaml", "deep/a.yaml", "**/deep"),
        *("plain/**", "*.yaml\n!b.yaml", "# nothing", "plain/*/a.yaml", "?.yaml\n!/a.yaml"),
    ],
)
@pytest.mark.parametrize("where", [".", "sub", "plain"])
@pytest.mark.needs("kpt")
def test_krmignore_leaves_out_what_kpt_leaves_out(
    where: str, ignore: str, package: Path, shell: Shell
) -> None:
    (package / where / ".krmignore").write_text(f"{ignore}\n")
    theirs = shell(["kpt", "fn", "eval", package, "--exec", "cat", "-o", "unwrap"])
    ours = shell(["krm-fn", "show", "-f", package])
    found = [set(re.findall(r"^  name: (\S+)$", done.out, re.M)) for done in (ours, theirs)]
    assert (ours.status, theirs.status) == (0, 0)
    assert found[0] == found[1] - {"p"}
