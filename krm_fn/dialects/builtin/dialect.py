"""The dialect without rules: kube-apiserver's plugins, from their options to plugins of the chain.

Each of the server's plugins becomes one or two of the chain's: one that changes objects before all
rules, and one that refuses them after.
Source: docs/spec/builtin-admission.md sections (a) and (d).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Phase,
    Plugin,
    Request,
    Response,
    Rule,
)
from krm_fn.admission.coverage import RuleScope
from krm_fn.admission.quotause import QuotaUse
from krm_fn.config.dialect import CompileContext
from krm_fn.dialects.builtin.catalog import plugins
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.options import read_options
from krm_fn.dialects.builtin.order import NAMES
from krm_fn.dialects.builtin.plugin import BuiltIn, Denied
from krm_fn.dialects.builtin.quota import ResourceQuota
from krm_fn.kube.schema import Schemas
from krm_fn.wire import Head


class BuiltIns:
    """The dialect of the API server's own plugins."""

    def compile(self, rules: Sequence[Rule], context: CompileContext) -> Sequence[Plugin]:
        """The plugins that are enabled; in a stage that is not the last one, what changes objects.

        Raises ConfigError.
        """
        options = read_options(context.section)
        for name in options.left_out:
            message = (
                f"admission plugin {name} is not part of a render: it needs identities, "
                "authorization or rules of its own, and is left out"
            )
            context.diagnostics.report(Cause.WARNING, message)
        if context.served is None:
            message = (
                "the API server's own admission plugins see objects in their served form only, and "
                "take no part with objectForm: AsWritten"
            )
            context.diagnostics.report(Cause.NOTE, message)
            return ()
        known = _Known(context)
        found: list[Plugin] = []
        enabled = plugins(
            options.enabled, options.configurations, counts_pods=context.has_templates_as_pods
        )
        for plugin in enabled:
            if type(plugin).admit is not BuiltIn.admit:
                found.append(_Mutating(plugin, known))
            if isinstance(plugin, ResourceQuota) and context.is_last:
                found.append(_Counting(plugin, known))
            elif type(plugin).validate is not BuiltIn.validate and context.is_last:
                found.append(_Validating(plugin, known))
        return found


class _Known:
    """What all plugins of a stage know."""

    def __init__(self, context: CompileContext) -> None:
        self._schemas = Schemas(context.kubernetes_version)
        self._complete = context.complete
        self.is_last = context.is_last
        self._cluster = context.cluster
        self._listers = self._made(context.cluster)

    def _made(self, cluster: Cluster) -> Listers:
        return Listers(cluster, self._complete, self._schemas.version)

    def listers(self, cluster: Cluster | None = None) -> Listers:
        """What plugins read of a cluster, the same as long as it is the same cluster."""
        if cluster is not None and cluster is not self._cluster:
            self._cluster, self._listers = cluster, self._made(cluster)
        return self._listers

    def has_type(self, head: Head) -> bool:
        """Whether objects of a version of a kind are shown typed, and not as they are written."""
        return self._schemas.kind(head.api_version, head.kind) is not None


_ORDER: Final = {name: f"{n:02}" for n, name in enumerate(NAMES)}

_Ask = Callable[[Request, Listers], Response]


class _Adapter:
    """One of the server's plugins in one phase, as the chain calls it."""

    phase: Phase
    scopes: Sequence[RuleScope] = ()
    """None: nobody wrote these plugins for the objects of a run."""

    def __init__(self, plugin: BuiltIn, known: _Known) -> None:
        self.plugin = plugin
        self.known = known
        self.name = plugin.name
        self.order = (_ORDER[plugin.name], plugin.name)
        self.prefilter = plugin.prefilter(known.listers())

    def _answer(self, ask: _Ask, request: Request, cluster: Cluster) -> Response:
        plugin = self.plugin
        if not plugin.looks_at(request):
            return Response()
        if plugin.kinds is not None and not self.known.has_type(request.head):
            return Response()
        try:
            response = ask(request, self.known.listers(cluster))
        except Denied as denied:
            response = Response(findings=(plugin.denial(denied),))
        if not self.known.is_last:
            # The last stage finds all of it once more.
            return response._replace(findings=())
        if request.workload is not None:
            findings = tuple(_of_workload(one, request.workload) for one in response.findings)
            return response._replace(findings=findings)
        return response


def _of_workload(finding: Finding, workload: Head) -> Finding:
    """What is said of a template's Pod, with what it means for the object with the template."""
    if not finding.denies:
        return finding
    message = (
        f"{finding.message}; the {workload.kind} is admitted, but none of its Pods would start"
    )
    return finding._replace(message=message)


class _Mutating(_Adapter):
    """A plugin before all rules."""

    phase = Phase.MUTATING_BUILT_IN

    def admit(
        self, request: Request, cluster: Cluster, only: frozenset[str] | None = None
    ) -> Response:
        """Let the plugin change an object."""
        return self._answer(self.plugin.admit, request, cluster)


class _Validating(_Adapter):
    """A plugin after all rules that change objects."""

    phase = Phase.VALIDATING_BUILT_IN

    def admit(
        self, request: Request, cluster: Cluster, only: frozenset[str] | None = None
    ) -> Response:
        """Let the plugin refuse an object."""
        return self._answer(self.plugin.validate, request, cluster)


class _Counting(_Validating):
    """The plugin after everybody else, which adds up what the objects of the run use."""

    phase = Phase.QUOTA

    def __init__(self, plugin: ResourceQuota, known: _Known) -> None:
        super().__init__(plugin, known)
        self._quotas = plugin

    def quota_use(self) -> Sequence[QuotaUse]:
        """What all objects that were admitted would use, by namespace, quota and resource."""
        return list(self._quotas.uses(self.known.listers()))

    def quota_findings(self) -> Sequence[Finding]:
        """A warning for each limit that they exceed together."""
        ref = self.plugin.ref
        return [use.warning(ref) for use in self.quota_use() if use.is_exceeded]


DIALECT = BuiltIns()
