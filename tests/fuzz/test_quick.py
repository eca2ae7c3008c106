"""Reading by lines finds what reading exactly finds, in any list that the latter accepts.

Two generators: one lays out manifests as people and tools do, in many styles, so that nearly all
take the quick way; the other damages such lists with what could hide an item or forge one, or with
what later readers take differently. Where both find something it must be the same: spans, lines,
heads, anchors; and objects, what is in doubt about them, and every byte after a change.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from fuzz_support import bounded
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.errors import InputError
from krm_fn.values import equal
from krm_fn.wire import read_stream, yamlstream
from krm_fn.wire.compose import MappingNode, Node, ScalarNode, SequenceNode, compose
from krm_fn.wire.fast.compose import LineReader
from krm_fn.wire.fast.scan import QuickOutline, quick_scan
from krm_fn.wire.reading import SWITCH
from krm_fn.wire.scan import Document, Outline, scan

SEEDS = st.integers(min_value=0, max_value=2**48)

# ---------------------------------------------------------------------------------- well laid out

NAMES = ["web", "api-1", "x.y", "1a", "system:node", "0x1", "12", "true", "null", "n", "a_b"]
KINDS = ["Deployment", "Pod", "Shop", "Service", "ConfigMap", "Role"]
WORDS = ["yes", "No", "on", "OFF", "y", "N", "!!bool yes"]
PLAINS = ["1", "a b", "nginx:1.25", "it's", "a#b", "x, y", "-1", "http://a/b?c=d&e", "5%", "a: b"]
QUOTED = ['"a"', "'a'", '"a # b"', "'it''s'", '"\\"x\\" y"', "'- kind: Pod'", '"[not, open"', "''"]
FLOWS = ["[]", "{}", "[a, b]", "{cpu: 1, memory: 2Mi}", "[\"a\", 'b']", "{a: [b, {c: d}]}"]
TEXTS = [
    *("a line of text", "echo done", "x: y", "set -eu", "for i in 1 2 3; do", "100%") * 4,
    "- kind: Pod",
    '- "open',
    "kind: Secret",
    "it's [open {too",
    "# no comment",
    "",
    "  deeper",
    "name: x",
    "&anchor *alias !tag",
    "items:",
    "metadata:",
]
STYLES = ["|", "|", "|", "|", "|-", "|-", "|+", ">", ">-"]
COMMENTS = ["# a comment", "# don't [open", '# "quote', "#- kind: Pod", "#"]


class Writer:
    """Lays out one list."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.column = rng.choice([0, 0, 2, 2, 4])
        self.noisy = rng.random() < 0.5
        self.lines: list[str] = []

    def add(self, column: int, text: str) -> None:
        rng = self.rng
        if self.noisy and rng.random() < 0.05:
            self.lines.append(" " * rng.choice([0, column]) + rng.choice(COMMENTS))
        if self.noisy and rng.random() < 0.05 and not text.endswith(("|", ">", "|-")):
            text += " " + rng.choice(COMMENTS)
        self.lines.append(" " * column + text)
        if self.noisy and rng.random() < 0.03:
            self.lines.append("")

    def value(self, column: int, key: str, depth: int) -> None:
        """A key with a value of any kind."""
        rng = self.rng
        choice = rng.random()
        if depth and choice < 0.2:
            self.add(column, f"{key}:")
            for n in range(rng.randrange(1, 4)):
                self.value(column + 2, f"k{n}", depth - 1)
        elif depth and choice < 0.35:
            self.add(column, f"{key}:")
            inner = column + rng.choice([0, 2])
            for _ in range(rng.randrange(1, 3)):
                self.value(inner, "- name", 0)
                self.value(inner + 2, "more", depth - 1)
        elif choice < 0.5:
            self.block_scalar(column, key)
        elif choice < 0.65:
            self.add(column, f"{key}: {rng.choice(FLOWS)}")
        elif choice < 0.8:
            self.add(column, f"{key}: {rng.choice(QUOTED)}")
        else:
            plain = rng.choice(WORDS if rng.random() < 0.05 else PLAINS)
            self.add(column, f"{key}: {plain if ': ' not in plain else repr(plain)}")

    def block_scalar(self, column: int, key: str) -> None:
        rng = self.rng
        self.lines.append(" " * column + f"{key}: {rng.choice(STYLES)}")
        inner = column + rng.choice([1, 2, 4]) + (2 if key.startswith("- ") else 0)
        self.lines.append(" " * inner + "first")
        for _ in range(rng.randrange(0, 4)):
            text = rng.choice(TEXTS)
            self.lines.append(" " * inner + text if text else "")

    def item(self) -> None:
        rng = self.rng
        inner = self.column + 2
        keys = ["apiVersion", "kind", "metadata", "spec", "data"]
        if rng.random() < 0.3:
            rng.shuffle(keys)
        first = len(self.lines)
        for key in keys:
            if key == "apiVersion":
                self.add(inner, f"apiVersion: {rng.choice(['v1', 'apps/v1', 'a.b/v1'])}")
            elif key == "kind":
                kind = rng.choice(KINDS)
                self.add(inner, f"kind: {rng.choice([kind, kind, repr(kind)])}")
            elif key == "metadata":
                self.metadata(inner)
            elif rng.random() < 0.7:
                self.value(inner, key, 3)
        if rng.random() < 0.05:
            self.elements(inner)
        for n in range(first, len(self.lines)):
            line = self.lines[n]
            if line.startswith(" " * inner) and line[inner] not in " #":
                self.lines[n] = line[: self.column] + "- " + line[inner:]
                return

    def elements(self, column: int) -> None:
        """Objects in an object."""
        rng = self.rng
        self.add(column, "items:")
        for n in range(rng.randrange(3)):
            self.add(column, f"- apiVersion: {rng.choice(['v1', 'apps/v1'])}")
            if rng.random() < 0.8:
                self.add(column + 2, f"kind: {rng.choice(KINDS)}")
            self.add(column + 2, f"metadata: {{name: e{n}}}")
            self.value(column + 2, "spec", 1)

    def metadata(self, column: int) -> None:
        rng = self.rng
        self.add(column, "metadata:")
        keys = ["name", "namespace", "labels", "annotations"]
        rng.shuffle(keys)
        self.value(column + 2, "uid", 0)
        for key in keys:
            if key == "name" or (key == "namespace" and rng.random() < 0.5):
                name = rng.choice(NAMES)
                self.add(column + 2, f"{key}: {rng.choice([name, name, repr(name)])}")
            elif key not in ("name", "namespace") and rng.random() < 0.5:
                self.add(column + 2, f"{key}:")
                self.value(column + 4, "name", 1)

    def around(self) -> None:
        rng = self.rng
        choice = rng.random()
        if choice < 0.4:
            self.lines += ["functionConfig:", "  apiVersion: v1", "  kind: ConfigMap"]
            self.value(2, "data", 2)
        elif choice < 0.5:
            self.lines += ["results:", "- message: 'old [one'"]

    def text(self) -> str:
        rng = self.rng
        self.lines = ["apiVersion: config.kubernetes.io/v1", "kind: ResourceList"]
        before = rng.random() < 0.3
        if before:
            self.around()
        self.lines.append("items:")
        for _ in range(rng.randrange(1, 5)):
            self.item()
        if not before:
            self.around()
        end = rng.choice(["\n", "\n", "\n", "", "\n\n", "\n# the end\n"])
        return "\n".join(self.lines) + end


