"""Meshes, from manifests to the plugin. Collects what is wrong and says it at once."""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn import limits
from krm_fn.admission import Plugin, Rule
from krm_fn.config.dialect import CompileContext
from krm_fn.dialects.appmesh.faults import LIST_MESHES
from krm_fn.dialects.appmesh.meshes import Mesh, read_mesh
from krm_fn.dialects.appmesh.messages import TwoChoicesError
from krm_fn.dialects.appmesh.options import read_options
from krm_fn.dialects.appmesh.plugin import Injector
from krm_fn.errors import DecodeError


class AppMesh:
    """The dialect of SuperGloo's sidecar injector."""

    def compile(self, rules: Sequence[Rule], context: CompileContext) -> Sequence[Plugin]:
        """All Meshes as one plugin; none where there is no Mesh. Raises ConfigError.

        A Mesh that SuperGloo cannot read is an error: one is enough for it to refuse every Pod.
        """
        options = read_options(context.section)
        meshes: list[Mesh] = []
        for rule in rules:
            try:
                with limits.deep_stack():
                    mesh = read_mesh(rule)
            except DecodeError as error:
                chain = "" if isinstance(error, TwoChoicesError) else LIST_MESHES
                context.diagnostics.error(rule, f"{chain}{error.message}", error.path)
                continue
            if mesh is not None:
                meshes.append(mesh)
                for field, message in mesh.remarks():
                    if field.endswith(".region") and mesh.region in options.extra_regions:
                        continue
                    context.diagnostics.warning(rule, message, tuple(field.split(".")))
        return (Injector(meshes, options, context.on_rule_error),) if meshes else ()


DIALECT = AppMesh()
