"""Rules that count on what the API server fills in, on Argo CD's own manifests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from e2e_support import Shell, fixtures

RULES = Path(__file__).with_name("served_rules.yaml").read_text().split("\n---\n")

SURGE = "      maxUnavailable: 0"

# rule, outcome, objects in the served form, objects as they are written, lines that are added
CASES = [
    ("one-replica", "changed", 7, 1, ["    availability: single"]),
    (
        "rolls-out",
        "changed",
        5,
        0,
        ["  strategy:", "    rollingUpdate:", "      maxUnavailable: 0"],
    ),
    ("short-history", "changed", 7, 0, ["  revisionHistoryLimit: 3"]),
    ("patient-stop", "changed", 7, 0, ["      terminationGracePeriodSeconds: 60"]),
    ("inside-services", "changed", 8, 0, ["  annotations:", "    reach: inside"]),
    ("tcp-services", "changed", 8, 7, ["  annotations:", "    protocol: tcp"]),
    ("needs-no-scheduler", "changed", 7, 0, ["      dnsPolicy: Default"]),
    ("quick-probes", "changed", 1, 0, ["          timeoutSeconds: 3"]),
    ("no-limits", "changed", 7, 0, ["  annotations:", "    limits: none"]),
    ("must-roll", "rejected", 1, 6, []),
]


def test_there_is_a_case_for_every_rule() -> None:
    assert [yaml.safe_load(rule)["metadata"]["name"] for rule in RULES] == [c[0] for c in CASES]


@pytest.mark.parametrize(("name", "outcome", "served", "written", "added"), CASES)
def test_a_rule_is_right_on_the_served_form_and_wrong_on_the_file(
    name: str,
    outcome: str,
    served: int,
    written: int,
    added: list[str],
    tmp_path: Path,
    shell: Shell,
) -> None:
    install = fixtures() / "argo-cd" / "install.yaml"
    [rule] = [text for text in RULES if f"name: {name}," in text]
    (tmp_path / "rule.yaml").write_text(rule)
    for form, count in (("Served", served), ("AsWritten", written)):
        command = ["krm-fn", "diff", "-f", install, "-r", "rule.yaml", "--object-form", form]
        done = shell(command, cwd=tmp_path)
        assert f" {count} {outcome}" in done.err, (form, done.err)
        if form == "Served":
            lines = re.findall(r"(?m)^([+-])(?![+-]{2} )(.*)$", done.out)
            assert {line for sign, line in lines if sign == "+"} == set(added)
            assert all(sign == "+" for sign, _ in lines)
