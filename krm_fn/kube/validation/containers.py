"""Containers, as the API server checks them in a Pod.

Source: Kubernetes 1.32 pkg/apis/core/validation/validation.go validateContainers,
validateInitContainers, with the options that Kruise gives, which are all off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from krm_fn.kube.validation import names
from krm_fn.kube.validation.fields import (
    Printed,
    duplicate,
    each,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from krm_fn.kube.validation.probes import lifecycle, probe
from krm_fn.kube.validation.references import (
    VARIABLE_FIELDS,
    field_reference,
    resource_reference,
)
from krm_fn.kube.validation.resources import requirements
from krm_fn.kube.validation.security import security_context
from krm_fn.kube.validation.volumes import (
    descending,
    pull_policy,
    reference_name,
)
from krm_fn.values import Json

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")


def containers(values: Sequence[Json], volumes: Mapping[str, Json], path: str) -> Iterator[str]:
    """What is wrong with a Pod's containers; `volumes` are those that it may mount."""
    seen: set[str] = set()
    for n, one in enumerate(values):
        at = f"{path}[{n}]"
        yield from _common(one, volumes, at)
        if one["name"] in seen:
            yield duplicate(f"{at}.name", one["name"])
        seen.add(one["name"])
        yield from _running(one, at)
        if one.get("restartPolicy") is not None:
            yield forbidden(f"{at}.restartPolicy", "may not be set for non-init containers")
        yield from _padded(one, at)
    yield from _host_ports(values, path)


def init_containers(
    values: Sequence[Json], others: Sequence[Json], volumes: Mapping[str, Json], path: str
) -> Iterator[str]:
    """What is wrong with init containers, which share their names with the `others`."""
    seen = {other["name"] for other in others}
    for n, one in enumerate(values):
        at = f"{path}[{n}]"
        yield from _common(one, volumes, at)
        restart = one.get("restartPolicy")
        if restart not in (None, "Always"):
            yield not_supported(f"{at}.restartPolicy", restart, ("Always",))
        if one["name"] in seen:
            yield duplicate(f"{at}.name", one["name"])
        elif one["name"]:
            seen.add(one["name"])
        yield from _host_ports([one], path)
        if restart == "Always":
            yield from _running(one, at)
        else:
            for name in ("lifecycle", *_PROBES):
                if one.get(name) is not None:
                    message = "may not be set for init containers without restartPolicy=Always"
                    yield forbidden(f"{at}.{name}", message)
        if one.get("resizePolicy"):
            shown = ", ".join(
                f'core.ContainerResizePolicy{{ResourceName:"{p.get("resourceName", "")}", '
                f'RestartPolicy:"{p.get("restartPolicy", "")}"}}'
                for p in one["resizePolicy"]
            )
            policies = Printed(f"[]core.ContainerResizePolicy{{{shown}}}")
            yield invalid(f"{at}.resizePolicy", policies, "must not be set for init containers")
        yield from _padded(one, at)


def _running(one: Json, path: str) -> Iterator[str]:
    """What only a container that goes on running may have."""
    if one.get("lifecycle") is not None:
        yield from lifecycle(one["lifecycle"], f"{path}.lifecycle")
    for name in _PROBES:
        if one.get(name) is not None:
            yield from probe(one[name], name, f"{path}.{name}")


def _padded(one: Json, path: str) -> Iterator[str]:
    image = one.get("image", "")
    if image != image.strip():
        message = "must not have leading or trailing whitespace"
        yield invalid(f"{path}.image", image, message)


def _common(one: Json, volumes: Mapping[str, Json], path: str) -> Iterator[str]:
    if not one["name"]:
        yield required(f"{path}.name")
    else:
        yield from each(f"{path}.name", one["name"], names.dns_label(one["name"]))
    if not one.get("image"):
        yield required(f"{path}.image")
    policy = one.get("terminationMessagePolicy", "")
    if not policy:
        yield required(f"{path}.terminationMessagePolicy")
    elif policy not in ("File", "FallbackToLogsOnError"):
        supported = ("File", "FallbackToLogsOnError")
        yield not_supported(f"{path}.terminationMessagePolicy", policy, supported)
    yield from _ports(one.get("ports", ()), f"{path}.ports")
    yield from _variables(one.get("env", ()), f"{path}.env")
    yield from _sources(one.get("envFrom", ()), f"{path}.envFrom")
    yield from _mounts(one, volumes, f"{path}.volumeMounts")
    yield from _devices(one, volumes, f"{path}.volumeDevices")
    yield from pull_policy(one.get("imagePullPolicy", ""), f"{path}.imagePullPolicy")
    yield from requirements(one.get("resources", {}), f"{path}.resources")
    yield from _resize(one.get("resizePolicy", ()), f"{path}.resizePolicy")
    if one.get("securityContext") is not None:
        yield from security_context(one["securityContext"], f"{path}.securityContext")


