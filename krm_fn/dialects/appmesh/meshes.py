"""A Mesh, and for which Pods it is.

Knows selectors as SuperGloo evaluates them; what is injected is known elsewhere.
Source: SuperGloo v0.3.22 the App Mesh plugin and its utilities; apimachinery 1.13 labels
(SelectorFromSet); the App Mesh specification, B2 and B3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from krm_fn.admission import Rule, RuleRef
from krm_fn.dialects.appmesh.faults import CHECK_POD, MeshRefusedError
from krm_fn.dialects.appmesh.messages import read_spec
from krm_fn.errors import DecodeError
from krm_fn.kube.podtemplates import controller_labels
from krm_fn.kube.selectors import SelectorError, from_label_selector
from krm_fn.values import Json

SUPERGLOO: Final = "supergloo-system"
"""The namespace that SuperGloo is in where nobody says another."""

REGIONS: Final = (
    "ap-south-1,ap-northeast-2,ap-southeast-1,ap-southeast-2,ap-northeast-1,us-east-2,us-east-1,"
    "us-west-1,us-west-2,eu-west-1,eu-central-1,ca-central-1"
)
"""What a region must be a part of: SuperGloo looks for the text in this one."""


@dataclass(frozen=True, slots=True)
class Pod:
    """What the injector asks of a Pod; `of_template` tells one that no controller has made yet."""

    namespace: str
    labels: dict[str, str]
    containers: tuple[Json, ...]
    init_containers: tuple[Json, ...]
    of_template: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A Mesh of AWS App Mesh; `spec` is that of its awsAppMesh.

    `invalid` says why Kubernetes would not allow one of the labels that it wants, "" if it would:
    then none of them counts.
    """

    ref: RuleRef
    namespace: str
    name: str
    spec: Json
    labels: dict[str, str]
    invalid: str

    @property
    def injects(self) -> bool:
        return bool(self.spec.get("enableAutoInject", False))

    @property
    def region(self) -> str:
        return str(self.spec.get("region", ""))

    @property
    def node_label(self) -> str:
        return str(self.spec.get("virtualNodeLabel", ""))

    @property
    def selector(self) -> Json | None:
        selector: Json | None = self.spec.get("injectionSelector")
        return selector

    @property
    def config_map(self) -> tuple[str, str] | None:
        """Namespace and name of the ConfigMap that it names; None where it names none."""
        ref = self.spec.get("sidecarPatchConfigMap")
        return None if ref is None else (ref.get("namespace", ""), ref.get("name", ""))

    @property
    def namespaces(self) -> list[str] | None:
        """The namespaces that it is for; None where that does not hang on those."""
        wanted = (self.selector or {}).get("namespaceSelector")
        return None if wanted is None else list(wanted.get("namespaces", ()))

    def matches(self, pod: Pod) -> bool:
        """Whether a Pod gets the sidecar. Raises MeshRefusedError."""
        kind, wanted = self._chosen()
        if kind == "":
            return False
        if kind in ("upstreamSelector", "serviceSelector"):
            what = kind.removesuffix("Selector")
            raise self._refused(f"{what} selectors are currently unsupported by pod auto-injection")
        if wanted is None:
            message = f"SuperGloo's webhook crashes on a {kind} that is null, whatever the Pod"
            raise MeshRefusedError(message, (self.ref,), crashes=True)
        if kind == "namespaceSelector":
            return pod.namespace in wanted.get("namespaces", ())
        return all(pod.labels.get(key) == value for key, value in self._counting())

    def _counting(self) -> Iterable[tuple[str, str]]:
        return () if self.invalid else self.labels.items()

    def _chosen(self) -> tuple[str, Any]:
        """Which selector it has, "" for none."""
        selector = self.selector
        if selector is None:
            where = f"{self.namespace}.{self.name}"
            raise self._refused(f"auto-injection enabled but no selector for mesh {where}")
        return next(iter(selector.items()), ("", None))

    def _refused(self, reason: str) -> MeshRefusedError:
        hint = "SuperGloo refuses every Pod of the cluster for this Mesh"
        return MeshRefusedError(CHECK_POD + reason, (self.ref,), hint)

    def unknown_labels(self, pod: Pod) -> tuple[str, ...]:
        """Labels that a match hangs on and that only a controller would give to the Pod."""
        if not pod.of_template:
            return ()
        wanted = dict(self._counting())
        unknown = tuple(key for key in controller_labels(wanted) if key not in pod.labels)
        others = (key for key in wanted if key not in unknown)
        return unknown if all(pod.labels.get(key) == wanted[key] for key in others) else ()

    def remarks(self) -> Iterator[tuple[str, str]]:
        """What SuperGloo takes without a word, and nobody can mean: the field, and why."""
        if not self.injects:
            return
        field = "spec.awsAppMesh.injectionSelector.labelSelector.labelsToMatch"
        if self.invalid:
            yield field, f"{self.invalid}: for that the selector matches every Pod of the cluster"
        elif (self.selector or {}).get("labelSelector") is not None and not self.labels:
            yield field, "it is empty, which matches every Pod of the cluster"
        if self.region and self.region in REGIONS and self.region not in REGIONS.split(","):
            message = f"{self.region!r} is no region, but SuperGloo takes any part of {REGIONS}"
            yield "spec.awsAppMesh.region", message


def _invalid(labels: dict[str, str]) -> str:
    """Why Kubernetes would refuse these labels in a selector; "" where it would not."""
    try:
        from_label_selector({"matchLabels": labels})
    except SelectorError as error:
        return error.message
    return ""


def read_mesh(rule: Rule) -> Mesh | None:
    """The Mesh of a manifest; None for one that is of another system.

    Raises DecodeError for what SuperGloo cannot read.
    """
    if not rule.ref.name:
        raise DecodeError("metadata.name is required", ("metadata", "name"))
    spec = read_spec(rule.value.get("spec"))
    app_mesh = spec.get("awsAppMesh")
    if app_mesh is None:
        return None
    selector = app_mesh.get("injectionSelector", {}).get("labelSelector") or {}
    labels = selector.get("labelsToMatch", {})
    namespace = rule.ref.namespace or SUPERGLOO
    return Mesh(rule.ref, namespace, rule.ref.name, app_mesh, labels, _invalid(labels))
