"""A run as commands start it: what the flags name is read, and admitted."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from krm_fn import limits
from krm_fn.cli.configuration import counting_quotas, options_of
from krm_fn.cli.flags import Flags
from krm_fn.cli.inputs import Manifests, all_at_once, read_manifests
from krm_fn.cli.progress import shown
from krm_fn.cli.reports import check_reports
from krm_fn.config.options import Mode, Options
from krm_fn.config.sources import IMAGE_RULES, Stage
from krm_fn.errors import InputError
from krm_fn.report.explanation import Explanation
from krm_fn.report.model import Report
from krm_fn.run.admit import admit, stages_of
from krm_fn.run.explain import explain
from krm_fn.system.deadline import deadline
from krm_fn.wire import Item, Stream


@dataclass(frozen=True, slots=True)
class Admitted:
    """A run: what it was told to do, its streams, edited, and what there is to say."""

    options: Options

    streams: list[Stream]
    report: Report


class _Read(NamedTuple):
    """What the flags name, read."""

    manifests: Manifests
    function_config: Item | None
    options: Options
    stages: list[Stage]


@contextlib.contextmanager
def _read(flags: Flags, printed: str = "", *, counts_quotas: bool = False) -> Iterator[_Read]:
    """Read what the flags name, to be admitted inside of this. Raises KrmFnError."""
    check_reports(flags, printed)
    waiting = shown(quiet=flags.quiet)
    with limits.deep_stack(), deadline(flags.timeout, "--timeout gives more"), waiting:
        manifests = read_manifests(flags.sources)
        streams = manifests.streams
        with all_at_once(streams):
            function_config = _function_config(flags, streams)
            options = options_of(flags, function_config)
            if counts_quotas:
                options = counting_quotas(options)
            stages = stages_of(options, streams, flags.rules, function_config, image_rules())
            yield _Read(manifests, function_config, options, stages)


def admit_manifests(
    flags: Flags, *, mode: Mode | None = None, printed: str = "", counts_quotas: bool = False
) -> Admitted:
    """Read what the flags name, and admit it. Raises KrmFnError.

    `mode` wins over the options' own; `printed` is what the command has for standard output.
    `counts_quotas`: the API server's own plugins take part also where nothing of theirs is known,
    and templates are admitted as Pods.
    """
    with _read(flags, printed, counts_quotas=counts_quotas) as read:
        streams = read.manifests.streams
        stages = read.stages if mode is None else _as_told(read.stages, mode)
        report = _told(flags, read, admit(streams, stages, read.function_config))
    return Admitted(read.options, streams, report)


def explain_manifests(flags: Flags) -> Explanation:
    """Read what the flags name, and explain its admission. Raises KrmFnError."""
    with _read(flags, "the explanation") as read:
        explained = explain(read.manifests.streams, read.stages, read.function_config)
        _told(flags, read, explained.report)
    return explained


def _told(flags: Flags, read: _Read, report: Report) -> Report:
    """The report with what there is to say of the input. Raises InputError for an empty one."""
    if flags.require_objects and not report.total:
        raise InputError("no object to admit, and --require-objects asks for one")
    read.manifests.tell(report)
    report.show_secrets = flags.show_secrets
    return report


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


def _function_config(flags: Flags, streams: Sequence[Stream]) -> Item | None:
    """That of a ResourceList, where the command line names neither rules nor a configuration."""
    if flags.config or flags.rules:
        return None
    return next((s.function_config for s in streams if s.function_config is not None), None)
