"""The criteria of a Mesh as an explanation tells them. Loaded where somebody asks why.

Source: docs/spec/explain.md section 2; SuperGloo v0.3.22.
"""

from __future__ import annotations

from krm_fn.admission import Operation, Request
from krm_fn.admission.trace import RuleTrace
from krm_fn.admission.why import differing
from krm_fn.dialects.appmesh.meshes import Mesh, Pod
from krm_fn.dialects.appmesh.patch import Sidecars

_LABELS = ("metadata", "labels")


def ask_pod(record: RuleTrace, request: Request) -> bool:
    """Record what SuperGloo's webhook is called for: Pods that are created."""
    head = request.head
    is_pod = (head.group, head.kind) == ("", "Pod")
    hint = "" if is_pod else "podTemplates: Mutate (--pod-templates) admits templates as Pods"
    created = request.operation is Operation.CREATE
    return record.ask("a Pod", head.kind, is_pod, hint=hint) and record.ask(
        "CREATE", str(request.operation), created
    )


def ask_selector(record: RuleTrace, mesh: Mesh, pod: Pod, held: bool) -> None:
    """Record the injectionSelector of a Mesh."""
    field = ("spec", "awsAppMesh", "injectionSelector")
    if mesh.namespaces is not None:
        wants = f"a namespace of {', '.join(mesh.namespaces) or 'none'}"
        record.ask(wants, pod.namespace, held, field=field)
        return
    wants = ", ".join(f"{key}={text}" for key, text in mesh.labels.items()) or "nothing"
    saw = differing(mesh.labels, pod.labels) or "the Pod has them"
    record.ask(f"labels {wants}", saw, held, field=field, path=_LABELS)


def tell_injection(record: RuleTrace, mesh: Mesh, pod: Pod, sidecars: Sidecars | None) -> None:
    """Record the virtual node and what came of the patch."""
    label = mesh.node_label
    if label:
        field = ("spec", "awsAppMesh", "virtualNodeLabel")
        record.effect(f"virtual node by label {label}", pod.labels.get(label, "none"), field=field)
    if sidecars is None:
        result = "there already"
    else:
        result = "injected" if any(sidecars) else "nothing to inject"
    record.effect("sidecars of the mesh", result)