def well_laid_out(seed: int) -> str:
    return Writer(random.Random(seed)).text()


# ---------------------------------------------------------------------------------------- damaged

HOSTILE = [
    '"',
    "'",
    "[",
    "{",
    "]",
    "}",
    "''",
    '\\"',
    "\\",
    " #",
    "#",
    ": ",
    ":",
    "- ",
    "-",
    "? ",
    "|",
    ">",
    "|2",
    "&a ",
    "*a",
    "!!str ",
    "!t ",
    "<<: ",
    "\t",
    "\r\n",
    "\n",
    "\n\n",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    ",",
    "\x85",
    "\u2028",
    "\ufeff",
    "é",
    "@",
    "`",
    "%",
    "~",
    "'''",
    "a: 'b",
    'a: "b',
    "a: [b",
    "it's",
    'say "',
    " 'x",
    ' "x',
    ",'c",
    ':"c',
    "[a'b, 'c]",
    "[a'b,'c]",
    "{a: 'b, c: d'}",
    "'a' : 'b",
    '"a": \'b',
    "a \"b: ' \": 'c",
]
LINES = [
    "  items:\n  - kind: Pod\n    metadata:\n      name: inner",
    "- kind: Pod",
    "- apiVersion: v1",
    "  kind: Secret",
    "kind: Secret",
    '"kind": Pod',
    "'kind' : Pod",
    "kind : Pod",
    "? kind",
    "!!str kind: Pod",
    "<<: {kind: Pod}",
    "metadata: {name: x}",
    "  name: forged",
    "    namespace: forged",
    "      name: deeper",
    "metadata:",
    "items:",
    "items: []",
    "- ",
    "-",
    "-\tkind: Pod",
    "-   kind: Pod",
    "- - kind: Pod",
    "- |",
    "- |1",
    '- "kind": Pod',
    "- ? kind",
    "  text: |1",
    "  text: >2-",
    "  open: 'quoted",
    '  open: "quoted',
    "  open: [flow",
    "  open: {flow",
    "close'",
    'close"',
    "close]",
    "close}",
    "  plain that",
    "   goes on",
    "# comment ' \" [ {",
    "  # comment",
    "functionConfig:",
    "---",
    "...",
    "  a: &x b",
    "  c: *x",
    "  <<: *x",
    "  kind: Pod # c",
    "  kind: Pod#c",
    "  kind: Pod\n    more",
    "  kind: Pod\n\n    more",
    "  kind: Pod\n  # c\n    more",
    "  kind:\n    Pod",
    "  kind: |\n    Pod",
    "  kind: 'Pod\n    x'",
    "  Kind: Pod",
    "Kind: Pod",
    "- Kind: Pod",
    "  APIVERSION: v2",
    '  "Kind": Pod',
    "  kind: yes",
    "    name: off",
    "    namespace: no",
    "  a: yes",
    "  yes: a",
    "  true: b",
    '  "true": c',
    "    on: d",
    "  a: ! yes",
    "  a: ! 5",
    "  a: !!bool On",
    "  a: [yes, {no: on}]",
    "  <<: {kind: Pod}",
    "  <<: {a: b}",
    "  <<: [{a: b}, {a: c, yes: d}]",
    "    <<: {name: x}",
    "  a: {b: c, <<: {b: d}}",
    "  a: {<<: {b: d}, b: c}",
    "  items:\n  - {apiVersion: v1, kind: Pod}",
    "  items: {a: b}",
    "  items: [a]",
    "  items: *x",
    "  x: &x [{apiVersion: v1, kind: Pod}]",
    "  l:\n  - ? a",
    "  ? a",
    "  x: |",
    "  x: <<",
    "---a: b",
]


