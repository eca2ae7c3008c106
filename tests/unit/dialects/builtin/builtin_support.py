"""Requests to built-in plugins, and what a render knows for them."""

from __future__ import annotations

from typing import Any

import yaml

from krm_fn.admission import Cluster, Operation, Request
from krm_fn.config.options import COMPLETABLE, from_document
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.report.model import Report
from krm_fn.run.admit import admit, stages_of
from krm_fn.values import Json
from krm_fn.wire import Head, Stream, read_stream

RELEASE = (1, 36)
SERVED = Served(Schemas("1.36"))
TOLERANT = """\
apiVersion: api.kubemod.io/v1beta1
kind: ModRule
metadata: {name: tolerant, namespace: team}
spec:
  type: Patch
  match:
  - {select: $.kind, matchValue: Pod}
  - {select: '$.spec.tolerations[*].key', matchValue: node.kubernetes.io/not-ready}
  patch:
  - {op: add, path: /metadata/labels, value: '{seen: "yes"}'}
"""


def head_of(value: Json) -> Head:
    metadata = value["metadata"]
    namespace = metadata.get("namespace", "")
    return Head(value["apiVersion"], value["kind"], namespace, metadata.get("name", ""))


def cluster(*objects: Json) -> Cluster:
    """A cluster that has these objects, in their served form."""
    known: dict[Any, Any] = {}
    namespaces: dict[str, Json] = {}
    for value in objects:
        head = head_of(value)
        stored = SERVED.form(value, Cluster().subject_of(head).namespace).object
        identity = (head.group, head.kind, Cluster().subject_of(head).namespace, head.name)
        known[identity] = lambda stored=stored: stored
        if head.kind == "Namespace":
            namespaces[head.name] = stored
    return Cluster(known, namespaces)


def listers(*objects: Json, complete: bool = False) -> Listers:
    everything = frozenset(COMPLETABLE if complete else ())
    return Listers(cluster(*objects), everything, RELEASE)


def request(value: Json, operation: Operation = Operation.CREATE) -> Request:
    """A request to create an object, in its served form."""
    head = head_of(value)
    namespace = Cluster().subject_of(head).namespace
    resource = Cluster().resource_for(head.group, head.kind)
    served = SERVED.form(value, namespace).object
    return Request(operation, head, resource, namespace, served, written=value)


def pod(name: str = "p", **spec: Any) -> Json:
    spec = {"containers": [{"name": "c", "image": "app:1"}], **spec}
    metadata = {"name": name, "namespace": "team"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def named(kind: str, name: str, api_version: str = "v1", **fields: Any) -> Json:
    """An object of no namespace."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def in_team(kind: str, name: str, **fields: Any) -> Json:
    """An object of the namespace of `pod`."""
    metadata = {"name": name, "namespace": "team"}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def stream_of(*objects: Json) -> Stream:
    return read_stream("---\n".join(yaml.safe_dump(one) for one in objects).encode())


def run(*objects: Json, rule: str = TOLERANT, **spec: Any) -> tuple[Report, Stream]:
    """A run of these objects with a rule, and members of the Admission's specification."""
    document: Json = {"apiVersion": "krm-fn.dev/v1alpha1", "kind": "Admission", "spec": spec}
    if rule:
        document["spec"]["rules"] = [{"inline": rule}]
    stream = stream_of(*objects)
    options = from_document(document, "test")
    return admit([stream], stages_of(options, [stream])), stream
