"""Read suites strictly: every field is known, every mistake has its file and line.

A suite is written by who tests the rules. It names files by paths that are relative to itself, and
nothing outside of its repository is read.
Source: docs/spec/test.md section 2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from krm_fn.config.fields import Section
from krm_fn.config.options import API_VERSION, Idempotency, Mode, Options, from_document
from krm_fn.errors import ConfigError, InputError, did_you_mean
from krm_fn.system.paths import base_of, expand_paths, manifests
from krm_fn.system.reading import read_file
from krm_fn.testing.kyverno import NAME as KYVERNO
from krm_fn.testing.kyverno import is_kyverno, read_kyverno
from krm_fn.testing.matchers import matcher
from krm_fn.testing.suite import (
    Case,
    Excuse,
    Expectation,
    ExpectedMessage,
    ExpectedObject,
    ExpectedOutcome,
    Source,
    Suite,
    Text,
)
from krm_fn.values import Json
from krm_fn.wire import Item, read_stream
from krm_fn.wire.words import UNDECIDED

NAME: Final = "krm-fn-test.yaml"
SUFFIX: Final = f".{NAME}"


def is_suite(file: str) -> bool:
    """Whether a file is a suite by its name."""
    name = os.path.basename(file)
    return name in (NAME, KYVERNO) or name.endswith(SUFFIX)


def find_suites(paths: Sequence[str]) -> list[str]:
    """The suites at or below paths, in order, each once. Raises ConfigError for what is not there.

    A file that is named is a suite, whatever its name.
    """
    found: dict[str, None] = {}
    for path in paths:
        if not os.path.exists(path):
            raise ConfigError("does not exist", path)
        try:
            files = list(manifests(path))
        except InputError as error:
            raise ConfigError(error.message, error.where) from None
        chosen = files if os.path.isfile(path) else filter(is_suite, files)
        found.update(dict.fromkeys(map(os.path.normpath, chosen)))
    return list(found)


def read_suite(file: str) -> Suite:
    """A suite with everything that it names. Raises ConfigError with file and line."""
    try:
        stream = read_stream(read_file(file), file)
        items = stream.items
        if len(items) != 1:
            raise ConfigError("must hold one Suite and nothing else", file)
        value = items[0].read_as(UNDECIDED)
    except InputError as error:
        error.at(file)
        raise ConfigError(error.message, error.where) from None
    try:
        if is_kyverno(items[0]):
            return read_kyverno(file, items[0], value)
        return _Reader(file, items[0]).suite(value)
    except ConfigError as error:
        raise _placed(error, file, items[0]) from None
    except InputError as error:
        raise ConfigError(error.message, error.where) from None


_FIELD: Final = re.compile(r"[A-Za-z]\w*|\[(\d+)\]")


def _placed(error: ConfigError, file: str, item: Item) -> ConfigError:
    """An error about a field of the suite, with the line of the field."""
    if error.where not in ("", file):
        return error
    path: list[str | int] = []
    value: Any = item.value
    at = 0
    while (match := _FIELD.match(error.message, at)) is not None:
        step: str | int = match[0] if match[1] is None else int(match[1])
        inside = type(value) is dict if type(step) is str else type(value) is list
        if not inside or (step not in value if type(step) is str else int(step) >= len(value)):
            break
        path.append(step)
        value = value[step]
        at = match.end() + (error.message[match.end() : match.end() + 1] == ".")
    return ConfigError(error.message, f"{file}:{item.line(tuple(path))}", details=error.details)


class _Reader:
    """Reads one suite."""

    def __init__(self, file: str, item: Item) -> None:
        self._item = item
        self._file = file
        self._base = base_of(file)
        self._texts: dict[str, Text] = {file: Text(file, b"")}
        self._options: dict[str, Options] = {}

    def suite(self, value: Json) -> Suite:
        document = Section(value, "", self._file)
        api_version, kind = document.string("apiVersion"), document.string("kind")
        if kind != "Suite":
            raise ConfigError(
                f"kind: {kind or '(none)'} is not Suite{did_you_mean(kind, ['Suite'])}"
            )
        if api_version != API_VERSION:
            raise ConfigError(f"apiVersion: {api_version} is not known; use {API_VERSION}")
        metadata = document.section("metadata")
        name = metadata.string("name")
        if not name:
            raise ConfigError("metadata.name is required")
        spec = document.section("spec")
        document.done()
        shared = [source for path in spec.strings("objects") for source in self._files(path)]
        rules = self._rules(spec)
        config = spec.string("config")
        options = _mapping(spec, "options")
        cases = spec.sections("cases")
        uncovered = tuple(_excuse(section) for section in spec.sections("uncovered"))
        spec.done()
        if not cases:
            raise ConfigError("spec.cases is required: a list of cases")
        made = [self._case(case, n, shared, rules, config, options) for n, case in enumerate(cases)]
        names = [case.name for case in made]
        for n, name_of_case in enumerate(names):
            if name_of_case in names[:n]:
                raise ConfigError(f"spec.cases[{n}].name: {name_of_case} is there twice")
        return Suite(self._file, name, tuple(made), self._item, tuple(self._texts), uncovered)

    def _case(
        self,
        case: Section,
        n: int,
        shared: Sequence[Source],
        rules: tuple[str, ...],
        config: str,
        common: Json,
    ) -> Case:
        name = case.string("name")
        if not name:
            raise case.error("name", " is required")
        own_rules = self._rules(case)
        skip = case.string("skip") if "skip" in case else None
        case.raw("skip")
        sources = self._sources(case, shared)
        options = {**common, **_mapping(case, "options")}
        options["context"] = {**_plain(common.get("context")), **self._context(case)}
        expect = case.section("expect")
        wanted = self._expectation(expect)
        expect.done()
        case.done()
        if not sources and wanted.invalid is None and skip is None:
            raise case.error("object", " is required: a file, inline, or objects")
        return Case(
            name,
            ("spec", "cases", n),
            tuple(sources),
            own_rules or rules,
            self._admission(config, options),
            wanted,
            skip,
        )

    # ------------------------------------------------------------------------------ what is named

    def _rules(self, section: Section) -> tuple[str, ...]:
        paths = section.strings("rules")
        where = section.path("rules")
        return tuple(self._expanded(paths, where))

    def _expanded(self, paths: Sequence[str], where: str) -> Iterator[str]:
        for path in expand_paths(paths, where, self._base):
            if not os.path.exists(path.name):
                raise ConfigError(f"{where}: {path.name} does not exist")
            yield os.path.normpath(path.name)

    def text(self, path: str, where: str) -> Text:
        """A file that the suite names. Raises ConfigError."""
        (name,) = self._expanded((path,), where)
        if name not in self._texts or name == self._file:
            try:
                self._texts[name] = Text(name, read_file(name))
            except InputError as error:
                raise ConfigError(f"{where}: {name}: {error.message}") from None
        return self._texts[name]

    def _files(self, pattern: str) -> Iterator[Source]:
        for name in self._expanded((pattern,), "spec.objects"):
            for file in manifests(name):
                path = os.path.relpath(file, self._base.folder)
                yield Source(self.text(path, "spec.objects"))

    def _sources(self, case: Section, shared: Sequence[Source]) -> list[Source]:
        given = [name for name in ("object", "objects") if name in case]
        if len(given) == 2:
            raise case.error("objects", ": give object or objects")
        one, several = case.raw("object"), case.raw("objects")
        if several is not None and type(several) is not list:
            raise case.error("objects", " must be a list")
        values = several if several is not None else [] if one is None else [one]
        field = given[0] if given else "object"
        return [
            self._source(value, f"{field}[{n}]" if several is not None else field, case, shared)
            for n, value in enumerate(values)
        ]

    def _source(self, value: Any, field: str, case: Section, shared: Sequence[Source]) -> Source:
        where = case.path(field)
        if type(value) is str:
            if not value.endswith((".yaml", ".yml", ".json")):
                kind, _, name = value.rpartition("/")
                return self._shared(kind, name, where, shared)
            return Source(self.text(value, where))
        inner = Section(value, where, case.where)
        inline, file, name = (inner.string(key) for key in ("inline", "file", "name"))
        inner.done()
        if bool(inline) == bool(file):
            raise inner.error("file", ": give file or inline")
        text = Text(where, inline.encode()) if inline else self.text(file, inner.path("file"))
        kind, _, short = name.rpartition("/")
        return Source(text, kind, short)

    def _shared(self, kind: str, name: str, where: str, shared: Sequence[Source]) -> Source:
        known: list[str] = []
        for source in shared:
            for item in read_stream(source.text.data, source.text.name).items:
                known.append(f"{item.head.kind}/{item.head.name}")
                if (kind or item.head.kind, name) == (item.head.kind, item.head.name):
                    return Source(source.text, item.head.kind, name)
        wanted = f"{kind}/{name}" if kind else name
        hint = did_you_mean(wanted, known) or f"; there are {', '.join(known) or 'none'}"
        raise ConfigError(f"{where}: no object {wanted} in spec.objects{hint}")

    # ------------------------------------------------------------------------------------ options

    def _context(self, case: Section) -> Json:
        """The context of a case, with what it names by files put in."""
        context = _mapping(case, "context")
        where = case.path("context")
        objects = list(context.get("objects") or ())
        for n, param in enumerate(context.pop("params", None) or ()):
            if type(param) is str:
                text = self.text(param, f"{where}.params[{n}]")
                objects += [item.value for item in read_stream(text.data, text.name).items]
            else:
                objects.append(param)
        if objects:
            context["objects"] = objects
        old = context.pop("oldObjects", None) or context.pop("oldObject", None)
        if old is not None:
            paths = [old] if type(old) is str else old
            if type(paths) is not list or any(type(path) is not str for path in paths):
                raise ConfigError(f"{where}.oldObject: give a file, or a list of files")
            for path in paths:
                self.text(path, f"{where}.oldObject")
            context["oldObjects"] = {"paths": paths}
            context.setdefault("operation", "UPDATE")
        return context

    def _admission(self, config: str, spec: Json) -> Options:
        """The options of a case: those of the Admission, the suite's, its own."""
        base, own = self._base, {}
        where = self._file
        if config:
            text = self.text(config, "spec.config")
            items = read_stream(text.data, text.name).items
            if len(items) != 1:
                raise ConfigError("must hold one Admission and nothing else", text.name)
            value = items[0].read_as(UNDECIDED)
            own = _plain(value.get("spec"))
            base, where = base_of(text.name), text.name
            old = spec["context"].get("oldObjects")
            if old:
                paths = [os.path.relpath(self._base.join(p), base.folder) for p in old["paths"]]
                spec = {**spec, "context": {**spec["context"], "oldObjects": {"paths": paths}}}
        merged = {**own, **spec}
        merged["context"] = {**_plain(own.get("context")), **spec["context"]}
        document = {"apiVersion": API_VERSION, "kind": "Admission", "spec": merged}
        return _for_cases(from_document(document, where, base))

    # ------------------------------------------------------------------------------- expectations

    def _expectation(self, expect: Section) -> Expectation:
        invalid = expect.raw("invalid")
        messages = None
        if "messages" in expect:
            messages = tuple(_message(section) for section in expect.sections("messages"))
        expect.raw("messages")
        each: dict[str, ExpectedObject] = {}
        inner = expect.raw("each") or {}
        if type(inner) is not dict:
            raise expect.error("each", " must be a map from KIND/NAME")
        for name in inner:
            section = Section(inner[name], expect.path(f"each.{name}"), expect.where)
            each[name] = _object(section)
            section.done()
        objects = None
        if "object" in expect:
            value = expect.raw("object")
            where = expect.path("object")
            if type(value) is str:
                objects = self.text(value, where)
            else:
                section = Section(value, where, expect.where)
                objects = Text(where, section.string("inline").encode())
                section.done()
        expect.raw("object")
        rules = frozenset(expect.strings("rules")) if "rules" in expect else None
        expect.raw("rules")
        return Expectation(
            _object(expect),
            each,
            objects,
            messages,
            rules,
            expect.boolean("idempotent", True),
            _matcher(invalid, expect, "invalid") if invalid is not None else None,
        )