def damaged(seed: int) -> str:
    rng = random.Random(seed)
    text = Writer(rng).text()
    for _ in range(rng.choice([1, 1, 1, 2, 3, 5])):
        choice = rng.random()
        at = rng.randrange(len(text) + 1)
        if choice < 0.35:
            text = text[:at] + rng.choice(HOSTILE) + text[at:]
        elif choice < 0.75:
            line = text.rfind("\n", 0, at) + 1
            column = " " * rng.choice([0, 0, 1, 2, 3, 4, 6])
            text = text[:line] + column + rng.choice(LINES) + "\n" + text[line:]
        elif choice < 0.85:
            other = rng.randrange(len(text) + 1)
            text = text[:at] + text[other : other + rng.randrange(60)] + text[at:]
        elif choice < 0.95:
            text = text[:at] + text[at + rng.choice([1, 1, 2, 9]) :]
        else:
            line = text.rfind("\n", 0, at) + 1
            text = text[:line] + " " * rng.choice([1, 2]) + text[line:]
    return text


# ------------------------------------------------------------------------------------------ tests


def shape(found: Outline) -> Any:
    """All that is known of a node, as plain values."""
    return (
        (found.start, found.end, found.line, found.shape, found.flow, found.head, found.after_key),
        (sorted(found.anchors), sorted(found.aliases), found.odd, found.misspelt),
        [shape(child) for child in found.children],
        None if found.items is None else shape(found.items),
        {key: (entry.start, shape(entry.value)) for key, entry in found.entries.items()},
    )