def _ports(values: Sequence[Json], path: str) -> Iterator[str]:
    seen: set[str] = set()
    for n, port in enumerate(values):
        at = f"{path}[{n}]"
        name = port.get("name", "")
        complaints = names.port_name(name) if name else []
        if complaints:
            yield from each(f"{at}.name", name, complaints)
        elif name in seen:
            yield duplicate(f"{at}.name", name)
        elif name:
            seen.add(name)
        number = port.get("containerPort", 0)
        if not number:
            yield required(f"{at}.containerPort")
        else:
            yield from each(f"{at}.containerPort", number, names.port_number(number))
        number = port.get("hostPort", 0)
        if number:
            yield from each(f"{at}.hostPort", number, names.port_number(number))
        protocol = port.get("protocol", "")
        if not protocol:
            yield required(f"{at}.protocol")
        elif protocol not in ("SCTP", "TCP", "UDP"):
            yield not_supported(f"{at}.protocol", protocol, ("SCTP", "TCP", "UDP"))


def _host_ports(values: Sequence[Json], path: str) -> Iterator[str]:
    seen: set[str] = set()
    for n, one in enumerate(values):
        for m, port in enumerate(one.get("ports", ())):
            number = port.get("hostPort", 0)
            if not number:
                continue
            text = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{number}"
            if text in seen:
                yield duplicate(f"{path}[{n}].ports[{m}].hostPort", text)
            seen.add(text)


def _variables(values: Sequence[Json], path: str) -> Iterator[str]:
    for n, variable in enumerate(values):
        at = f"{path}[{n}]"
        name = variable["name"]
        if not name:
            yield required(f"{at}.name")
        else:
            yield from each(f"{at}.name", name, names.variable_name(name))
        source = variable.get("valueFrom")
        if source is not None:
            yield from _variable_source(source, variable.get("value", ""), f"{at}.valueFrom")


def _variable_source(source: Json, value: str, path: str) -> Iterator[str]:
    if source.get("fieldRef") is not None:
        yield from field_reference(source["fieldRef"], VARIABLE_FIELDS, f"{path}.fieldRef")
    if source.get("resourceFieldRef") is not None:
        at = f"{path}.resourceFieldRef"
        yield from resource_reference(source["resourceFieldRef"], at, in_volume=False)
    for name in ("configMapKeyRef", "secretKeyRef"):
        if source.get(name) is not None:
            yield from reference_name(source[name], f"{path}.{name}")
    count = sum(one is not None for one in source.values())
    if not count:
        message = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
            "`secretKeyRef`"
        )
        yield invalid(path, "", message)
    elif value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif count > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def _sources(values: Sequence[Json], path: str) -> Iterator[str]:
    for n, source in enumerate(values):
        at = f"{path}[{n}]"
        prefix = source.get("prefix", "")
        if prefix:
            yield from each(f"{at}.prefix", prefix, names.variable_name(prefix))
        sources = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
        for name in sources:
            owner = source[name].get("name", "")
            if not owner:
                yield required(f"{at}.{name}.name")
            else:
                # A prefix of a name may end in a hyphen; the API server takes these for such.
                yield from each(f"{at}.{name}.name", owner, names.dns_subdomain(owner.rstrip("-")))
        if not sources:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(sources) > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")


