"""PodSecurity's checks: each looks at a Pod's metadata and specification for one thing.

A check returns what it found, or None. Which of them count is the registry's.
Source: k8s.io/pod-security-admission policy/check_*.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from krm_fn.dialects.builtin.pods import containers
from krm_fn.dialects.builtin.podsecurity.words import (
    Violation,
    by_count,
    quoted,
    setters,
    these,
    uses,
)
from krm_fn.kube.selectors import texts
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, Path, get

CheckPod = Callable[[Json, Json], Violation | None]
"""A check of a Pod's (or template's) metadata and specification."""

_CONTEXT: Final = "securityContext"


def _contexts(spec: Json) -> Iterator[tuple[str, Json]]:
    """The containers by name, each with its security context."""
    for container in containers(spec):
        yield container["name"], container.get(_CONTEXT) or {}


def _context(spec: Json) -> Json:
    return spec.get(_CONTEXT) or {}


def _names(spec: Json, is_bad: Callable[[Json], bool]) -> list[str]:
    """The names of the containers whose security context is bad."""
    return [name for name, context in _contexts(spec) if is_bad(context)]


def _is_windows(spec: Json) -> bool:
    return bool(get(spec, ("os", "name")) == "windows")


def unless_windows(check: CheckPod) -> CheckPod:
    """A check that Pods pass which say that they run on Windows."""

    def checked(metadata: Json, spec: Json) -> Violation | None:
        return None if _is_windows(spec) else check(metadata, spec)

    return checked


def unless_own_users(check: CheckPod) -> CheckPod:
    """A check that Pods pass which have a user namespace of their own."""

    def checked(metadata: Json, spec: Json) -> Violation | None:
        return None if spec.get("hostUsers") is False else check(metadata, spec)

    return checked


# -------------------------------------------------------------------------------------- baseline


_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"


def app_armor_profile(metadata: Json, spec: Json) -> Violation | None:
    path = ("appArmorProfile",)
    general, bad, values = _bad_profiles(spec, path)
    forbidden = sorted(
        f"{key}={quote(text)}"
        for key, text in texts(metadata.get("annotations")).items()
        if key.startswith(_APP_ARMOR) and not _is_allowed_app_armor(text)
    )
    who = setters(general, bad)
    if forbidden:
        who.append(by_count("annotation", forbidden))
    if not who:
        return None
    found = [*sorted(values), *forbidden]
    return Violation(
        by_count("forbidden AppArmor profile", found),
        f"{' and '.join(who)} must not set AppArmor profile type to {quoted(found)}",
    )


def _is_allowed_app_armor(text: str) -> bool:
    return text in ("", "runtime/default") or text.startswith("localhost/")


_PROFILES: Final = ("RuntimeDefault", "Localhost")


def _bad_profiles(spec: Json, path: Path) -> tuple[bool, list[str], set[str]]:
    """Whether the Pod, and which containers, set a profile that is not allowed; and which."""
    values: set[str] = set()

    def is_bad(context: Json) -> bool:
        profile = get(context, path)
        if profile is None or profile.get("type", "") in _PROFILES:
            return False
        values.add(profile.get("type", ""))
        return True

    return is_bad(_context(spec)), _names(spec, is_bad), values


_DEFAULT_CAPABILITIES: Final = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)


def capabilities_baseline(metadata: Json, spec: Json) -> Violation | None:
    bad, found = _adding_others_than(_DEFAULT_CAPABILITIES, spec)
    if not bad:
        return None
    return Violation("non-default capabilities", _must_not_add(bad, found))


def _adding_others_than(allowed: frozenset[str], spec: Json) -> tuple[list[str], list[str]]:
    """The containers that add other capabilities, and these, sorted."""
    found: set[str] = set()

    def is_bad(context: Json) -> bool:
        others = set(get(context, ("capabilities", "add")) or ()) - allowed
        found.update(others)
        return bool(others)

    return _names(spec, is_bad), sorted(found)


def _must_not_add(bad: list[str], found: list[str]) -> str:
    what = f"must not include {quoted(found)} in securityContext.capabilities.add"
    return f"{these('container', bad)} {what}"


def host_namespaces(metadata: Json, spec: Json) -> Violation | None:
    names = ("hostNetwork", "hostPID", "hostIPC")
    found = [f"{name}=true" for name in names if spec.get(name)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def host_path_volumes(metadata: Json, spec: Json) -> Violation | None:
    found = [one["name"] for one in spec.get("volumes") or () if "hostPath" in one]
    return Violation("hostPath volumes", these("volume", found)) if found else None


def host_ports(metadata: Json, spec: Json) -> Violation | None:
    bad: list[str] = []
    found: set[str] = set()
    for container in containers(spec):
        numbers = (port.get("hostPort") for port in container.get("ports") or ())
        ports = {str(number) for number in numbers if number}
        if ports:
            bad.append(container["name"])
            found |= ports
    if not bad:
        return None
    what = f"{by_count('hostPort', found)} {', '.join(sorted(found))}"
    return Violation("hostPort", f"{these('container', bad)} {uses(bad)} {what}")


_PROBES: Final[tuple[Path, ...]] = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)


def host_probes_and_lifecycle(metadata: Json, spec: Json) -> Violation | None:
    bad: set[str] = set()
    found: set[str] = set()
    for container in containers(spec):
        for probe in _PROBES:
            for way in ("httpGet", "tcpSocket"):
                host = get(container, (*probe, way, "host"))
                if host:
                    bad.add(container["name"])
                    found.add(host)
    if not bad:
        return None
    names, hosts = sorted(bad), these("probe or lifecycle host", sorted(found))
    detail = f"{these('container', names)} {uses(names)} {hosts}"
    return Violation("probe or lifecycle host", detail)


def privileged(metadata: Json, spec: Json) -> Violation | None:
    bad = _names(spec, lambda context: context.get("privileged") is True)
    if not bad:
        return None
    what = "must not set securityContext.privileged=true"
    return Violation("privileged", f"{these('container', bad)} {what}")


def proc_mount(metadata: Json, spec: Json) -> Violation | None:
    found: set[str] = set()

    def is_bad(context: Json) -> bool:
        kind = context.get("procMount", "Default")
        if kind == "Default":
            return False
        found.add(kind)
        return True

    bad = _names(spec, is_bad)
    if not bad:
        return None
    what = f"must not set securityContext.procMount to {quoted(sorted(found))}"
    return Violation("procMount", f"{these('container', bad)} {what}")


def selinux_options(*types: str) -> CheckPod:
    """The check that allows these types, and none."""
    allowed = frozenset(("", *types))

    def check(metadata: Json, spec: Json) -> Violation | None:
        found: set[str] = set()
        named: set[str] = set()

        def is_bad(context: Json) -> bool:
            options = context.get("seLinuxOptions") or {}
            other = {options.get("type", "")} - allowed
            named_here = {name for name in ("user", "role") if options.get(name)}
            found.update(other)
            named.update(named_here)
            return bool(other or named_here)

        who = setters(is_bad(_context(spec)), _names(spec, is_bad))
        if not who:
            return None
        what = [these("type", sorted(found))] if found else []
        what += [f"{name} may not be set" for name in ("user", "role") if name in named]
        said = "set forbidden securityContext.seLinuxOptions"
        return Violation("seLinuxOptions", f"{' and '.join(who)} {said}: {'; '.join(what)}")

    return check


_SECCOMP: Final = ("seccompProfile",)
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"


def seccomp_annotations(metadata: Json, spec: Json) -> Violation | None:
    annotations = texts(metadata.get("annotations"))
    keys = [_SECCOMP_POD]
    keys += [_SECCOMP_CONTAINER + container["name"] for container in containers(spec)]
    found = {
        f"{key}={quote(annotations[key])}"
        for key in keys
        if key in annotations and not _is_allowed_seccomp(annotations[key])
    }
    if not found:
        return None
    what = f"forbidden {by_count('annotation', found)} {', '.join(sorted(found))}"
    return Violation("seccompProfile", what)


def _is_allowed_seccomp(text: str) -> bool:
    return text in ("runtime/default", "docker/default") or text.startswith("localhost/")


def seccomp_baseline(metadata: Json, spec: Json) -> Violation | None:
    general, bad, values = _bad_profiles(spec, _SECCOMP)
    who = setters(general, bad)
    if not who:
        return None
    what = f"must not set securityContext.seccompProfile.type to {quoted(sorted(values))}"
    return Violation("seccompProfile", f"{' and '.join(who)} {what}")


def sysctls(*names: str) -> CheckPod:
    """The check that allows these."""
    allowed = frozenset(names)

    def check(metadata: Json, spec: Json) -> Violation | None:
        present = [one["name"] for one in _context(spec).get("sysctls") or ()]
        found = [name for name in present if name not in allowed]
        return Violation("forbidden sysctls", ", ".join(found)) if found else None

    return check


def windows_host_process(metadata: Json, spec: Json) -> Violation | None:
    def is_bad(context: Json) -> bool:
        return get(context, ("windowsOptions", "hostProcess")) is True

    who = setters(is_bad(_context(spec)), _names(spec, is_bad))
    if not who:
        return None
    what = "must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", f"{' and '.join(who)} {what}")


# ------------------------------------------------------------------------------------ restricted


def allow_privilege_escalation(metadata: Json, spec: Json) -> Violation | None:
    bad = _names(spec, lambda context: context.get("allowPrivilegeEscalation") is not False)
    if not bad:
        return None
    what = "must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", f"{these('container', bad)} {what}")


_ONLY_BINDING: Final = frozenset({"NET_BIND_SERVICE"})


def capabilities_restricted(metadata: Json, spec: Json) -> Violation | None:
    details: list[str] = []
    keeping = _names(spec, lambda one: "ALL" not in (get(one, ("capabilities", "drop")) or ()))
    if keeping:
        what = 'must set securityContext.capabilities.drop=["ALL"]'
        details.append(f"{these('container', keeping)} {what}")
    bad, found = _adding_others_than(_ONLY_BINDING, spec)
    if bad:
        details.append(_must_not_add(bad, found))
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


_ALLOWED_VOLUMES: Final = (
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
)
_RESTRICTED_VOLUMES: Final = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
)


def restricted_volumes(*more: str) -> CheckPod:
    """The check that allows these types of volumes, too."""
    allowed = (*_ALLOWED_VOLUMES, *more)

    def check(metadata: Json, spec: Json) -> Violation | None:
        bad: list[str] = []
        found: set[str] = set()
        for volume in spec.get("volumes") or ():
            if not any(name in volume for name in allowed):
                bad.append(volume["name"])
                found.add(_type_of(volume))
        if not bad:
            return None
        what = these("restricted volume type", sorted(found))
        return Violation("restricted volume types", f"{these('volume', bad)} {uses(bad)} {what}")

    return check


def _type_of(volume: Json) -> str:
    return next((name for name in _RESTRICTED_VOLUMES if name in volume), "unknown")


def run_as_non_root(metadata: Json, spec: Json) -> Violation | None:
    general = _context(spec).get("runAsNonRoot")
    reason = "runAsNonRoot != true"
    who = setters(
        general is False, _names(spec, lambda context: context.get("runAsNonRoot") is False)
    )
    if who:
        what = "must not set securityContext.runAsNonRoot=false"
        return Violation(reason, f"{' and '.join(who)} {what}")
    if general:
        return None
    unset = _names(spec, lambda context: context.get("runAsNonRoot") is None)
    if not unset:
        return None
    what = "must set securityContext.runAsNonRoot=true"
    return Violation(reason, f"pod or {these('container', unset)} {what}")


def run_as_user(metadata: Json, spec: Json) -> Violation | None:
    def is_root(context: Json) -> bool:
        user: Any = context.get("runAsUser")
        return user == 0 and user is not None

    who = setters(is_root(_context(spec)), _names(spec, is_root))
    if not who:
        return None
    return Violation("runAsUser=0", f"{' and '.join(who)} must not set runAsUser=0")


def seccomp_restricted(metadata: Json, spec: Json) -> Violation | None:
    bad = seccomp_baseline(metadata, spec)
    if bad is not None or get(_context(spec), _SECCOMP) is not None:
        return bad
    unset = _names(spec, lambda context: get(context, _SECCOMP) is None)
    if not unset:
        return None
    what = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", f"pod or {these('container', unset)} {what}")