def shapes(documents: list[Document]) -> Any:
    return [(document.start, document.end, shape(document.root)) for document in documents]


def compare(text: str) -> list[Document] | None:
    """What was found by lines; it is what scanning finds, or one of the two has found nothing."""
    try:
        reference = scan(text)
    except InputError:
        return None
    documents = quick_scan(text)
    if documents is not None:
        assert shapes(documents) == shapes(reference), text
    return documents


def nodes(node: Node) -> Any:
    """All that is known of a composed node, as plain values."""
    where = type(node), node.start, node.end
    if type(node) is ScalarNode:
        return (*where, repr(node.value), node.style)
    if type(node) is MappingNode:
        pairs = [(name, nodes(key), nodes(value)) for name, key, value in node.pairs]
        return (*where, node.flow, pairs, list(node.value))
    assert type(node) is SequenceNode
    return (*where, node.flow, [nodes(item) for item in node.items])


def compare_objects(text: str) -> int:
    """Each item of a list read by its lines, and exactly; answers how many were read so."""
    try:
        stream = read_stream(text.encode())
    except InputError:
        return 0
    quick = 0
    for item in stream.items:
        line = text.rfind("\n", 0, item.outline.start) + 1
        alone = " " * (item.outline.start - line) + text[item.outline.start : item.outline.end + 1]
        for source in (alone, alone.rstrip("\n"), alone + "\n# more\n"):
            quick += compare_object(source)
    return quick


def compare_object(source: str) -> bool:
    """Whether a text was read by its lines; if so, it says the same as read exactly."""
    found = LineReader().compose(source)
    if found is None:
        return False
    try:
        exact = compose(source)
    except InputError as error:
        raise AssertionError(f"{source!r} cannot be read: {error}") from None
    assert [nodes(root) for root in found.roots] == [nodes(root) for root in exact.roots], source
    assert equal(found.roots[0].value, exact.roots[0].value)
    assert exact.plain
    return True


def outcome(data: bytes, switch: str, seed: int) -> Any:
    """What a text means: its objects, what is in doubt, what is written after some changes."""
    os.environ[SWITCH] = switch
    try:
        stream = read_stream(data)
    except InputError:
        return None
    rng = random.Random(seed)
    objects = []
    for item in stream.items:
        try:
            value: Any = item.value
        except InputError as error:
            value = str(error)
        outer = item.outer.place if item.outer is not None else ""
        doubts = sorted(map(str, item.doubts))
        objects.append((item.head, item.place, outer, list(item.elements), repr(value), doubts))
        choice = rng.random()
        if type(value) is dict and choice < 0.3:
            item.replace({**value, "added": [1, "yes"]})
        elif type(value) is dict and choice < 0.5:
            kept = ("apiVersion", "kind", "items")
            item.replace({k: v for k, v in value.items() if k in kept or rng.random() < 0.7})
        elif choice < 0.6:
            stream.drop(item)
    try:
        written: Any = stream.write([{"message": "m"}] if stream.is_resource_list else ())
    except InputError as error:
        written = str(error)
    return objects, written


def compare_meaning(text: str, seed: int) -> bool:
    """A text by both ways of reading; answers whether it can be read."""
    if seed % 3 == 0:
        text = text.replace(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n",
            "apiVersion: v1\nkind: List\n",
        )
    data = text.encode()
    before, yamlstream.WORTH_IT = yamlstream.WORTH_IT, 0  # type: ignore[misc]
    try:
        reference = outcome(data, "reference", seed)
        if reference is not None:
            assert outcome(data, "", seed) == reference, text
    finally:
        yamlstream.WORTH_IT = before  # type: ignore[misc]
        del os.environ[SWITCH]
    return reference is not None


@bounded(500)
@given(SEEDS)
def test_a_list_means_the_same_by_both_ways(seed: int) -> None:
    compare_meaning(well_laid_out(seed), seed)


@bounded(1_000)
@given(SEEDS)
def test_a_damaged_list_means_the_same_by_both_ways(seed: int) -> None:
    compare_meaning(damaged(seed), seed)


