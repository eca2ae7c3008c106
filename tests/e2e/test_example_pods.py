"""The package with rules for Pods and no Pod, under the tool that it is for."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from e2e_support import Shell, tree
from test_examples import EXAMPLES, copy, expect, promised, render


@pytest.mark.needs("kpt")
def test_the_pods_example_gives_what_it_says(shell: Shell, tmp_path: Path) -> None:
    expected = EXAMPLES / "pods" / ".expected"
    package = copy(EXAMPLES / "pods", tmp_path / "pods")
    found, changed = render(shell, package, tmp_path / "results")
    expect(expected / "diff.patch", changed)
    expect(expected / "results.yaml", found)


@pytest.mark.needs("kpt")
def test_the_pods_example_refuses_what_its_readme_says(shell: Shell, tmp_path: Path) -> None:
    package = copy(EXAMPLES / "pods", tmp_path / "pods")
    job = package / "cronjob.yaml"
    job.write_text(job.read_text().replace("registry.example.com/report:7", "report:7"))
    before = tree(package)
    done = shell(["kpt", "fn", "render", package, "--allow-exec"])
    assert done.status == 1
    assert promised("pods") in done.err
    assert tree(package) == before


def test_the_pods_example_shows_the_pods_as_its_readme_says(shell: Shell, tmp_path: Path) -> None:
    package = copy(EXAMPLES / "pods", tmp_path / "pods")
    done = shell(["krm-fn", "apply", "--pod-templates", "preview", "-f", package])
    assert done.status == 0, done.err
    pods = [value for value in yaml.safe_load_all(done.out) if value["kind"] == "Pod"]
    assert [(pod["metadata"]["name"], len(pod["spec"]["containers"])) for pod in pods] == [
        ("report-cronjob-pod", 1),
        ("orders-deployment-pod", 2),
    ]
