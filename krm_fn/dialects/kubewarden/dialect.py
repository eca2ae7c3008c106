"""Kubewarden's policies, from manifests to plugins. Collects everything that is wrong.

Modules are found, compiled and asked about their settings before any object is looked at. Nothing
of WebAssembly is imported where there is no policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from krm_fn.admission import Cause, Cluster, Compiled, Finding, Plugin, Rule
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.kubewarden.options import Options, read_options
from krm_fn.dialects.kubewarden.policy.resource import PolicyResource, read_resource
from krm_fn.errors import ConfigError, RuleError
from krm_fn.system.paths import WORKING_DIRECTORY

if TYPE_CHECKING:
    from krm_fn.dialects.kubewarden.policy.loading import Loader


class Kubewarden:
    """The dialect of Kubewarden."""

    def compile(
        self, rules: Sequence[Rule], options: Mapping[str, Any], cluster: Cluster
    ) -> Compiled:
        """Compile all policies.

        Options: `kubewarden` (a Section or None), `base` (where its relative paths start),
        `onRuleError`, `kubernetesVersion`.

        Raises RuleError with a line for everything that is wrong, and ConfigError.
        """
        chosen = read_options(options.get("kubewarden"), options.get("base") or WORKING_DIRECTORY)
        if not rules:
            return Compiled(())
        problems: list[str] = []
        findings: list[Finding] = []
        plugins: list[Plugin] = []
        loader = _loader(
            chosen,
            options.get("onRuleError", OnRuleError.FAIL),
            cluster,
            options.get("kubernetesVersion", ""),
        )
        for rule in rules:
            try:
                resource = read_resource(rule)
                plugins.append(loader.load(resource))
                findings += loader.take_findings()
                findings += _warnings(resource)
            except ConfigError as error:
                place = f"{rule.place()}: " if rule.place() else ""
                problems.append(f"{place}{rule.ref}: {error}")
        if problems:
            raise RuleError.of(problems)
        return Compiled(tuple(plugins), tuple(findings))


def _loader(
    options: Options, on_error: OnRuleError, cluster: Cluster, kubernetes_version: str
) -> Loader:
    from krm_fn.dialects.kubewarden.policy.loading import Loader

    return Loader(options, on_error, cluster, kubernetes_version)


def _warnings(resource: PolicyResource) -> list[Finding]:
    return [
        Finding(Cause.WARNING, False, f"{text}; a cluster drops it without a word", (resource.ref,))
        for text in resource.unknown
    ]


DIALECT = Kubewarden()
