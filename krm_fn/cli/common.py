"""What the commands share: their options, where manifests come from, how a run is reported."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import click

from krm_fn import limits
from krm_fn.cli import renderers
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
from krm_fn.config.sources import IMAGE_RULES, Stage
from krm_fn.errors import ConfigError, InputError, KrmFnError, OutputError
from krm_fn.report import ci, jsonreport, text
from krm_fn.report.model import Report
from krm_fn.run.admit import admit, stages_of
from krm_fn.sdk import Severity
from krm_fn.system.deadline import deadline, seconds_of
from krm_fn.system.files import looked_in, working_directory, write_file
from krm_fn.system.paths import base_of, manifests
from krm_fn.system.reading import read_file
from krm_fn.system.streams import is_terminal, read_stdin, say, write_stderr
from krm_fn.wire import Item, Stream, read_stream
from krm_fn.wire.words import UNDECIDED

Command = TypeVar("Command", bound=Callable[..., Any])
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Flags:
    """The options that all commands on manifests have."""

    rules: tuple[str, ...]
    namespace: str | None
    config: str | None
    mode: str | None
    on_reject: str | None
    on_rule_error: str | None
    on_empty: str | None
    idempotency: str | None
    object_form: str | None
    pod_templates: str | None
    strict: bool
    fuel: int | None
    memory: int | None
    reports: tuple[str, ...]
    show_secrets: bool
    color: str
    timeout: float | None
    quiet: bool
    verbose: bool
    filenames: tuple[str, ...] = ()
    kustomize: str | None = None


def _duration(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """A duration as Go writes it, as seconds."""
    try:
        return None if text is None else seconds_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def choice(words: type[StrEnum]) -> click.Choice[str]:
    """An option that takes one of these words."""
    return click.Choice([word.value for word in words], case_sensitive=False)


_SOURCES: list[Callable[[Any], Any]] = [
    click.option(
        "-f",
        "--filename",
        "filenames",
        multiple=True,
        metavar="FILE|DIR|-",
        help="Manifests: a file, a directory (read recursively) or - for standard input. "
        "Repeatable; without it, standard input.",
    ),
    click.option(
        "-k", "--kustomize", metavar="DIR", help="Manifests: what kustomize builds from DIR."
    ),
]

_OPTIONS: list[Callable[[Any], Any]] = [
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
        help="Also write a report: text, json, github (annotations) or gitlab (Code Quality), "
        "to FILE or standard error. Repeatable.",
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
    click.option("-q", "--quiet", is_flag=True, help="Only errors on standard error."),
    click.option("-v", "--verbose", is_flag=True, help="Notes on standard error, too."),
]


def manifest_options(command: Command) -> Command:
    """Give a command the options of `Flags`, as one argument `flags`."""
    return _with_options(command, [*_SOURCES, *_OPTIONS])


def admission_options(command: Command) -> Command:
    """The same for a command that finds manifests itself: without -f and -k."""
    return _with_options(command, _OPTIONS)


def _with_options(command: Command, known: Sequence[Callable[[Any], Any]]) -> Command:
    def with_options(**arguments: Any) -> Any:
        names = [name for name in Flags.__dataclass_fields__ if name in arguments]
        flags = Flags(**{name: arguments.pop(name) for name in names})
        return command(flags=flags, **arguments)

    with_options.__doc__ = command.__doc__
    with_options.__name__ = command.__name__
    decorated: Any = with_options
    # click keeps the options of a function in reverse; those that the command has come first.
    for option in reversed(known):
        decorated = option(decorated)
    decorated.__click_params__ += getattr(command, "__click_params__", [])
    result: Command = decorated
    return result


# ---------------------------------------------------------------------------------------- the run


@dataclass(frozen=True, slots=True)
class Admitted:
    """A run: what it was told to do, its streams, edited, and what there is to say."""

    options: Options

    streams: list[Stream]
    report: Report


def admit_manifests(flags: Flags, *, mode: Mode | None = None) -> Admitted:
    """Read what the options name, and admit it. Raises KrmFnError.

    `mode` wins over the options' own.
    """
    check_reports(flags)
    with limits.deep_stack(), deadline(flags.timeout, "--timeout gives more"):
        streams = list(read_manifests(flags.filenames, flags.kustomize))
        function_config = _function_config(flags, streams)
        options = options_of(flags, function_config)
        stages = stages_of(options, streams, flags.rules, function_config, image_rules())
        if mode is not None:
            stages = _as_told(stages, mode)
        report = admit(streams, stages, function_config)
    report.show_secrets = flags.show_secrets
    return Admitted(options, streams, report)


def image_rules() -> str:
    """The directory of rules that an image brings; "" for none."""
    return os.environ.get(IMAGE_RULES, "")


def _as_told(stages: Sequence[Stage], mode: Mode) -> list[Stage]:
    """The stages with the mode that a command has: to change nothing, or to change what it may.

    Only the last stage changes nothing, since each sees what those before it did; one that audits
    stays what it is where nothing is changed.
    """

    def told(stage: Stage) -> Stage:
        if mode is Mode.VALIDATE and stage.options.mode is Mode.AUDIT:
            return stage
        return stage._replace(options=stage.options._replace(mode=mode))

    *earlier, last = stages
    if mode is Mode.VALIDATE:
        return [*earlier, told(last)]
    return [told(stage) for stage in stages]


def check_reports(flags: Flags) -> None:
    """Refuse a form of report that there is not, before anything is done. Raises ConfigError."""
    for wanted in flags.reports:
        if wanted.partition("=")[0] not in REPORTS:
            raise ConfigError(f"--report {wanted}: unknown format; known are {', '.join(REPORTS)}")


def _function_config(flags: Flags, streams: Sequence[Stream]) -> Item | None:
    """That of a ResourceList, where the command line names neither rules nor a configuration."""
    if flags.config or flags.rules:
        return None
    return next((s.function_config for s in streams if s.function_config is not None), None)


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
        section = options.sections.get("kubewarden") or Section({}, "kubewarden")
        given["sections"] = {**options.sections, "kubewarden": section.replaced(bounds)}
    if flags.namespace:
        given["context"] = options.context._replace(default_namespace=flags.namespace)
    return options._replace(**given)


def word(words: type[Choice], value: str) -> Choice:
    """The member that an option names, whatever its case."""
    return next(word for word in words if word.value.lower() == value.lower())


def read_options(name: str) -> Options:
    """The Admission in a file. Raises ConfigError."""
    stream = read_stream(_read_file(name, ConfigError), name)
    if len(stream.items) != 1:
        raise ConfigError("must hold one Admission and nothing else", name)
    return from_document(stream.items[0].read_as(UNDECIDED), name, base_of(name))


def _read_file(name: str, error: type[ConfigError] | type[InputError]) -> bytes:
    try:
        return read_file(name)
    except InputError as problem:
        raise error(f"{problem.message} {looked_in()}", name) from None


def read_manifests(filenames: Sequence[str], kustomize: str | None) -> Iterator[Stream]:
    """What `-f` and `-k` name; standard input without either. Raises KrmFnError."""
    if kustomize:
        yield read_stream(renderers.kustomize(kustomize), f"kustomize {kustomize}")
    names = filenames or (() if kustomize else ("-",))
    for name in names:
        if name == "-":
            yield _read_stdin()
        else:
            yield from read_files(name)


def read_files(name: str) -> Iterator[Stream]:
    """The manifests of a file, or in a directory and below. Raises InputError."""
    if not os.path.exists(name):
        raise InputError(f"does not exist {looked_in()}", name)
    for file in manifests(name):
        data = _read_file(file, InputError)
        if os.path.basename(file) not in renderers.KUSTOMIZATIONS or not renderers.is_kustomization(
            data
        ):
            yield read_stream(data, file)


def _read_stdin() -> Stream:
    context = click.get_current_context()
    data = context.obj if isinstance(context.obj, bytes) else read_stdin()
    stream = read_stream(data)
    if not data.strip():
        raise InputError("is empty; give manifests or name them with -f", "standard input")
    return stream


# ------------------------------------------------------------------------------------ the program


def program() -> list[str]:
    """This program, as another one can start it from anywhere. Raises ConfigError."""
    script = shutil.which("krm-fn")
    if script is None:
        return [sys.executable, "-m", "krm_fn"]
    return [os.path.normpath(os.path.join(working_directory(), script))]


def install_file(path: Path, text: str, mode: int) -> None:
    """Write a file of a plugin, and its folders. Raises ConfigError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(os.path.join(path.parent.resolve(), path.name), text.encode())
        path.chmod(mode)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", str(path)) from None


