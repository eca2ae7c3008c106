"""Volumes, as the API server checks them in a Pod.

Of sources that belong to single vendors only the fields that they require are checked.
Source: Kubernetes 1.32 pkg/apis/core/validation/validation.go, ValidateVolumes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from krm_fn.kube.quantity import QuantityError, parse
from krm_fn.kube.validation.fields import (
    duplicate,
    each,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from krm_fn.kube.validation.names import config_key, dns_label, dns_subdomain
from krm_fn.kube.validation.references import (
    VOLUME_FIELDS,
    field_reference,
    resource_reference,
)
from krm_fn.values import Json

_FILE_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"


def volumes(values: list[Json], path: str) -> tuple[dict[str, Json], list[str]]:
    """The volumes that are good, by name, and what is wrong with the others."""
    good: dict[str, Json] = {}
    problems: list[str] = []
    claims = {f"test-{v['name']}" for v in values if "ephemeral" in v}
    for n, volume in enumerate(values):
        at = f"{path}[{n}]"
        name = volume["name"]
        complaints = list(_source(volume, at))
        if not name:
            complaints.append(required(f"{at}.name"))
        else:
            complaints += each(f"{at}.name", name, dns_label(name))
        if name in good:
            complaints.append(duplicate(f"{at}.name", name))
        if complaints:
            problems += complaints
        else:
            good[name] = volume
        claim = volume.get("persistentVolumeClaim", {}).get("claimName", "")
        if claim in claims:
            message = "must not reference a PVC that gets created for an ephemeral volume"
            problems.append(invalid(f"{at}.persistentVolumeClaim.claimName", claim, message))
    return good, problems


def _source(volume: Json, path: str) -> Iterator[str]:
    seen = False
    for name, check in _SOURCES.items():
        source = volume.get(name)
        if source is None:
            continue
        if seen and name != "emptyDir":
            shown = "downwarAPI" if name == "downwardAPI" else name
            yield forbidden(f"{path}.{shown}", "may not specify more than 1 volume type")
        else:
            yield from check(source, f"{path}.{name}")
        seen = True
    if not seen:
        yield required(path, "must specify a volume type")


def _empty_dir(source: Json, path: str) -> Iterator[str]:
    try:
        negative = parse(str(source.get("sizeLimit", "0"))).number < 0
    except QuantityError:
        return
    if negative:
        message = "SizeLimit field must be a valid resource quantity"
        yield forbidden(f"{path}.sizeLimit", message)


def _host_path(source: Json, path: str) -> Iterator[str]:
    value = source.get("path", "")
    if not value:
        yield required(f"{path}.path")
        return
    yield from no_backsteps(value, f"{path}.path")
    kind = source.get("type")
    if kind is not None and kind not in _HOST_PATH_TYPES:
        yield not_supported(f"{path}.type", kind, _HOST_PATH_TYPES)


_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)


def _secret(source: Json, path: str) -> Iterator[str]:
    if not source.get("secretName"):
        yield required(f"{path}.secretName")
    yield from _mode(source, "defaultMode", path)
    yield from _items(source, path)


def _config_map(source: Json, path: str) -> Iterator[str]:
    if not source.get("name"):
        yield required(f"{path}.name")
    yield from _mode(source, "defaultMode", path)
    yield from _items(source, path)


def _items(source: Json, path: str) -> Iterator[str]:
    for n, item in enumerate(source.get("items", ())):
        at = f"{path}.items[{n}]"
        if not item.get("key"):
            yield required(f"{at}.key")
        if not item.get("path"):
            yield required(f"{at}.path")
        yield from not_reserved(item.get("path", ""), f"{at}.path")
        yield from _mode(item, "mode", at)


def _mode(value: Json, name: str, path: str) -> Iterator[str]:
    mode = value.get(name)
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{path}.{name}", mode, _FILE_MODE)


def _downward(source: Json, path: str) -> Iterator[str]:
    yield from _mode(source, "defaultMode", path)
    for item in source.get("items", ()):
        yield from _downward_file(item, path)


def _downward_file(item: Json, path: str) -> Iterator[str]:
    if not item.get("path"):
        yield required(f"{path}.path")
    yield from not_reserved(item.get("path", ""), f"{path}.path")
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        yield from field_reference(field, VOLUME_FIELDS, f"{path}.fieldRef")
        if resource is not None:
            message = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid(path, "resource", message)
    elif resource is not None:
        yield from resource_reference(resource, f"{path}.resourceFieldRef", in_volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(item, "mode", path)


def _projected(source: Json, path: str) -> Iterator[str]:
    mode = source.get("defaultMode")
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{path}.defaultMode", mode, _FILE_MODE)
    paths: set[str] = set()
    for n, one in enumerate(source.get("sources") or ()):
        at = f"{path}.sources[{n}]"
        kinds = [kind for kind in _PROJECTIONS if kind in one]
        for kind in kinds:
            yield from _projection(kind, one[kind], f"{at}.{kind}", path, paths)
        if len(kinds) > 1:
            yield forbidden(at, "may not specify more than 1 volume type per source")


_PROJECTIONS: Final = (
    "secret",
    "configMap",
    "downwardAPI",
    "serviceAccountToken",
    "clusterTrustBundle",
)


def _projection(kind: str, one: Json, at: str, path: str, paths: set[str]) -> Iterator[str]:
    if kind in ("secret", "configMap"):
        if not one.get("name"):
            yield required(f"{at}.name")
        yield from _items(one, at)
        for item in one.get("items", ()):
            yield from _once(item.get("path", ""), one.get("name", ""), path, paths)
    elif kind == "downwardAPI":
        for item in one.get("items", ()):
            yield from _downward_file(item, at)
            yield from _once(item.get("path", ""), item.get("path", ""), path, paths)
    elif kind == "serviceAccountToken":
        seconds = one.get("expirationSeconds", 0)
        if seconds < 600:
            message = "may not specify a duration less than 10 minutes"
            yield invalid(f"{at}.expirationSeconds", seconds, message)
        if seconds > 1 << 32:
            message = "may not specify a duration larger than 2^32 seconds"
            yield invalid(f"{at}.expirationSeconds", seconds, message)
        if not one.get("path"):
            yield required(f"{path}.path")
        else:
            yield from not_reserved(one["path"], f"{path}.path")


def _once(item: str, shown: str, path: str, paths: set[str]) -> Iterator[str]:
    if item and item in paths:
        yield invalid(path, shown, "conflicting duplicate paths")
    paths.add(item)


def _nfs(source: Json, path: str) -> Iterator[str]:
    if not source.get("server"):
        yield required(f"{path}.server")
    if not source.get("path"):
        yield required(f"{path}.path")
    if not source.get("path", "").startswith("/"):
        yield invalid(f"{path}.path", source.get("path", ""), "must be an absolute path")


def _claim(source: Json, path: str) -> Iterator[str]:
    if not source.get("claimName"):
        yield required(f"{path}.claimName")


def _git(source: Json, path: str) -> Iterator[str]:
    if not source.get("repository"):
        yield required(f"{path}.repository")
    yield from descending(source.get("directory", ""), f"{path}.directory")


def _csi(source: Json, path: str) -> Iterator[str]:
    driver = source.get("driver", "")
    if not driver:
        yield required(f"{path}.driver")
    if len(driver) > 63:
        yield too_long(f"{path}.driver", 63)
    yield from each(f"{path}.driver", driver, dns_subdomain(driver.lower()))
    secret = source.get("nodePublishSecretRef")
    if secret is not None:
        name = secret.get("name", "")
        if not name:
            yield required(f"{path}.nodePublishSecretRef.name")
        else:
            yield from each(f"{path}.name", name, dns_subdomain(name))


def _ephemeral(source: Json, path: str) -> Iterator[str]:
    if source.get("volumeClaimTemplate") is None:
        yield required(f"{path}.volumeClaimTemplate")


def _image(source: Json, path: str) -> Iterator[str]:
    yield from pull_policy(source.get("pullPolicy", ""), f"{path}.pullPolicy")


def pull_policy(value: str, path: str) -> Iterator[str]:
    """What is wrong with a pull policy."""
    supported = ("Always", "IfNotPresent", "Never")
    if not value:
        yield required(path)
    elif value not in supported:
        yield not_supported(path, value, supported)


def _vendor(*fields: str) -> Callable[[Json, str], Iterator[str]]:
    """A source of which these fields must be there."""

    def check(source: Json, path: str) -> Iterator[str]:
        for name in fields:
            if not source.get(name):
                yield required(f"{path}.{name}")

    return check


def _gce(source: Json, path: str) -> Iterator[str]:
    yield from _vendor("pdName")(source, path.replace("gcePersistentDisk", "persistentDisk"))


def _anything(source: Json, path: str) -> Iterator[str]:
    yield from ()


_SOURCES: Final[dict[str, Callable[[Any, str], Iterator[str]]]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _git,
    "gcePersistentDisk": _gce,
    "awsElasticBlockStore": _vendor("volumeID"),
    "secret": _secret,
    "nfs": _nfs,
    "iscsi": _vendor("targetPortal", "iqn"),
    "glusterfs": _vendor("endpoints", "path"),
    "flocker": _anything,
    "persistentVolumeClaim": _claim,
    "rbd": _vendor("monitors", "image"),
    "cinder": _vendor("volumeID"),
    "cephfs": _vendor("monitors"),
    "quobyte": _vendor("volume"),
    "downwardAPI": _downward,
    "fc": _anything,
    "flexVolume": _vendor("driver"),
    "configMap": _config_map,
    "azureFile": _vendor("secretName", "shareName"),
    "vsphereVolume": _vendor("volumePath"),
    "photonPersistentDisk": _vendor("pdID"),
    "portworxVolume": _vendor("volumeID"),
    "azureDisk": _vendor("diskName", "diskURI"),
    "storageos": _anything,
    "projected": _projected,
    "scaleIO": _vendor("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}


def no_backsteps(value: str, path: str) -> Iterator[str]:
    """A path must not lead up."""
    if ".." in value.split("/"):
        yield invalid(path, value, "must not contain '..'")


def descending(value: str, path: str) -> Iterator[str]:
    """A path must be relative and must not lead up."""
    if value.startswith("/"):
        yield invalid(path, value, "must be a relative path")
    yield from no_backsteps(value, path)


def not_reserved(value: str, path: str) -> Iterator[str]:
    """As `descending`; names that begin with two dots are the kubelet's."""
    yield from descending(value, path)
    if value.startswith("..") and not value.startswith("../"):
        yield invalid(path, value, "must not start with '..'")


def reference_name(value: Json, path: str) -> Iterator[str]:
    """The name and the key of a reference into a ConfigMap or a Secret."""
    name, key = value.get("name", ""), value.get("key", "")
    yield from each(f"{path}.name", name, dns_subdomain(name))
    if not key:
        yield required(f"{path}.key")
    else:
        yield from each(f"{path}.key", key, config_key(key))
