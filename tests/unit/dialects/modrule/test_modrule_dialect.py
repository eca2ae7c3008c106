from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from modrule_support import compiled, messages, patch_rule, reject_rule

from krm_fn.admission import Rule, RuleRef
from krm_fn.config.fields import Section
from krm_fn.config.sources import RuleSet
from krm_fn.dialects.modrule import DIALECT
from krm_fn.errors import ConfigError, RuleError
from krm_fn.wire import read_stream
from tests.compiling import compile_with

FILE = """\
# comment
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata:
  name: x
  namespace: web
spec:
  type: Patch
  match:
  - select: $.kind
    matchValue: Deployment
  - matchRegex: ok
    select: $.a ==isEmpty(@)
  patch:
  - op: add
    path: /a
    value: 1
"""


def refusals(text: str) -> list[str]:
    with pytest.raises(RuleError) as caught:
        compiled(text)
    return caught.value.message.splitlines()


def test_an_error_names_file_line_rule_field_and_what_to_do() -> None:
    assert refusals(FILE) == [
        "rules.yaml:17: ModRule web/x: spec.patch[0].value is the number 1; it must be a string: "
        "write '1' with the quotes"
    ]
    assert refusals(FILE.replace("value: 1", "value: '1'")) == [
        "rules.yaml:13: ModRule web/x: spec.match[1].select: select expression, 1:5: unknown "
        "operator ==i: put a space after =="
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "type: Patch",
            "type: Pach",
            "rules.yaml:8: ModRule web/x: spec.type: unrecognized ModRule type 'Pach'; did you "
            "mean Patch?",
        ),
        (
            "type: Patch",
            "type: Patch\n  executionTier: high",
            "rules.yaml:9: ModRule web/x: spec.executionTier is the string 'high'; it must be an "
            "integer, unquoted",
        ),
        (
            "type: Patch",
            "type: Patch\n  executionTier: 32767",
            "rules.yaml:9: ModRule web/x: spec.executionTier: field 'executionTier' should be an "
            "integer value between -32767 and 32766",
        ),
        (
            "matchRegex: ok",
            "matchRegex: (",
            "rules.yaml:12: ModRule web/x: spec.match[1].matchRegex: error parsing regexp: missing "
            "closing ): `(`",
        ),
        (
            "value: 1",
            "value: '{{ tpl .Target }}'",
            'rules.yaml:17: ModRule web/x: spec.patch[0].value: template: /a:1: function "tpl" not '
            "defined (only Helm has it)",
        ),
        (
            "path: /a",
            "path: a",
            "rules.yaml:16: ModRule web/x: spec.patch[0].path: the path 'a' must start with / "
            "(KubeMod ignores what stands before the first)",
        ),
        (
            "type: Patch",
            "type: Patch\n  targetNamespaceRegex: '('",
            "rules.yaml:9: ModRule web/x: spec.targetNamespaceRegex: error parsing regexp: missing "
            "closing ): `(` (a cluster would store the rule and never use it)",
        ),
        (
            "path: /a",
            "path: /a\n    select: $.a == 1",
            "rules.yaml:17: ModRule web/x: spec.patch[0].select: select expression, 1:5: "
            "unexpected `=`, expected the end, since the select of a patch is a path alone, "
            "without operators; compare with == (a cluster would store the rule and never use it)",
        ),
        (
            "kubemod.io/v1beta1",
            "kubemod.io/v1",
            "rules.yaml:2: ModRule web/x: apiVersion is api.kubemod.io/v1; use "
            "api.kubemod.io/v1beta1",
        ),
        ("  name: x\n", "", "rules.yaml:4: ModRule web/: metadata.name is required"),
    ],
)
def test_each_mistake_is_one_clear_sentence_at_its_line(old: str, new: str, message: str) -> None:
    sound = FILE.replace("==isEmpty", "== isEmpty").replace("value: 1", "value: '1'")
    source = sound if old in sound else FILE.replace("==isEmpty", "== isEmpty")
    assert message in refusals(source.replace(old, new, 1))


def test_all_mistakes_of_all_rules_are_told_at_once() -> None:
    bad = reject_rule(name="a", match="$.").replace("select: '$.'", "selct: '$.'")
    told = refusals(bad + reject_rule(name="b", more="patch: [{op: move}]"))
    assert [line.split(": ")[2] for line in told] == [
        "spec.match[0].select",
        "spec.match[0].selct",
        "spec.patch",
        "spec.patch[0].op",
        "spec.patch[0].path",
    ]


def test_an_unknown_field_of_a_rule_that_works_is_a_warning() -> None:
    assert messages(reject_rule(more="rejectMesage: no")) == [
        "spec.rejectMesage: unknown field, which a cluster drops without a word; did you mean "
        "rejectMessage?"
    ]


def test_a_warning_names_the_part_of_the_rule() -> None:
    (finding,) = compiled(reject_rule(match="$.items[-1]")).findings
    assert finding.rules[0].part == "spec.match[0].select"
    assert not finding.denies


def test_a_rule_from_nowhere_is_named_without_a_place() -> None:
    rule = Rule(RuleRef("modrule", "ModRule", "web", "x"), {"apiVersion": "v1"})
    with pytest.raises(RuleError, match=r"^ModRule web/x: apiVersion is v1"):
        compile_with(DIALECT, [rule])


def test_a_rule_in_json_has_lines_too() -> None:
    text = (
        '{"apiVersion": "api.kubemod.io/v1beta1", "kind": "ModRule",\n'
        ' "metadata": {"name": "x"},\n "spec": 5}'
    )
    found = RuleSet()
    found.add_stream(read_stream(text.encode(), "rules.json"))
    with pytest.raises(RuleError, match=r"^rules\.json:3: ModRule x: spec is the number 5"):
        compile_with(DIALECT, found.rules)


def test_without_rules_there_is_no_plugin() -> None:
    assert compile_with(DIALECT, []).plugins == ()


def test_all_rules_are_one_plugin() -> None:
    rules = patch_rule("[{op: remove, path: /a}]", name="a") + reject_rule(name="b")
    assert len(compiled(rules).plugins) == 1


# ---------------------------------------------------------------------------------- configuration


def test_the_section_is_read_strictly() -> None:
    for section, reason in (
        ({"targetResource": []}, "did you mean targetResources"),
        ({"ignoredNamespaces": "a"}, "must be a list of strings"),
        ({"clock": "noon"}, "is no time like"),
        ({"seed": 1}, "must be a string"),
    ):
        with pytest.raises(ConfigError, match=reason):
            check(section)


def check(section: Mapping[str, Any]) -> None:
    compile_with(DIALECT, [], section=Section(dict(section), "modRules", ""))


def test_a_sound_section_is_accepted() -> None:
    check(
        {
            "clusterRulesNamespace": "platform",
            "targetResources": ["*"],
            "ignoredNamespaces": [],
        }
    )
