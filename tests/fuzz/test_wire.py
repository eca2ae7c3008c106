"""Random objects in random YAML and JSON, random changes: what nobody touched keeps its bytes.

A writer of its own (no code of the program) lays out random values in many styles. The number of
examples is `KRM_FN_FUZZ_EXAMPLES` (for each test), else one that takes some seconds.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
from dataclasses import dataclass, field
from typing import Any

from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import InputError
from krm_fn.values import equal
from krm_fn.wire import Comment, Stream, read_stream
from krm_fn.wire.compose import compose
from krm_fn.wire.jsonstream import JsonStream

SEEDS = st.integers(min_value=0, max_value=2**48)
SIZES = st.integers(min_value=0, max_value=9)

# ------------------------------------------------------------------------------------------ values

KEYS = ["a", "b-c", "spec", "name", "image", "app.kubernetes.io/name", "items", "on", "1", "x y"]
KEYS += ["env", "value", "ports", "containerPort", "null", "~", "key: colon", "# no", "", "é", "<<"]
WORDS = ["web", "nginx:1.25", "yes", "No", "0755", "0o7", "1e3", "1_000", "0b101", "1:30", "null"]
WORDS += ["~", "", " ", "- x", "a: b", "a #b", "#c", "2001-12-14", "true", "{}", "[a]", "*x", "&x"]
WORDS += [
    "!t",
    "%d",
    "@at",
    "`tick",
    "'",
    '"',
    "it's",
    'say "hi"',
    "\\n",
    "tab\there",
    "trail ",
    "=",
]
WORDS += [
    "?",
    "? x",
    "-",
    "---",
    "--- x",
    "...",
    "\u00e9",
    "\u4e2d\u6587",
    "\U0001f600",
    ".5",
    "1.",
    "+1",
]
WORDS += [
    "a\u0085b",
    "a\u2028b",
    "\ufeffx",
    "\x07",
    "\x00",
    "\x7f",
    "key:",
    ":",
    ": x",
    "a,b",
    "<<",
    "NaN",
]
WORDS += [
    ".inf",
    "0x1F",
    "18446744073709551616",
    "9223372036854775808",
    "- - x",
    "| x",
    "> x",
    "\r",
]
LINES = [
    "one\ntwo",
    "one\ntwo\n",
    "one\n\n  two\n\n",
    "\nfirst",
    "\n\n",
    "  lead\nmore\n",
    "x\n",
    "\n",
]
LINES += [
    "#!/bin/sh\necho a: b\n",
    "tab\t\n\tx\n",
    "trail \n y",
    "a\r\nb\r\n",
    "---\nx: y\n",
    "- a\n- b",
]
NUMBERS = [0, 1, -1, 80, 8080, 2**31, 2**63, 2**64 - 1, -(2**63), 0.5, -1.25, 1e100, 1e-7, 3.0]


def scalar(rng: random.Random) -> Any:
    kind = rng.randrange(10)
    if kind < 4:
        return rng.choice(WORDS)
    if kind == 4:
        return rng.choice(LINES)
    if kind == 5:
        return rng.choice(NUMBERS)
    if kind == 6:
        return rng.choice([True, False, None])
    if kind == 7:
        return "".join(rng.choice("ab :#-,[]{}'\"\\\n\t!&*|>%@é") for _ in range(rng.randrange(12)))
    return " ".join(
        rng.choice(["lorem", "ipsum", "dolor", "sit"]) for _ in range(rng.randrange(1, 9))
    )


def tree(rng: random.Random, size: int) -> Any:
    kind = rng.randrange(6) if size > 0 else 0
    if kind < 2:
        return scalar(rng)
    count = rng.randrange(0, 4)
    if kind < 4:
        keys = rng.sample(KEYS, count)
        return {key: tree(rng, size - 2) for key in keys}
    elements = [tree(rng, size - 2) for _ in range(count)]
    if elements and rng.random() < 0.5:
        return [{"name": f"n{n}", "value": element} for n, element in enumerate(elements)]
    return elements


def manifest(rng: random.Random, size: int, n: int) -> dict[str, Any]:
    head = {"apiVersion": rng.choice(["v1", "apps/v1"]), "kind": rng.choice(["Pod", "Service"])}
    body = {key: tree(rng, size) for key in rng.sample(KEYS, rng.randrange(0, 5)) if key != "items"}
    if rng.random() < 0.8:
        head["metadata"] = {
            "name": f"object-{n}",
            **{k: tree(rng, 2) for k in rng.sample(KEYS[:4], 1)},
        }
        head["metadata"]["name"] = f"object-{n}"
    parts = list({**head, **body}.items())
    if rng.random() < 0.2:
        rng.shuffle(parts)
    return dict(parts)


# ------------------------------------------------------------------------------------------ writing


@dataclass
class Style:
    """How a text is laid out; each choice is made anew where it may vary inside one text."""

    rng: random.Random
    step: int = 2
    wide: bool = False
    comments: float = 0.0
    blanks: float = 0.0
    flow: float = 0.0
    odd: float = 0.0
    anchors: float = 0.0
    named: dict[int, str] = field(default_factory=dict)
    after_literal: bool = False
    """Blank lines and deeper comments would belong to the literal above."""
    count: int = 0

    @classmethod
    def draw(cls, rng: random.Random) -> Style:
        rare = [0.0, 0.0, 0.1, 0.3]
        return cls(
            rng,
            step=rng.choice([2, 2, 2, 3, 4]),
            wide=rng.random() < 0.4,
            comments=rng.choice(rare),
            blanks=rng.choice(rare),
            flow=rng.choice([0.0, 0.05, 0.2]),
            odd=rng.choice([0.0, 0.0, 0.1]),
            anchors=rng.choice([0.0, 0.0, 0.0, 0.15]),
        )

    def comment(self) -> str:
        self.count += 1
        return f"# c{self.count} " + self.rng.choice(
            ["note", "a: b", '"quote', "- dash", "it's", "[{"]
        )

    def above(self, column: int) -> list[str]:
        lines = []
        literal, self.after_literal = self.after_literal, False
        if self.rng.random() < self.blanks and not literal:
            lines.append(self.rng.choice(["", "", "  "]))
        while self.rng.random() < self.comments:
            at = column if literal or self.rng.random() < 0.8 else self.rng.randrange(0, 12)
            lines.append(" " * at + self.comment())
        return lines

    def behind(self) -> str:
        if self.rng.random() < self.comments:
            return self.rng.choice([" ", "  "]) + self.comment()
        return " " if self.rng.random() < self.odd else ""


SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
RESERVED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def printable(text: str) -> bool:
    return all(
        c in "\t\n"
        or " " <= c <= "~"
        or "\xa0" <= c <= "\u2027"
        or "\u202a" <= c <= "\ud7ff"
        or "\ue000" <= c <= "\ufefe"
        or "\uff00" <= c <= "\ufffd"
        or c > "\uffff"
        for c in text
    )


def double_quoted(text: str) -> str:
    out = []
    for c in text:
        if c in '"\\':
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c == "\t" or printable(c):
            out.append(c)
        else:
            out.append(f"\\u{ord(c):04x}")
    return '"' + "".join(out) + '"'


def one_line(style: Style, value: Any, flow: bool) -> str:
    rng = style.rng
    if value is None:
        return rng.choice(["null", "~", "Null"])
    if value is True or value is False:
        return str(value).lower()
    if type(value) in (int, float):
        return json.dumps(value) if type(value) is int else repr(value)
    plain = value and set(value.replace(" ", "").replace("-", "")) <= SAFE and value[0] in SAFE
    if plain and value.strip() == value and value.lower() not in RESERVED and rng.random() < 0.7:
        return value
    if printable(value) and "\n" not in value and rng.random() < 0.5:
        return "'" + value.replace("'", "''") + "'"
    return double_quoted(value)


def flow_text(style: Style, value: Any, column: int, json_like: bool) -> str:
    rng = style.rng
    lines = rng.random() < 0.3
    gap = "\n" + " " * (column + rng.randrange(1, 4)) if lines else ""
    if lines and rng.random() < style.comments:
        gap = " " + style.comment() + gap
    comma = "," + (gap or rng.choice([" ", " ", "  "]))
    end = "\n" + " " * (column + 1) if lines else ""
    if type(value) is dict:
        if not value:
            return "{}"
        key = double_quoted if json_like else lambda k: one_line(style, k, True)
        members = [f"{key(k)}: {flow_text(style, v, column, json_like)}" for k, v in value.items()]
        return (
            "{" + gap + comma.join(members) + ("," if rng.random() < style.odd else "") + end + "}"
        )
    if type(value) is list:
        members = [flow_text(style, v, column, json_like) for v in value]
        return "[" + (gap + comma.join(members) + end if members else "") + "]"
    if json_like and type(value) is str:
        return double_quoted(value)
    return one_line(style, value, True)


def block_scalar(style: Style, text: str, column: int) -> list[str] | None:
    """The header and the lines of a literal, or None where the text cannot be one."""
    content = text.rstrip("\n")
    if not content.strip(" \t") or not printable(text) or "\r" in text:
        return None
    breaks = len(text) - len(content)
    rows = content.split("\n")
    indent = style.rng.choice([style.step, style.step, 1, 5])
    first = next(row for row in rows if row)
    needs = first[0] in " \t" or not rows[0]
    mark = str(indent) if needs or style.rng.random() < 0.1 else ""
    chomp = ["-", "", "+"][min(breaks, 2)]
    lines = [" " * (column + indent) + row if row else "" for row in rows]
    return [f"|{mark}{chomp}", *lines, *[""] * (breaks - 1)]


def after_lead(style: Style, value: Any, column: int, lead: str, item: bool) -> list[str]:
    """Lines of a value behind `lead` (its key and colon, or its dash), which stands at `column`."""
    rng = style.rng
    share = ""
    if style.anchors and type(value) in (dict, list) and value:
        if id(value) in style.named:
            return [f"{lead} *{style.named[id(value)]}{style.behind()}"]
        if rng.random() < 0.5:
            style.named[id(value)] = f"x{len(style.named)}"
            share = f" &{style.named[id(value)]}"
    elif rng.random() < style.anchors / 3:
        style.count += 1
        share = f" &s{style.count}"
    container = type(value) in (dict, list)
    if container and value and rng.random() >= style.flow:
        if not item or share:
            inner = column + style.step
            if type(value) is list and not item:
                inner = column + (style.step if style.wide else 0)
            return [lead + share + style.behind(), *block(style, value, inner)]
        gap = " " * (1 if rng.random() < 0.8 else 3)
        if rng.random() < style.odd:
            return [lead + style.behind(), *block(style, value, column + 1 + len(gap))]
        lines = block(style, value, column + 1 + len(gap), first=True)
        return [lead + gap + lines[0].lstrip(" "), *lines[1:]]
    if container:
        text = flow_text(style, value, column, rng.random() < 0.3)
        return (lead + share + " " + text + style.behind()).split("\n")
    if type(value) is str:
        literal = block_scalar(style, value, column)
        if literal and rng.random() < (0.8 if "\n" in value else 0.1):
            style.after_literal = True
            return [f"{lead}{share} {literal[0]}", *literal[1:]]
        words = value.split(" ")
        if len(words) > 2 and all(w and set(w) <= SAFE for w in words) and rng.random() < 0.3:
            half = len(words) // 2
            quote = rng.choice(["", "'", '"'])
            return [
                f"{lead}{share} {quote}{' '.join(words[:half])}",
                " " * (column + style.step) + " ".join(words[half:]) + quote + style.behind(),
            ]
    if value is None and not share and rng.random() < 0.3:
        return [lead + style.behind()]
    text = one_line(style, value, False)
    if rng.random() < style.odd:
        return [lead + share, " " * (column + style.step) + text + style.behind()]
    return [lead + share + rng.choice([" ", " ", " ", "   "]) + text + style.behind()]


def block(style: Style, value: Any, column: int, first: bool = False) -> list[str]:
    lines: list[str] = []
    pad = " " * column
    for member in value.items() if type(value) is dict else value:
        if not first:
            lines += style.above(column)
        first = False
        if type(value) is dict:
            lead = pad + one_line(style, member[0], False) + ":"
            lines += after_lead(style, member[1], column, lead, False)
        else:
            lines += after_lead(style, member, column, pad + "-", True)
    return lines


@dataclass
class Text:
    """A text, the objects in it, and the bytes of each."""

    data: bytes
    values: list[dict[str, Any]]
    chunks: list[bytes]
    linked: bool


def share_some(rng: random.Random, value: Any, pool: list[Any]) -> Any:
    """The value, with some of its collections the same Python objects (which may get anchors)."""
    if type(value) is dict:
        value = {k: share_some(rng, v, pool) for k, v in value.items()}
    elif type(value) is list:
        value = [share_some(rng, v, pool) for v in value]
    else:
        return value
    if pool and rng.random() < 0.3:
        return rng.choice(pool)
    if value:
        pool.append(value)
    return value


def compose_text(seed: int, size: int) -> Text:
    rng = random.Random(seed)
    style = Style.draw(rng)
    values = [manifest(rng, size, n) for n in range(rng.randrange(0, 5))]
    if style.anchors:
        pool: list[Any] = []
        values = [
            {
                k: share_some(rng, v, pool) if k not in ("kind", "apiVersion", "metadata") else v
                for k, v in value.items()
            }
            for value in values
        ]
    shape = rng.choice(["list", "list", "documents", "json", "flow"])
    if shape == "json":
        text, chunks = json_text(rng, values)
    elif shape == "flow":
        chunks = [flow_text(style, value, 0, True) for value in values]
        text = (
            '{"apiVersion": "config.kubernetes.io/v1", kind: ResourceList, "items": ['
            + ",\n ".join(chunks)
            + "]}"
        )
    elif shape == "documents":
        text, chunks = documents_text(style, values)
    else:
        text, chunks = list_text(style, values)
    linked = bool(style.named)
    data, parts = text.encode(), [chunk.encode() for chunk in chunks]
    if rng.random() < 0.1 and b"\r" not in data:
        data = data.replace(b"\n", b"\r\n")
        parts = [part.replace(b"\n", b"\r\n") for part in parts]
    if rng.random() < 0.1:
        data = data.rstrip(b"\r\n") if b"|" not in data else data
    if rng.random() < 0.05:
        data = b"\xef\xbb\xbf" + data
    return Text(data, values, parts, linked)


def list_text(style: Style, values: list[Any]) -> tuple[str, list[str]]:
    rng = style.rng
    lines = ["apiVersion: config.kubernetes.io/" + rng.choice(["v1", "v1beta1", "v1alpha1"])]
    lines.append("kind: ResourceList")
    if rng.random() < 0.3:
        lines.insert(rng.randrange(3), "other: {x: [1]}")
    at = rng.randrange(len(lines) + 1)
    column = style.step if style.wide else 0
    chunks: list[str] = []
    body = ["items:" + (style.behind() if values else " []")]
    for value in values:
        body += style.above(column)
        lead = rng.choice(["- ", "- ", "- ", "-   ", "-\n"])
        inner = column + len(lead)
        if rng.random() < style.flow:
            written = [flow_text(style, value, column, rng.random() < 0.5)]
            body += (" " * column + "- " + written[0] + style.behind()).split("\n")
        elif lead == "-\n":
            written = block(style, value, inner, first=True)
            body += [" " * column + "-", *written]
        else:
            written = block(style, value, inner, first=True)
            written[0] = written[0].lstrip(" ")
            body += [" " * column + lead + written[0], *written[1:]]
        chunks.append("\n".join(written))
    lines[at:at] = body
    if rng.random() < 0.3:
        lines += ["functionConfig:", "  apiVersion: v1", "  kind: ConfigMap", "  data: {a: b}"]
    lines += style.above(0)
    return "\n".join(lines) + "\n", chunks


def documents_text(style: Style, values: list[Any]) -> tuple[str, list[str]]:
    rng = style.rng
    lines: list[str] = style.above(0)
    chunks = []
    for n, value in enumerate(values):
        style.named = {}
        if n or rng.random() < 0.3:
            lines.append("---" + style.behind())
        lines += style.above(0)
        written = block(style, value, 0, first=True)
        lines += written
        chunks.append("\n".join(written))
        if rng.random() < style.odd:
            lines.append("...")
    style.named = {}
    return "\n".join(lines) + "\n", chunks


def json_text(rng: random.Random, values: list[Any]) -> tuple[str, list[str]]:
    indent = rng.choice([None, None, 2, 4, "\t"])
    root = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": values}
    if rng.random() < 0.3:
        root["functionConfig"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    whole: Any = root if rng.random() < 0.7 else values
    text = json.dumps(whole, indent=indent, ensure_ascii=rng.random() < 0.5)
    return text + rng.choice(["", "\n"]), []


# ------------------------------------------------------------------------------------------ changes


def change(rng: random.Random, value: Any, depth: int = 0) -> Any:
    """The value with one random change somewhere; what did not change is the same object."""
    kind = rng.randrange(10)
    if type(value) is dict and value and kind < 9:
        key = rng.choice(list(value))
        if depth == 0 and key in ("apiVersion", "kind", "metadata"):
            return {**value, "added": tree(rng, 2)}
        if kind < 5:
            return {**value, key: change(rng, value[key], depth + 1)}
        if kind < 6:
            return {k: v for k, v in value.items() if k != key}
        if kind < 7:
            return (
                {**value, rng.choice(KEYS): tree(rng, 3)}
                if depth
                else {**value, "new": tree(rng, 3)}
            )
        if kind < 8:
            return {**value, key: tree(rng, 3)}
        keys = list(value)
        if depth:
            rng.shuffle(keys)
        return {k: value[k] for k in keys}
    if type(value) is list and kind < 9:
        at = rng.randrange(len(value) + 1)
        if kind < 4 and at < len(value):
            return [*value[:at], change(rng, value[at], depth + 1), *value[at + 1 :]]
        if kind < 6:
            return value[:at] + value[at + 1 :]
        if kind < 8:
            return [*value[:at], tree(rng, 3), *value[at:]]
        return rng.sample(value, len(value))
    return tree(rng, 2) if depth else {**value, "changed": tree(rng, 3)}


def in_order(data: bytes, chunks: list[bytes]) -> bool:
    at = 0
    for chunk in chunks:
        at = data.find(chunk, at)
        if at < 0:
            return False
        at += len(chunk)
    return True


def values_of(stream: Stream) -> list[Any]:
    return [item.value for item in stream.items]


# -------------------------------------------------------------------------------------------- tests


@bounded(800)
@given(SEEDS, SIZES)
def test_what_is_read_is_what_was_written_and_leaves_unchanged(seed: int, size: int) -> None:
    text = compose_text(seed, size)
    stream = read_stream(text.data)
    assert equal(values_of(stream), text.values)
    assert stream.write() == text.data


@bounded(1500)
@given(SEEDS, SIZES)
def test_changed_objects_read_back_and_others_keep_their_bytes(seed: int, size: int) -> None:
    text = compose_text(seed, size)
    rng = random.Random(seed + 1)
    stream = read_stream(text.data)
    expected: list[Any] = []
    kept: list[bytes] = []
    for n, item in enumerate(stream.items):
        choice = rng.random()
        if choice < 0.1:
            stream.drop(item)
            continue
        value = item.value
        if choice < 0.5:
            for _ in range(rng.choice([1, 1, 1, 2, 5])):
                value = change(rng, value)
            item.replace(value)
        if (
            text.chunks
            and not text.linked
            and (value is item.original or equal(value, item.original))
        ):
            kept.append(text.chunks[n])
        expected.append(value)
    if rng.random() < 0.2:
        expected.append(manifest(rng, 3, 99))
        stream.add(expected[-1])
    results = [{"message": rng.choice(WORDS + LINES), "severity": "info"}] * rng.choice(
        [0, 0, 1, 2]
    )
    written = stream.write(results if stream.is_resource_list else ())
    again = read_stream(written)
    assert equal(values_of(again), expected)
    assert in_order(written, kept)
    if stream.is_resource_list:
        assert again.api_version == stream.api_version
        assert results_of(written) == (results or None)
    if not isinstance(again, JsonStream):
        assert again.write(results if again.is_resource_list else ()) == written


@bounded(400)
@given(SEEDS, SIZES)
def test_comments_can_be_set_to_what_they_are_and_taken_away(seed: int, size: int) -> None:
    text = compose_text(seed, size)
    stream = read_stream(text.data)
    values = values_of(stream)
    before = [item.written_comments for item in stream.items]
    for item in stream.items:
        # All of them: above and behind what stands in the text, each where it was read.
        item.comments.update({(c.path, c.head): c for c in item.all_comments()})
    again = read_stream(stream.write())
    assert equal(values_of(again), values)
    assert [item.written_comments for item in again.items] == before
    for item in again.items:
        for path, head in [(c.path, c.head) for c in item.all_comments()]:
            item.comments[path, head] = Comment(path, "", head)
    bare = read_stream(again.write())
    assert equal(values_of(bare), values)
    assert not any(item.written_comments for item in bare.items)


ADDED = re.compile(rb"\r?\n *added: 1(?=\r?\n)")
ADDED_IN_FLOW = re.compile(rb',\s*(?:added|"added"): 1')


@bounded(800)
@given(SEEDS, SIZES)
def test_adding_a_key_adds_a_line_and_changes_nothing_else(seed: int, size: int) -> None:
    text = compose_text(seed, size)
    stream = read_stream(text.data)
    if isinstance(stream, JsonStream) or not text.data.endswith(b"\n"):
        return
    for n, item in enumerate(stream.items):
        if b"&" in text.chunks[n] or item.outline.aliases:
            continue
        item.replace({**item.value, "added": 1})
        added = ADDED_IN_FLOW if item.outline.flow else ADDED
        assert added.sub(b"", stream.write()) == text.data
        item.replace(item.original)


def results_of(data: bytes) -> Any:
    text = data.decode().removeprefix("\ufeff")
    json_like = isinstance(read_stream(data), JsonStream)
    root = json.loads(text) if json_like else compose(text).roots[0].value
    return root.get("results")


FRAGMENTS = [
    "apiVersion: v1\n",
    "kind: Pod\n",
    "kind: List\n",
    "items:\n",
    "- ",
    "  ",
    "\n",
    "a: ",
    "b:",
    "x",
    "'",
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    "# c\n",
    "&a ",
    "*a",
    "<<: ",
    "!t ",
    "!!binary ",
    "|",
    ">",
    "+",
    "-",
    "\t",
    "\r",
    "\r\n",
    "---\n",
    "--- ",
    "...\n",
    "%YAML 1.1\n",
    "%TAG ! x:\n",
    "\ufeff",
    "\u0085",
    "\u2028",
    "\x00",
    "\\",
    "? ",
    ": ",
    "metadata:\n",
    "name: n\n",
    "1e9",
    "0o7",
    "\ud7ff",
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n",
    '"apiVersion":"v1"',
    '"kind":"Pod"',
    "functionConfig:",
    "results:",
    "- apiVersion: v1\n  kind: Pod\n",
]


@bounded(1200)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(
            lambda parts: "".join(parts).encode()
        ),
    ),
    SEEDS,
)
def test_any_bytes_are_read_or_refused_in_one_sentence(data: bytes, seed: int) -> None:
    survive(data, random.Random(seed))


@bounded(1200)
@given(SEEDS, SIZES)
def test_damaged_texts_are_read_or_refused_in_one_sentence(seed: int, size: int) -> None:
    rng = random.Random(seed)
    data = compose_text(seed, size).data
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data) + 1)
        piece = rng.choice(FRAGMENTS).encode()
        data = data[:at] + piece + data[at + rng.choice([0, 0, 1, 5]) :]
    survive(data, rng)


def survive(data: bytes, rng: random.Random) -> None:
    """Read, change and write; only InputError may come, and what is written is what was meant."""
    with contextlib.suppress(InputError):
        stream = read_stream(data)
        if results_absent(stream):
            assert stream.write() == data
        before = values_of(stream)
        if stream.items:
            n = rng.randrange(len(stream.items))
            target = stream.items[n]
            target.replace(change(rng, target.value))
            again = read_stream(stream.write())
            if target.elements or target.outer is not None:
                before = [item.final for item in stream.items]
            assert equal(values_of(again), [*before[:n], target.final, *before[n + 1 :]])
            if stream.function_config is not None:
                assert again.function_config is not None
                assert equal(again.function_config.value, stream.function_config.value)


def results_absent(stream: Stream) -> bool:
    return not stream.is_resource_list or "results" not in stream.text
