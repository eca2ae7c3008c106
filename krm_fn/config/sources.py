"""Where rules come from, and whose they are: one stage of a run for each owner.

Rules of different owners are not mixed: the least trusted ones run first, each stage over the
result of the one before, so that nobody but the operator decides what becomes of the operator's
denials. Which files may be read is told by `krm_fn.system.paths`.
Source: docs/trust.md, "Stages".
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from krm_fn.admission import Cause, Finding, Rule, RuleRef
from krm_fn.admission.views import HiddenAnnotations
from krm_fn.config.dialects import BUILT_IN, dialect_of, is_configuration, misspelt_kind, reader_of
from krm_fn.config.found import read_found
from krm_fn.config.options import (
    API_VERSION,
    FromItems,
    Inline,
    Itself,
    Options,
    Paths,
    from_file,
)
from krm_fn.errors import ConfigError, InputError, RuleError, did_you_mean
from krm_fn.kube.selectors import texts
from krm_fn.system.files import looked_in
from krm_fn.system.folders import LeftOut, Unreadable, walk
from krm_fn.system.paths import (
    WORKING_DIRECTORY,
    Base,
    base_of,
    check_inside,
    expand_paths,
    manifests,
    twins_here,
)
from krm_fn.system.reading import read_file
from krm_fn.values import Json, equal
from krm_fn.wire import Item, Origin, Stream, read_stream
from krm_fn.wire.words import KUBECTL, TEXTS

IMAGE_RULES: Final = "KRM_FN_IMAGE_RULES"


_STATIC_VERSION: Final = "admissionregistration.k8s.io/v1"


@dataclass(slots=True)
class RuleSet:
    """The rules of a run, in the order in which they were found, and what came with them."""

    rules: list[Rule] = field(default_factory=list)
    bindings: list[Rule] = field(default_factory=list)
    """What says how rules apply: bindings."""
    objects: list[Json] = field(default_factory=list)
    """Objects in rule sources that are no rules: what rules may refer to."""
    configurations: list[Item] = field(default_factory=list)
    """Admissions in rule sources; those beside an image's rules say how they are meant."""
    findings: list[Finding] = field(default_factory=list)
    size: int = 0
    """The bytes that were read from files."""
    files: int = 0
    """The files that hold rules."""
    _known: dict[tuple[str, str, str, str], Rule] = field(default_factory=dict)

    def add(
        self,
        item: Item,
        origin: Origin,
        *,
        base: Base = WORKING_DIRECTORY,
        from_items: bool = False,
        static: bool = False,
    ) -> None:
        """Take a rule, or what says how rules apply.

        The same one from two places counts once, another of its name is wrong. A binding among the
        items gives way to one of its name that comes with the rules.
        """
        is_rule = dialect_of(item.head) is not None
        entry = dialect_of(item.head) or reader_of(item.head)
        assert entry is not None
        head = item.head
        ref = RuleRef(entry.name, head.kind, head.namespace, head.name, origin=origin)
        value = HiddenAnnotations().get(item.read_as(KUBECTL))
        rule = Rule(ref, value, item.line, base=base, from_items=from_items, static=static)
        key = _key(rule)
        other = self._known.get(key)
        if other is None:
            self._known[key] = rule
            (self.rules if is_rule else self.bindings).append(rule)
        elif equal(other.value, rule.value):
            return
        elif from_items and not other.from_items:
            message = f"stands; {origin} has another one among the items"
            self.findings.append(Finding(Cause.WARNING, False, message, (other.ref,)))
        else:
            raise RuleError(
                f"{ref} is there twice with different contents: {other.ref.origin} and {origin}; "
                "rename one or remove it"
            )

    def add_stream(
        self, stream: Stream, *, base: Base = WORKING_DIRECTORY, lines: bool = True
    ) -> int:
        """Take all rules of a text; returns how many there are.

        Without `lines` a rule's place is the text's name alone. Raises RuleError, and InputError
        for what cannot be read.
        """
        found = 0
        name = stream.name
        for item in stream.items:
            if dialect_of(item.head) is not None or reader_of(item.head) is not None:
                origin = Origin(name, line=item.line()) if lines else Origin(place=name)
                self.add(item, origin, base=base)
                found += 1
            elif item.head.api_version == API_VERSION:
                if item.head.kind != "Suite":  # tests of the rules that it stands beside
                    self.configurations.append(item)
            else:
                _refuse_misspelt(item, name)
                self.objects.append(item.value)
        return found

    def add_static(self, data: bytes, name: str) -> None:
        """Take what an API server reads from a file when it starts. Raises RuleError."""
        try:
            for item in read_stream(data, name).items:
                if not is_configuration(item.head) or item.head.api_version != _STATIC_VERSION:
                    raise RuleError(
                        f"{name}:{item.line()}: {item.head.api_version} {item.head.kind} is no "
                        "static manifest: only policies and their bindings are, of "
                        f"{_STATIC_VERSION}"
                    )
                self.add(item, Origin(name, line=item.line()), static=True)
        except InputError as error:
            raise RuleError(str(error)) from None

    @property
    def has_static(self) -> bool:
        """Whether there are policies that are asked about policies and bindings."""
        return any(rule.static for rule in self.rules)

    def leave_to(self, other: RuleSet) -> None:
        """Remove the rules that `other` has, too: what a later stage brings counts there."""
        self.rules = [rule for rule in self.rules if not other.has(rule)]

    def has(self, rule: Rule) -> bool:
        """Whether the very same rule is among these."""
        mine = self._known.get(_key(rule))
        return mine is not None and equal(mine.value, rule.value)


