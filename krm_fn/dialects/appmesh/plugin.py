"""SuperGloo's webhook for Pods as a plugin of the chain: one, however many Meshes there are.

It finds the Mesh that a Pod is for, gathers what the template needs, and adds the sidecars. What a
template makes is known elsewhere.
Source: SuperGloo v0.3.22 the webhook and its App Mesh plugin; the App Mesh specification, B3, B9
and P5, as the vectors' README corrects them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Operation,
    Phase,
    Prefilter,
    Request,
    Response,
    Selection,
    Step,
)
from krm_fn.admission.coverage import scope_of_pods
from krm_fn.admission.trace import Trace
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.appmesh.faults import DATA, INJECT, PATCH, READ_POD, MeshRefusedError
from krm_fn.dialects.appmesh.gotypes import read_pod
from krm_fn.dialects.appmesh.meshes import REGIONS, SUPERGLOO, Mesh, Pod
from krm_fn.dialects.appmesh.options import AppMeshOptions, DefaultPatch, OnDuplicate
from krm_fn.dialects.appmesh.patch import BUILTIN, Patch, PatchError, Sidecars, Values
from krm_fn.errors import EvaluationError
from krm_fn.kube.podtemplates import controller_labels
from krm_fn.lang.go.values import to_bytes
from krm_fn.values import Json, get

DEFAULT_CONFIG_MAP: Final = "sidecar-injector"
_KRUISE_MARK: Final = {"name": "IS_INJECTED", "value": "true"}


class Injector:
    """All Meshes of AWS App Mesh of a run."""

    name = "supergloo"
    phase = Phase.MUTATING_WEBHOOK
    order = ("sidecar-injector", "sidecar-injector")

    def __init__(
        self,
        meshes: Iterable[Mesh],
        options: AppMeshOptions,
        on_error: OnRuleError = OnRuleError.FAIL,
    ) -> None:
        self.options = options
        self._on_error = on_error
        enabled = (mesh for mesh in meshes if mesh.injects)
        # SuperGloo sorts by the name alone; the namespace makes the order one.
        self._meshes = sorted(enabled, key=lambda mesh: (mesh.name, mesh.namespace))
        self._patches: dict[str, Patch] = {}
        self._deployed: tuple[Cluster, str] | None = None
        self.prefilter = Prefilter([Selection(frozenset({""}), frozenset({"Pod"}))])
        self.scopes = [scope_of_pods(mesh.ref, mesh.namespaces) for mesh in self._meshes]

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Admit one Pod. SuperGloo registers for Pods that are created, and for nothing else."""
        if request.trace is not None and not self._explains(request, request.trace):
            return Response()
        if request.operation is not Operation.CREATE:
            return Response()
        run = _Run(self, request, cluster)
        try:
            return run.response()
        except MeshRefusedError as refusal:
            findings = (*run.findings, self._finding(refusal))
            return Response(findings=findings, matched=refusal.rules)

    def _explains(self, request: Request, trace: Trace) -> bool:
        """Record what the webhook is called for; returns whether it is called for this object."""
        from krm_fn.dialects.appmesh.why import ask_pod

        asked = [ask_pod(trace.rule(mesh.ref), request) for mesh in self._meshes]
        return any(asked)

    def _finding(self, refusal: MeshRefusedError) -> Finding:
        message, rules = str(refusal), refusal.rules
        if refusal.crashes and self._on_error is OnRuleError.AS_CLUSTER:
            message += "; a cluster takes the Pod without a sidecar"
            return Finding(Cause.WARNING, False, message, rules)
        if self._on_error is OnRuleError.WARN:
            message += "; the Pod stays as it is (onRuleError: Warn)"
            return Finding(Cause.FAILED, False, message, rules)
        return Finding(Cause.FAILED, True, message, rules)

    @property
    def meshes(self) -> Sequence[Mesh]:
        """The Meshes that inject, in the order in which SuperGloo takes them."""
        return self._meshes

    def deployed_in(self, cluster: Cluster) -> str:
        """The namespace of the first Deployment `supergloo`, "" without one; looked for once."""
        if self._deployed is None or self._deployed[0] is not cluster:
            self._deployed = cluster, _deployed_in(cluster)
        return self._deployed[1]

    def patch(self, text: str) -> Patch:
        """A template, compiled once."""
        known = self._patches.get(text)
        if known is None:
            known = self._patches[text] = Patch(text)
        return known


