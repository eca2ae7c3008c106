"""What in an expression compiles and is surely not meant: each trap with its way out.

None of this stops a rule from loading, since it loads in a cluster too. The module reads the tree
and evaluates nothing; only a regular expression that is written in the text is tried.
Source: ModRule specification, section 9 and the remarks marked W.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from krm_fn.errors import CompileError
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.go.strconv import parse_float
from krm_fn.lang.select.lexer import line_and_column
from krm_fn.lang.select.nodes import Array, Call, Constant, Node, Variable
from krm_fn.lang.select.operators import Binary, Prefix
from krm_fn.lang.select.paths import Child, Filter, Path, Slice
from krm_fn.lang.select.tree import Syntax, walk


class Lint(NamedTuple):
    """A finding: a stable code, a sentence, and the line and column (from 1) in the text."""

    code: str
    message: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message} [{self.code}]"


def lint(text: str, tree: Syntax) -> tuple[Lint, ...]:
    """The findings in an expression, given as text and tree, in the order of the text."""
    found = [
        (part.start, code, message)
        for part in walk(tree)
        for code, check in _CHECKS
        for message in check(part)
    ]
    return tuple(
        Lint(code, message, *line_and_column(text, start)) for start, code, message in sorted(found)
    )


def _comparison(part: Syntax, *operators: str) -> Binary | None:
    return part if isinstance(part, Binary) and part.operator in operators else None


def _sides(part: Binary) -> Iterator[tuple[Node, Node]]:
    yield part.left, part.right
    yield part.right, part.left


def _bad_regex(part: Syntax) -> Iterator[str]:
    comparison = _comparison(part, "=~", "!~")
    pattern = comparison and comparison.right
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        return
    try:
        compile_regex(pattern.value)
    except CompileError as error:
        yield f"{error.message}: every evaluation fails"
    except UnicodeError:
        yield "the regular expression is no UTF-8: every evaluation fails"


def _bare_filter(part: Syntax) -> Iterator[str]:
    if isinstance(part, Filter) and isinstance(part.condition, Path):
        yield (
            "a filter that is only a path keeps what lacks the member and drops what has a text in "
            "it: use isDefined(...) or compare with a value"
        )


def _undefined_differs(part: Syntax) -> Iterator[str]:
    comparison = _comparison(part, "!=")
    if comparison and any(_may_be_undefined(side) for side, _ in _sides(comparison)):
        yield "!= is true, too, where the member is missing: add isDefined(...) if it must be there"


def _may_be_undefined(node: Node) -> bool:
    return isinstance(node, Path) and bool(node.selectors) and node.is_plain


def _numeric_text(part: Syntax) -> Iterator[str]:
    comparison = _comparison(part, "==", "!=")
    for side, _ in _sides(comparison) if comparison else ():
        if isinstance(side, Constant) and isinstance(side.value, str):
            number = parse_float(side.value)
            if number is not None:
                yield f'"{side.value}" is compared as a number: "1.10" equals "1.1"'


def _null_by_name(part: Syntax) -> Iterator[str]:
    comparison = _comparison(part, "==", "!=")
    for side, other in _sides(comparison) if comparison else ():
        if _is_null_name(side) and _may_be_undefined(other):
            yield (
                "a missing member is undefined and equals nothing, not even null: use "
                "isUndefined(...) for it"
            )


def _is_null_name(node: Node) -> bool:
    return isinstance(node, Variable) and [
        key.value for key in node.keys if isinstance(key, Constant)
    ] in (["null"], ["nil"])


def _negative_index(part: Syntax) -> Iterator[str]:
    if isinstance(part, Child) and _is_negative(part.key):
        yield "an index from the end is always out of bounds: use [length(@)-1] or [-1:]"


def _is_negative(node: Node) -> bool:
    return (
        isinstance(node, Prefix)
        and node.operator == "-"
        and isinstance(node.operand, Constant)
        and node.operand.value != 0
    )


def _empty_range(part: Syntax) -> Iterator[str]:
    if (
        isinstance(part, Slice)
        and _is_negative(part.maximum)
        and isinstance(part.minimum, Constant)
    ):
        yield "a range that ends below its beginning as written is always empty"


def _length_in_list(part: Syntax) -> Iterator[str]:
    membership = _comparison(part, "in")
    if (
        membership
        and isinstance(membership.left, Call)
        and membership.left.name == "length"
        and isinstance(membership.right, Array)
    ):
        yield "a length is never in a list of numbers, which are of another type: compare with =="


_CHECKS: Final[tuple[tuple[str, Callable[[Syntax], Iterator[str]]], ...]] = (
    ("bad-regex", _bad_regex),
    ("bare-filter", _bare_filter),
    ("empty-range", _empty_range),
    ("length-in-list", _length_in_list),
    ("negative-index", _negative_index),
    ("null-by-name", _null_by_name),
    ("numeric-text", _numeric_text),
    ("undefined-differs", _undefined_differs),
)
