from __future__ import annotations

import pytest
from modrule_support import messages, patch_rule, reject_rule


def of_match(select: str, more: str = "") -> list[str]:
    members = f"select: '{select}'" + (f", {more}" if more else "")
    return messages(reject_rule().replace("select: '$.kind'", members))


def of_patch(members: str) -> list[str]:
    return messages(patch_rule(f"[{{{members}}}]"))


@pytest.mark.parametrize(
    ("select", "more", "message"),
    [
        (
            "$.a",
            "matchValue: '\"true\"'",
            "spec.match[0]: the text is compared with its quotes, so it never matches true; "
            "write 'true'",
        ),
        (
            "$.a",
            "matchValues: [a, '\"b\"']",
            "spec.match[0]: the text is compared with its quotes, so it never matches b; write 'b'",
        ),
        (
            "$.a",
            "matchValue: x, matchRegex: yy",
            "spec.match[0]: only matchValue counts; matchRegex is ignored",
        ),
        (
            "$.a",
            "matchValue: x, matchValues: [z], matchRegex: yy",
            "spec.match[0]: only matchValue counts; matchValues and matchRegex are ignored",
        ),
        (
            "$.a == 1",
            'matchValue: "false"',
            "spec.match[0]: the select gives true or false, which alone decides; matchValue is "
            "ignored",
        ),
        (
            "!isDefined($.a)",
            'matchRegex: "x"',
            "spec.match[0]: the select gives true or false, which alone decides; matchRegex is "
            "ignored",
        ),
        (
            "$.items[? @.x]",
            "",
            "spec.match[0].select: 1:8: a filter that is only a path keeps what lacks the member "
            "and drops what has a text in it: use isDefined(...) or compare with a value",
        ),
        (
            "$.items[-1]",
            "",
            "spec.match[0].select: 1:8: an index from the end is always out of bounds: use "
            "[length(@)-1] or [-1:]",
        ),
        (
            '$.kind =~ "("',
            "",
            "spec.match[0].select: 1:8: error parsing regexp: missing closing ): `(`: every "
            "evaluation fails",
        ),
        (
            "$.spec.replica.securtyContext",
            "",
            "spec.match[0].select: no field is called securtyContext; did you mean securityContext",
        ),
    ],
)
def test_a_criterion_that_cannot_be_meant_is_said(select: str, more: str, message: str) -> None:
    assert of_match(select, more) == [message]


@pytest.mark.parametrize(
    "select",
    [
        "$.spec.replicas",
        "$.spec.services",
        "$.status.hostIP",
        "$.metadata.labels.servicex",
        '$.metadata.annotations["imagee"]',
        '$.image =~ "nginx.imagee"',
        "$.spec.colour",
        "$.a != 12",
        '$.version == "1.10"',
    ],
)
def test_what_may_well_be_meant_stays_without_a_word(select: str) -> None:
    assert of_match(select) == []


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            "op: add, path: /x/#0/y, select: '$.spec.containers[? isEmpty(@.imagge)]'",
            "spec.patch[0].select: no field is called imagge; did you mean image, and what is "
            "missing counts as empty: everything is selected",
        ),
        (
            "op: add, path: /spec/list/-",
            "spec.patch[0].path: a list that is missing becomes a map with the key `-`; write /-1, "
            "which makes the list and appends",
        ),
        (
            "op: add, path: /spec/#0/x",
            "spec.patch[0].path: without a select, #0 and the like are taken as they stand",
        ),
        (
            "op: add, path: /x, select: '$.a[*]', value: 'x.#0y'",
            "spec.patch[0].value: outside of {{ }}, .#0 becomes the text (index .SelectKeyParts 0)",
        ),
    ],
)
def test_an_operation_that_cannot_be_meant_is_said(members: str, message: str) -> None:
    assert of_patch(members) == [message]


@pytest.mark.parametrize("value", ["{{ .Namespace }}.#0", "a\\n.#0{{ .#0 }}"])
def test_a_key_part_beside_an_action_is_no_action(value: str) -> None:
    (message,) = of_patch(f'op: add, path: /x, select: "$.a[*]", value: "{value}"')
    assert "outside of {{ }}" in message


@pytest.mark.parametrize(
    ("value", "words"),
    [("on", ["on"]), ("{x: 1, y: 2}", ["y"]), ("[yes, No]", ["yes", "No"]), ('"on"', [])],
)
def test_a_word_that_is_a_boolean_is_said_as_a_value_and_as_a_key(
    value: str, words: list[str]
) -> None:
    said = of_patch(f"op: add, path: /x, value: '{value}'")
    assert [message.split()[1] for message in said] == words
    assert all("is the boolean" in message for message in said)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            reject_rule(match="$.a != 12"),
            "spec.match[0].select: 1:5: != is true, too, where the member is missing: add "
            "isDefined(...) if it must be there",
        ),
        (
            reject_rule(match='$.a == "1.10"'),
            'spec.match[0].select: 1:5: "1.10" is compared as a number: "1.10" equals "1.1"',
        ),
        (
            reject_rule(match="$.a == null"),
            "spec.match[0].select: 1:5: a missing member is undefined and equals nothing, not "
            "even null: use isUndefined(...) for it",
        ),
        (
            patch_rule("[{op: remove, path: /x}]", more="admissionOperations: [DELETE, CREATE]"),
            "spec.admissionOperations: a patch on DELETE fails the request in a cluster: there is "
            "no object to change",
        ),
    ],
)
def test_what_is_right_in_some_rules_is_for_a_lint_to_say(rule: str, message: str) -> None:
    assert messages(rule) == []
    assert messages(rule, lint=True) == [message]


def test_a_key_part_in_an_action_is_meant() -> None:
    assert of_patch("op: add, path: /x/#0, select: '$.a[*]', value: '{{ .#0 }}'") == []


def test_a_rule_for_deletions_only_is_never_asked_here() -> None:
    assert messages(reject_rule(more="admissionOperations: [DELETE]")) == [
        "spec.admissionOperations: nothing is deleted here; the rule is never asked"
    ]
    assert messages(reject_rule(more="admissionOperations: [DELETE, UPDATE]")) == []