def _deployed_in(cluster: Cluster) -> str:
    for deployment in cluster.list("apps", "Deployment"):
        if get(deployment, ("metadata", "name")) == "supergloo":
            return str(get(deployment, ("metadata", "namespace")) or cluster.default_namespace)
    return ""


class _Run:
    """One Pod."""

    def __init__(self, plugin: Injector, request: Request, cluster: Cluster) -> None:
        self.plugin = plugin
        self.options = plugin.options
        self.request = request
        self.cluster = cluster
        self.findings: list[Finding] = []

    def response(self) -> Response:
        pod = self._pod()
        matching = [mesh for mesh in self.plugin.meshes if self._matches(mesh, pod)]
        if len(matching) > 1:
            reason = (
                "pod matches selectors in multiple meshes. Multiple injection is currently not "
                "supported"
            )
            names = " and ".join(f"{mesh.namespace}.{mesh.name}" for mesh in matching)
            refs = tuple(mesh.ref for mesh in matching)
            raise MeshRefusedError(PATCH + reason, refs, f"the Meshes are {names}")
        if not matching:
            return Response(findings=tuple(self.findings))
        mesh = matching[0]
        matched = (mesh.ref,)
        sidecars = self._sidecars(mesh, pod)
        if self.request.trace is not None:
            from krm_fn.dialects.appmesh.why import tell_injection

            tell_injection(self.request.trace.rule(mesh.ref), mesh, pod, sidecars)
        if sidecars is None or not any(sidecars):
            return Response(findings=tuple(self.findings), matched=matched)
        injected = _with_sidecars(self.request.object, sidecars, mesh)
        steps = (Step(matched, injected),)
        return Response(injected, steps, tuple(self.findings), matched=matched)

    def _pod(self) -> Pod:
        try:
            pod = read_pod(self.request.object)
        except EvaluationError as error:
            raise MeshRefusedError(READ_POD + error.message) from None
        return Pod(
            get(pod, ("metadata", "namespace")) or self.request.namespace,
            get(pod, ("metadata", "labels")) or {},
            tuple(get(pod, ("spec", "containers")) or ()),
            tuple(get(pod, ("spec", "initContainers")) or ()),
            self.request.workload is not None,
        )

    def _matches(self, mesh: Mesh, pod: Pod) -> bool:
        held = mesh.matches(pod)
        if self.request.trace is not None:
            from krm_fn.dialects.appmesh.why import ask_selector

            ask_selector(self.request.trace.rule(mesh.ref), mesh, pod, held)
        if held:
            return True
        unknown = mesh.unknown_labels(pod)
        if unknown:
            message = (
                f"selects Pods by a controller-added label ({', '.join(unknown)}), which no "
                "template has; it is taken for absent"
            )
            self.findings.append(Finding(Cause.WARNING, False, message, (mesh.ref,)))
        return False

    # ------------------------------------------------------------------------- what is added

    def _sidecars(self, mesh: Mesh, pod: Pod) -> Sidecars | None:
        """The sidecars; None where the Pod has them already."""
        namespace, name, data = self._config_map(mesh)
        self._check_region(mesh)
        node = self._node(mesh, pod)
        if node is None:
            return None
        if self._is_there(mesh, pod, node, data):
            return None
        ports = _ports(mesh, pod)
        if len(data) != 1:
            where = f"{namespace}.{name} but found {len(data)}"
            reason = f"expected exactly 1 entry in config map {where}"
            raise MeshRefusedError(INJECT + reason, (mesh.ref,))
        values = Values(mesh.name, node, ports, mesh.region)
        try:
            sidecars = self.plugin.patch(*data).sidecars(values)
        except PatchError as error:
            raise MeshRefusedError(str(error), (mesh.ref,)) from None
        self._check_names(mesh, pod, sidecars)
        return sidecars

    def _config_map(self, mesh: Mesh) -> tuple[str, str, list[str]]:
        """Namespace, name and texts of the ConfigMap with the template."""
        wanted = mesh.config_map
        if wanted is None:
            namespace, name = self._supergloo_namespace(), DEFAULT_CONFIG_MAP
        else:
            namespace, name = wanted
        found = self.cluster.get("", "ConfigMap", namespace, name) if namespace and name else None
        if found is None and wanted is None and self.options.default_patch is DefaultPatch.BUILTIN:
            return namespace, name, [BUILTIN]
        if found is None:
            ref = _proto_text(name, namespace)
            hint = self._missing(namespace, name)
            raise MeshRefusedError(
                f"{PATCH}failed to retrieve config map [{ref}]", (mesh.ref,), hint
            )
        return namespace, name, self._texts(mesh, found)

    def _texts(self, mesh: Mesh, config_map: Json) -> list[str]:
        data = config_map.get("data")
        entries = [] if data is None else list(data.values()) if type(data) is dict else [data]
        texts = ["" if entry is None else entry for entry in entries]
        if not all(type(text) is str for text in texts):
            name = get(config_map, ("metadata", "name"))
            message = f"the data of ConfigMap {name} is no map of texts; no cluster would take it"
            raise MeshRefusedError(message, (mesh.ref,))
        return texts

    def _supergloo_namespace(self) -> str:
        if self.options.supergloo_namespace:
            return self.options.supergloo_namespace
        namespace = self.plugin.deployed_in(self.cluster)
        if namespace:
            return namespace
        message = (
            "no Deployment supergloo is among the objects: SuperGloo is taken to be in "
            f"{SUPERGLOO} (appMesh.superglooNamespace)"
        )
        # Of no rule, so that it is told once and not for each Pod.
        self.findings.append(Finding(Cause.NOTE, False, message))
        return SUPERGLOO

    def _missing(self, namespace: str, name: str) -> str:
        """What may be meant by a ConfigMap that is not there."""
        if not namespace or not name:
            return (
                "sidecarPatchConfigMap must say both name and namespace: SuperGloo assumes neither"
            )
        hashed = sorted(
            found
            for config_map in self.cluster.list("", "ConfigMap", namespace)
            if (found := str(get(config_map, ("metadata", "name")))).startswith(f"{name}-")
        )
        if hashed:
            return (
                f"there is {', '.join(hashed)}: kustomize puts a hash behind the names of "
                "ConfigMaps that it makes, and does not follow Meshes; set "
                "generatorOptions.disableNameSuffixHash"
            )
        return f"add ConfigMap {namespace}/{name} to the objects or to context.objects"

    def _check_region(self, mesh: Mesh) -> None:
        region = mesh.region
        if not region:
            raise MeshRefusedError(
                f"{DATA}mesh resource is missing required Region field", (mesh.ref,)
            )
        if region not in REGIONS and region not in self.options.extra_regions:
            reason = (
                f"AWS App Mesh is currently not available in [{region}]. Supported regions are: "
                f"{REGIONS}"
            )
            hint = "appMesh.extraRegions allows others: SuperGloo knows those of 2019 only"
            raise MeshRefusedError(DATA + reason, (mesh.ref,), hint)

    def _node(self, mesh: Mesh, pod: Pod) -> str | None:
        """The virtual node; None where only the Pod's controller would tell."""
        label = mesh.node_label
        if not label:
            reason = "mesh resource is missing required VirtualNodeLabel field"
            raise MeshRefusedError(DATA + reason, (mesh.ref,))
        if label in pod.labels:
            return pod.labels[label]
        if pod.of_template and controller_labels((label,)):
            message = (
                f"its virtualNodeLabel {label} is a controller-added label, which no template has; "
                "nothing is injected"
            )
            self.findings.append(Finding(Cause.WARNING, False, message, (mesh.ref,)))
            return None
        reason = f"pod is missing required virtual node label {label}"
        raise MeshRefusedError(DATA + reason, (mesh.ref,))

    # ---------------------------------------------------------------------- what is there already

    def _is_there(self, mesh: Mesh, pod: Pod, node: str, data: Sequence[str]) -> bool:
        """Whether the Pod has all sidecars of the patch, as after an earlier run.

        Asked before the ports are, since a sidecar without any would count as an application.
        """
        if self.options.on_duplicate is not OnDuplicate.SKIP or len(data) != 1:
            return False
        values = Values(mesh.name, node, _joined_ports(pod), mesh.region)
        try:
            sidecars = self.plugin.patch(*data).sidecars(values)
        except PatchError:
            # What is wrong is told when the sidecars are made in earnest.
            return False
        there, missing = _compared(pod, sidecars)
        if not there or missing:
            return False
        message = f"already injected: the Pod has {', '.join(there)}"
        self.findings.append(Finding(Cause.NOTE, False, message, (mesh.ref,)))
        return True

    def _check_names(self, mesh: Mesh, pod: Pod, sidecars: Sidecars) -> None:
        if self.options.on_duplicate is OnDuplicate.APPEND:
            return
        there, missing = _compared(pod, sidecars)
        if not there:
            return
        message = f"the Pod has {', '.join(there)} already"
        message += f", but not {', '.join(missing)}" if missing else ""
        hint = (
            "SuperGloo would add them again, and no Pod may have two containers of one name; "
            "appMesh.onDuplicate says what to do"
        )
        raise MeshRefusedError(message, (mesh.ref,), hint)


