"""Rewrite the templates of a program so that they make safe what they print.

Texts and actions are walked in the order of the page, with the context that each stands in. An
action's pipeline is given the escapers of its context; in texts, a `<` that opens nothing is
escaped and comments go. A template that is called in two contexts is there twice. Nothing is
rendered here.
Source: Go 1.26's html/template, escape.go.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import Final

from krm_fn import limits
from krm_fn.errors import CompileError
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.gotemplate.functions import BUILTINS
from krm_fn.lang.gotemplate.html.contexts import (
    AFTER_NAME,
    ATTR,
    ATTR_NAME,
    ATTR_SCRIPT_TYPE,
    BEFORE_VALUE,
    COMMENTS,
    CSS,
    CSS_BLOCK_COMMENT,
    CSS_DOUBLE,
    CSS_DOUBLE_URL,
    CSS_SINGLE,
    CSS_SINGLE_URL,
    CSS_URL,
    DEAD,
    DOUBLE_QUOTE,
    HTML_COMMENT,
    JS,
    JS_BLOCK_COMMENT,
    JS_DOUBLE,
    JS_HTML_CLOSE_COMMENT,
    JS_HTML_OPEN_COMMENT,
    JS_REGEXP,
    JS_SINGLE,
    JS_TEMPLATE,
    META_CONTENT_URL,
    NO_ATTRIBUTE,
    NO_DELIMITER,
    NO_ELEMENT,
    RCDATA,
    SCRIPT,
    SCRIPT_LITERALS,
    SINGLE_QUOTE,
    SLASH_DIVIDES,
    SLASH_UNKNOWN,
    SPACE_OR_TAG_END,
    SRCSET,
    TAG,
    TEXT,
    URL,
    URL_BEFORE_QUERY,
    URL_NONE,
    URL_QUERY,
    URL_UNKNOWN,
    Context,
    EscapeError,
)
from krm_fn.lang.gotemplate.html.escapers import ESCAPERS
from krm_fn.lang.gotemplate.html.transitions import TRANSITIONS, VALUE_STATES, TagEnds
from krm_fn.lang.gotemplate.nodes import (
    Action,
    Block,
    Branch,
    Command,
    Identifier,
    Jump,
    Pipe,
    Program,
    Range,
    Statement,
    TemplateCall,
    Text,
)


def escaped(program: Program, name: str) -> Program:
    """A program that makes safe what its template `name` and those that it calls print.

    Raises EscapeError for what Go refuses, and CompileError past a limit.
    """
    escaper = _Escaper(program, name)
    context, _ = escaper.tree(Context(), name, None)
    if context.state != TEXT:
        raise EscapeError(f"ends in a non-text context: {context}")
    return escaper.made


class _Loop:
    """The contexts in which the turns of a range end early."""

    def __init__(self, outer: _Loop | None) -> None:
        self.outer = outer
        self.jumps: list[tuple[Context, Jump]] = []


class _Escaper:
    def __init__(self, program: Program, name: str) -> None:
        self.name = name
        self.sources = program.blocks
        self.made = Program()
        self.outputs: dict[str, Context] = {}
        """The context after each template, for the context that its mangled name tells."""
        self.called: set[str] = set()
        self.loop: _Loop | None = None
        self.steps = limits.ESCAPE_STEPS

    def spend(self, steps: int = 1) -> None:
        self.steps -= steps
        if self.steps < 0:
            bound = f"it takes more than {limits.ESCAPE_STEPS:,} steps to find what must be escaped"
            raise CompileError(f"template: {self.name}: {bound}")

    # Templates

    def tree(self, context: Context, name: str, pos: int | None) -> tuple[Context, str]:
        """The context behind a template that is called in a context, and its name there."""
        mangled = context.mangled(name)
        self.called.add(mangled)
        if mangled in self.outputs:
            return self.outputs[mangled], mangled
        if name not in self.sources:
            raise EscapeError(f'no such template "{name}"', pos)
        after, fits = self.body(context, name, mangled)
        if not fits:
            # A template that calls itself: perhaps it always ends where it ended now.
            after, fits = self.body(after, name, mangled)
        if not fits:
            raise EscapeError(f"cannot compute output context for template {name}", pos)
        return after, mangled

    def body(self, context: Context, name: str, mangled: str) -> tuple[Context, bool]:
        """Escape a template as if it ended in `context`, and tell whether it does."""
        self.outputs[mangled] = context
        self.spend(len(self.outputs))
        before = dict(self.outputs), dict(self.made.blocks), self.called
        self.called = set()
        after, block = self.block(context, self.sources[name])
        if mangled in self.called and after != context:
            self.outputs, self.made.blocks, self.called = before
            return after, False
        self.made.blocks[mangled] = block
        self.called |= before[2]
        return after, True

    # Statements

    def block(self, context: Context, block: Block) -> tuple[Context, Block]:
        made: list[Statement] = []
        for n, statement in enumerate(block.statements):
            context, escaped_statement = self.statement(context, statement)
            made.append(escaped_statement)
            if context.state == DEAD:
                made += block.statements[n + 1 :]
                break
        return context, Block(block.pos, tuple(made))

    def statement(self, context: Context, node: Statement) -> tuple[Context, Statement]:
        self.spend()
        match node:
            case Text():
                return self.text(context, node)
            case Action():
                return self.action(context, node)
            case Branch():
                return self.branch(context, node)
            case Range():
                return self.range(context, node)
            case TemplateCall():
                after, name = self.tree(context, node.name, node.pos)
                return after, TemplateCall(node.pos, name, node.pipe, self.made)
            case Jump():
                assert self.loop is not None
                self.loop.jumps.append((context, node))
                return Context(DEAD), node
        raise AssertionError(f"no such statement: {node}")

    def branch(self, context: Context, node: Branch) -> tuple[Context, Statement]:
        after, then = self.block(context, node.then)
        other, otherwise = self.otherwise(context, node.otherwise)
        joined = _join(after, other, node.pos, node.keyword)
        return joined, Branch(node.pos, node.keyword, node.pipe, then, otherwise)

    def range(self, context: Context, node: Range) -> tuple[Context, Statement]:
        after, body = self.turn(context, node)
        try:
            # The second turn starts where the first one ends.
            again, _ = self.turn(after, node)
            after = _join(after, again, node.pos, "range")
        except EscapeError as error:
            raise EscapeError(f"on range loop re-entry: {error}", error.pos) from None
        other, otherwise = self.otherwise(context, node.otherwise)
        joined = _join(after, other, node.pos, "range")
        return joined, Range(node.pos, node.pipe, body, otherwise)

    def turn(self, context: Context, node: Range) -> tuple[Context, Block]:
        """One turn of a range; it may end early."""
        self.spend(_TURN)
        self.loop = loop = _Loop(self.loop)
        after, body = self.block(context, node.body)
        self.loop = loop.outer
        for jumped, jump in loop.jumps:
            try:
                after = _join(after, jumped, jump.pos, "range")
            except EscapeError as error:
                raise EscapeError(f"at range loop {jump.keyword}: {error}", jump.pos) from None
        return after, body

    def otherwise(self, context: Context, block: Block | None) -> tuple[Context, Block | None]:
        return self.block(context, block) if block is not None else (context, None)

    # Actions

    def action(self, context: Context, node: Action) -> tuple[Context, Statement]:
        if node.pipe.variables:
            return context, node
        context = _nudged(context)
        commands = node.pipe.commands
        for n, command in enumerate(commands):
            word = command.words[0]
            if isinstance(word, Identifier) and word.name in _PREDEFINED:
                unquoted = context.state == ATTR and context.delimiter == SPACE_OR_TAG_END
                if n < len(commands) - 1 or (unquoted and word.name == "html"):
                    reason = f'predefined escaper "{word.name}" disallowed in template'
                    raise EscapeError(reason, node.pos)
        names = _escapers(context, node)
        if context.state == JS:
            context = context._replace(slash=SLASH_DIVIDES)
        elif context.state == TAG:
            context = context._replace(state=ATTR_NAME)
        pipe = Pipe(node.pipe.pos, _with_escapers(node.pipe, names))
        return context, Action(node.pos, pipe)

    # Texts

    def text(self, context: Context, node: Text) -> tuple[Context, Statement]:
        """Source: escape.go escapeText."""
        s = node.text
        self.spend(len(s) // _TEXT_PER_STEP)
        tag_ends = TagEnds(s)
        out: list[str] = []
        written = at = 0
        while at != len(s):
            self.spend()
            after, to = _after_text(context, s, at, tag_ends)
            if context.state in (TEXT, RCDATA):
                end = to
                if after.state != context.state:
                    opening = s.rfind("<", at, to)
                    end = opening if opening >= 0 else to
                sign = s.find("<", at, end)
                while sign >= 0:
                    if s[sign : sign + len(_DOCTYPE)].upper() != _DOCTYPE:
                        out += (s[written:sign], "&lt;")
                        written = sign + 1
                    sign = s.find("<", sign + 1, end)
            elif context.state in COMMENTS and context.delimiter == NO_DELIMITER:
                out.append(_instead_of_comment(context.state, s[written:to]))
                written = to
            opens = after.state != context.state and after.state in COMMENTS
            if opens and after.delimiter == NO_DELIMITER:
                out.append(s[written : to - _COMMENT_STARTS.get(after.state, 2)])
                written = to
            if context.state in SCRIPT_LITERALS:
                piece = s[at:to]
                safe = _SCRIPT_TAG.sub(r"\\x3C\1", piece)
                if safe != piece:
                    out += (s[written:at], safe)
                    written = to
            context, at = after, to
        if not out:
            return context, node
        if context.state not in COMMENTS or context.delimiter != NO_DELIMITER:
            out.append(s[written:])
        return context, Text(node.pos, "".join(out))


_TEXT_PER_STEP: Final = 64
_TURN: Final = 8
"""Steps that a turn of a range costs beside those of its statements."""
_DOCTYPE: Final = "<!DOCTYPE"
_COMMENT_STARTS: Final = {HTML_COMMENT: 4, JS_HTML_OPEN_COMMENT: 4, JS_HTML_CLOSE_COMMENT: 3}
"""Characters that start a comment, where they are not two."""


_SCRIPT_TAG: Final = re.compile("<(script|/script|!--)", re.IGNORECASE)


def _instead_of_comment(state: str, text: str) -> str:
    if state == JS_BLOCK_COMMENT:
        return "\n" if any(end in text for end in "\n\r\u2028\u2029") else " "
    return " " if state == CSS_BLOCK_COMMENT else ""


_DELIMITER_ENDS: Final = {
    DOUBLE_QUOTE: re.compile('"'),
    SINGLE_QUOTE: re.compile("'"),
    SPACE_OR_TAG_END: re.compile("[ \t\n\f\r>]"),
}
_UNQUOTED_ERROR: Final = re.compile("[\"'<=`]")


def _after_text(c: Context, s: str, at: int, tag_ends: TagEnds) -> tuple[Context, int]:
    """The context after some of a string, and where that is. Source: contextAfterText."""
    if c.delimiter == NO_DELIMITER:
        end = tag_ends.next(c, at)
        if end == at and c.element != NO_ELEMENT:
            # What comes is the end tag itself.
            return Context(), at
        return TRANSITIONS[c.state](c, s, at, end)
    found = _DELIMITER_ENDS[c.delimiter].search(s, at)
    end = found.start() if found else len(s)
    if c.delimiter == SPACE_OR_TAG_END:
        wrong = _UNQUOTED_ERROR.search(s, at, end)
        if wrong:
            raise EscapeError(f"{quote(wrong[0])} in unquoted attr: {quote(s[at:end])}")
    if not found:
        return _inside_value(c, unescape(s[at:])), len(s)
    element = c.element
    if c.state == ATTR and element == SCRIPT and c.attribute == ATTR_SCRIPT_TYPE:
        element = element if _is_script(s[at:end]) else NO_ELEMENT
    return Context(TAG, element=element), end + (c.delimiter != SPACE_OR_TAG_END)


def _inside_value(c: Context, text: str) -> Context:
    at = 0
    while at < len(text):
        c, at = TRANSITIONS[c.state](c, text, at, len(text))
    return c


_SCRIPT_TYPES: Final = frozenset(
    f"{kind}/{name}" if kind else name
    for kind, names in (
        ("", ("", "module")),
        ("application", ("json", "ld+json")),
        ("text", (*(f"javascript1.{n}" for n in range(6)), "jscript", "livescript")),
        *(
            (kind, ("ecmascript", "javascript", "x-ecmascript", "x-javascript"))
            for kind in ("application", "text")
        ),
    )
    for name in names
)


def _is_script(mime_type: str) -> bool:
    return mime_type.partition(";")[0].lower().strip() in _SCRIPT_TYPES


def _nudged(c: Context) -> Context:
    """Where an action stands, which prints something. Source: escape.go nudge."""
    if c.state == TAG:
        return c._replace(state=ATTR_NAME)
    if c.state == BEFORE_VALUE:
        state = VALUE_STATES[c.attribute]
        return c._replace(state=state, delimiter=SPACE_OR_TAG_END, attribute=NO_ATTRIBUTE)
    if c.state == AFTER_NAME:
        return c._replace(state=ATTR_NAME, attribute=NO_ATTRIBUTE)
    return c


def _join(a: Context, b: Context, pos: int, word: str) -> Context:
    """Where two branches meet. Raises EscapeError where they end in different contexts."""
    joined = _joined(a, b) or _joined(_nudged(a), _nudged(b))
    if joined is None:
        reason = f"{{{{{word}}}}} branches end in different contexts: {a}, {b}"
        raise EscapeError(reason, pos)
    return joined


def _joined(a: Context, b: Context) -> Context | None:
    if DEAD in (a.state, b.state):
        return b if a.state == DEAD else a
    if a == b:
        return a
    if a._replace(url=b.url) == b:
        return a._replace(url=URL_UNKNOWN)
    if a._replace(slash=b.slash) == b:
        return a._replace(slash=SLASH_UNKNOWN)
    return None


# Pipelines

_PREDEFINED: Final = frozenset(("html", "urlquery"))
_IN_URLS: Final = frozenset((URL, CSS_DOUBLE, CSS_SINGLE, CSS_DOUBLE_URL, CSS_SINGLE_URL, CSS_URL))
_BY_STATE: Final = {
    META_CONTENT_URL: "_html_template_urlfilter",
    JS: "_html_template_jsvalescaper",
    JS_DOUBLE: "_html_template_jsstrescaper",
    JS_SINGLE: "_html_template_jsstrescaper",
    JS_TEMPLATE: "_html_template_jstmpllitescaper",
    JS_REGEXP: "_html_template_jsregexpescaper",
    CSS: "_html_template_cssvaluefilter",
    TEXT: "_html_template_htmlescaper",
    RCDATA: "_html_template_rcdataescaper",
    ATTR_NAME: "_html_template_htmlnamefilter",
    TAG: "_html_template_htmlnamefilter",
    SRCSET: "_html_template_srcsetescaper",
    **dict.fromkeys(COMMENTS, "_html_template_commentescaper"),
}


def _escapers(c: Context, node: Action) -> list[str]:
    """The escapers that a context needs, in their order."""
    names: list[str] = []
    if c.state in _IN_URLS:
        if c.url == URL_UNKNOWN:
            raise EscapeError(f"{node} appears in an ambiguous context within a URL", node.pos)
        if c.url == URL_NONE:
            names.append("_html_template_urlfilter")
        if c.url in (URL_NONE, URL_BEFORE_QUERY):
            in_string = c.state in (CSS_DOUBLE, CSS_SINGLE)
            names.append(f"_html_template_{'cssescaper' if in_string else 'urlnormalizer'}")
        if c.url == URL_QUERY:
            names.append("_html_template_urlescaper")
    elif c.state in _BY_STATE:
        names.append(_BY_STATE[c.state])
    if c.delimiter == SPACE_OR_TAG_END:
        names.append("_html_template_nospaceescaper")
    elif c.delimiter != NO_DELIMITER:
        names.append("_html_template_attrescaper")
    return names


_EQUIVALENT: Final = {
    "_html_template_attrescaper": "html",
    "_html_template_htmlescaper": "html",
    "_html_template_rcdataescaper": "html",
    "_html_template_urlescaper": "urlquery",
    "_html_template_urlnormalizer": "urlquery",
}
_ATTRIBUTE: Final = frozenset(("_html_template_attrescaper",))
_REDUNDANT: Final = {
    "_html_template_commentescaper": _ATTRIBUTE | {"_html_template_htmlescaper"},
    "_html_template_cssescaper": _ATTRIBUTE,
    "_html_template_jsregexpescaper": _ATTRIBUTE,
    "_html_template_jsstrescaper": _ATTRIBUTE,
    "_html_template_jstmpllitescaper": _ATTRIBUTE,
    "_html_template_urlescaper": frozenset(("_html_template_urlnormalizer",)),
}
"""What need not come behind an escaper."""


def _normal(name: str) -> str:
    return _EQUIVALENT.get(name, name)


def _name(command: Command) -> str:
    word = command.words[0]
    return word.name if isinstance(word, Identifier) else ""


def _with_escapers(pipe: Pipe, names: Sequence[str]) -> tuple[Command, ...]:
    """A pipeline's commands, ending with these escapers. Source: ensurePipelineContains.

    One of Go's own escapers at its end takes the place of what is equivalent to it.
    """
    commands = list(pipe.commands)
    own = _name(commands[-1])
    if own in _PREDEFINED:
        last = commands[-1]
        if len(commands) == 1 and len(last.words) > 1:
            word = last.words[0]
            first = Identifier(word.pos, "_eval_args_", ESCAPERS["_eval_args_"])
            commands = [Command(last.pos, (first, *last.words[1:]))]
            _append(commands, own, pipe.pos)
        if any(_normal(name) == own for name in names):
            names = [own if _normal(name) == own else name for name in names]
            commands.pop()
    there = {_normal(name) for command in commands if (name := _name(command))}
    for name in names:
        if _normal(name) not in there:
            _append(commands, name, pipe.pos)
    return tuple(commands)


def _append(commands: list[Command], name: str, pos: int) -> None:
    if commands and name in _REDUNDANT.get(_name(commands[-1]), ()):
        return
    function = BUILTINS[name] if name in _PREDEFINED else ESCAPERS[name]
    commands.append(Command(pos, (Identifier(pos, name, function),)))
