"""parse(print(tree)) is the tree: for templates of any shape, and for those of all vectors.

Pipelines print themselves, since errors quote them; what stands around them is printed here. Trim
markers and comments are gone from a tree, and so are the two ways to write `else if` and `block`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from fuzz_support import bounded, shape, vectors
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import CompileError
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.gotemplate import default_functions
from krm_fn.lang.gotemplate.nodes import (
    Action,
    Block,
    Branch,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Jump,
    Literal,
    Nil,
    Operand,
    Pipe,
    Program,
    Range,
    Statement,
    TemplateCall,
    Text,
    Variable,
)
from krm_fn.lang.gotemplate.parser import parse_program
from krm_fn.lang.gotemplate.values import Function

NAME = "/spec/x"

# ----------------------------------------------------------------------------------------- printer


def printed(blocks: dict[str, Block]) -> str:
    """The text of all templates of a program, the main one last."""
    parts: list[str] = []
    for name, block in blocks.items():
        if name != NAME:
            parts += (f"{{{{define {quote(name)}}}}}", *_block(block), "{{end}}")
    return _joined((*parts, *_block(blocks[NAME])))


def _joined(parts: Iterable[str]) -> str:
    """A brace before an action would belong to it: a space that is trimmed keeps them apart."""
    text = ""
    for part in parts:
        apart = text.endswith("{") and part.startswith("{{")
        text += " {{- " + part[2:] if apart else part
    return text


def _block(block: Block) -> Iterator[str]:
    before: Statement | None = None
    for statement in block.statements:
        if isinstance(statement, Text) and isinstance(before, Text):
            yield "{{/* two texts */}}"
        yield from _statement(statement)
        before = statement


def _statement(statement: Statement) -> Iterator[str]:
    match statement:
        case Text():
            yield statement.text
        case Jump():
            yield f"{{{{{statement.keyword}}}}}"
        case Action() | TemplateCall():
            yield str(statement)
        case Branch() | Range():
            yield str(statement)
            yield from _block(statement.then if isinstance(statement, Branch) else statement.body)
            if statement.otherwise is not None:
                yield "{{else}}"
                yield from _block(statement.otherwise)
            yield "{{end}}"
        case _:
            raise AssertionError(type(statement))


def tree(blocks: dict[str, Block]) -> Any:
    return shape(blocks, (Function, Program))


def read(text: str) -> dict[str, Block]:
    return parse_program(text, NAME, default_functions)[0].blocks


# ------------------------------------------------------------------------------------------- trees

NAMES = st.sampled_from(["a", "Target", "é", "x_1", "end", "nil"])
FUNCTIONS = st.sampled_from(["len", "printf", "and", "upper", "dict", "index", "toJson"])
TEMPLATES = ("one", 'a "quoted"\n one', "")


def _literal(source: str) -> Literal:
    """A literal as the parser reads it: only it knows which types a number fits."""
    (statement,) = read("{{" + source + "}}")[NAME].statements
    assert isinstance(statement, Action)
    (word,) = statement.pipe.commands[0].words
    assert isinstance(word, Literal)
    return word


LITERALS = st.one_of(
    st.sampled_from(
        ["true", "false", "0x1F", "1e3", "-.5", "'c'", "'\\''", "`raw\n\"`", '"\\x41\\u00e9"',
         "1i", "-5", "+7", "0b11", "1_000", "18446744073709551615", "07"]
    ),
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(quote),
).map(_literal)  # fmt: skip

TEXTS = st.one_of(
    st.sampled_from(["{", "}}", " ", "\n- ", "-", "/*", "a{", "{ {", "}"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
).filter(lambda text: "{{" not in text)


def _identifier(name: str) -> Identifier:
    return Identifier(0, name, default_functions(name))


def _names(least: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(NAMES, min_size=least, max_size=2).map(tuple)


@cache
def _callable(variables: tuple[str, ...], depth: int) -> st.SearchStrategy[Operand]:
    """What can take the value of the command before it."""
    kinds: list[st.SearchStrategy[Operand]] = [
        FUNCTIONS.map(_identifier),
        _names(1).map(lambda names: Field(0, names)),
        st.builds(
            lambda name, names: Variable(0, name, names), st.sampled_from(variables), _names(0)
        ),
        st.builds(lambda f, names: Chain(0, _identifier(f), names), FUNCTIONS, _names(1)),
    ]
    if depth:
        deeper = _pipes(variables, depth - 1)
        kinds += (deeper, st.builds(lambda p, names: Chain(0, p, names), deeper, _names(1)))
    return st.one_of(*kinds)


@cache
def _pipes(variables: tuple[str, ...], depth: int = 1) -> st.SearchStrategy[Pipe]:
    """Pipelines over the variables that are declared."""
    first = _callable(variables, depth)
    operands = st.one_of(first, st.just(Dot(0)), st.just(Nil(0)), LITERALS)
    arguments = st.lists(operands, max_size=2)

    def command(word: st.SearchStrategy[Operand]) -> st.SearchStrategy[Command]:
        return st.builds(lambda head, rest: Command(0, (head, *rest)), word, arguments)

    later = st.lists(command(first), max_size=2)
    return st.builds(lambda head, rest: Pipe(0, (head, *rest)), command(operands), later)


@st.composite
def blocks(
    draw: st.DrawFn, variables: tuple[str, ...], depth: int = 2, loops: bool = False
) -> Block:
    statements: list[Statement] = []
    kinds = ["text", "action", "declare", "assign", "template"]
    kinds += ["if", "with", "range"] if depth else []
    kinds += ["break", "continue"] if loops else []
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=4)):
        if kind in ("text", "break", "continue"):
            statements.append(Text(0, draw(TEXTS)) if kind == "text" else Jump(0, kind))
            continue
        pipe = draw(_pipes(variables))
        match kind:
            case "action":
                statements.append(Action(0, pipe))
            case "declare" | "assign":
                name = Variable(0, draw(st.sampled_from(["$x", "$y2"])))
                if kind == "declare" or name.name in variables:
                    variables = tuple(dict.fromkeys((*variables, name.name)))
                    pipe = Pipe(0, pipe.commands, (name,), kind == "assign")
                    statements.append(Action(0, pipe))
            case "template":
                argument = draw(st.sampled_from([pipe, None]))
                name_ = draw(st.sampled_from(TEMPLATES))
                statements.append(TemplateCall(0, name_, argument, Program()))
            case "if" | "with":
                then = draw(blocks(variables, depth - 1, loops))
                otherwise = draw(st.one_of(st.none(), blocks(variables, depth - 1, loops)))
                statements.append(Branch(0, kind, pipe, then, otherwise))
            case "range":
                names = draw(st.sampled_from([(), ("$e",), ("$i", "$e")]))
                declared = tuple(Variable(0, name) for name in names)
                pipe = Pipe(0, pipe.commands, declared)
                inside = tuple(dict.fromkeys((*variables, *names)))
                body = draw(blocks(inside, depth - 1, True))
                otherwise = draw(st.one_of(st.none(), blocks(inside, depth - 1, loops)))
                statements.append(Range(0, pipe, body, otherwise))
    return Block(0, tuple(statements))


@st.composite
def programs(draw: st.DrawFn) -> dict[str, Block]:
    names = draw(st.lists(st.sampled_from(TEMPLATES), unique=True, max_size=2))
    made = {name: draw(blocks(("$",), 1)) for name in names}
    return {**made, NAME: draw(blocks(("$",)))}


@bounded(60)
@given(programs())
def test_a_printed_template_reads_as_the_same_tree(program: dict[str, Block]) -> None:
    text = printed(program)
    assert tree(read(text)) == tree(program), text


# ----------------------------------------------------------------------------------------- vectors


def test_the_templates_of_all_vectors_survive_printing() -> None:
    texts = {case["template"] for case in vectors("template")}
    parsed = 0
    for text in sorted(texts):
        try:
            program = read(text)
        except CompileError:
            continue
        assert tree(read(printed(program))) == tree(program), text
        parsed += 1
    assert parsed > len(texts) / 2
