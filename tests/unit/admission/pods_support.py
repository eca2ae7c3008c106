"""What the tests of pod templates share: a workload, rules of several dialects, a run."""

from __future__ import annotations

from typing import Any

import yaml

from krm_fn.admission import Cause
from krm_fn.config.options import from_document
from krm_fn.report.model import Report
from krm_fn.run.admit import admit, stages_of
from krm_fn.values import Json
from krm_fn.wire import read_stream

TEMPLATE = ("spec", "template")
ANNOTATION = ("metadata", "annotations", "done")
CONTAINERS = ("spec", "containers")

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app: other}   # which no rule is for
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web, node: vn}
      annotations: {given: 'yes'}
    spec:
      containers:
      - name: app   # the application
        image: app:1
        ports:
        - containerPort: 80
"""
APP = {"name": "app", "image": "app:1", "ports": [{"containerPort": 80}]}
ENVOY = {"name": "envoy", "image": "envoy:1"}
LOGTAIL = {
    "name": "logtail",
    "image": "logtail:1",
    "ports": [{"containerPort": 90}],
    "env": [{"name": "IS_INJECTED", "value": "true"}],
}


def documents(text: str) -> list[Json]:
    return list(yaml.safe_load_all(text))


MOD_RULE = documents("""
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: rule, namespace: shop}
spec:
  type: Patch
  match:
  - {select: $.kind, matchValue: Pod}
  - {select: $.metadata.labels.app, matchValue: web}
  patch:
  - {op: add, path: /metadata/annotations/done, value: '"yes"'}
""")
MUTATING_POLICY = documents("""
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: policy}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    objectSelector: {matchLabels: {app: web}}
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{metadata: Object.metadata{annotations: {"done": "yes"}}}'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: binding}
spec: {policyName: policy}
""")
SIDECAR_SET = documents("""
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: logging}
spec:
  selector: {matchLabels: {app: web}}
  containers:
  - name: logtail
    image: logtail:1
    podInjectPolicy: AfterAppContainer
    ports:
    - containerPort: 90
""")
MESH = documents("""
apiVersion: supergloo.solo.io/v1
kind: Mesh
metadata: {name: mesh, namespace: supergloo-system}
spec:
  awsAppMesh:
    enableAutoInject: true
    region: us-east-1
    virtualNodeLabel: node
    sidecarPatchConfigMap: {name: patch, namespace: supergloo-system}
    injectionSelector: {labelSelector: {labelsToMatch: {app: web}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: patch, namespace: supergloo-system}
data:
  patch: |
    containers:
    - {name: envoy, image: 'envoy:1'}
""")


def run(
    objects: str, rules: list[Json], templates: str = "Mutate", **options: Any
) -> tuple[str, Report]:
    """The objects after all rules, and the report."""
    spec = {
        "rules": [{"inline": yaml.safe_dump_all(rules)}],
        "podTemplates": templates,
        "kubewarden": {"cache": "compiled"},
        **options,
    }
    document = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "spec": spec}
    stream = read_stream(objects.encode())
    report = admit([stream], stages_of(from_document(document, "test"), [stream]))
    return stream.write(()).decode(), report


def said(report: Report, *causes: Cause) -> list[str]:
    found = [*report.findings, *(f for entry in report.objects for f in entry.findings)]
    return [finding.message for finding in found if finding.cause in causes]
