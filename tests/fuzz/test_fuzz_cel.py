"""Hostile and random CEL: only the errors of CEL, an end to everything, and a faithful printer."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import CompileError, EvaluationError, LanguageError
from krm_fn.kube.cel import environment
from krm_fn.lang.cel import unparse
from krm_fn.lang.cel.ast import Entry, Node

EXAMPLES = bounded(200)
VECTORS = Path(__file__).resolve().parents[1] / "conformance" / "policies" / "cel.jsonl"
ENV = environment(mutation=True, params=True)

WORDS = """
object params request variables [ ] { } ( ) . .? [? , : ? || && == != < <= + - * / % ! in
true false null 1 -1 9223372036854775807 1u 1.5 1e308 'a' "b" b'c' r'd' '\\n' x y .map( .filter(
.all( .exists( .optMap( .sortBy( .transformMap( has( size( int( string( dyn( type( lists.range(
.replace( .format( .matches( .find( Object{ Object.a{ JSONPatch{ `a-b` quantity( ip( cidr( url(
semver( duration( timestamp( .join( .split( optional.of( optional.none() .orValue( .flatten(
.distinct( //
"""
PIECES = [*WORDS.split(), " ", "\n", "\x00", "\u00e9"]


def evaluate(text: str, value: Any = None) -> Any:
    """Compile and evaluate; the errors that there may be are what is left of the expression."""
    bindings = dict.fromkeys(("object", "oldObject", "params", "request"), value)
    bindings["namespaceObject"] = None
    try:
        return ENV.compile(text).evaluate(bindings)
    except LanguageError as error:
        return error


@EXAMPLES
@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_an_error_of_the_language(text: str) -> None:
    evaluate(text)


@EXAMPLES
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_heap_of_tokens_is_an_expression_or_an_error_of_the_language(text: str) -> None:
    evaluate(text, {"a": [1, 2, {"b": "c"}], "x": "y"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
PROBES = (
    "object == params",
    "object in params",
    "[object, params].sort()",
    "object + params",
    "object < params",
    "object.a[params]",
    "object[?params].orValue(1)",
    "object.map(x, params.map(y, x == y))",
    "'%s %d %f %x'.format([object, params, object, params])",
    "{object: params}",
    "object.transformMap(k, v, [k, v])",
    "Object{a: object, b: [params]} == Object{a: params}",
)


@EXAMPLES
@given(st.sampled_from(PROBES), JSON, JSON)
def test_any_value_is_computed_with_or_refused(text: str, first: Any, second: Any) -> None:
    program = ENV.compile(text)
    with contextlib.suppress(EvaluationError):
        program.evaluate({"object": first, "params": second})


def same(a: Any, b: Any) -> bool:
    """Whether two trees are the same but for positions and for the macros as written."""
    pending = [(a, b)]
    while pending:
        a, b = pending.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, (Node, Entry)):
            slots = [name for kind in type(a).__mro__ for name in getattr(kind, "__slots__", ())]
            names = [name for name in slots if name not in ("pos", "macro")]
            pending += [(getattr(a, name), getattr(b, name)) for name in names]
        elif isinstance(a, tuple):
            if len(a) != len(b):
                return False
            pending += zip(a, b, strict=True)
        elif a != b and a == a:
            return False
    return True


def test_printing_an_expression_and_reading_it_again_gives_the_same_tree() -> None:
    """For every expression of the vectors that can be read."""
    checked = 0
    for line in VECTORS.read_bytes().split(b"\n"):
        if not line:
            continue
        text = json.loads(line)["expr"]
        try:
            tree = ENV.parse(text)
        except CompileError:
            continue
        printed = unparse(tree)
        assert same(ENV.parse(printed), tree), f"{text!r} was printed as {printed!r}"
        checked += 1
    assert checked > 5_000


@EXAMPLES
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_is_read_from_tokens_survives_printing(text: str) -> None:
    try:
        tree = ENV.parse(text)
    except CompileError:
        return
    assert same(ENV.parse(unparse(tree)), tree)


BOMBS = {
    "nested loops": "lists.range(900)" + ".all(a, lists.range(900)" * 3 + ".all(z, true)" + ")" * 3,
    "a list of lists": "lists.range(99999).map(x, lists.range(99999))",
    "concatenation in a loop": "lists.range(9999).map(i, lists.range(9999) + lists.range(9999))",
    "doubling by replace": "'aaaaaaaaaaaaaaaa'" + ".replace('', 'aaaaaaaaaaaaaaaaaaaaaaaaaa')" * 9,
    "doubling by join": "['aaaa', 'bbbb']"
    + ".map(x, 'c').join('dddddddddddddddddddddd').split('')" * 9,
    "a wide format": "'%.999999999f'.format([1.5])",
    "many wide formats": "lists.range(999).map(i, '%.9999f'.format([1.5]))",
    "a long range": "lists.range(1000000)",
    "sorting": "lists.range(100000).sort()",
    "distinct": "lists.range(100000).distinct()",
    "sets": "sets.equivalent(lists.range(9999), lists.range(9999))",
    "a regular expression": "object.matches('(a*)*(b|a)*c')",
    "regular expressions": "lists.range(9999).all(i, object.matches('(a|aa|aaa)*b') || true)",
    "flattening": "[[[[object]]]].flatten(1000000)",
    "optional chains": "object" + ".optMap(x, x)" * 200,
    "deep brackets": "[" * 5_000,
    "a long sum": "1" + "+1" * 30_000,
    "a long conjunction": "true" + " && true" * 12_000,
    "many calls": "[" + ",".join(["size([1])"] * 9_000) + "]",
    "unknown names": "+".join(["nope"] * 240),
    "equality of large values": "lists.range(9999).all(i, params == params)",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_expression_ends_in_a_value_or_an_error_of_the_language(name: str) -> None:
    wide = {"a": [{"b": [str(n) for n in range(30)]} for _ in range(300)]}
    bindings = {"object": "a" * 20_000, "params": wide}
    with contextlib.suppress(LanguageError):
        ENV.compile(BOMBS[name]).evaluate(bindings)


def test_deep_values_are_compared_without_running_out_of_stack() -> None:
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    twin: Any = 1
    for _ in range(900):
        twin = [twin]
    assert ENV.compile("object == params").evaluate({"object": deep, "params": twin}) is True
