"""Admission as a function: objects and rules in, a report out. No process, no streams, no exit.

The face of it is the package: `krm_fn.admit`. It stands where the command line stands, and knows no
more than it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from krm_fn import limits
from krm_fn.config.options import Inline, Options, from_document, from_spec
from krm_fn.config.sources import Stage
from krm_fn.errors import ConfigError, InputError
from krm_fn.report.explanation import Explanation
from krm_fn.report.model import ObjectReport, Outcome, Report
from krm_fn.run.admit import admit as admit_streams
from krm_fn.run.admit import stages_of
from krm_fn.run.explain import explain as explain_streams
from krm_fn.sdk.object import yaml_of
from krm_fn.system.paths import WORKING_DIRECTORY, base_of, manifests
from krm_fn.system.reading import read_file
from krm_fn.wire import Stream, read_stream
from krm_fn.wire.words import UNDECIDED

Source = Mapping[str, Any] | str | bytes | os.PathLike[str]
"""An object as a mapping; YAML or JSON as text; or the path of a file or a directory."""
Sources = Source | Iterable[Source]

NO_RULES: Final = "no rule anywhere: give some as rules, or objects with rules among them"


def admit(
    objects: Sources,
    rules: Sources = (),
    *,
    namespace: str = "",
    config: Source | None = None,
    **options: Any,
) -> Report:
    """Admit objects by rules, as a cluster would, and return what became of each.

    `objects` and `rules` are mappings, YAML or JSON text, paths (`pathlib.Path`) of files and
    directories, or several of these. Without rules, those among the objects count. Nothing that is
    given is changed: iterating over the report yields an `ObjectReport` for each object, in order,
    with `object` (as admitted), `denied`, `findings` and `changes`; `report.to_yaml()` is the text
    with the changes in it.

    `namespace` is that of objects and rules without one. `config` is an Admission
    (krm-fn.dev/v1alpha1), and `options` are members of its spec, which win over it: `mode="Audit"`,
    `on_reject="Warn"`, `context={"kubernetesVersion": "1.34"}`.

    Raises InputError for objects that cannot be read, RuleError for rules that cannot be read or
    compiled, ConfigError for options and paths, RunLimitError for rules that do too much. Reads no
    file but those that are named, and nothing of the environment; may be called in threads.
    Source: docs/library.md.
    """
    with limits.deep_stack():
        streams, stages = _read(objects, rules, namespace, config, options)
        report = admit_streams(streams, stages)
    said = {entry.item: entry for entry in report.objects}
    report.objects = [
        said.get(item) or ObjectReport(item, item.head.namespace, Outcome.UNCHANGED)
        for stream in streams
        for item in stream.items
    ]
    return report


def explain(
    objects: Sources,
    rules: Sources = (),
    *,
    namespace: str = "",
    config: Source | None = None,
    **options: Any,
) -> Explanation:
    """Say of every object and every rule why the rule matched the object, or did not.

    Takes what `admit` takes, and raises what it raises. `explanation.objects` have `rules`, each
    with an `outcome` and `criteria`; `explanation.rule("deployment/web", "images")` is one of them.
    Source: docs/explain.md.
    """
    with limits.deep_stack():
        return explain_streams(*_read(objects, rules, namespace, config, options))


def _read(
    objects: Sources,
    rules: Sources,
    namespace: str,
    config: Source | None,
    options: Mapping[str, Any],
) -> tuple[list[Stream], list[Stage]]:
    """The streams of objects, and the stages of rules."""
    streams = list(_streams(_several(objects, "objects")))
    settings = _options(config, options, namespace)
    inline, paths = _rules(_several(rules, "rules"))
    settings = settings._replace(rules=(*settings.rules, *inline))
    try:
        return streams, stages_of(settings, streams, paths)
    except ConfigError as error:
        if error.details:  # the example of a functionConfig is for other callers
            raise ConfigError(NO_RULES) from None
        raise


def _several(sources: Sources, name: str) -> list[tuple[str, Source]]:
    """Each source with its place: `objects` for the only one, else `objects[2]`."""
    if isinstance(sources, Mapping | str | bytes) or not isinstance(sources, Iterable):
        return [(name, sources)]
    return [(f"{name}[{n}]", source) for n, source in enumerate(sources)]


def _streams(sources: Iterable[tuple[str, Source]]) -> Iterator[Stream]:
    for place, source in sources:
        if isinstance(source, Mapping):
            yield _of_mapping(source, place)
        elif isinstance(source, str | bytes):
            try:
                yield read_stream(_encoded(source), place)
            except InputError as error:
                raise _with_hint(error, source) from None
        elif isinstance(source, os.PathLike):
            yield from _of_path(source, place)
        else:
            raise InputError(f"{_kind(source)} is neither a mapping, a text nor a path", place)


def _of_mapping(source: Mapping[str, Any], place: str) -> Stream:
    try:
        stream = read_stream(yaml_of(source).encode())
    except InputError as error:
        raise InputError(error.message, place) from None
    for item in stream.items:
        item.place = place if len(stream.items) == 1 else f"{place} {item.place}"
    return stream


def _of_path(source: os.PathLike[str], place: str) -> Iterator[Stream]:
    path = os.fspath(source)
    if not os.path.exists(path):
        raise InputError(f"{path} does not exist", place)
    for name in manifests(path):
        try:
            data = read_file(name)
        except InputError as error:
            raise error.at(name) from None
        yield read_stream(data, name)


def _rules(sources: Iterable[tuple[str, Source]]) -> tuple[list[Inline], list[str]]:
    """Rules as text, and the paths of others."""
    inline: list[Inline] = []
    paths: list[str] = []
    for place, source in sources:
        if isinstance(source, Mapping):
            try:
                text = yaml_of(source)
            except InputError as error:
                raise ConfigError(error.message, place) from None
            inline.append(Inline(text, place, lines=False))
        elif isinstance(source, str | bytes):
            try:
                inline.append(Inline(_encoded(source).decode(), place))
            except UnicodeDecodeError:
                raise ConfigError("is no UTF-8", place) from None
        elif isinstance(source, os.PathLike):
            paths.append(os.fspath(source))
        else:
            raise ConfigError(f"{_kind(source)} is neither a mapping, a text nor a path", place)
    return inline, paths


def _options(config: Source | None, given: Mapping[str, Any], namespace: str) -> Options:
    """The options of a configuration, with those that were given in their place."""
    spec = {_camel(name): value for name, value in given.items()}
    options = from_spec(spec, "options") if config is None else _configured(config, spec)
    if options.limits.timeout is not None:
        raise ConfigError("limits.timeout ends a process, which a library must not do; remove it")
    if namespace:
        context = options.context._replace(default_namespace=namespace)
        options = options._replace(context=context)
    return options


def _configured(config: Source, spec: Mapping[str, Any]) -> Options:
    """The options of an Admission. Raises ConfigError."""
    try:
        streams = list(_streams([("config", config)]))
    except InputError as error:
        raise ConfigError(error.message, error.where) from None
    items = [item for stream in streams for item in stream.items]
    if len(items) != 1:
        raise ConfigError("config must be one Admission and nothing else")
    value = items[0].read_as(UNDECIDED)
    own = value.get("spec")
    value = {**value, "spec": {**(own if type(own) is dict else {}), **spec}}
    base = WORKING_DIRECTORY
    if isinstance(config, os.PathLike):
        base = base_of(os.fspath(config))
    return from_document(value, items[0].stream.name or "config", base)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def _encoded(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _kind(source: object) -> str:
    return f"what is of type {type(source).__name__}"


def _with_hint(error: InputError, source: str | bytes) -> InputError:
    """The error, with what may be meant by a text of one word."""
    if isinstance(source, str) and len(source.split()) == 1:
        error.details = ("a str is YAML or JSON text; give a path as pathlib.Path",)
    return error
