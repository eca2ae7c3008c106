"""The configuration of a run on the command line: a file's or a functionConfig's, and flags."""

from __future__ import annotations

import os
from typing import Any

from krm_fn.cli.flags import Flags, word
from krm_fn.config.dialects import BUILT_IN
from krm_fn.config.fields import Section
from krm_fn.config.options import (
    Context,
    Idempotency,
    Mode,
    ObjectForm,
    OnEmpty,
    OnReject,
    OnRuleError,
    Options,
    PodTemplates,
    from_file,
    from_function_config,
    release_of,
)
from krm_fn.errors import ConfigError, InputError
from krm_fn.system.files import looked_in
from krm_fn.system.reading import read_file
from krm_fn.wire import Item, read_stream


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
    context = options.context
    if flags.namespace:
        context = context._replace(default_namespace=flags.namespace)
    given["context"] = with_release(context, flags.kubernetes_version)
    return options._replace(**given)


def with_release(context: Context, version: str | None) -> Context:
    """The context with what --kubernetes-version says. Raises ConfigError."""
    if not version:
        return context
    try:
        return context._replace(kubernetes_version=release_of(version))
    except ValueError as error:
        raise ConfigError(f"--kubernetes-version: {error}") from None


def with_admission_plugins(options: Options, enable: str | None, disable: str | None) -> Options:
    """The options with what flags say of the API server's own plugins: names with commas."""
    lists = {
        name: [one.strip() for one in names.split(",") if one.strip()]
        for name, names in (("enable", enable), ("disable", disable))
        if names is not None
    }
    return _with_section(options, BUILT_IN, lists) if lists else options


def counting_quotas(options: Options) -> Options:
    """The options with which the API server's own plugins take part, and Pods of templates."""
    if options.pod_templates is PodTemplates.IGNORE:
        options = options._replace(pod_templates=PodTemplates.PREVIEW)
    return _with_section(options, BUILT_IN, {})


def _with_section(options: Options, name: str, members: dict[str, Any]) -> Options:
    section = options.sections.get(name) or Section({}, name)
    return options._replace(sections={**options.sections, name: section.replaced(members)})


def read_options(name: str) -> Options:
    """The Admission in a file. Raises ConfigError."""
    try:
        stream = read_stream(read_file(name), name)
        if len(stream.items) != 1:
            raise ConfigError("must hold one Admission and nothing else", name)
        return from_file(name, stream.items[0])
    except InputError as problem:
        missing = f" {looked_in()}" if not os.path.exists(name) else ""
        raise ConfigError(f"{problem}{missing}") from None
