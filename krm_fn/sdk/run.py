"""Running a function: what it is, how several make one, and the program around it.

Source: kpt's Go SDK `go/fn` run.go, resourcelist.go, runner.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

from krm_fn import limits
from krm_fn.errors import KrmFnError
from krm_fn.sdk.object import KubeObject
from krm_fn.sdk.objects import KubeObjects, Predicate
from krm_fn.sdk.resourcelist import ResourceList, parse_resource_list
from krm_fn.sdk.result import Results
from krm_fn.system.reading import read_all
from krm_fn.system.streams import (
    ReaderGoneError,
    end_without_reader,
    open_standard_streams,
    read_stdin,
    say,
    write_stdout,
)


class ResourceListProcessor(Protocol):
    """A function on a ResourceList: changes it, and answers whether all went well."""

    def process(self, resource_list: ResourceList) -> bool: ...


class ResourceListProcessorFunc:
    """A plain Python function as a processor."""

    def __init__(self, function: Callable[[ResourceList], bool]) -> None:
        self._function = function

    def process(self, resource_list: ResourceList) -> bool:
        return self._function(resource_list)


class Runner(Protocol):
    """A function in parts: configuration, objects, results."""

    def run(
        self,
        context: Any,
        function_config: KubeObject | None,
        items: KubeObjects,
        results: Results,
    ) -> bool: ...


class WithContext:
    """A `Runner` as a processor; `context` is handed on to it."""

    def __init__(self, context: Any, runner: Runner) -> None:
        self._context = context
        self._runner = runner

    def process(self, resource_list: ResourceList) -> bool:
        return self._runner.run(
            self._context,
            resource_list.function_config,
            resource_list.items,
            resource_list.results,
        )


def chain(*processors: ResourceListProcessor) -> ResourceListProcessor:
    """Several functions as one; it ends with the first that does not go well."""

    def process(resource_list: ResourceList) -> bool:
        return all(processor.process(resource_list) for processor in processors)

    return ResourceListProcessorFunc(process)


def chain_functions(*functions: Callable[[ResourceList], bool]) -> ResourceListProcessor:
    """The same with plain Python functions."""
    return chain(*map(ResourceListProcessorFunc, functions))


def apply_fn_by_selector(
    resource_list: ResourceList, selector: Predicate, function: Callable[[KubeObject], None]
) -> Results:
    """Call a function with every object that a predicate selects; errors become results."""
    results = Results()
    for obj in resource_list.items.where(selector):
        try:
            function(obj)
        except KrmFnError as error:
            results.error_e(error)
    return results


def run(processor: ResourceListProcessor, data: bytes) -> bytes:
    """The list that a function makes of one. Raises KrmFnError where it does not go well."""
    output, failure = _evaluate(processor, data)
    if failure is not None:
        raise failure
    return output


def execute(processor: ResourceListProcessor, source: BinaryIO, target: BinaryIO) -> None:
    """Read a list, run a function on it, write the list, also where it does not go well.

    Raises KrmFnError after writing in that case; nothing is written where the input cannot be read.
    """
    output, failure = _evaluate(processor, read_all(source))
    target.write(output)
    target.flush()
    if failure is not None:
        raise failure


def _evaluate(processor: ResourceListProcessor, data: bytes) -> tuple[bytes, KrmFnError | None]:
    with limits.deep_stack():
        resource_list = parse_resource_list(data)
        failure: KrmFnError | None = None
        if not processor.process(resource_list) or resource_list.results.failed:
            errors = [r.message for r in resource_list.results if r.severity == "error"]
            failure = KrmFnError("; ".join(errors) or "the function did not succeed")
        return resource_list.to_yaml(), failure


def as_main(processor: ResourceListProcessor | Callable[[ResourceList], bool]) -> int:
    """The program of a function: standard input to standard output.

    The list is written once, whole, also where the function fails, with its results. Answers the
    exit status: 0, or 1 with `failed to evaluate function: ...` on standard error. Use as
    `sys.exit(as_main(my_function))`.
    """
    if not hasattr(processor, "process"):
        processor = ResourceListProcessorFunc(processor)
    open_standard_streams()
    try:
        output, failure = _evaluate(processor, read_stdin())
        write_stdout([output])
    except ReaderGoneError:
        return end_without_reader()
    except KrmFnError as error:
        failure = error
    if failure is not None:
        log("failed to evaluate function:", failure)
        return 1
    return 0


def log(*words: object) -> None:
    """Print a line to standard error, where a function's caller shows it."""
    say(" ".join(map(str, words)))
