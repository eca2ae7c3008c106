"""A set's sidecars as they come into one Pod: with what they share and transfer, doubled if hot.

A set is prepared once (`SetTemplate`); nothing of a Pod is known then. Putting the result into the
Pod is `merge`.
Source: OpenKruise v1.9.0 pkg/webhook/pod/mutating/sidecarset.go buildSidecars,
sidecarset_hotupgrade.go; the SidecarSet specification, A9 to A12.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from krm_fn.dialects.sidecarset.refused import InjectionRefusedError
from krm_fn.dialects.sidecarset.resources import computed
from krm_fn.dialects.sidecarset.sets import SidecarSet, is_native
from krm_fn.dialects.sidecarset.sharing import (
    INJECTED,
    AppContainers,
    with_devices,
    with_mounts,
    with_variables,
)
from krm_fn.dialects.sidecarset.types import OWN_FIELDS
from krm_fn.errors import EvaluationError
from krm_fn.kube.served.images import pull_policy
from krm_fn.values import Json, get

_MARK: Final[Json] = {"name": INJECTED, "value": "true"}


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A container to put into a Pod, and whether it goes before the Pod's own."""

    container: Json
    before: bool

    @property
    def name(self) -> str:
        return str(self.container.get("name", ""))


@dataclass(slots=True)
class Built:
    """What one set brings into one Pod."""

    set: SidecarSet
    containers: list[Sidecar] = field(default_factory=list)
    init_containers: list[Sidecar] = field(default_factory=list)
    volumes: list[Json] = field(default_factory=list)
    hot: list[str] = field(default_factory=list)
    """The containers that came in as a pair."""
    without: list[str] = field(default_factory=list)
    """The resources that a policy reads and that some container does not have."""

    @property
    def injects(self) -> bool:
        return bool(self.containers or self.init_containers)


class _Prepared:
    """One container of a set, with all that does not hang on the Pod."""

    __slots__ = ("before", "container", "devices", "env", "hot", "mounts", "policy", "spec")

    def __init__(self, spec: Json, hot: bool) -> None:
        own = {key: value for key, value in spec.items() if key not in OWN_FIELDS}
        if not own.get("resources"):
            own.pop("resources", None)
        self.spec = spec
        self.container = own
        self.before = spec.get("podInjectPolicy") == "BeforeAppContainer"
        self.hot = hot
        self.policy: Json | None = spec.get("resourcesPolicy")
        self.env: list[Json] = [*own.get("env", ()), _MARK]
        self.mounts: list[Json] = own.get("volumeMounts", [])
        self.devices: list[Json] = own.get("volumeDevices", [])

    @property
    def names(self) -> tuple[str, ...]:
        """The containers that it becomes."""
        name = self.container.get("name", "")
        return (f"{name}-1", f"{name}-2") if self.hot else (name,)


def _is_hot(container: Json) -> bool:
    return bool(get(container, ("upgradeStrategy", "upgradeType")) == "HotUpgrade")


