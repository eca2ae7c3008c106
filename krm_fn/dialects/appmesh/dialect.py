"""Meshes, from manifests to the plugin. Collects what is wrong and says it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from krm_fn import limits
from krm_fn.admission import Cause, Cluster, Compiled, Finding, Rule
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.appmesh.faults import LIST_MESHES
from krm_fn.dialects.appmesh.meshes import Mesh, read_mesh
from krm_fn.dialects.appmesh.messages import TwoChoicesError
from krm_fn.dialects.appmesh.options import Options, read_options
from krm_fn.dialects.appmesh.plugin import Injector
from krm_fn.errors import DecodeError, RuleError


class AppMesh:
    """The dialect of SuperGloo's sidecar injector."""

    def compile(
        self, rules: Sequence[Rule], options: Mapping[str, Any], cluster: Cluster
    ) -> Compiled:
        """Compile all Meshes. Options: `appMesh` (a Section or None), `onRuleError`.

        Raises RuleError with a line for every Mesh that SuperGloo cannot read: one is enough for it
        to refuse every Pod.
        """
        chosen = read_options(options.get("appMesh"))
        problems: list[str] = []
        meshes: list[Mesh] = []
        findings: list[Finding] = []
        for rule in rules:
            try:
                with limits.deep_stack():
                    mesh = read_mesh(rule)
            except DecodeError as error:
                place = rule.place(error.path)
                about = f"{place}: {rule.ref}" if place else str(rule.ref)
                chain = "" if isinstance(error, TwoChoicesError) else LIST_MESHES
                problems.append(f"{about}: {chain}{error.message}")
                continue
            if mesh is not None:
                meshes.append(mesh)
                findings += _remarks(rule, mesh, chosen)
        if problems:
            raise RuleError.of(problems)
        on_error = options.get("onRuleError", OnRuleError.FAIL)
        plugins = (Injector(meshes, chosen, on_error),) if meshes else ()
        return Compiled(plugins, tuple(findings))


def _remarks(rule: Rule, mesh: Mesh, options: Options) -> Iterator[Finding]:
    for field, message in mesh.remarks():
        if field.endswith(".region") and mesh.region in options.extra_regions:
            continue
        path = tuple(field.split("."))
        ref = rule.ref
        if ref.origin is not None and ref.origin.line is not None and rule.line is not None:
            ref = replace(ref, origin=replace(ref.origin, line=rule.line(path)))
        yield Finding(Cause.WARNING, False, message, (replace(ref, part=field),))


DIALECT = AppMesh()
