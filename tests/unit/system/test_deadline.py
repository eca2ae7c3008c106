"""The end of a run in time: durations as Go writes them, a sentence, a status, nothing written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from krm_fn.system.deadline import seconds_of

DURATIONS = {"30s": 30, "1m30s": 90, "1.5h": 5400, "250ms": 0.25, "2": 2, "0.5": 0.5, ".5s": 0.5}

SLOW = """\
import time, sys
sys.argv = ["krm-fn", *sys.argv[1:]]
import krm_fn.run.admit
from krm_fn.__main__ import main
real = krm_fn.run.admit.knowledge_of
def slow(*arguments):
    time.sleep(30)
    return real(*arguments)
krm_fn.run.admit.knowledge_of = slow
main()
"""
RULE = {
    "apiVersion": "api.kubemod.io/v1beta1",
    "kind": "ModRule",
    "metadata": {"name": "r"},
    "spec": {"type": "Reject", "match": [{"select": "$.kind", "matchValue": "Pod"}]},
}


@pytest.mark.parametrize(("text", "seconds"), DURATIONS.items())
def test_a_duration_is_read_as_go_writes_it(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "s", "0", "0s", "-1s", "1d", "1m x", "nan", "inf", "٣s", "1e"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        seconds_of(text)


def run(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The program with a run that takes thirty seconds."""
    return subprocess.run(
        [sys.executable, "-c", SLOW, *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=25,
    )


@pytest.mark.parametrize("more", [[], ["-i"]])
def test_a_command_gives_up_with_a_sentence(more: list[str], tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(RULE))
    done = run("apply", "-f", "m.json", "--timeout", "200ms", *more, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "error not done after 0.2 s, nothing was written; --timeout gives more\n"


def test_a_function_gives_up_with_a_sentence(tmp_path: Path) -> None:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"limits.timeout": "200ms", "rules": json.dumps(RULE)},
    }
    resource_list = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": [],
    }
    done = run(cwd=tmp_path, stdin=json.dumps(resource_list))
    assert (done.returncode, done.stdout) == (3, "")
    assert (
        "not done after 0.2 s, nothing was written; spec.limits.timeout gives more" in done.stderr
    )


def test_a_duration_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    done = run("apply", "--timeout", "soon", cwd=tmp_path)
    assert done.returncode == 2
    assert "'soon' is no duration; write it as 30s or 1m30s" in done.stderr
