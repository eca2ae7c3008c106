"""From YAML text to nodes: values with the span of text that each was read from.

libyaml parses (through PyYAML's `CParser`, whose events carry marks); composing is done here, since
Go's readers resolve scalars, merge keys and aliases in their own way and since edits need spans. A
node knows where it stands, nothing of Kubernetes. Spans count characters of the given text.
Sources: go-yaml v3 decode.go (merge keys, aliases), yaml.org 1.1 for the event grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import yaml
from yaml.cyaml import CParser

from krm_fn import limits
from krm_fn.errors import InputError
from krm_fn.values import equal
from krm_fn.wire.scalars import (
    MERGE,
    MergeKey,
    Resolver,
    TagError,
    Word,
    key_text,
    resolve_go_yaml,
    resolve_tagged,
)


class YamlError(InputError):
    """The text is not YAML that Go's readers would take. `line` counts from 1 in the given text."""

    def __init__(self, message: str, line: int, where: str = "") -> None:
        super().__init__(message, where)
        self.line = line

    def __str__(self) -> str:
        place = f"{self.where}:{self.line}" if self.where else f"line {self.line}"
        return f"{place}: {self.message}"


class Node:
    """A value and the span `[start, end)` of the text that it was read from.

    The span of a block collection reaches to the end of its last content, without trailing comments
    and blank lines; that of an empty value is empty. It includes an anchor and a tag.
    """

    __slots__ = ("end", "start", "value")

    def __init__(self, start: int, end: int, value: Any) -> None:
        self.start = start
        self.end = end
        self.value = value


class ScalarNode(Node):
    """A scalar; `style` is '' (plain), ', ", | or >."""

    __slots__ = ("style",)

    def __init__(self, start: int, end: int, value: Any, style: str) -> None:
        # Not by super(): of these there are so many that it would show.
        self.start = start
        self.end = end
        self.value = value
        self.style = style


class MappingNode(Node):
    """A mapping; `pairs` holds each key's text with its node and its value's, as written.

    With `merges`, some of the keys are merge keys; with `words`, some may be `Word`s. `types` are
    those of keys that are no strings where they were written: 1, true, yes.
    """

    __slots__ = ("flow", "merges", "pairs", "types", "words")

    def __init__(self, start: int, end: int, flow: bool) -> None:
        super().__init__(start, end, {})
        self.merges = self.words = False
        self.types: dict[str, type] | None = None
        self.flow = flow
        self.pairs: list[tuple[str, Node, Node]] = []


class SequenceNode(Node):
    """A sequence; `items` are its elements' nodes."""

    __slots__ = ("flow", "items")

    def __init__(self, start: int, end: int, flow: bool) -> None:
        super().__init__(start, end, [])
        self.flow = flow
        self.items: list[Node] = []


@dataclass(slots=True)
class Composed:
    """The documents of a text. `plain` is False where an anchor, alias or merge key occurs.

    With `words`, there are `Word`s among the values and keys.
    """

    roots: list[Node]
    plain: bool
    words: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: how plain scalars are resolved, and whether others read the text after it."""

    resolve: Resolver = resolve_go_yaml
    duplicate_keys: bool = False
    """True: as the older go-yaml below sigs.k8s.io/yaml reads, to which the last of equal keys
    wins, merged ones too. False: what it and go-yaml v3 take differently is an error."""


GO_YAML: Final = Reader()


def parser(text: str) -> Any:
    """libyaml's event parser over `text` (which must not start with a BOM).

    Raises YamlError for more directives than libyaml can compare with each other in time.
    """
    if text.count("\n%TAG") > limits.TAG_DIRECTIVES:
        raise YamlError(f"more than {limits.TAG_DIRECTIVES} %TAG directives", 1)
    return CParser(text)


def parse_error(error: yaml.YAMLError, text: str, line_offset: int = 0) -> YamlError:
    """libyaml's complaint as one sentence with its line."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = (mark.line if mark else 0) + 1 + line_offset
        reason = error.problem or str(error)
        context = f" ({error.context})" if error.context else ""
        hint = ""
        if mark is not None and text[mark.index : mark.index + 1] == "\t":
            hint = "; indent with spaces, YAML forbids tabs there"
        return YamlError(f"not valid YAML: {reason}{context}{hint}", line)
    if isinstance(error, yaml.reader.ReaderError):
        return YamlError(f"not valid YAML: {error.reason}", 1 + line_offset)
    return YamlError(f"not valid YAML: {error}", 1 + line_offset)


def check_version(event: Any) -> None:
    """Refuse a document of another YAML version than 1.1, as go-yaml does and libyaml does not."""
    if event.version not in (None, (1, 1)):
        raise YamlError(
            "not valid YAML: found incompatible YAML document (%YAML 1.1 is what Go reads)",
            event.start_mark.line + 1,
        )


