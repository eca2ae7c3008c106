"""The sidecars of a ConfigMap's template for one Pod: rendered, read, ready to be added.

Source: SuperGloo v0.3.22 the patch builder and template package; the App Mesh specification, B4 to
B6.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from krm_fn.dialects.appmesh.faults import RENDER
from krm_fn.dialects.appmesh.gotypes import read_pod_spec
from krm_fn.dialects.appmesh.yamltext import read_yaml
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.gotemplate import Struct
from krm_fn.lang.gotemplate.html import HtmlTemplate, parse
from krm_fn.values import Json


class Values(NamedTuple):
    """What a template may use, all of it texts; the names are those of the template."""

    MeshName: str
    VirtualNodeName: str
    AppPort: str
    AwsRegion: str


class Sidecars(NamedTuple):
    """What is added to a Pod's containers and init containers."""

    containers: tuple[Json, ...]
    init_containers: tuple[Json, ...]


class PatchError(Exception):
    """Why a template gives no sidecars, with what SuperGloo puts before it."""


class Patch:
    """A ConfigMap's template. What is wrong with its syntax is told when it is rendered."""

    def __init__(self, text: str) -> None:
        self._template: HtmlTemplate | None = None
        self._error = ""
        self._known: dict[Values, Sidecars] = {}
        try:
            self._template = parse(text, "patchTemplate")
        except CompileError as error:
            self._error = f"{RENDER}failed to parse sidecar patch template: {error.message}"

    def sidecars(self, values: Values) -> Sidecars:
        """The sidecars for these values. Raises PatchError."""
        made = self._known.get(values)
        if made is None:
            made = self._known[values] = self._sidecars(values)
        return made

    def _sidecars(self, values: Values) -> Sidecars:
        if self._template is None:
            raise PatchError(self._error)
        data = Struct(values._asdict(), "plugins.templateData")
        try:
            text = self._template.render(data)
        except EvaluationError as error:
            reason = f"failed to execute sidecar patch template: {error.message}"
            raise PatchError(RENDER + reason) from None
        try:
            spec = read_pod_spec(read_yaml(text))
        except EvaluationError as error:
            reason = f"failed to deserialize sidecar patch to PodSpec: {error.message}"
            raise PatchError(RENDER + reason) from None
        return Sidecars(_added(spec, "containers"), _added(spec, "initContainers"))


def _added(spec: Json, field: str) -> tuple[Json, ...]:
    """Containers without empty resources, which Go writes and which mean nothing."""
    return tuple(
        {k: v for k, v in container.items() if k != "resources" or v}
        for container in spec.get(field) or ()
    )


_REGISTRY: Final = "111345817488.dkr.ecr.us-west-2.amazonaws.com"

BUILTIN: Final = f"""\
containers:
- name: envoy
  image: {_REGISTRY}/aws-appmesh-envoy:v1.8.0.2-beta
  securityContext:
    runAsUser: 1337
  env:
  - name: APPMESH_VIRTUAL_NODE_NAME
    value: "mesh/{{{{ .MeshName }}}}/virtualNode/{{{{ .VirtualNodeName }}}}"
  - name: ENVOY_LOG_LEVEL
    value: debug
  - name: AWS_REGION
    value: "{{{{ .AwsRegion }}}}"
initContainers:
- name: proxyinit
  image: {_REGISTRY}/aws-appmesh-proxy-route-manager:latest
  securityContext:
    capabilities:
      add: [NET_ADMIN]
  env:
  - {{name: APPMESH_START_ENABLED, value: "1"}}
  - {{name: APPMESH_IGNORE_UID, value: "1337"}}
  - {{name: APPMESH_ENVOY_INGRESS_PORT, value: "15000"}}
  - {{name: APPMESH_ENVOY_EGRESS_PORT, value: "15001"}}
  - {{name: APPMESH_APP_PORTS, value: "{{{{ .AppPort }}}}"}}
  - {{name: APPMESH_EGRESS_IGNORED_IP, value: 169.254.169.254}}
"""
"""What SuperGloo's chart brings as its default patch, written anew; the images are of 2019."""
