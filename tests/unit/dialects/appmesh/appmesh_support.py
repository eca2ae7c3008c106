"""What the tests of the App Mesh injector share: Meshes, a ConfigMap, a Pod through the webhook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Operation,
    Request,
    Rule,
    RuleRef,
)
from krm_fn.config.fields import Section
from krm_fn.dialects.appmesh import DIALECT
from krm_fn.values import Json
from krm_fn.wire import Head
from tests.compiling import Compiled, compile_with

POD = """
apiVersion: v1
kind: Pod
metadata:
  name: my-pod
  namespace: my-ns
  labels: {app: testrunner, version: '1', virtual-node: testrunner-vn}
spec:
  containers:
  - name: testrunner
    image: testrunner:1
    ports: [{containerPort: 1234}]
"""

PATCH = """
containers:
- name: envoy
  image: envoy:1
  securityContext: {runAsUser: 1337}
  env:
  - {name: NODE, value: "mesh/{{ .MeshName }}/virtualNode/{{ .VirtualNodeName }}"}
  - {name: AWS_REGION, value: "{{ .AwsRegion }}"}
initContainers:
- name: proxyinit
  image: init:1
  env:
  - {name: APPMESH_APP_PORTS, value: "{{ .AppPort }}"}
"""

LABELS = {"labelSelector": {"labelsToMatch": {"app": "testrunner"}}}


def pod(spec: str = "", **metadata: Any) -> Json:
    """The Pod of the upstream tests, with other containers or metadata."""
    value: Json = yaml.safe_load(POD)
    value["metadata"].update(metadata)
    if spec:
        value["spec"] = yaml.safe_load(spec)
    return value


def mesh(name: str = "test-mesh", namespace: str = "supergloo-system", **fields: Any) -> Rule:
    """A Mesh for the Pod, with fields of its awsAppMesh set otherwise, or left out by None."""
    spec = {
        "region": "us-east-1",
        "enableAutoInject": True,
        "virtualNodeLabel": "virtual-node",
        "injectionSelector": LABELS,
        **fields,
    }
    return raw_mesh(
        {"awsAppMesh": {k: v for k, v in spec.items() if v is not None}}, name, namespace
    )


def raw_mesh(spec: Any, name: str = "test-mesh", namespace: str = "supergloo-system") -> Rule:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    value = {
        "apiVersion": "supergloo.solo.io/v1",
        "kind": "Mesh",
        "metadata": metadata,
        "spec": spec,
    }
    return Rule(RuleRef("appmesh", "Mesh", namespace, name), value)


def config_map(
    data: Any = None, name: str = "sidecar-injector", namespace: str = "supergloo-system"
) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"patch.yaml": PATCH} if data is None else data,
    }


def cluster(*objects: Json) -> Cluster:
    """A cluster with these objects, by their kinds' groups."""
    known = {}
    for value in objects:
        group = value["apiVersion"].rpartition("/")[0]
        metadata = value["metadata"]
        identity = (group, value["kind"], metadata["namespace"], metadata["name"])
        known[identity] = lambda value=value: value
    return Cluster(known)


def compiled(*rules: Rule, options: Mapping[str, Any] | None = None, **more: Any) -> Compiled:
    section = Section(dict(options or {}), "spec.appMesh")
    return compile_with(DIALECT, rules, cluster(), section, **more)


@dataclass(frozen=True)
class Done:
    """What came of a Pod; `pod` is None where it stays as it is."""

    pod: Any
    findings: tuple[Finding, ...]

    @property
    def error(self) -> str:
        """What the Pod is refused for in SuperGloo's words, "" where it is not."""
        return self._refusal.partition("; ")[0]

    @property
    def hint(self) -> str:
        """What is said behind SuperGloo's words."""
        return self._refusal.partition("; ")[2]

    @property
    def _refusal(self) -> str:
        return next((f.message for f in self.findings if f.denies), "")

    def said(self, cause: Cause) -> str:
        return "\n".join(f.message for f in self.findings if f.cause is cause)

    def names(self, field: str = "containers") -> list[str]:
        return [container["name"] for container in self.pod["spec"][field]]


def admit(
    *rules: Rule,
    into: Json | None = None,
    objects: Sequence[Json] | None = None,
    options: Mapping[str, Any] | None = None,
    operation: Operation = Operation.CREATE,
    workload: Head | None = None,
    **more: Any,
) -> Done:
    """Admit a Pod (that of `POD`) with these Meshes; without `objects`, with the ConfigMap."""
    (plugin,) = compiled(*rules, options=options, **more).plugins
    known = cluster(*([config_map()] if objects is None else objects))
    value = pod() if into is None else into
    namespace = value.get("metadata", {}).get("namespace", "default")
    request = Request(
        operation,
        Head("v1", "Pod", namespace, "my-pod"),
        known.resource_for("", "Pod"),
        namespace,
        value,
        workload=workload,
    )
    response = plugin.admit(request, known)
    return Done(response.object, response.findings)