def twice(key: str, line: int) -> YamlError:
    """The error for a key that occurs twice."""
    return YamlError(f"the key {key!r} is there twice in one map", line)


def compose(text: str, reader: Reader = GO_YAML, line_offset: int = 0) -> Composed:
    """All documents of `text` as nodes.

    Raises YamlError, with lines counted from `line_offset`, for what libyaml or Go's readers refuse
    and for what passes a limit (nesting, expansion of aliases).
    """
    try:
        return _Composer(text, reader, line_offset).run()
    except yaml.YAMLError as error:
        raise parse_error(error, text, line_offset) from None


def compose_first(text: str, reader: Reader = GO_YAML) -> Node | None:
    """The first document of `text`, None where there is none.

    Of what is behind it only the next token is read, as by Go's yaml.Unmarshal: `"a" b` is the
    string a, and two lines of a plain scalar with a colon after them are an error. Raises
    YamlError.
    """
    try:
        roots = _Composer(text, reader, 0).run(first_only=True).roots
    except yaml.YAMLError as error:
        raise parse_error(error, text) from None
    return roots[0] if roots else None


_FREE_EXPANSION: Final = 10_000
"""Nodes that aliases may always expand to."""

_TOO_FAR: Final = (
    "aliases expand to far more than what is written here "
    f"(at most {limits.ALIAS_FACTOR} times and {limits.ALIAS_NODES:,} nodes)"
)


