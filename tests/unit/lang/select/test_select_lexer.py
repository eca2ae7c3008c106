from __future__ import annotations

import pytest

from krm_fn.lang.select.lexer import EOF, Lexer, line_and_column


def kinds(text: str) -> list[str]:
    lexer = Lexer(text)
    found = []
    while (token := lexer.scan()).kind != EOF:
        found.append(f"{token.kind} {token.text}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.kind", ["$ $", ". .", "Ident kind"]),
        ("a-b", ["Ident a", "- -", "Ident b"]),
        ("ñandú_1", ["Ident ñandú_1"]),
        ("1x", ["Int 1", "Ident x"]),
        ("1..2", ["Float 1.", "Float .2"]),
        ("$.0", ["$ $", "Float .0"]),
        ("0x1.8p3", ["Float 0x1.8p3"]),
        ("0b11 0o17", ["Int 0b11", "Int 0o17"]),
        ("1e+2-3", ["Float 1e+2", "- -", "Int 3"]),
        (r'"a\"b"c', [r'String "a\"b"', "Ident c"]),
        ("`a\nb`", ["RawString `a\nb`"]),
        (r"'\''", [r"Char '\''"]),
        ('"open', ['String "open']),
        ("\ufeff$", ["$ $"]),
        ("\u00a0", ["\u00a0 \u00a0"]),
    ],
)
def test_tokens_are_those_of_go(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


def test_comments_and_white_space_are_skipped() -> None:
    assert kinds("/* a */ x // b\n /*/ c */ y\t\r") == ["Ident x", "Ident y"]


@pytest.mark.parametrize(
    ("text", "is_open"),
    [("x // a", True), ("x /* a", True), ("x // a\n", False), ("x /* a */", False), ("x", False)],
)
def test_a_comment_up_to_the_end_is_noticed(text: str, is_open: bool) -> None:
    lexer = Lexer(text)
    while lexer.scan().kind != EOF:
        pass
    assert lexer.open_comment is is_open


def test_operator_characters_are_glued_with_i_and_n_among_them() -> None:
    lexer = Lexer("==nix")
    assert lexer.scan().kind == "="
    assert lexer.scan_operator_rest() == "=ni"


def test_positions_count_from_one() -> None:
    assert line_and_column("ab\ncd", 4) == (2, 2)
