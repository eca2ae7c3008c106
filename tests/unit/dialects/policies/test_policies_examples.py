"""The policies in examples/policies: each changes or refuses one manifest and leaves another alone.

What comes of `before.yaml` stands in `after.yaml` (changed) or `said.txt` (refused, or warned of);
KPT_E2E_UPDATE_EXPECTED=true records it anew, as for the other examples.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from krm_fn.admission import Cause
from krm_fn.config.options import Options
from krm_fn.run.admit import admit, stages_of
from krm_fn.wire import read_stream

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "policies"
UPDATE = os.environ.get("KPT_E2E_UPDATE_EXPECTED") == "true"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/policy.yaml"))


def admitted(folder: Path, name: str) -> tuple[str, list[str]]:
    """The manifest as it comes out, and what is said of it (but for notes)."""
    stream = read_stream((folder / name).read_bytes(), name)
    report = admit([stream], stages_of(Options(), [stream], [str(folder / "policy.yaml")]))
    said = [
        finding.message
        for _, finding in report.all_findings()
        if finding.cause is not Cause.NOTE and finding.cause is not Cause.AUDIT
    ]
    return stream.write([]).decode(), said


def test_there_are_forty_policies_at_least() -> None:
    assert len(FOLDERS) >= 40


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_policy_does_to_one_manifest_what_it_is_for(folder: Path) -> None:
    after, said = admitted(folder, "before.yaml")
    before = (folder / "before.yaml").read_text()
    assert said or after != before
    assert not said or after == before
    name, text = (
        ("said.txt", "".join(f"{line}\n" for line in said)) if said else ("after.yaml", after)
    )
    if UPDATE:
        (folder / name).write_text(text)
    assert (folder / name).read_text() == text


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_policy_leaves_another_manifest_alone(folder: Path) -> None:
    after, said = admitted(folder, "left-alone.yaml")
    assert (after, said) == ((folder / "left-alone.yaml").read_text(), [])