class _Composer:
    def __init__(self, text: str, reader: Reader, line_offset: int) -> None:
        self.text = text
        self.reader = reader
        self.line_offset = line_offset
        self.plain = True
        self.words = False
        self.has_escaped_slash = "\\/" in text
        self.anchors: dict[str, Node] = {}
        self.sizes: dict[Node, int] = {}
        """The nodes that an anchored collection counts once it is expanded; 0 while it is open."""
        self.written = 0
        self.expanded = 0

    def run(self, first_only: bool = False) -> Composed:
        events = parser(self.text)
        roots: list[Node] = []
        while True:
            event = events.get_event()
            kind = type(event)
            if kind is yaml.StreamEndEvent:
                return Composed(roots, self.plain, self.words)
            if kind is yaml.DocumentStartEvent:
                check_version(event)
                self.anchors = {}
                self.written = self.expanded = 0
                roots.append(self._node(events.get_event))
                if first_only:
                    events.get_event()  # the document's end, for which the next token is scanned
                    return Composed(roots, self.plain, self.words)

    def _node(self, next_event: Callable[[], Any]) -> Node:
        """Compose one node and all below it, without recursion: depth is bounded by a limit."""
        event = next_event()
        stack: list[tuple[MappingNode | SequenceNode | None, Node | None, int]] = []
        container: MappingNode | SequenceNode | None = None
        key: Node | None = None
        resolve = self.reader.resolve
        while True:
            kind = type(event)
            node: Node
            if kind is yaml.ScalarEvent:
                style = event.style
                tag = event.tag
                start, end = event.start_mark.index, event.end_mark.index
                if start == end and key is not None:
                    start = end = place_of_nothing(self.text, key.end, start)
                if style == '"' and self.has_escaped_slash:
                    self._refuse_escaped_slash(event)
                if tag is not None:
                    value = self._tagged(event)
                elif style:
                    value = event.value
                else:
                    value = resolve(event.value)
                if type(value) is Word:
                    self.words = True
                elif value is MERGE and (type(container) is not MappingNode or key is not None):
                    value = "<<"
                if style == "|" or style == ">":
                    end = block_scalar_end(self.text, start, end)
                node = ScalarNode(start, end, value, style)
                self.written += 1
                if event.anchor is not None:
                    self._anchor(event.anchor, node)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                if len(stack) >= limits.NESTING:
                    raise self._error(f"nested deeper than {limits.NESTING} levels", event)
                stack.append((container, key, self.written + self.expanded))
                key = None
                make = MappingNode if kind is yaml.MappingStartEvent else SequenceNode
                start, end = event.start_mark.index, event.end_mark.index
                container = make(start, end, bool(event.flow_style))
                self.written += 1
                if event.anchor is not None:
                    self._anchor(event.anchor, container)
                    self.sizes[container] = 0
                event = next_event()
                continue
            elif kind is yaml.AliasEvent:
                node = self._alias(event)
            else:  # the end of a collection
                assert container is not None
                node = container
                container, key, before = stack.pop()
                if node.flow:
                    node.end = event.end_mark.index
                if type(node) is MappingNode and (node.merges or node.words):
                    self._finish(node)
                if node in self.sizes:
                    self.sizes[node] = self.written + self.expanded - before

            if container is None:
                return node
            if type(container) is MappingNode:
                if key is None:
                    key = node
                else:
                    name = key.value
                    if type(name) is str and name not in container.value:
                        container.pairs.append((name, key, node))
                        container.value[name] = node.value
                    else:
                        self._unusual_pair(container, key, node)
                    key = None
            else:
                assert type(container) is SequenceNode
                container.items.append(node)
                container.value.append(node.value)
            if not container.flow:
                container.end = node.end
            event = next_event()

    # ------------------------------------------------------------------------------ small parts

    def _tagged(self, event: Any) -> Any:
        resolve = self.reader.resolve
        bare = event.tag == "!" and not event.style and not self.reader.duplicate_keys
        if bare and type(resolve(event.value)) not in (str, MergeKey):
            raise self._error(
                "behind a lone `!` kubectl reads a text; kustomize leaves the tag out; quote it",
                event,
            )
        try:
            return resolve_tagged(event.tag, event.value, resolve)
        except TagError as error:
            raise self._error(str(error), event) from None

    def _refuse_escaped_slash(self, event: Any) -> None:
        """libyaml reads `\\/` as JSON does; go-yaml refuses it, and so do all who come after us."""
        written = self.text[event.start_mark.index : event.end_mark.index]
        if "\\/" in written.replace("\\\\", ""):
            raise self._error("not valid YAML: found unknown escape character '/'", event)

    def _anchor(self, name: str, node: Node) -> None:
        self.plain = False
        self.anchors[name] = node

    def _alias(self, event: Any) -> Node:
        self.plain = False
        target = self.anchors.get(event.anchor)
        if target is None:
            raise self._error("unknown anchor referenced", event)
        size = self.sizes.get(target, 1)
        if not size:
            raise self._error(f"anchor {event.anchor!r} value contains itself", event)
        node = AliasNode(event.start_mark.index, event.end_mark.index, target)
        self.written += 1
        if self._expands_too_far(size):
            raise self._error(_TOO_FAR, event)
        return node

    def _expands_too_far(self, size: int) -> bool:
        """Count the nodes that an alias or a merge puts in another place, too."""
        self.expanded += size
        if self.expanded <= _FREE_EXPANSION:
            return False
        written = max(self.written, len(self.text) // 10)
        return self.expanded > min(limits.ALIAS_NODES, limits.ALIAS_FACTOR * written)

    def _unusual_pair(self, mapping: MappingNode, key: Node, value: Node) -> None:
        if type(key.value) is MergeKey:
            self.plain = False
            again = mapping.merges or "<<" in mapping.value
            if again and not self.reader.duplicate_keys:
                raise twice("<<", self._line(key.start))
            mapping.merges = True
            mapping.pairs.append(("<<", key, value))
            return
        name = key.value
        if type(name) is not str:
            if type(name) is Word:
                mapping.words = True
            else:
                name = self._key_text(key)
            mapping.types = mapping.types or {}
            mapping.types[name] = type(key.value)
        if name in mapping.value and not self.reader.duplicate_keys:
            raise twice(name, self._line(key.start))
        mapping.pairs.append((name, key, value))
        mapping.value[name] = value.value

    def _key_text(self, key: Node) -> str:
        value = key.value
        if value is None:
            raise YamlError("a map key is null; quote it", self._line(key.start))
        if type(value) in (dict, list):
            raise YamlError(
                "a map key is a map or a list, which JSON does not have (a template that was not "
                "rendered, such as {{ x }}, looks like this: quote it)",
                self._line(key.start),
            )
        try:
            return key_text(value)
        except ValueError as error:
            raise YamlError(str(error), self._line(key.start)) from None

    def _finish(self, mapping: MappingNode) -> None:
        """Merge, and look at keys once more where they may be the same to one reader only."""
        if mapping.merges:
            (self._merge_in_order if self.reader.duplicate_keys else self._merge)(mapping)
        if mapping.words:
            self._check_words(mapping)

    def _merge(self, mapping: MappingNode) -> None:
        """What is merged in, earlier sources over later ones, and what is written in the map.

        To kubectl's reader a merge overrides what stands before it; to go-yaml v3 what is written
        in the map wins. Where that is not the same the merge is refused.
        """
        if "<<" in mapping.value:
            raise twice("<<", self._line(mapping.start))
        before: dict[str, Any] = {}
        types = {name: (mapping.types or {}).get(name, str) for name in mapping.value}
        for name, key, value in mapping.pairs:
            if type(key.value) is not MergeKey:
                before[name] = value.value
                continue
            brought: dict[str, Any] = {}
            for source in self._sources(key, value):
                for inner, merged in source.value.items():
                    kind = (source.types or {}).get(inner, str)
                    if types.setdefault(inner, kind) is not kind or inner == "<<":
                        raise YamlError(
                            f"this merge brings the key {str(inner)!r}, which is a text in one "
                            "place and none in another: readers differ; quote it",
                            self._line(key.start),
                        )
                    brought.setdefault(inner, merged)
            for inner, merged in brought.items():
                if inner in before and not equal(before[inner], merged):
                    raise YamlError(
                        f"this merge brings the key {str(inner)!r}, which stands before it with "
                        "another value: to kubectl the merge wins, to kustomize the key; put the "
                        "merge first",
                        self._line(key.start),
                    )
                mapping.value.setdefault(inner, merged)
                mapping.words |= type(inner) is Word
        mapping.types = types

    def _merge_in_order(self, mapping: MappingNode) -> None:
        """The same as the older go-yaml does it alone: whatever comes later wins."""
        members: dict[str, Any] = {}
        for name, key, value in mapping.pairs:
            if type(key.value) is not MergeKey:
                members[name] = value.value
                continue
            for source in reversed(self._sources(key, value)):
                members.update(source.value)
        mapping.value.clear()
        mapping.value.update(members)

    def _sources(self, key: Node, value: Node) -> list[MappingNode]:
        """The maps that a merge names: one, or the elements of a list that stands right there."""
        nodes = value.items if type(value) is SequenceNode else [value]
        # What an alias brings was counted when it was met.
        written_here = sum(len(node.value) for node in nodes if type(node) is MappingNode)
        if self._expands_too_far(written_here):
            raise YamlError(_TOO_FAR, self._line(key.start))
        sources = [node.target if type(node) is AliasNode else node for node in nodes]
        if any(type(source) is not MappingNode for source in sources):
            raise YamlError(
                "map merge requires map or sequence of maps as the value", self._line(key.start)
            )
        return sources  # type: ignore[return-value]

    def _check_words(self, mapping: MappingNode) -> None:
        """Refuse keys that only kubectl's reader takes for the same: yes, on, true."""
        seen: dict[str, str] = {}
        for name in mapping.value:
            text = key_text(name.boolean) if type(name) is Word else name
            if text in seen:
                place = next((key for other, key, _ in mapping.pairs if other == name), mapping)
                raise YamlError(
                    f"the keys {seen[text]!r} and {str(name)!r} are one key to kubectl; quote them",
                    self._line(place.start),
                )
            seen[text] = str(name)

    def _line(self, index: int) -> int:
        return self.text.count("\n", 0, index) + 1 + self.line_offset

    def _error(self, message: str, event: Any) -> YamlError:
        return YamlError(message, event.start_mark.line + 1 + self.line_offset)


class AliasNode(Node):
    """Where an alias stands, with the value that it stands for."""

    __slots__ = ("target",)

    def __init__(self, start: int, end: int, target: Node) -> None:
        # Only the text `<<` itself merges, not an alias of it.
        super().__init__(start, end, "<<" if target.value is MERGE else target.value)
        self.target = target


def place_of_nothing(text: str, before: int, at: int) -> int:
    """Where an empty value stands: libyaml puts that of `? key` where the next token starts.

    `before` is where what precedes it ends, `at` is where libyaml says.
    """
    line = at
    while line and text[line - 1] in " \t\r":
        line -= 1
    return min(before, at) if not line or text[line - 1] == "\n" else at


_BLOCK_HEADER: Final = re.compile(r"[|>]([-+1-9]*)\s*(?:\s#.*)?$")


def block_scalar_end(text: str, start: int, end: int) -> int:
    """Where the content of a block scalar ends: libyaml's end mark is past trailing blank lines.

    With the indicator + these are content. Else the span ends with the last line that holds text,
    or more spaces than the indentation, which are text too.
    """
    span = text[start:end]
    header, _, body = span.partition("\n")
    indicators = _BLOCK_HEADER.search(header)
    if indicators is None or "+" in indicators[1]:
        return end
    stop = len(span.rstrip(" \r\n"))
    blank = span[stop:]
    explicit = indicators[1].strip("-")
    if " " in blank and (explicit or stop > len(header)):
        lead = 0
        if not explicit:
            first = len(body) - len(body.lstrip(" \r\n"))
            lead = first - body.rfind("\n", 0, first) - 1
        at = stop + blank.find("\n") + 1
        for line in blank.splitlines(keepends=True)[1:]:
            at += len(line)
            if len(line.rstrip("\r\n")) > lead:
                stop = at - (len(line) - len(line.rstrip("\r\n")))
    return start + stop
