"""Where rules come from: inline text, files, items; the same rule from two places.

A function reads no file but those that its configuration names, relative to the working directory
or below `/rules` (an image's mount point), and nothing that leads out of there: neither `..` nor a
symbolic link. On the command line the user names the paths, and any will do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from krm_fn.admission import Rule, RuleRef
from krm_fn.admission.views import HiddenAnnotations
from krm_fn.config.admission import Admission, FromItems, Inline, Itself, Paths
from krm_fn.config.dialects import dialect_of, misspelt_kind, reader_of
from krm_fn.errors import ConfigError, InputError, RuleError, did_you_mean
from krm_fn.kube.selectors import texts
from krm_fn.values import Json, equal
from krm_fn.wire import Item, Origin, read_stream

IMAGE_RULES: Final = "KRM_FN_IMAGE_RULES"
_MOUNT: Final = "/rules"
_SUFFIXES: Final = (".yaml", ".yml", ".json")


@dataclass(slots=True)
class RuleSet:
    """The rules of a run, in the order in which they were found, and what came with them."""

    rules: list[Rule] = field(default_factory=list)
    readable: list[Rule] = field(default_factory=list)
    """What says how rules apply: bindings."""
    objects: list[Json] = field(default_factory=list)
    """Objects in rule sources that are no rules: what rules may refer to."""
    _known: dict[tuple[str, str, str, str], Rule] = field(default_factory=dict)

    def add(self, item: Item, origin: Origin) -> None:
        """Take a rule, or what says how rules apply.

        The same one from two places counts once, another of its name is wrong.
        """
        is_rule = dialect_of(item.head) is not None
        entry = dialect_of(item.head) or reader_of(item.head)
        assert entry is not None
        head = item.head
        ref = RuleRef(entry.name, head.kind, head.namespace, head.name, origin=origin)
        rule = Rule(ref, HiddenAnnotations().get(item.value), item.line)
        key = (head.group, head.kind, head.namespace, head.name)
        other = self._known.get(key)
        if other is None:
            self._known[key] = rule
            (self.rules if is_rule else self.readable).append(rule)
        elif not equal(other.value, rule.value):
            raise RuleError(
                f"{ref} is there twice with different contents: {other.ref.origin} and {origin}; "
                "rename one or remove it"
            )

    def add_documents(self, data: bytes, name: str, origin_name: str = "") -> int:
        """Take all rules of a text; answers how many there are. Raises RuleError."""
        try:
            stream = read_stream(data, name)
            found = 0
            for item in stream.items:
                if dialect_of(item.head) is not None or reader_of(item.head) is not None:
                    origin = Origin(origin_name or name, line=item.line())
                    self.add(item, origin)
                    found += 1
                else:
                    _refuse_misspelt(item, name)
                    self.objects.append(item.value)
        except InputError as error:
            raise RuleError(str(error)) from None
        return found


def collect(
    admission: Admission,
    items: Sequence[Item],
    function_config: Item | None,
    image_rules: str = "",
    extra_paths: Sequence[str] = (),
) -> RuleSet:
    """All rules of a run. `extra_paths` are the command line's, which may be anywhere.

    Without any source the rules are those among the items, and those in the image. Raises
    ConfigError and RuleError.
    """
    rules = RuleSet()
    candidates = [item for item in items if dialect_of(item.head) is not None]
    if function_config is not None:
        candidates = [item for item in candidates if not _is_twin(item, function_config)]
    for source in admission.rules:
        if isinstance(source, Itself):
            rules.add(source.item, Origin(place="functionConfig"))
        elif isinstance(source, Inline):
            where = f"functionConfig {source.path}"
            if not rules.add_documents(source.text.encode(), where):
                raise ConfigError(f"{source.path} holds no rule", "functionConfig")
        elif isinstance(source, Paths):
            _add_paths(rules, source.paths, source.path)
        else:
            for item in _selected(candidates, source):
                rules.add(item, item.origin)
    for path in extra_paths:
        _add_files(rules, path, path)
    if not admission.rules and not extra_paths:
        for item in candidates:
            rules.add(item, item.origin)
    for item in items:
        if reader_of(item.head) is not None:
            rules.add(item, item.origin)
    if image_rules:
        _add_files(rules, image_rules, image_rules)
    return rules


def is_twin(item: Item, function_config: Item | None) -> bool:
    """Whether an item is the functionConfig once more, as kpt sends it along."""
    return function_config is not None and _is_twin(item, function_config)


def _is_twin(item: Item, function_config: Item) -> bool:
    if item.head != function_config.head:
        return False
    shown = HiddenAnnotations().get
    return equal(shown(item.value), shown(function_config.value))


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


def _add_paths(rules: RuleSet, paths: Sequence[str], where: str) -> None:
    """Files, directories and globs that a functionConfig names."""
    for match in expand_paths(paths, where):
        _add_files(rules, match, where, checked=True)


def expand_paths(paths: Sequence[str], where: str) -> Iterator[str]:
    """What the paths and globs of a functionConfig name; nothing outside the tree.

    `where` is the field, for messages. Raises ConfigError.
    """
    import glob  # where no path is named, it is not needed

    for path in paths:
        _check_inside(path, where)
        matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else [path]
        if not matches:
            raise ConfigError(f"{where}: nothing matches {path} in {os.getcwd()}")
        for match in matches:
            check_real(match, where)
            yield match


def _check_inside(path: str, where: str) -> None:
    parts = path.replace("\\", "/").split("/")
    if ".." in parts:
        raise ConfigError(f"{where}: {path} leaves the tree; paths have no `..`")
    below_mount = os.path.normpath(path).startswith(_MOUNT + os.sep)
    if os.path.isabs(path) and not below_mount and os.path.normpath(path) != _MOUNT:
        raise ConfigError(
            f"{where}: {path} is absolute; a path is relative to the working directory "
            f"({os.getcwd()}), or below {_MOUNT}"
        )


def check_real(path: str, where: str) -> None:
    """Refuse a path that a symbolic link leads out of the tree. Raises ConfigError."""
    real = os.path.realpath(path)
    root = os.path.realpath(_MOUNT if os.path.isabs(path) else os.getcwd())
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        raise ConfigError(f"{where}: {path} leads out of {root} by a symbolic link")


def _add_files(rules: RuleSet, path: str, where: str, checked: bool = False) -> None:
    """Take the rules of a file, or of all manifests in a directory and below."""
    if not os.path.exists(path):
        place = f"{where}: " if where != path else ""
        raise ConfigError(f"{place}{path} does not exist (looked in {os.getcwd()})")
    found = 0
    for name in manifests(path):
        if checked:
            check_real(name, where)
        try:
            with open(name, "rb") as file:
                data = file.read()
        except OSError as error:
            raise ConfigError(f"{error.strerror}", name) from None
        found += rules.add_documents(data, name)
    if not found:
        raise ConfigError(f"{path} holds no rule (looked in {os.getcwd()})")


def manifests(path: str) -> Iterator[str]:
    """A file, or the manifests in a directory and below, sorted; no dot folders."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(_SUFFIXES) and not name.startswith("."):
                yield os.path.join(folder, name)
