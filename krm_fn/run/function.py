"""The KRM function: a ResourceList in, the list with its results and an exit status out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from krm_fn import limits
from krm_fn.config.options import from_function_config
from krm_fn.config.sources import IMAGE_RULES
from krm_fn.errors import InputError, KrmFnError
from krm_fn.printable import one_line
from krm_fn.report.model import Report
from krm_fn.report.results import results
from krm_fn.report.text import lines
from krm_fn.run.admit import admit, stages_of
from krm_fn.run.caller import Caller
from krm_fn.sdk import NotAResourceListError, ResourceList, parse_resource_list
from krm_fn.system.deadline import deadline


class Done(NamedTuple):
    """How the function ends: exit status, what goes to stdout, what goes to stderr."""

    status: int
    stdout: bytes
    stderr: str


def run(data: bytes, environment: Mapping[str, str]) -> Done:
    """The KRM function: a ResourceList in, the list with its results out.

    Exit status 0: admitted; 1: rejected (with the full list and its results), or the input, the
    configuration or a rule cannot be read (then stdout is empty). Raises NotAResourceListError for
    any other stream.
    """
    with limits.deep_stack():
        try:
            resource_list = parse_resource_list(data)
            report = process(resource_list, environment.get(IMAGE_RULES, ""))
            stdout = resource_list.to_yaml()
        except NotAResourceListError:
            raise
        except KrmFnError as error:
            if isinstance(error, InputError):
                error.at("standard input")
            return Done(1, b"", "".join(f"{line}\n" for line in error_lines(error)))
    said = "".join(f"{line}\n" for line in lines(report))
    return Done(1 if report.denied else 0, stdout, said)


def process(resource_list: ResourceList, image_rules: str = "") -> Report:
    """Admit a ResourceList as its functionConfig says, and put the results into it."""
    stream = resource_list.stream
    config = stream.function_config
    options = from_function_config(config)
    with deadline(options.limits.timeout, "spec.limits.timeout gives more"):
        stages = stages_of(options, [stream], (), config, image_rules)
        report = admit([stream], stages, config, Caller.FUNCTION)
    if options.kustomize_validator:
        resource_list.drop_all()
    resource_list.results = results(report)
    return report


def error_lines(error: KrmFnError) -> list[str]:
    """An error as lines: each problem starts with `error`, what belongs to it is indented."""
    return [one_line(line) for line in error.lines()]
