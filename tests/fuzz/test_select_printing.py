"""parse(print(tree)) is the tree: for trees of any shape, and for those of all vectors.

The printer is the tests' own, since the program prints no expressions. It writes parentheses where
precedence asks for them, and names, defaults and separators in one of the ways there are.
"""

from __future__ import annotations

from typing import Any

import pytest
from fuzz_support import bounded, shape, vectors
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import CompileError
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.select.functions import FUNCTIONS
from krm_fn.lang.select.nodes import (
    Array,
    Call,
    Conditional,
    Constant,
    Member,
    Node,
    Object,
    Placeholder,
    SingleMember,
    UnknownCall,
    Variable,
)
from krm_fn.lang.select.operators import INFIX, PREFIX, Binary, Prefix
from krm_fn.lang.select.parser import parse_expression, parse_path
from krm_fn.lang.select.paths import (
    Child,
    Descend,
    FanOutMember,
    Filter,
    Path,
    Script,
    Selector,
    Slice,
    Union,
    Wildcard,
)

# ----------------------------------------------------------------------------------------- printer


def printed(node: Node) -> str:
    """The text of a whole expression, at whose end alone a conditional may lack its `else`."""
    if not isinstance(node, Conditional):
        return inner(node)
    text = f"{inner(node.condition)} ? {printed(node.then)}"
    if isinstance(node.otherwise, Constant) and node.otherwise.value is None:
        return text
    if isinstance(node.then, Conditional):
        text = f"{inner(node.condition)} ? {inner(node.then)}"
    return f"{text} : {printed(node.otherwise)}"


def inner(node: Node) -> str:
    """The text of an expression within another one."""
    match node:
        case Conditional():
            return f"({printed(node)})"
        case Binary():
            return _binary(node)
        case Prefix():
            return node.operator + _operand(node.operand)
        case Constant():
            return _constant(node.value)
        case Array():
            return f"[{_listed(node.elements)}]"
        case Object():
            return "{" + ", ".join(map(_member, node.members)) + "}"
        case Variable():
            first, *rest = node.keys
            assert isinstance(first, Constant)
            return first.value + "".join(f"[{inner(key)}]" for key in rest)
        case UnknownCall():
            return f"{node.name}()"
        case Call():
            return f"{node.name}({_listed(node.arguments)})"
        case Placeholder():
            return "#" if node.index is None else f"#{node.index}"
        case Path():
            return _path(node)
    raise AssertionError(type(node))


def _listed(nodes: tuple[Node, ...]) -> str:
    return ", ".join(map(inner, nodes))


def _operand(node: Node) -> str:
    return f"({inner(node)})" if isinstance(node, Binary) else inner(node)


def _binary(node: Binary) -> str:
    """A chain leans to the left, as long as it is."""
    parts: list[str] = []
    left: Node = node
    precedence = INFIX[node.operator].precedence
    while isinstance(left, Binary) and INFIX[left.operator].precedence >= precedence:
        precedence = INFIX[left.operator].precedence
        right = inner(left.right)
        if isinstance(left.right, Binary):
            tighter = INFIX[left.right.operator].precedence > precedence
            right = right if tighter else f"({right})"
        parts.append(f" {left.operator} {right}")
        left = left.left
    return _operand(left) + "".join(reversed(parts))


def _constant(value: Any) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    return quote(value) if type(value) is str else repr(value)


def _member(member: Member) -> str:
    value = inner(member.value) if isinstance(member, SingleMember) else _path(member.path)
    return f"{inner(member.key)}: {value}"


def _path(path: Path) -> str:
    text = "$" if path.of_root else "@"
    descends = False
    for selector in path.selectors:
        text += _selector(selector, descends)
        descends = isinstance(selector, Descend)
    return text


def _selector(selector: Selector, descends: bool) -> str:
    match selector:
        case Child():
            if descends:
                assert selector.name is not None
                return selector.name
            return f"[{inner(selector.key)}]"
        case Script():
            return f"({inner(selector.expression)})"
        case Wildcard():
            return "[*]"
        case Descend():
            return ".."
        case Union():
            return f"[{_listed(selector.keys)}]"
        case Slice():
            bounds = (selector.minimum, selector.maximum, selector.step)
            return "[" + ":".join(map(inner, bounds)) + "]"
        case Filter():
            return f"[? {inner(selector.condition)}]"
    raise AssertionError(type(selector))


# ------------------------------------------------------------------------------------------- trees

