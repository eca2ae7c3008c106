"""What of a directory is read, and what is left out and why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from krm_fn.system.folders import LeftOut, Unreadable, Why, walk
from krm_fn.system.ignoring import Patterns


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*names: str, text: str = "") -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def files(top: str = ".", **options: object) -> list[str]:
    found = walk(top, **options)  # type: ignore[arg-type]
    return [os.path.relpath(path) for path in found if isinstance(path, str)]


def test_manifests_are_found_in_order_and_nothing_in_dot_folders() -> None:
    write("b.yml", "a.yaml", "c.json", "x.txt", ".git/a.yaml", ".hidden.yaml", "sub/d.yaml")
    assert files() == ["a.yaml", "b.yml", "c.json", "sub/d.yaml"]


@pytest.mark.parametrize("top", ["m", "m/", "./m", "m//"])
def test_a_directory_may_be_named_in_any_way(top: str) -> None:
    write("m/a.yaml", "m/sub/b.yaml", "m/sub/c.yaml")
    write("m/.krmignore", text="c.yaml\n")
    assert files(top) == ["m/a.yaml", "m/sub/b.yaml"]


def test_krmignore_leaves_out_files_and_whole_folders_and_tells_them() -> None:
    write("a.yaml", "b.yaml", "sub/a.yaml", "out/a.yaml", "out/deeper/b.yaml")
    write(".krmignore", text="a.yaml\nout/\n")
    assert list(walk(".")) == [
        LeftOut("./out/", Why.IGNORED),
        LeftOut("./a.yaml", Why.IGNORED),
        "./b.yaml",
        LeftOut("./sub/a.yaml", Why.IGNORED),
    ]


def test_krmignore_counts_at_the_top_of_packages_only() -> None:
    write("p/a.yaml", "p/b.yaml", "p/plain/a.yaml", "p/sub/a.yaml", "p/sub/b.yaml", "p/sub/Kptfile")
    write("p/.krmignore", text="b.yaml\n")
    write("p/plain/.krmignore", "p/sub/.krmignore", text="a.yaml\n")
    assert files("p") == ["p/a.yaml", "p/plain/a.yaml", "p/sub/b.yaml"]


def test_the_templates_of_a_chart_are_left_out_and_its_definitions_are_not() -> None:
    write("web/Chart.yaml", "web/templates/d.yaml", "web/charts/db/templates/x.yaml")
    write("web/crds/c.yaml")
    assert list(walk(".")) == [
        LeftOut("./web", Why.CHART),
        "./web/Chart.yaml",
        "./web/crds/c.yaml",
    ]


def test_a_folder_called_templates_without_a_chart_is_read() -> None:
    write("templates/d.yaml")
    assert files() == ["templates/d.yaml"]


def test_excluded_paths_are_as_they_are_named_and_not_told() -> None:
    write("k8s/a.yaml", "k8s/old/b.yaml", "k8s/c.tpl.yaml")
    exclude = Patterns(["k8s/old", "*.tpl.yaml"])
    assert list(walk("k8s", exclude)) == ["k8s/a.yaml"]


def test_everything_is_read_where_that_is_asked_for() -> None:
    write("a.yaml", "out/a.yaml", "web/Chart.yaml", "web/templates/d.yaml")
    write(".krmignore", text="out/\n")
    everything = ["a.yaml", "out/a.yaml", "web/Chart.yaml", "web/templates/d.yaml"]
    assert files(everything=True) == everything
    exclude = Patterns(["out/"])
    assert files(exclude=exclude, everything=True) == [p for p in everything if "out" not in p]


def test_links_out_of_the_tree_are_told_and_the_others_still_found() -> None:
    write("outside.yaml", "m/b.yaml")
    os.symlink("../outside.yaml", "m/a.yaml")
    first, second = walk("m")
    assert isinstance(first, Unreadable)
    assert "symbolic link that leads out of" in str(first.error)
    assert second == "m/b.yaml"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_looked_into_is_told() -> None:
    write("m/a.yaml", "m/shut/b.yaml")
    os.chmod("m/shut", 0)
    try:
        found = list(walk("m"))
    finally:
        os.chmod("m/shut", 0o755)
    assert found[0] == "m/a.yaml"
    assert isinstance(found[1], Unreadable)
    assert str(found[1].error) == "m/shut: Permission denied"
