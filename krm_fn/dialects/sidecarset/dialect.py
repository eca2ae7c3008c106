"""SidecarSets, from manifests to the plugin. Collects what is wrong and says it at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from krm_fn.admission import Cause, Plugin, Rule
from krm_fn.admission.diagnostics import Diagnostics
from krm_fn.config.dialect import CompileContext
from krm_fn.dialects.sidecarset.metadata import POLICIES, unknown_policies
from krm_fn.dialects.sidecarset.options import SetValidation, SidecarSetOptions, read_options
from krm_fn.dialects.sidecarset.plugin import Kruise
from krm_fn.dialects.sidecarset.sets import SidecarSet, decode
from krm_fn.dialects.sidecarset.whitelist import ABSENT, CONFIG_MAP, KEY
from krm_fn.errors import DecodeError
from krm_fn.values import Path


class SidecarSets:
    """The dialect of Kruise's SidecarSet webhook."""

    def compile(self, rules: Sequence[Rule], context: CompileContext) -> Sequence[Plugin]:
        """All SidecarSets as one plugin; none where there is no set. Raises ConfigError."""
        options = read_options(context.section)
        report = context.diagnostics
        sets: list[SidecarSet] = []
        for rule in rules:
            try:
                sets.append(_decoded(rule))
            except DecodeError as error:
                report.error(rule, error.message, error.path)
        if len(sets) < len(rules):
            return ()
        _check_schema(rules, options, context)
        _check_with_kruise(rules, sets, options, context)
        _warn_of_policies(rules, sets, report)
        return (Kruise(sets, options),) if sets else ()


def _decoded(rule: Rule) -> SidecarSet:
    if not rule.ref.name:
        raise DecodeError("metadata.name is required", ("metadata", "name"))
    return decode(rule.ref, rule.value)


def _check_schema(
    rules: Sequence[Rule], options: SidecarSetOptions, context: CompileContext
) -> None:
    """Report what the API server says of each set before Kruise sees it.

    Errors under `validation: Fail`, and for dropped fields where the run is strict.
    """
    if options.validation is SetValidation.OFF and not context.strict:
        return
    from krm_fn.dialects.sidecarset.schema import Weight, schema_problems

    fails = options.validation is SetValidation.FAIL or context.strict
    for rule in rules:
        for problem in schema_problems(rule.value):
            message = problem.message
            if problem.weight >= Weight.PRUNED and fails:
                context.diagnostics.error(rule, message, problem.path)
                continue
            if problem.weight is Weight.REFUSED:
                message = f"the API server would refuse this set: {message}"
            context.diagnostics.warning(rule, message, problem.path)


def _check_with_kruise(
    rules: Sequence[Rule],
    sets: Sequence[SidecarSet],
    options: SidecarSetOptions,
    context: CompileContext,
) -> None:
    """Report what Kruise's validating webhook says of each set beside those before it."""
    if options.validation is SetValidation.OFF:
        return
    from krm_fn.dialects.sidecarset.validation import problems

    report = context.diagnostics
    without_list: list[Rule] = []
    for n, (rule, one) in enumerate(zip(rules, sets, strict=True)):
        for text in problems(one, sets[:n], context.cluster, gate=options.metadata_gate):
            if options.validation is SetValidation.FAIL:
                report.error(rule, text, _path(text))
            elif text.endswith(ABSENT):
                without_list.append(rule)
            else:
                report.warning(rule, f"Kruise would refuse this set: {text}", _path(text))
    if without_list:
        message = (
            f"patchPodMetadata is not checked: ConfigMap kruise-system/{CONFIG_MAP} with the key "
            f"{KEY} is not among the objects, and without it Kruise would refuse "
            f"{' and '.join(rule.ref.name for rule in without_list)} (sidecarSets.metadataGate)"
        )
        report.report(Cause.WARNING, message, *(rule.ref for rule in without_list))


def _warn_of_policies(
    rules: Sequence[Rule], sets: Sequence[SidecarSet], report: Diagnostics
) -> None:
    """Warn of what Kruise takes without a word, and nobody can mean."""
    for rule, one in zip(rules, sets, strict=True):
        for n, policy in unknown_policies(one.spec.get("patchPodMetadata", ())):
            message = (
                f"patchPolicy {policy} is none of {', '.join(POLICIES)}: Kruise ignores the entry"
            )
            report.warning(rule, message, ("spec", "patchPodMetadata", n, "patchPolicy"))


_STEP: Final = re.compile(r"\[([0-9]+)\]|([^.\[\]]+)")


def _path(text: str) -> Path:
    """The field that a complaint begins with; only part of it where Kruise makes up a name."""
    field = text.partition(": ")[0]
    if not field.startswith(("spec.", "metadata.")):
        return ()
    return tuple(int(index) if index else name for index, name in _STEP.findall(field))


DIALECT = SidecarSets()
