"""Security contexts of containers, as the API server checks them; those of Windows are not.

Source: Kubernetes 1.32 pkg/apis/core/validation/validation.go ValidateSecurityContext.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from krm_fn.kube.validation.fields import invalid, not_supported, required
from krm_fn.kube.validation.goprint import seccomp_profile
from krm_fn.kube.validation.goprint import security_context as printed
from krm_fn.kube.validation.volumes import descending
from krm_fn.values import Json

_LARGEST_ID: Final = 2**31 - 1


def security_context(value: Json, path: str) -> Iterator[str]:
    """What is wrong with a security context."""
    for name in ("runAsUser", "runAsGroup"):
        number = value.get(name)
        if number is not None and not 0 <= number <= _LARGEST_ID:
            message = f"must be between 0 and {_LARGEST_ID}, inclusive"
            yield invalid(f"{path}.{name}", number, message)
    mount = value.get("procMount")
    if mount is not None:
        if mount not in ("Default", "Unmasked"):
            yield not_supported(f"{path}.procMount", mount, ("Default", "Unmasked"))
        elif mount == "Unmasked":
            message = "`hostUsers` must be false to use `Unmasked`"
            yield invalid(f"{path}.procMount", mount, message)
    if value.get("seccompProfile") is not None:
        yield from _seccomp(value["seccompProfile"], f"{path}.seccompProfile")
    if value.get("allowPrivilegeEscalation") is False:
        yield from _escalation(value, path)
    if value.get("appArmorProfile") is not None:
        yield from _app_armor(value["appArmorProfile"], f"{path}.appArmorProfile")


def _escalation(value: Json, path: str) -> Iterator[str]:
    cannot = "cannot set `allowPrivilegeEscalation` to false and"
    if value.get("privileged"):
        yield invalid(path, printed(value), f"{cannot} `privileged` to true")
    for capability in (value.get("capabilities") or {}).get("add", ()):
        if capability == "CAP_SYS_ADMIN":
            yield invalid(path, printed(value), f"{cannot} `capabilities.Add` CAP_SYS_ADMIN")


_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")


def _seccomp(value: Json, path: str) -> Iterator[str]:
    kind, local = value.get("type", ""), value.get("localhostProfile")
    if not kind:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        yield not_supported(f"{path}.type", kind, _PROFILES)
    at = f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            yield required(at, "must be set when seccomp type is Localhost")
        else:
            yield from descending(local, at)
    elif local is not None:
        message = "can only be set when seccomp type is Localhost"
        yield invalid(at, seccomp_profile(value), message)


def _app_armor(value: Json, path: str) -> Iterator[str]:
    kind, local = value.get("type", ""), value.get("localhostProfile")
    at = f"{path}.localhostProfile"
    if not kind:
        yield required(f"{path}.type", "type is required when appArmorProfile is set")
    elif kind not in _PROFILES:
        yield not_supported(f"{path}.type", kind, _PROFILES)
    elif kind == "Localhost":
        if not local:
            yield required(at, "must be set when AppArmor type is Localhost")
        elif local != local.strip():
            yield invalid(at, local, "must not be padded with whitespace")
    elif local is not None:
        yield invalid(at, local, "can only be set when AppArmor type is Localhost")