def _mounts(one: Json, volumes: Mapping[str, Json], path: str) -> Iterator[str]:
    devices = {d["name"]: d["devicePath"] for d in one.get("volumeDevices", ())}
    seen: set[str] = set()
    for n, mount in enumerate(one.get("volumeMounts", ())):
        at = f"{path}[{n}]"
        name, where = mount["name"], mount["mountPath"]
        if not name:
            yield required(f"{at}.name")
        if name not in volumes:
            yield not_found(f"{at}.name", name)
        if not where:
            yield required(f"{at}.mountPath")
        if where in seen:
            yield invalid(f"{at}.mountPath", where, "must be unique")
        seen.add(where)
        if name in devices:
            yield invalid(f"{at}.name", name, "must not already exist in volumeDevices")
        if where in devices.values():
            message = "must not already exist as a path in volumeDevices"
            yield invalid(f"{at}.mountPath", where, message)
        yield from _sub_paths(mount, volumes.get(name, {}), at, path)
        yield from _propagation(mount, one, path)
        yield from _recursive(mount, f"{path}.recursiveReadOnly")


def _sub_paths(mount: Json, volume: Json, at: str, path: str) -> Iterator[str]:
    """The API server forgets the index in some of its paths."""
    plain, expanded = mount.get("subPath", ""), mount.get("subPathExpr", "")
    if volume.get("image") is not None:
        for name, value in (("subPath", plain), ("subPathExpr", expanded)):
            if value:
                yield invalid(f"{at}.{name}", value, "not allowed in image volume sources")
    if plain:
        yield from descending(plain, f"{path}.subPath")
    if expanded:
        if plain:
            message = "subPathExpr and subPath are mutually exclusive"
            yield invalid(f"{at}.subPathExpr", expanded, message)
        yield from descending(expanded, f"{path}.subPathExpr")


def _propagation(mount: Json, one: Json, path: str) -> Iterator[str]:
    value = mount.get("mountPropagation")
    if value is None:
        return
    at = f"{path}.mountPropagation"
    supported = ("Bidirectional", "HostToContainer", "None")
    if value not in supported:
        yield not_supported(at, value, supported)
    if value == "Bidirectional" and not (one.get("securityContext") or {}).get("privileged"):
        message = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(at, message)


def _recursive(mount: Json, path: str) -> Iterator[str]:
    value = mount.get("recursiveReadOnly")
    if value in (None, "Disabled"):
        return
    supported = ("Disabled", "Enabled", "IfPossible")
    if value not in supported:
        yield not_supported(path, value, supported)
        return
    if not mount.get("readOnly"):
        yield forbidden(path, "may only be specified when readOnly is true")
    if mount.get("mountPropagation") not in (None, "None"):
        message = "may only be specified when mountPropagation is None or not specified"
        yield forbidden(path, message)


def _devices(one: Json, volumes: Mapping[str, Json], path: str) -> Iterator[str]:
    mounts = {m["name"]: m["mountPath"] for m in one.get("volumeMounts", ())}
    seen_paths: set[str] = set()
    seen_names: set[str] = set()
    for n, device in enumerate(one.get("volumeDevices", ())):
        at = f"{path}[{n}]"
        name, where = device["name"], device["devicePath"]
        if not name:
            yield required(f"{at}.name")
        if name in seen_names:
            yield invalid(f"{at}.name", name, "must be unique")
        volume = volumes.get(name)
        if volume is None:
            yield not_found(f"{at}.name", name)
        elif not {"persistentVolumeClaim", "ephemeral"} & volume.keys():
            message = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                "block mode"
            )
            yield invalid(f"{at}.name", name, message)
        if not where:
            yield required(f"{at}.devicePath")
        if where in seen_paths:
            yield invalid(f"{at}.devicePath", where, "must be unique")
        if ".." in where.split("/"):
            yield invalid(f"{at}.devicePath", where, "can not contain backsteps ('..')")
        else:
            seen_paths.add(where)
        if name in mounts:
            yield invalid(f"{at}.name", name, "must not already exist in volumeMounts")
        if where in mounts.values():
            message = "must not already exist as a path in volumeMounts"
            yield invalid(f"{at}.devicePath", where, message)
        seen_names.update([name] if name else [])


def _resize(values: Sequence[Any], path: str) -> Iterator[str]:
    seen: set[str] = set()
    for n, policy in enumerate(values):
        name, restart = Printed(policy.get("resourceName", "")), policy.get("restartPolicy", "")
        if name in seen:
            yield duplicate(f"{path}[{n}]", name)
        seen.add(name)
        for value, supported in (
            (name, ("cpu", "memory")),
            (restart, ("NotRequired", "RestartContainer")),
        ):
            if not value:
                yield required(path)
            elif value not in supported:
                yield not_supported(path, value, supported)
