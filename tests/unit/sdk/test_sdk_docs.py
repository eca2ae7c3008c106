"""docs/sdk.md: every snippet runs, and every name in its table is there."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

from sdk_support import LIST, a_list

from krm_fn import sdk

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "sdk.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_whole_function_of_the_page_runs() -> None:
    (program,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=LIST,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    expected = LIST.replace(b"{app: web}", b"{app: web, team: checkout}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected + b"results:\n- message: 2 objects\n  severity: info\n"


def test_the_sessions_of_the_page_answer_as_they_say() -> None:
    text = "\n".join(blocks("pycon"))
    names = {"rl": a_list(), "Field": sdk.Field}
    session = doctest.DocTestParser().get_doctest(text, names, "docs/sdk.md", "docs/sdk.md", 0)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(session, out=report.append)
    assert tried > 20
    assert failed == 0, "".join(report)


def test_every_name_in_the_table_is_there() -> None:
    _, _, table = PAGE.partition("| Go | here |\n|---|---|\n")
    owners = (sdk, sdk.KubeObject, sdk.KubeObjects, sdk.ResourceList, sdk.Results)
    for row in table.strip().splitlines():
        if not row.startswith("|"):
            break
        here = row.split("|")[2]
        for code in re.findall(r"`([^`]+)`", here):
            name = code.partition("(")[0].rpartition(".")[2]
            assert any(hasattr(owner, name) for owner in owners), (name, row)
