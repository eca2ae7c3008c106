"""Mutants: rules broken in small ways, which a suite notices or does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_support import WEB, write

from krm_fn.admission import Rule, RuleRef
from krm_fn.cli import run
from krm_fn.testing.mutate import mutants, mutation
from krm_fn.testing.read import find_suites, read_suite

ROOT = Path(__file__).resolve().parents[3]

WEAK = "  - name: a\n    object: web.yaml\n    expect: {outcome: Changed}\n"
FEW = WEB.replace("replicas: 2", "replicas: 3").replace("\n", "\\n")
MANY = WEB.replace("replicas: 2", "replicas: 4").replace("\n", "\\n")
STRONG = f"""\
  - name: a
    object: web.yaml
    expect: {{outcome: Changed, fields: {{$.metadata.labels: {{team: shop}}}}}}
  - name: b
    object: {{inline: "{MANY}"}}
    expect: {{outcome: Denied}}
  - name: c
    object: {{inline: "{FEW}"}}
    expect: {{outcome: Changed}}
"""


def rule_of(spec: dict[str, object]) -> Rule:
    return Rule(RuleRef("policies", "ValidatingAdmissionPolicy", "", "a"), {"spec": spec})


@pytest.mark.parametrize(
    ("spec", "mutated"),
    [
        ({"match": [{"select": "a"}]}, {"match": [{"select": "a", "negate": True}]}),
        ({"patch": [{"op": "b"}, {"op": "c"}]}, {"patch": [{"op": "c"}]}),
        ({"paused": True}, {"paused": False}),
        ({"limit": 3}, {"limit": 4}),
        ({"validations": [{"expression": "a"}]}, {"validations": [{"expression": "!(a)"}]}),
        ({"validations": [{"expression": "a && b"}]}, {"validations": [{"expression": "a || b"}]}),
        ({"validations": [{"expression": "a <= 3"}]}, {"validations": [{"expression": "a < 3"}]}),
        ({"validations": [{"expression": "a <= 3"}]}, {"validations": [{"expression": "a <= 4"}]}),
        (
            {"validations": [{"expression": 'a == "b"'}]},
            {"validations": [{"expression": 'a == "b-mutated"'}]},
        ),
    ],
)
def test_a_rule_is_broken_in_small_ways(
    spec: dict[str, object], mutated: dict[str, object]
) -> None:
    assert {"spec": mutated} in [mutant.value for mutant in mutants(rule_of(spec))]


def test_no_mutant_is_the_rule_itself() -> None:
    rule = rule_of({"match": [{"select": "a", "negate": False}, {"select": "b"}], "limit": 0})
    assert all(mutant.value != rule.value for mutant in mutants(rule))


def test_names_and_words_for_people_are_not_mutated() -> None:
    rule = rule_of({"rejectMessage": "a", "validations": [{"message": "b"}], "type": "Patch"})
    assert list(mutants(rule)) == []


def test_a_suite_that_says_much_notices_what_one_that_says_little_does_not(tmp_path: Path) -> None:
    (tmp_path / "weak").mkdir()
    (tmp_path / "strong").mkdir()
    weak = mutation(read_suite(write(tmp_path / "weak", WEAK)))
    strong = mutation(read_suite(write(tmp_path / "strong", STRONG)))
    assert weak.killed + len(weak.survivors) == strong.killed + len(strong.survivors)
    assert len(strong.survivors) < len(weak.survivors)
    assert "value" in {mutant.path[-1] for mutant in weak.survivors}
    assert "value" not in {mutant.path[-1] for mutant in strong.survivors}


def test_survivors_are_printed_as_diffs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["test", "--mutate", write(tmp_path, WEAK)]) == 0
    out = capfd.readouterr().out
    assert "-    value: shop\n" in out
    assert "+    value: shop-mutated\n" in out
    assert "rules.yaml:9" in out
    assert "mutants noticed (" in out


def test_a_suite_that_fails_is_not_mutated(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    case = WEAK.replace("Changed", "Denied")
    assert run(["test", "--mutate", write(tmp_path, case)]) == 1
    assert "mutants noticed" not in capfd.readouterr().out


def test_the_suites_of_the_examples_notice_nine_mutants_of_ten() -> None:
    found = [mutation(read_suite(file)) for file in find_suites([str(ROOT / "examples")])]
    killed = sum(one.killed for one in found)
    survivors = [mutant for one in found for mutant in one.survivors]
    assert killed + len(survivors) > 500
    assert killed >= 0.9 * (killed + len(survivors)), [
        (str(mutant.rule.ref), mutant.path, mutant.what) for mutant in survivors
    ]
