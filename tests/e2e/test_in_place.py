"""`apply -i` on a folder of many files: only what changes is written, and always whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from e2e_support import Shell

FILES = 5_000
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{n} # number {n}
  namespace: shop
spec:
  replicas: 2
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{n}, namespace: shop}}\n"
RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: team, namespace: shop}
spec:
  type: Patch
  match: [{select: $.kind, matchValue: Deployment}]
  patch: [{op: add, path: /metadata/labels/team, value: shop}]
"""
CHANGED = "  namespace: shop\n  labels:\n    team: shop\n"
LONG_AGO = 1_000_000_000


def write(folder: Path, every: int) -> dict[Path, str]:
    """A folder in which every so many files hold what the rule changes; old files."""
    texts: dict[Path, str] = {}
    for n in range(FILES):
        path = folder / f"d{n % 50}" / f"{n}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        texts[path] = (DEPLOYMENT if n % every == 0 else MAP).format(n=n)
        path.write_text(texts[path])
        os.utime(path, (LONG_AGO, LONG_AGO))
    (folder.parent / "rule.yaml").write_text(RULE)
    return texts


def after(text: str) -> str:
    return text.replace("  namespace: shop\n", CHANGED)


def test_untouched_files_keep_their_time_and_others_change(tmp_path: Path, shell: Shell) -> None:
    folder = tmp_path / "manifests"
    texts = write(folder, 10)
    done = shell(["krm-fn", "apply", "-i", "-f", folder, "-r", "rule.yaml"], cwd=tmp_path)
    assert done.status == 0, done.err
    assert f"{FILES} objects, {FILES // 10} changed" in done.err
    for path, text in texts.items():
        assert path.read_text() == after(text)
        assert (path.stat().st_mtime == LONG_AGO) == (after(text) == text)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_every_file_whole(how: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    texts = write(folder, 1)
    command = [sys.executable, "-m", "krm_fn", "apply", "-i", "-f", str(folder), "-r", "rule.yaml"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        stderr=subprocess.PIPE,
        text=True,
    )
    first = next(iter(texts)).parent
    while process.poll() is None and not list(first.glob(".krm-fn-*")):
        time.sleep(0.001)
    process.send_signal(how)
    _, said = process.communicate()
    assert "Traceback" not in said
    assert process.returncode != 0
    found = {path: path.read_text() for path in folder.rglob("*.yaml")}
    assert found.keys() == texts.keys()
    for path, text in found.items():
        assert text in (texts[path], after(texts[path])), path
    assert len({found[path] == texts[path] for path in texts}) == 1  # all are new, or all are old
    assert not list(folder.rglob(".krm-fn-*"))