# ---------------------------------------------------------------------------------------- the end

USAGE = 2
UNREADABLE = 4


def status_of(error: KrmFnError) -> int:
    """The exit status that an error has on the command line."""
    if isinstance(error, InputError | OutputError):
        return UNREADABLE
    return USAGE if isinstance(error, ConfigError) else 1


# ---------------------------------------------------------------------------------------- reports


def write_reports(flags: Flags, report: Report) -> None:
    """The lines for people on standard error, and the reports that were asked for."""
    write_lines(report, flags.color, quiet=flags.quiet, notes=flags.verbose)
    write_files(flags, report)


def write_files(flags: Flags, report: Report) -> None:
    """The reports that were asked for, to their files. Raises ConfigError."""
    for wanted in flags.reports:
        name, _, file = wanted.partition("=")
        body = REPORTS[name](report)
        if file:
            write_file(file, body.encode())
        else:
            write_stderr(body)


def write_lines(report: Report, color: str, *, quiet: bool = False, notes: bool = False) -> None:
    """A report's lines for people, on standard error."""
    paint = _coloured if use_colour(color, is_terminal("stderr")) else str
    *lines, summary = text.lines(report, notes=notes)
    lines += [] if notes else text.unmatched(report)
    for line in (*lines, summary):
        if not quiet or line.startswith(Severity.ERROR.value):
            say(line, paint=paint)


def _text_report(report: Report) -> str:
    return "".join(f"{line}\n" for line in text.lines(report, notes=True))


REPORTS: dict[str, Callable[[Report], str]] = {
    "text": _text_report,
    "json": jsonreport.dumps,
    "github": ci.github,
    "gitlab": ci.gitlab,
}


def use_colour(color: str, terminal: bool) -> bool:
    """Whether to colour: as told, else on a terminal unless NO_COLOR is set."""
    if color.lower() != "auto":
        return color.lower() == "always"
    return terminal and not os.environ.get("NO_COLOR")


_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def _coloured(line: str) -> str:
    for severity, colour in _COLOURS.items():
        if line.startswith(severity.value):
            rest = line[len(severity.value) :]
            return click.style(severity.value, fg=colour, bold=True) + rest
    return line


__all__ = [
    "Admitted",
    "Flags",
    "admission_options",
    "admit_manifests",
    "check_reports",
    "manifest_options",
    "options_of",
    "program",
    "read_files",
    "status_of",
    "use_colour",
    "write_files",
    "write_reports",
]
