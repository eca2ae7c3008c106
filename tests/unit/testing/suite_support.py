"""Suites in a folder of their own, run as the command line runs them."""

from __future__ import annotations

from pathlib import Path

RULE = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: team, namespace: shop}
spec:
  type: Patch
  match:
  - {select: $.kind, matchValue: Deployment}
  patch:
  - {op: add, path: /metadata/labels/team, value: shop}
---
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: one, namespace: shop}
spec:
  type: Reject
  rejectMessage: too many replicas
  match:
  - {select: $.spec.replicas > 3}
"""

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 2}
"""

HEAD = """\
apiVersion: krm-fn.dev/v1alpha1
kind: Suite
metadata: {name: teams}
spec:
  rules: [rules.yaml]
  objects: [web.yaml]
  cases:
"""


def write(folder: Path, cases: str, head: str = HEAD) -> str:
    """A suite with its rule and an object; returns its name."""
    (folder / "rules.yaml").write_text(RULE)
    (folder / "web.yaml").write_text(WEB)
    (folder / "krm-fn-test.yaml").write_text(head + cases)
    return str(folder / "krm-fn-test.yaml")
