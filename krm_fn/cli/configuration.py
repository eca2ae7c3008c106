"""The configuration of a run on the command line: a file's or a functionConfig's, and flags."""

from __future__ import annotations

from typing import Any

from krm_fn.cli.flags import Flags, word
from krm_fn.config.dialects import BUILT_IN
from krm_fn.config.fields import Section
from krm_fn.config.options import (
    Idempotency,
    Mode,
    ObjectForm,
    OnEmpty,
    OnReject,
    OnRuleError,
    Options,
    PodTemplates,
    from_document,
    from_function_config,
)
from krm_fn.errors import ConfigError, InputError
from krm_fn.system.files import looked_in
from krm_fn.system.paths import base_of
from krm_fn.system.reading import read_file
from krm_fn.wire import Item, read_stream
from krm_fn.wire.words import UNDECIDED


def options_of(flags: Flags, function_config: Item | None = None) -> Options:
    """The configuration: that of the file or the functionConfig, with what the options say."""
    options = from_function_config(function_config)
    if flags.config:
        options = read_options(flags.config)
    given: dict[str, Any] = {
        name: word(words, value)
        for name, words, value in (
            ("mode", Mode, flags.mode),
            ("on_reject", OnReject, flags.on_reject),
            ("on_rule_error", OnRuleError, flags.on_rule_error),
            ("on_empty", OnEmpty, flags.on_empty),
            ("idempotency", Idempotency, flags.idempotency),
            ("object_form", ObjectForm, flags.object_form),
            ("pod_templates", PodTemplates, flags.pod_templates),
        )
        if value is not None
    }
    if flags.strict:
        given["strict"] = True
    bounds = {
        name: bound
        for name, bound in (("fuel", flags.fuel), ("memory", flags.memory))
        if bound is not None
    }
    if bounds:
        options = _with_section(options, "kubewarden", bounds)
    options = with_admission_plugins(
        options, flags.enable_admission_plugins, flags.disable_admission_plugins
    )
    if flags.write_defaults:
        given["write_defaults"] = True
    if flags.namespace:
        given["context"] = options.context._replace(default_namespace=flags.namespace)
    return options._replace(**given)


def with_admission_plugins(options: Options, enable: str | None, disable: str | None) -> Options:
    """The options with what flags say of the API server's own plugins: names with commas."""
    lists = {
        name: [one.strip() for one in names.split(",") if one.strip()]
        for name, names in (("enable", enable), ("disable", disable))
        if names is not None
    }
    return _with_section(options, BUILT_IN, lists) if lists else options


def _with_section(options: Options, name: str, members: dict[str, Any]) -> Options:
    section = options.sections.get(name) or Section({}, name)
    return options._replace(sections={**options.sections, name: section.replaced(members)})


def read_options(name: str) -> Options:
    """The Admission in a file. Raises ConfigError."""
    stream = read_stream(_read(name), name)
    if len(stream.items) != 1:
        raise ConfigError("must hold one Admission and nothing else", name)
    return from_document(stream.items[0].read_as(UNDECIDED), name, base_of(name))


def _read(name: str) -> bytes:
    try:
        return read_file(name)
    except InputError as problem:
        raise ConfigError(f"{problem.message} {looked_in()}", name) from None
