"""SidecarSets, from manifests to the plugin. Collects what is wrong and says it at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from krm_fn.admission import Cause, Cluster, Compiled, Finding, Rule
from krm_fn.dialects.sidecarset.metadata import POLICIES, unknown_policies
from krm_fn.dialects.sidecarset.options import Options, Validation, read_options
from krm_fn.dialects.sidecarset.plugin import Kruise
from krm_fn.dialects.sidecarset.sets import SidecarSet, decode
from krm_fn.dialects.sidecarset.whitelist import ABSENT, CONFIG_MAP, KEY
from krm_fn.errors import DecodeError, RuleError
from krm_fn.values import Path, format_path


class SidecarSets:
    """The dialect of Kruise's SidecarSet webhook."""

    def compile(
        self, rules: Sequence[Rule], options: Mapping[str, Any], cluster: Cluster
    ) -> Compiled:
        """Compile all rules.

        Options: `sidecarSets` (a Section or None), `strict` (fields that a cluster would drop are
        errors).

        Raises RuleError with a line for everything that is wrong.
        """
        chosen = read_options(options.get("sidecarSets"))
        problems: list[str] = []
        sets: list[SidecarSet] = []
        for rule in rules:
            try:
                sets.append(_decoded(rule))
            except DecodeError as error:
                problems.append(_problem(rule, error.path, error.message))
        if problems:
            raise RuleError.of(problems)
        findings = [
            *_of_schema(rules, chosen, strict=bool(options.get("strict"))),
            *_refusals(rules, sets, chosen, cluster),
            *_remarks(rules, sets),
        ]
        plugins = (Kruise(sets, chosen),) if sets else ()
        return Compiled(plugins, tuple(findings))


def _decoded(rule: Rule) -> SidecarSet:
    if not rule.ref.name:
        raise DecodeError("metadata.name is required", ("metadata", "name"))
    return decode(rule.ref, rule.value)


def _of_schema(rules: Sequence[Rule], options: Options, *, strict: bool) -> Iterator[Finding]:
    """What the API server says of each set before Kruise sees it.

    Raises RuleError with all that it refuses under `validation: Fail`, and where it is strict.
    """
    if options.validation is Validation.OFF and not strict:
        return
    from krm_fn.dialects.sidecarset.schema import Weight, schema_problems

    fails = options.validation is Validation.FAIL
    fatal: list[str] = []
    for rule in rules:
        for problem in schema_problems(rule.value):
            if problem.weight >= Weight.PRUNED and (fails or strict):
                fatal.append(_problem(rule, problem.path, problem.message))
            elif problem.weight is Weight.REFUSED:
                message = f"the API server would refuse this set: {problem.message}"
                yield _warning(rule, problem.path, message)
            else:
                yield _warning(rule, problem.path, problem.message)
    if fatal:
        raise RuleError.of(fatal)


def _refusals(
    rules: Sequence[Rule], sets: Sequence[SidecarSet], options: Options, cluster: Cluster
) -> Iterator[Finding]:
    """What Kruise's validating webhook says of each set beside those before it.

    Raises RuleError with all of it under `validation: Fail`.
    """
    if options.validation is Validation.OFF:
        return
    from krm_fn.dialects.sidecarset.validation import problems

    fatal: list[str] = []
    without_list: list[Rule] = []
    for n, (rule, one) in enumerate(zip(rules, sets, strict=True)):
        for text in problems(one, sets[:n], cluster, gate=options.metadata_gate):
            if options.validation is Validation.FAIL:
                fatal.append(_problem(rule, _path(text), text))
            elif text.endswith(ABSENT):
                without_list.append(rule)
            else:
                yield _warning(rule, _path(text), f"Kruise would refuse this set: {text}")
    if fatal:
        raise RuleError.of(fatal)
    if without_list:
        message = (
            f"patchPodMetadata is not checked: ConfigMap kruise-system/{CONFIG_MAP} with the key "
            f"{KEY} is not among the objects, and without it Kruise would refuse "
            f"{' and '.join(rule.ref.name for rule in without_list)} (sidecarSets.metadataGate)"
        )
        refs = tuple(rule.ref for rule in without_list)
        yield Finding(Cause.WARNING, False, message, refs)


def _remarks(rules: Sequence[Rule], sets: Sequence[SidecarSet]) -> Iterator[Finding]:
    """What Kruise takes without a word, and nobody can mean."""
    for rule, one in zip(rules, sets, strict=True):
        for n, policy in unknown_policies(one.spec.get("patchPodMetadata", ())):
            message = (
                f"patchPolicy {policy} is none of {', '.join(POLICIES)}: Kruise ignores the entry"
            )
            yield _warning(rule, ("spec", "patchPodMetadata", n, "patchPolicy"), message)


def _problem(rule: Rule, path: Path, text: str) -> str:
    place = rule.place(path)
    return f"{place}: {rule.ref}: {text}" if place else f"{rule.ref}: {text}"


def _warning(rule: Rule, path: Path, message: str) -> Finding:
    ref = rule.ref
    if ref.origin is not None and ref.origin.line is not None and rule.line is not None:
        ref = replace(ref, origin=replace(ref.origin, line=rule.line(path)))
    return Finding(Cause.WARNING, False, message, (replace(ref, part=format_path(path)),))


_STEP: Final = re.compile(r"\[([0-9]+)\]|([^.\[\]]+)")


def _path(text: str) -> Path:
    """The field that a complaint begins with; only part of it where Kruise makes up a name."""
    field = text.partition(": ")[0]
    if not field.startswith(("spec.", "metadata.")):
        return ()
    return tuple(int(index) if index else name for index, name in _STEP.findall(field))


DIALECT = SidecarSets()