def _key(rule: Rule) -> tuple[str, str, str, str]:
    return rule.ref.dialect, rule.ref.kind, rule.ref.namespace, rule.ref.name


class Stage(NamedTuple):
    """The rules of one owner, with how they are meant."""

    options: Options
    rules: RuleSet
    is_image: bool = False
    """Whether an image brings them, which knows no functionConfig."""

    @property
    def asks(self) -> bool:
        """Whether it asks for anything: it has rules, or asks for the API server's own plugins."""
        return bool(self.rules.rules) or BUILT_IN in self.options.sections


def collect(
    options: Options,
    items: Sequence[Item],
    function_config: Item | None = None,
    extra_paths: Sequence[str] = (),
) -> RuleSet:
    """The rules of a configuration. `extra_paths` are the command line's, which may be anywhere.

    Without any source the rules are those among the items. Raises ConfigError and RuleError.
    """
    rules = RuleSet()
    candidates = [item for item in items if dialect_of(item.head) is not None]
    if function_config is not None:
        candidates = [item for item in candidates if not _is_twin(item, function_config)]
    for source in options.rules:
        if isinstance(source, Itself):
            rules.add(source.item, Origin(place="functionConfig"))
        elif isinstance(source, Inline):
            name = f"{source.where} {source.path}".strip()
            try:
                stream = read_stream(source.text.encode(), name)
                found = rules.add_stream(stream, base=options.base, lines=source.lines)
            except InputError as error:
                raise RuleError(str(error)) from None
            if not found:
                raise ConfigError(f"{source.path} holds no rule", source.where)
        elif isinstance(source, Paths):
            _add_paths(rules, source, options)
        else:
            for item in _selected(candidates, source):
                rules.add(item, item.origin, from_items=True)
    for path in extra_paths:
        _add_files(rules, path, path, None)
    _add_static(rules, options)
    if not options.rules and not extra_paths:
        for item in candidates:
            rules.add(item, item.origin, from_items=True)
    for item in items:
        if reader_of(item.head) is not None:
            rules.add(item, item.origin, from_items=not options.bindings_from_items)
    return rules


def image_stage(path: str) -> Stage:
    """The rules that an image brings, from a directory of it, and their own options.

    These are an Admission (without sources of rules) among them, or the defaults: no functionConfig
    changes how an image's rules are meant. Raises ConfigError and RuleError.
    """
    rules = RuleSet()
    _add_files(rules, path, path, None)
    if len(rules.configurations) > 1:
        places = " and ".join(str(item.origin) for item in rules.configurations)
        raise ConfigError(f"{path} holds two Admissions ({places}); an image has one")
    options = Options()
    for item in rules.configurations:
        name = item.origin.file
        options = from_file(name, item)
        if options.rules:
            raise ConfigError(
                f"spec.rules: the rules of an image are the files in {path}; remove it", name
            )
    return Stage(options, rules, is_image=True)


