from __future__ import annotations

import pytest

from krm_fn.errors import CompileError
from krm_fn.lang.select import compile_select
from krm_fn.lang.select.nodes import Conditional, Constant, Node, Variable
from krm_fn.lang.select.operators import Binary, Prefix
from krm_fn.lang.select.parser import parse_expression, parse_path
from krm_fn.lang.select.paths import (
    Child,
    Descend,
    Filter,
    Path,
    Script,
    Selector,
    Slice,
    Union,
    Wildcard,
)


def grouped(node: Node) -> str:
    """The expression with a pair of brackets around each operation."""
    if isinstance(node, Binary):
        return f"({grouped(node.left)} {node.operator} {grouped(node.right)})"
    if isinstance(node, Prefix):
        return f"({node.operator}{grouped(node.operand)})"
    if isinstance(node, Conditional):
        parts = (node.condition, node.then, node.otherwise)
        return "({} ? {} : {})".format(*map(grouped, parts))
    if isinstance(node, Variable):
        return ".".join(map(grouped, node.keys))
    assert isinstance(node, Constant)
    return str(node.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a ** b ** c", "((a ** b) ** c)"),
        ("-a ** b", "((-a) ** b)"),
        ("!a == b", "((!a) == b)"),
        ("- -a", "(-(-a))"),
        ("a | b == c", "((a | b) == c)"),
        ("a + b << c", "((a + b) << c)"),
        ("a || b && c", "(a || (b && c))"),
        ("a in b == c", "((a in b) == c)"),
        ("a ?? b || c", "(a ?? (b || c))"),
        ("a ? b : c + d", "(a ? b : (c + d))"),
        ("a + b ? c : d", "((a + b) ? c : d)"),
        ("a ?? b ? c : d", "((a ?? b) ? c : d)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a ? b", "(a ? b : None)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("a-b", "(a - b)"),
    ],
)
def test_operators_group_by_precedence_and_to_the_left(text: str, expected: str) -> None:
    assert grouped(parse_expression(text)) == expected


def selectors(text: str) -> list[type[Selector]]:
    node = parse_expression(text)
    assert isinstance(node, Path)
    return [type(selector) for selector in node.selectors]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$", []),
        ("$.a", [Child]),
        ('$["a"]', [Child]),
        ("$ . a [ 0 ]", [Child, Child]),
        ("$.*", [Wildcard]),
        ("$[*]", [Wildcard]),
        ("$[1,*]", [Wildcard]),
        ("$[a,b]", [Union]),
        ("$[1:2]", [Slice]),
        ("$[:]", [Slice]),
        ("$[::2:]", [Slice]),
        ("$[?@.a]", [Filter]),
        ("$[??@.a]", [Filter]),
        ("$(1)", [Script]),
        ("$..a", [Descend, Child]),
        ("$..*", [Descend, Wildcard]),
        ("$..[0]", [Descend, Union]),
        ("$..[?@]", [Descend, Filter]),
        ("$..(1)", [Descend, Script]),
    ],
)
def test_paths_are_made_of_selectors(text: str, expected: list[type[Selector]]) -> None:
    assert selectors(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "   ", ")", "$.", "$..", "$...a", '$."a"', "$.m['ab']", "$[]", "$[?]", "$[0,]", "$[,0]",
     "$[1,2:3]", "$[?a,b]", "$[1:2:3:4]", "$..[0:1]", "[1][0]", '{"a":1}.a', "1 2", "+1", "1 ?",
     "(1 ? 2)", "#0", "{#: 1}", "{#: $.a == 1}", '{"a" 1}', "0x10", "1e400", "length(1", "a.1",
     "a[1", "$.a;"],
)  # fmt: skip
def test_what_does_not_load_in_a_cluster_does_not_compile(text: str) -> None:
    with pytest.raises(CompileError):
        compile_select(text)


@pytest.mark.parametrize("text", ["[1 2,,3]", '{"a" = 1}', "{,}", "{1:2}", "7in[7]", "$.in"])
def test_what_is_lax_in_a_cluster_is_lax_here(text: str) -> None:
    compile_select(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("$.a==isEmpty($.b)", "1:4: unknown operator ==i: put a space after =="),
        ("$.a&&!$.b", "put a space after &&"),
        ("$.a>=-1", "put a space after >="),
        ("$.a = 1", "compare with =="),
        ("$.a =! 1", "compare with =="),
        ("$.m['ab']", "1:5: 'ab' is not a text that can be read: '…' holds a single character"),
        ("$.a and $.b", "the operators are &&, || and !"),
        ('$."a b"', 'is selected with ["name"]'),
        ("$.a\n  == )", "2:6: unexpected `)`, expected a value"),
        ("$.a ==", "unexpected the end"),
    ],
)
def test_an_error_says_where_and_what_to_do(text: str, hint: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_select(text)
    assert hint in caught.value.message


@pytest.mark.parametrize("opening", ["(", "[", "- ", "$[? ", "length(", '{"a": ', "1 ? ", "$("])
def test_nesting_is_limited(opening: str) -> None:
    with pytest.raises(CompileError, match="nests deeper than 200"):
        compile_select(opening * 100_000 + "1")


def test_a_chain_of_operators_does_not_nest() -> None:
    assert compile_select("1" + " + 1" * 5_000).evaluate({}) == 5_001


def test_scripts_of_a_path_are_limited() -> None:
    with pytest.raises(CompileError, match="more than 200 scripts"):
        compile_select("$" + "([@])" * 201)


@pytest.mark.parametrize("text", ["1", "$.a == 1", "!$.a", "($.a)", "", "[$.a]", "$.a, #: $.b"])
def test_the_select_of_a_patch_is_one_path(text: str) -> None:
    with pytest.raises(CompileError):
        parse_path(text)


@pytest.mark.parametrize("text", ["$.a // end", "$.a /* end"])
def test_the_select_of_a_patch_does_not_end_in_an_open_comment(text: str) -> None:
    with pytest.raises(CompileError, match="must not end in a comment"):
        parse_path(text)
