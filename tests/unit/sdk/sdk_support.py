"""A list of objects to try functions on."""

from __future__ import annotations

from krm_fn import sdk

LIST = b"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
# the web
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web # its name
    namespace: shop
    labels: {app: web}
    annotations:
      internal.config.kubernetes.io/path: 'd/web.yaml'
      internal.config.kubernetes.io/index: '1'
      internal.config.kubernetes.io/id: '7'
  spec:
    # as many as we pay for
    replicas: 2
    paused: false
    ratio: 0.5
    containers: # of the pod
    - name: a
      args: [x, 'y']
    - name: b
- apiVersion: kpt.dev/v1
  kind: Kptfile
  metadata:
    name: p
    annotations: {internal.config.kubernetes.io/path: Kptfile}
functionConfig:
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: f}
  data: {team: checkout}
"""


def a_list(data: bytes = LIST) -> sdk.ResourceList:
    return sdk.parse_resource_list(data)


def with_config(text: str) -> sdk.ResourceList:
    """The list with another functionConfig, "" for none."""
    head, _, _ = LIST.decode().partition("functionConfig:")
    config = "".join(f"  {line}\n" for line in text.splitlines())
    return a_list((head + (f"functionConfig:\n{config}" if text else "")).encode())
