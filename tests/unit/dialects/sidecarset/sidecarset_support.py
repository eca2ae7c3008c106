"""What the tests of SidecarSets share: texts to sets, a Pod through Kruise's webhook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Operation,
    Request,
    RuleRef,
    Step,
)
from krm_fn.config.fields import Section
from krm_fn.dialects.sidecarset.options import read_options
from krm_fn.dialects.sidecarset.plugin import Kruise
from krm_fn.dialects.sidecarset.sets import SidecarSet, decode
from krm_fn.values import Json
from krm_fn.wire import Head

POD = """
apiVersion: v1
kind: Pod
metadata:
  name: test-pod
  namespace: default
  labels: {app: suxing-test}
spec:
  initContainers:
  - {name: init-0, image: 'busybox:1.0.0'}
  containers:
  - name: nginx
    image: nginx:1.15.1
    env:
    - {name: hello1, value: world1}
    - {name: hello2, value: world2}
    volumeMounts:
    - {name: volume-a, mountPath: /a/b}
    - {name: volume-b, mountPath: /e/f}
  volumes:
  - {name: volume-a, emptyDir: {}}
  - {name: volume-b, emptyDir: {}}
"""


def sidecar_set(
    spec: str, name: str = "s1", *, labels: dict[str, str] | None = None, **metadata: Any
) -> SidecarSet:
    """A set of v1beta1 that selects the Pods of `POD`, unless the spec selects others."""
    decoded = yaml.safe_load(spec) or {}
    manifest = {
        "apiVersion": "apps.kruise.io/v1beta1",
        "kind": "SidecarSet",
        "metadata": {"name": name, "labels": labels or {}, **metadata},
        "spec": {"selector": {"matchLabels": {"app": "suxing-test"}}, **decoded},
    }
    return decode(RuleRef("sidecarset", "SidecarSet", "", name), manifest)


def pod(text: str = POD, **changes: Any) -> Json:
    """A Pod; changes go into its metadata."""
    value: Json = yaml.safe_load(text)
    value["metadata"].update(changes)
    return value


@dataclass
class Injected:
    """What came of a Pod."""

    pod: Json
    changed: bool
    findings: tuple[Finding, ...]
    steps: tuple[Step, ...]

    @property
    def error(self) -> str:
        """Why the Pod is refused."""
        return next((f.message for f in self.findings if f.cause is Cause.FAILED), "")

    @property
    def annotations(self) -> dict[str, str]:
        found: dict[str, str] = self.pod["metadata"].get("annotations", {})
        return found

    def names(self, kind: str = "containers") -> list[str]:
        return [one["name"] for one in self.pod["spec"].get(kind, ())]

    def container(self, name: str) -> Json:
        spec = self.pod["spec"]
        every = [*spec.get("initContainers", ()), *spec["containers"]]
        found: Json = next(one for one in every if one["name"] == name)
        return found


def inject(
    *sets: SidecarSet,
    into: Json | None = None,
    cluster: Cluster | None = None,
    workload: Head | None = None,
    operation: Operation = Operation.CREATE,
    **options: Any,
) -> Injected:
    """A Pod through Kruise's webhook; the options are those of `sidecarSets`."""
    cluster = cluster or Cluster()
    given = pod() if into is None else into
    namespace = given["metadata"].get("namespace", "default")
    request = Request(
        operation,
        Head("v1", "Pod", namespace, "test-pod"),
        cluster.resource_for("", "Pod"),
        namespace,
        given,
        workload=workload,
    )
    chosen = read_options(Section(options, "sidecarSets"))
    response = Kruise(sets, chosen).admit(request, cluster)
    changed = response.object is not None
    after = response.object if response.object is not None else given
    return Injected(after, changed, response.findings, response.steps)
