"""Kubewarden's policies, from manifests to plugins. Collects everything that is wrong.

Modules are found, compiled and asked about their settings before any object is looked at. Nothing
of WebAssembly is imported where there is no policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_fn.admission import Cause, Plugin, Rule
from krm_fn.config.dialect import CompileContext
from krm_fn.dialects.kubewarden.options import KubewardenOptions, read_options
from krm_fn.dialects.kubewarden.policy.resource import read_resource
from krm_fn.errors import ConfigError

if TYPE_CHECKING:
    from krm_fn.dialects.kubewarden.policy.loading import Loader


class Kubewarden:
    """The dialect of Kubewarden."""

    def compile(self, rules: Sequence[Rule], context: CompileContext) -> Sequence[Plugin]:
        """One plugin for each policy or group. Raises ConfigError."""
        options = read_options(context.section, context.base)
        if not rules:
            return ()
        report = context.diagnostics
        plugins: list[Plugin] = []
        loader = _loader(options, context)
        for rule in rules:
            try:
                resource = read_resource(rule)
                plugins.append(loader.load(resource))
                report.findings += loader.take_findings()
                for text in resource.unknown:
                    message = f"{text}; a cluster drops it without a word"
                    report.report(Cause.WARNING, message, resource.ref)
            except ConfigError as error:
                report.error(rule, str(error))
        return plugins


def _loader(options: KubewardenOptions, context: CompileContext) -> Loader:
    from krm_fn.dialects.kubewarden.policy.loading import Loader

    return Loader(options, context.on_rule_error, context.cluster, context.kubernetes_version)


DIALECT = Kubewarden()