def test_many_lists_can_be_read_and_some_of_the_damaged() -> None:
    assert sum(compare_meaning(well_laid_out(seed), seed) for seed in range(200)) >= 150
    assert sum(compare_meaning(damaged(seed), seed) for seed in range(200)) >= 40


@bounded(1_000)
@given(SEEDS)
def test_objects_are_read_as_they_are_composed(seed: int) -> None:
    compare_objects(well_laid_out(seed))


@bounded(1_000)
@given(SEEDS)
def test_damaged_objects_are_read_as_they_are_composed_or_not_at_all(seed: int) -> None:
    text = damaged(seed)
    compare_objects(text)
    for part in text.split("\n- "):
        compare_object(part)
        compare_object("  " + part)


@bounded(2_000)
@given(SEEDS)
def test_a_list_is_split_as_it_is_scanned(seed: int) -> None:
    compare(well_laid_out(seed))


@bounded(2_000)
@given(SEEDS)
def test_a_damaged_list_is_split_as_it_is_scanned_or_not_at_all(seed: int) -> None:
    compare(damaged(seed))


def test_most_objects_are_read_by_their_lines() -> None:
    objects = quick = 0
    for seed in range(300):
        text = well_laid_out(seed)
        quick += compare_objects(text)
        objects += 3 * len(read_stream(text.encode()).items)
    assert quick >= 0.4 * objects


def test_nearly_all_lists_are_split() -> None:
    split = items = quick = 0
    for seed in range(500):
        documents = compare(well_laid_out(seed))
        if documents is not None:
            split += 1
            found = documents[0].root.items
            assert found is not None
            items += len(found.children)
            quick += sum(type(child) is QuickOutline for child in found.children)
    assert split >= 450
    assert quick >= 0.4 * items


HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ITEM = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n"
FOUND = {
    "a quote hides an item": ITEM + "  data: 'x\n" + ITEM + "  y: '\n",
    "a quote after a quoted key hides an item": ITEM + '  "a # b": \'x\n' + ITEM + "  y: '\n",
    "a quote in a plain key": ITEM + "  it \"s: 'x\n" + ITEM + "  y: '\n",
    "a quote in flow without a space": ITEM + "  a: [b'c,'d]\n" + ITEM + "  y: ']\n",
    "a doubled quote does not close": ITEM + "  a: 'it''s\n" + ITEM + "  y: '\n",
    "an escaped quote does not close": ITEM + '  a: "x\\"\n' + ITEM + '  y: "\n',
    "a flow over lines": ITEM + "  a: [b,\n- c]\n" + ITEM,
    "a second kind": ITEM + "  kind: Secret\n",
    "a quoted second kind": ITEM + '  "kind": Secret\n',
    "a kind that goes on": "- apiVersion: v1\n  kind: Config\n\n    Map\n",
    "a merged kind": "- apiVersion: v1\n  <<: {kind: Secret}\n",
    "text that looks like an item": ITEM + "  a: |\n    - kind: Pod\n   # x\n" + ITEM,
    "names in deeper maps": ITEM + "    labels:\n      name: b\n  name: c\n",
    "a dash with its object further down": "- \n    # c\n  kind: A\n  apiVersion: v1\n" + ITEM,
    "a list of objects": ITEM.replace("ConfigMap", "List") + "  items:\n  - kind: A\n    a: 'b'\n",
    "an explicit key without a value": ITEM + "- ? kind\n" + ITEM,
    "metadata after a comment further left": ITEM + "# c\n    namespace: b\n",
}


DECEIVING = {
    "a comment with a line break of YAML 1.1": "  a: 1\n  # \u2028 b: 2\n",
    "a comment with a tab": "  a: 1\n  #\tb: 2\n",
}


@pytest.mark.parametrize("name", DECEIVING)
def test_an_object_that_could_deceive_does_not(name: str) -> None:
    compare_object(DECEIVING[name])


@pytest.mark.parametrize("name", FOUND)
def test_what_could_deceive_does_not(name: str) -> None:
    compare(HEAD + FOUND[name])
    compare(HEAD + FOUND[name] + "functionConfig:\n  kind: x\n")