class SetTemplate:
    """A set with its containers prepared."""

    def __init__(self, sidecar_set: SidecarSet) -> None:
        spec = sidecar_set.spec
        self.set = sidecar_set
        self.containers = [_Prepared(c, _is_hot(c)) for c in spec.get("containers", ())]
        self.init_containers = [
            _Prepared(c, is_native(c) and _is_hot(c)) for c in spec.get("initContainers", ())
        ]
        self.volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
        self.written = frozenset(name for c in self.containers for name in c.names)
        """The names that its containers have in a Pod."""
        every = (*self.containers, *self.init_containers)
        self.sidecars = frozenset(
            name for c in every for name in (*c.names, c.container.get("name", ""))
        )
        """These, those of init containers, and the names of pairs without their number."""

    def build(
        self,
        pod: Json,
        annotations: dict[str, str],
        app: AppContainers,
        sidecars: frozenset[str],
    ) -> Built:
        """What the set brings into a Pod; `sidecars` are those of all sets that match it.

        Raises InjectionRefusedError.
        """
        built = Built(self.set)
        for kind, made in (
            (self.init_containers, built.init_containers),
            (self.containers, built.containers),
        ):
            for prepared in kind:
                where = f"SidecarSet {self.set.name}: container {prepared.container['name']}"
                try:
                    resources = self._resources(prepared, pod, sidecars, built)
                    made += self._one(prepared, resources, annotations, app)
                except EvaluationError as error:
                    raise InjectionRefusedError(error.message, (self.set.ref,), where) from None
        for prepared in (*self.init_containers, *self.containers):
            built.volumes += self._volumes(prepared)
            if prepared.hot:
                built.hot.append(prepared.container["name"])
        return built

    def _volumes(self, prepared: _Prepared) -> Iterator[Json]:
        for used in (*prepared.mounts, *prepared.devices):
            volume = self.volumes.get(used.get("name", ""))
            if volume is not None:
                yield volume

    def _resources(
        self, prepared: _Prepared, pod: Json, sidecars: frozenset[str], built: Built
    ) -> Json | None:
        """What the policy computes; None without one."""
        if prepared.policy is None:
            return None
        resources, without = computed(prepared.policy, pod, sidecars)
        built.without += (name for name in without if name not in built.without)
        return resources

    def _one(
        self,
        prepared: _Prepared,
        resources: Json | None,
        annotations: dict[str, str],
        app: AppContainers,
    ) -> Iterator[Sidecar]:
        spec = prepared.spec
        container = dict(prepared.container)
        if resources is not None:
            container.pop("resources", None)
            if resources:
                container["resources"] = resources
        variables = list(app.take(app.transferred(spec.get("transferEnv", ()), annotations)))
        mounts = prepared.mounts
        if get(spec, ("shareVolumePolicy", "type")) == "enabled":
            variables += app.take(app.path_variables)
            mounts = with_mounts(mounts, prepared.devices, app.take(app.mounts))
        devices = prepared.devices
        if get(spec, ("shareVolumeDevicePolicy", "type")) == "enabled":
            devices = with_devices(devices, mounts, app.take(app.devices))
        container["env"] = with_variables(prepared.env, variables)
        if mounts:
            container["volumeMounts"] = mounts
        if devices:
            container["volumeDevices"] = devices
        if not prepared.hot:
            yield Sidecar(container, prepared.before)
            return
        working, empty = prepared.names
        yield Sidecar(_numbered(container, working), prepared.before)
        image = get(spec, ("upgradeStrategy", "hotUpgradeEmptyImage"), "")
        blank = {key: value for key, value in container.items() if key != "image"}
        blank = {"name": empty, "image": image, **blank} if image else blank
        # Kruise fills the policy in before it exchanges the image.
        policy = pull_policy(container.get("image", ""))
        if "imagePullPolicy" not in container and policy != pull_policy(image):
            blank["imagePullPolicy"] = policy
        yield Sidecar(_numbered(blank, empty), prepared.before)


def _numbered(container: Json, name: str) -> Json:
    """One of a hot pair; it is told through annotations which of both works."""
    versions = [
        {
            "name": variable,
            "valueFrom": {"fieldRef": {"fieldPath": f"metadata.annotations['{key}']"}},
        }
        for variable, key in zip(
            ("SIDECARSET_VERSION", "SIDECARSET_VERSION_ALT"), _version_keys(name), strict=True
        )
    ]
    return {**container, "name": name, "env": [*container["env"], *versions]}


def _version_keys(name: str) -> tuple[str, str]:
    return f"version.sidecarset.kruise.io/{name}", f"versionalt.sidecarset.kruise.io/{name}"


def version_annotations(name: str) -> dict[str, str]:
    """The annotations of a pair: at first the container with the number 1 works."""
    result: dict[str, str] = {}
    for number, version, alternative in (("1", "1", "0"), ("2", "0", "1")):
        key, other = _version_keys(f"{name}-{number}")
        result[key] = version
        result[other] = alternative
    return result
