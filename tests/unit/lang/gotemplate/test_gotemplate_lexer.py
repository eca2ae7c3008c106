from __future__ import annotations

import pytest

from krm_fn.lang.gotemplate.lexer import Kind, lex


def kinds(text: str) -> list[Kind]:
    return [token.kind for token in lex(text)]


def test_text_and_actions_alternate() -> None:
    assert kinds("a{{.B}}c") == [Kind.TEXT, Kind.LEFT, Kind.FIELD, Kind.RIGHT, Kind.TEXT, Kind.EOF]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a {{- 1 -}} b", ["a", "b"]),
        ("a {{ 1 }} b", ["a ", " b"]),
        ("a \n{{- /* c */ -}}\t b", ["a", "b"]),
        ("a {{-1}} b", ["a ", " b"]),
    ],
)
def test_trim_markers_need_their_space(text: str, texts: list[str]) -> None:
    assert [token.text for token in lex(text) if token.kind is Kind.TEXT] == texts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{", "unclosed action"),
        ("{{ (1 }}", "unclosed left paren"),
        ("{{ 1) }}", "unexpected right paren"),
        ("{{/* c", "unclosed comment"),
        ("{{/* c */ }}", "comment ends before closing delimiter"),
        ("{{/*/ c }}", "unclosed comment"),
        ('{{ "a }}', "unterminated quoted string"),
        ("{{ `a }}", "unterminated raw quoted string"),
        ("{{ 'a }}", "unterminated character constant"),
        ("{{ 3- }}", 'bad number syntax: "3-"'),
        ("{{ .a-b }}", "bad character U+002D '-'"),
        ("{{ : }}", "expected :="),
        ("{{ \x01 }}", "unrecognized character in action: U+0001"),
    ],
)
def test_a_wrong_character_ends_the_tokens_with_a_reason(text: str, reason: str) -> None:
    last = lex(text)[-1]
    assert (last.kind, last.text) == (Kind.ERROR, reason)


def test_tokens_know_their_line() -> None:
    assert [token.line for token in lex("a\n{{ 1\n}}\n{{ 2 }}") if token.kind is Kind.NUMBER] == [
        2,
        4,
    ]
