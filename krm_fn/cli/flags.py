"""The options that commands on manifests share, as click has them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar

import click

from krm_fn.cli.inputs import STANDARD_INPUT, Sources
from krm_fn.config.options import (
    Idempotency,
    Mode,
    ObjectForm,
    OnEmpty,
    OnReject,
    OnRuleError,
    PodTemplates,
)
from krm_fn.system.deadline import seconds_of

Command = TypeVar("Command", bound=Callable[..., Any])
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Flags:
    """The options that all commands on manifests have."""

    rules: tuple[str, ...]
    namespace: str | None
    config: str | None
    kubernetes_version: str | None
    mode: str | None
    on_reject: str | None
    on_rule_error: str | None
    on_empty: str | None
    idempotency: str | None
    object_form: str | None
    pod_templates: str | None
    strict: bool
    enable_admission_plugins: str | None
    disable_admission_plugins: str | None
    write_defaults: bool
    fuel: int | None
    memory: int | None
    reports: tuple[str, ...]
    show_secrets: bool
    color: str
    timeout: float | None
    quiet: bool
    verbose: bool
    sources: Sources = STANDARD_INPUT
    require_objects: bool = False


def _duration(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """A duration as Go writes it, as seconds."""
    try:
        return None if text is None else seconds_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def word(words: type[Choice], value: str) -> Choice:
    """The member that an option names, whatever its case."""
    return next(word for word in words if word.value.lower() == value.lower())


def choice(words: type[StrEnum]) -> click.Choice[str]:
    """An option that takes one of these words."""
    return click.Choice([word.value for word in words], case_sensitive=False)


Options = Sequence[Callable[[Any], Any]]


_FILES: Final[Options] = [
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Leave out of directories what the pattern names, as in a .krmignore: tests/, "
        "'*.tpl.yaml'. Repeatable.",
    ),
    click.option(
        "--strict-files",
        is_flag=True,
        help="Read everything in directories that --exclude does not name: also what is no "
        "manifest, what a .krmignore names, and templates of charts.",
    ),
]

_SOURCES: Final[Options] = [
    click.option(
        "-f",
        "--filename",
        "filenames",
        multiple=True,
        metavar="FILE|DIR|GLOB|-",
        help="Manifests: a file, a directory (read recursively), a glob, or - for standard input. "
        "Repeatable; without it, standard input.",
    ),
    click.option(
        "-k", "--kustomize", metavar="DIR", help="Manifests: what kustomize builds from DIR."
    ),
    *_FILES,
]

_REQUIRE_OBJECTS: Final[Options] = [
    click.option("--require-objects", is_flag=True, help="Having no object to admit is an error."),
]

ADMISSION_PLUGINS: Final[Options] = [
    click.option(
        "--admission-plugins",
        "--enable-admission-plugins",
        "enable_admission_plugins",
        metavar="NAMES",
        help="The API server's own plugins: enable these beside its defaults. Without this option "
        "they take part where something of theirs is known (a LimitRange, a PriorityClass, a "
        "Namespace with pod-security labels).",
    ),
    click.option(
        "--disable-admission-plugins",
        metavar="NAMES",
        help="Disable these of the API server's own plugins; * disables all.",
    ),
]
"""Which of the API server's own plugins take part, by the names of kube-apiserver's flags."""

KUBERNETES_VERSION: Final = click.option(
    "--kubernetes-version",
    metavar="VERSION",
    help="The release whose schemas count, such as 1.34; without it, the newest known.",
)

_OPTIONS: Final[Options] = [
    click.option(
        "-r",
        "--rules",
        multiple=True,
        metavar="PATH",
        help="Rules: a file or directory. Repeatable; without it, the rules among the manifests.",
    ),
    click.option(
        "-n", "--namespace", metavar="NAME", help="The namespace of objects and rules without one."
    ),
    click.option(
        "--config", metavar="FILE", help="An Admission (krm-fn.dev/v1alpha1); flags win over it."
    ),
    KUBERNETES_VERSION,
    click.option("--mode", type=choice(Mode), help="What to do with edits and denials."),
    click.option("--on-reject", type=choice(OnReject), help="What a denial does."),
    click.option("--on-rule-error", type=choice(OnRuleError), help="What a rule that fails does."),
    click.option("--on-empty", type=choice(OnEmpty), help="Whether everything may be dropped."),
    click.option(
        "--idempotency", type=choice(Idempotency), help="Admit results once more, and compare."
    ),
    click.option(
        "--object-form",
        type=choice(ObjectForm),
        help="What rules see: the object as the API server shows it, or as it is written.",
    ),
    click.option(
        "--pod-templates",
        type=choice(PodTemplates),
        help="Whether templates are admitted as the Pods that controllers make of them.",
    ),
    click.option("--strict", is_flag=True, help="Parse also what no rule can match."),
    *ADMISSION_PLUGINS,
    click.option(
        "--write-defaults",
        is_flag=True,
        help="Write what the API server's own plugins set, which the cluster would set again.",
    ),
    click.option(
        "--fuel",
        type=click.IntRange(min=1),
        metavar="N",
        help="What one call of a WebAssembly policy may burn, about one an instruction.",
    ),
    click.option(
        "--memory",
        type=click.IntRange(min=1),
        metavar="MIB",
        help="What one WebAssembly policy may have.",
    ),
    click.option(
        "--report",
        "reports",
        multiple=True,
        metavar="FORMAT[=FILE]",
        help="Also write a report: text, json, yaml, github (annotations) or gitlab (Code "
        "Quality), to FILE, - (standard output) or standard error. Repeatable.",
    ),
    click.option("--show-secrets", is_flag=True, help="Do not hide the values of Secrets."),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"], case_sensitive=False),
        default="auto",
        show_default=True,
        help="Colour messages and diffs.",
    ),
    click.option(
        "--timeout",
        callback=_duration,
        metavar="DURATION",
        help="Give up after so long (30s, 1m30s), with exit status 3 and nothing written.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Only errors and warnings on standard error."),
    click.option("-v", "--verbose", is_flag=True, help="Notes on standard error, too."),
]


class ManifestCommand(click.Command):
    """A command whose manifests are named with -f, and which says so to those who do not."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        super().parse_args(ctx, args)
        if ctx.args and not ctx.resilient_parsing:
            command = shlex.join([*ctx.command_path.split(), *self._with_filenames(given)])
            ctx.fail(f"manifests are named with -f: {command}")
        return ctx.args

    def _with_filenames(self, args: Sequence[str]) -> list[str]:
        """The arguments with `-f` before those that belong to no option."""
        options = [param for param in self.params if isinstance(param, click.Option)]
        with_value = {name for param in options if not param.is_flag for name in param.opts}
        named: list[str] = []
        rest: list[str] = []
        words = iter(args)
        for word in words:
            if word.startswith("-"):
                rest += [word, next(words, "")] if word in with_value else [word]
            else:
                named += ["-f", word]
        return [*named, *rest]


fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"], case_sensitive=False),
    default="error",
    show_default=True,
    help="What ends with exit status 1.",
)


def manifest_options(command: Command) -> Command:
    """Give a command the options of `Flags`, as one argument `flags`."""
    return _with_options(command, [*_SOURCES, *_REQUIRE_OBJECTS, *_OPTIONS])


def plugin_options(command: Command) -> Command:
    """Give a command the options of the API server's own plugins, as two arguments."""
    for option in reversed(ADMISSION_PLUGINS):
        command = option(command)
    return command


def admission_options(command: Command) -> Command:
    """The same for a command that finds manifests itself: without -f and -k."""
    return _with_options(command, _OPTIONS)


def source_options(command: Command) -> Command:
    """Give a command the options that name manifests, as one argument `sources`."""

    def with_sources(**arguments: Any) -> Any:
        return command(sources=_sources(arguments), **arguments)

    return _decorated(with_sources, command, _SOURCES)


def sample_options(command: Command) -> Command:
    """The same for a command to which manifests are samples: files and directories, or none."""
    samples = click.option(
        "-f",
        "--filename",
        "filenames",
        multiple=True,
        metavar="FILE|DIR|GLOB",
        help="Sample manifests: also say what the rules do to them that may be wrong (order, "
        "idempotence, missing values, rules that never see any).",
    )

    def with_sources(**arguments: Any) -> Any:
        return command(sources=_sources(arguments), **arguments)

    return _decorated(with_sources, command, [samples, *_FILES])


def _with_options(command: Command, known: Options) -> Command:
    def with_options(**arguments: Any) -> Any:
        given = {name: arguments.pop(name) for name in _FIELDS if name in arguments}
        flags = Flags(sources=_sources(arguments), **given)
        return command(flags=flags, **arguments)

    return _decorated(with_options, command, known)


_FIELDS: Final = tuple(name for name in Flags.__dataclass_fields__ if name != "sources")


def _sources(arguments: dict[str, Any]) -> Sources:
    """What names manifests, taken out of a command's arguments."""
    return Sources(**{n: arguments.pop(n) for n in Sources._fields if n in arguments})


def _decorated(wrapper: Callable[..., Any], command: Command, known: Options) -> Command:
    wrapper.__doc__ = command.__doc__
    wrapper.__name__ = command.__name__
    decorated: Any = wrapper
    # click keeps the options of a function in reverse; those that the command has come first.
    for option in reversed(known):
        decorated = option(decorated)
    decorated.__click_params__ += getattr(command, "__click_params__", [])
    result: Command = decorated
    return result