def _excuse(section: Section) -> Excuse:
    excuse = Excuse(*(section.string(name) for name in Excuse._fields))
    section.done()
    for name, value in zip(Excuse._fields, excuse, strict=True):
        if not value:
            raise section.error(name, " is required")
    return excuse


def _object(section: Section) -> ExpectedObject:
    outcome = section.choice("outcome", ExpectedOutcome.CHANGED) if "outcome" in section else None
    section.raw("outcome")
    fields = section.raw("fields") or {}
    if type(fields) is not dict:
        raise section.error("fields", " must be a map from JSONPath to a value or a matcher")
    patch = section.raw("patch")
    if patch is not None and (
        type(patch) is not list or not all(type(one) is dict for one in patch)
    ):
        raise section.error("patch", " must be a list of JSON patch operations")
    return ExpectedObject(
        outcome,
        {path: _matcher(value, section, "fields") for path, value in fields.items()},
        tuple(patch) if patch is not None else None,
    )


def _message(section: Section) -> ExpectedMessage:
    given = section.raw("text")
    shorthand = {
        name: section.raw(name) for name in ("matches", "contains", "equals") if name in section
    }
    message = ExpectedMessage(
        _matcher(given if given is not None else shorthand, section, "text"),
        section.string("rule"),
        section.string("severity"),
    )
    for name in ("matches", "contains", "equals"):
        section.raw(name)
    section.done()
    if message.severity not in ("", "error", "warning", "info"):
        raise section.error("severity", f": {message.severity} is not error, warning or info")
    if given is None and not shorthand:
        raise section.error("matches", " is required: what the message says")
    return message


def _matcher(value: Any, section: Section, field: str) -> Any:
    try:
        return matcher(value)
    except ConfigError as error:
        raise section.error(field, f": {error.message}") from None


def _mapping(section: Section, name: str) -> Json:
    """A map that somebody else reads: words stay undecided."""
    value = section.section(name).members
    return dict(value)


def _plain(value: Any) -> Json:
    return value if type(value) is dict else {}


def _for_cases(options: Options) -> Options:
    """The options under which cases run: what would come of an object is made, so that it can be
    compared, and a result that would change again is a finding, so that a case can expect it."""
    if options.idempotency is Idempotency.FAIL:
        options = options._replace(idempotency=Idempotency.WARN)
    return options._replace(mode=Mode.MUTATE) if options.mode is Mode.VALIDATE else options