def is_twin(item: Item, function_config: Item | None) -> bool:
    """Whether an item is the functionConfig once more, as kpt sends it along."""
    return function_config is not None and _is_twin(item, function_config)


def _is_twin(item: Item, function_config: Item) -> bool:
    if item.head != function_config.head:
        return False
    shown = HiddenAnnotations().get
    # Not by their values: what is known of their types may differ from one to the other.
    return equal(shown(item.read_as(TEXTS)), shown(function_config.read_as(TEXTS)))


def _selected(items: Iterable[Item], source: FromItems) -> Iterator[Item]:
    for item in items:
        metadata = item.value.get("metadata")
        labels = metadata.get("labels") if type(metadata) is dict else None
        if source.selector.matches(texts(labels)):
            yield item


def _refuse_misspelt(item: Item, name: str) -> None:
    entry = misspelt_kind(item.head)
    if entry is not None:
        hint = did_you_mean(item.head.kind, entry.kinds) or f"; known: {', '.join(entry.kinds)}"
        raise RuleError(
            f"{item.head.api_version} has no kind {item.head.kind}{hint}", f"{name}:{item.line()}"
        )


# ------------------------------------------------------------------------------------------ files


def _add_paths(rules: RuleSet, source: Paths, options: Options) -> None:
    """Files, directories and globs that a configuration names."""
    base = None if options.base.folder else WORKING_DIRECTORY
    for path in expand_paths(source.paths, source.path, options.base):
        _add_files(rules, path.name, source.path, base, root=path.root)
    for twin in twins_here(source.paths, options.base):
        message = (
            f"{source.path}: {twin} is {options.base.join(twin)}, beside the file that names it, "
            "and not the one in the working directory"
        )
        rules.findings.append(Finding(Cause.NOTE, False, message))


def _add_files(
    rules: RuleSet, path: str, where: str, base: Base | None, *, root: str | None = None
) -> None:
    """Take the rules of a file, or of all manifests in a directory and below.

    `base` is where relative paths in the rules start; None is the folder of each file.
    """
    if not os.path.exists(path):
        place = f"{where}: " if where != path else ""
        raise ConfigError(f"{place}{path} does not exist {looked_in()}")
    found = 0
    others: list[str] = []
    problems: list[str] = []
    for name in _found(path, others, problems):
        if root is not None:
            check_inside(name, root, where)
        try:
            stream = read_found(name) if os.path.isdir(path) else read_stream(read_file(name), name)
            if stream is None or (stream.others and not stream.items):
                others.append(name)
                continue
            rules.size += len(stream.text)
            added = rules.add_stream(stream, base=base_of(name) if base is None else base)
            rules.files += bool(added)
            found += added
        except (InputError, RuleError) as error:
            problems.append(str(error))
    if problems:
        raise RuleError.of(problems)
    if not found:
        raise ConfigError(f"{path} holds no rule {looked_in()}")
    if others:
        message = f"{path}: skipped {', '.join(others)}: no rules, or left out by a .krmignore"
        rules.findings.append(Finding(Cause.NOTE, False, message))


def _found(path: str, others: list[str], problems: list[str]) -> Iterator[str]:
    """A file, or the manifests in a directory and below; what is left out goes to `others`."""
    if not os.path.isdir(path):
        yield path
        return
    for place in walk(path):
        if isinstance(place, LeftOut):
            others.append(place.path)
        elif isinstance(place, Unreadable):
            problems.append(str(place.error))
        else:
            yield place


def _add_static(rules: RuleSet, options: Options) -> None:
    """Files, and the files in directories but not below, as the API server reads them."""
    where = "spec.context.staticManifests"
    for path in expand_paths(options.context.static_manifests, where, options.base):
        if not os.path.exists(path.name):
            raise ConfigError(f"{where}: {path.name} does not exist {looked_in()}")
        for name in _manifests(path.name):
            if os.path.dirname(name) != path.name.rstrip(os.sep) and name != path.name:
                continue
            check_inside(name, path.root, where)
            try:
                data = read_file(name)
            except InputError as error:
                raise ConfigError(error.message, name) from None
            rules.size += len(data)
            rules.add_static(data, name)


def _manifests(path: str) -> Iterator[str]:
    try:
        yield from manifests(path)
    except InputError as error:
        raise ConfigError(error.message, error.where) from None