def _compared(pod: Pod, sidecars: Sidecars) -> tuple[list[str], list[str]]:
    """The sidecars by name that the Pod has, and that it has not."""
    there: list[str] = []
    missing: list[str] = []
    pairs = ((sidecars.containers, pod.containers), (sidecars.init_containers, pod.init_containers))
    for added, existing in pairs:
        names = {container["name"] for container in existing}
        for container in added:
            (there if container["name"] in names else missing).append(container["name"])
    return there, missing


def _joined_ports(pod: Pod) -> str:
    ports = (port for container in pod.containers for port in container.get("ports", ()))
    return ",".join(str(port["containerPort"]) for port in ports)


def _ports(mesh: Mesh, pod: Pod) -> str:
    """All ports of the application, of which each container must have one."""
    for container in pod.containers:
        if not container.get("ports"):
            name = container["name"]
            reason = f"no containerPorts for container {name}. Must specify at least 1 port"
            hint = ""
            if _KRUISE_MARK in container.get("env", ()):
                hint = (
                    f"{name} is a sidecar of OpenKruise, whose webhook comes before SuperGloo's in "
                    "a cluster, too; give it a port in the SidecarSet"
                )
            raise MeshRefusedError(DATA + reason, (mesh.ref,), hint)
    return _joined_ports(pod)


def _with_sidecars(pod: Json, sidecars: Sidecars, mesh: Mesh) -> Json:
    """The Pod after SuperGloo's JSON patch. Source: B5."""
    spec = pod.get("spec")
    fields = (("containers", sidecars.containers), ("initContainers", sidecars.init_containers))
    injected = dict(spec) if type(spec) is dict else None
    for field, added in fields:
        if not added:
            continue
        if injected is None:
            path = f"/spec/{field}"
            reason = f'jsonpatch add operation does not apply: doc is missing path: "{path}"'
            raise MeshRefusedError(reason, (mesh.ref,))
        injected[field] = [*(injected.get(field) or ()), *added]
    return {**pod, "spec": injected}


def _proto_text(name: str, namespace: str) -> str:
    """A reference as protobuf's text format writes it."""
    fields = (("name", name), ("namespace", namespace))
    return "".join(f"{field}:{_proto_quote(text)} " for field, text in fields if text)


_PROTO_ESCAPES: Final = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"} | {
    ord(char): "\\" + char for char in '"\\'
}


def _proto_quote(text: str) -> str:
    """Source: gogo/protobuf proto/text.go writeString."""
    written = "".join(
        _PROTO_ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
        for byte in to_bytes(text)
    )
    return f'"{written}"'