IDENTIFIERS = st.sampled_from(["a", "kind", "é", "_x", "in", "n", "null", "nil", "metadata2"])
TEXTS = st.one_of(
    st.sampled_from(["", '"', "\\", "\n", "`", "'", "é\udc80", "\x00", "{#", "//", "]"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
NUMBERS = st.one_of(
    st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    st.integers(0, 2**40).map(float),
)


def _node(kind: Any, *fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda *values: kind(0, *values), *fields)


CONSTANTS = _node(Constant, st.one_of(TEXTS, NUMBERS, st.booleans()))
NAMES = _node(Constant, IDENTIFIERS)


def _tuples(elements: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[Any]:
    return st.lists(elements, min_size=least, max_size=3).map(tuple)


@st.composite
def paths(draw: st.DrawFn, node: st.SearchStrategy[Node]) -> Path:
    anywhere = st.one_of(
        _node(Script, node),
        st.just(Wildcard(0)),
        _node(Union, _tuples(node, 2)),
        _node(Filter, node),
    )
    selectors: list[Selector] = []
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            kinds = (_node(Child, node), _node(Slice, node, node, node), anywhere)
            selectors.append(draw(st.one_of(*kinds)))
        else:
            behind = (_node(Child, NAMES), _node(Union, _tuples(node, 1)), anywhere)
            selectors += (Descend(0), draw(st.one_of(*behind)))
    return Path(0, draw(st.booleans()), tuple(selectors))


def _keys_with_placeholders() -> st.SearchStrategy[Node]:
    placeholder = _node(Placeholder, st.one_of(st.none(), st.integers(0, 12)))
    other = st.one_of(placeholder, CONSTANTS)
    return st.one_of(placeholder, _node(Binary, st.just("+"), placeholder, other))


def _larger(node: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    members = st.one_of(
        _node(SingleMember, node, node), _node(FanOutMember, _keys_with_placeholders(), paths(node))
    )
    variable = st.builds(lambda first, rest: (first, *rest), NAMES, _tuples(node))
    return st.one_of(
        _node(Binary, st.sampled_from(sorted(INFIX)), node, node),
        _node(Prefix, st.sampled_from(sorted(PREFIX)), node),
        _node(Conditional, node, node, node),
        _node(Array, _tuples(node)),
        _node(Object, _tuples(members)),
        _node(Variable, variable),
        _node(Call, st.sampled_from(sorted(FUNCTIONS)), _tuples(node)),
        _node(UnknownCall, IDENTIFIERS),
        paths(node),
    )


SMALL = st.one_of(CONSTANTS, _node(Variable, NAMES.map(lambda name: (name,))))
NODES = st.recursive(SMALL, _larger, max_leaves=12)


@st.composite
def expressions(draw: st.DrawFn) -> Node:
    """A tree, or conditionals without `else` at its end."""
    node = draw(NODES)
    for _ in range(draw(st.integers(0, 2))):
        node = Conditional(0, draw(NODES), node, Constant(0, None))
    return node


@bounded(150)
@given(expressions())
def test_a_printed_expression_reads_as_the_same_tree(node: Node) -> None:
    text = printed(node)
    assert shape(parse_expression(text)) == shape(node), text


@bounded(100)
@given(paths(NODES))
def test_a_printed_path_reads_as_the_same_path(path: Path) -> None:
    text = _path(path)
    assert shape(parse_path(text)) == shape(path), text


# ----------------------------------------------------------------------------------------- vectors


def test_the_expressions_of_all_vectors_survive_printing() -> None:
    texts = {case["expr"] for case in vectors("select")}
    texts |= {item["select"] for case in vectors("match") for item in case["match"]}
    read = 0
    for text in sorted(texts):
        try:
            node = parse_expression(text)
        except CompileError:
            continue
        again = parse_expression(printed(node))
        assert shape(again) == shape(node), text
        read += 1
    assert read > len(texts) / 2


def test_the_paths_of_all_vectors_survive_printing() -> None:
    texts = {case["select"] for case in vectors("fanout")}
    read = 0
    for text in sorted(texts):
        try:
            path = parse_path(text)
        except CompileError:
            continue
        assert shape(parse_path(_path(path))) == shape(path), text
        read += 1
    assert read > len(texts) / 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a-(b-c)", "a - (b - c)"),
        ("(a-b)-c", "a - b - c"),
        ("a&&(b||c)", "a && (b || c)"),
        ("-(1+2)**3", "-(1.0 + 2.0) ** 3.0"),
        ("$.a..b[0,1]", '$["a"]..b[0.0, 1.0]'),
        ("x?1:y?2", "x ? 1.0 : y ? 2.0"),
        ("{#0+`k`:$..*}", '{#0 + "k": $..[*]}'),
    ],
)
def test_parentheses_stand_where_precedence_asks_for_them(text: str, expected: str) -> None:
    assert printed(parse_expression(text)) == expected
