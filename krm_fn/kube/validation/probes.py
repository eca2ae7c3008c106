"""Probes and lifecycle hooks, as the API server checks them.

Source: Kubernetes 1.32 pkg/apis/core/validation/validation.go validateProbe, validateHandler.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from krm_fn.kube.validation import names
from krm_fn.kube.validation.fields import (
    each,
    forbidden,
    invalid,
    not_supported,
    required,
)
from krm_fn.values import Json

_GRACE_PERIOD: Final = 30
_COUNTS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)


def lifecycle(value: Json, path: str) -> Iterator[str]:
    """What is wrong with hooks."""
    for name in ("postStart", "preStop"):
        if value.get(name) is not None:
            yield from _handler(value[name], f"{path}.{name}")


def probe(value: Json, kind: str, path: str) -> Iterator[str]:
    """What is wrong with a `livenessProbe`, a `readinessProbe` or a `startupProbe`."""
    yield from _handler(value, path)
    for name in _COUNTS:
        if value.get(name, 0) < 0:
            yield invalid(f"{path}.{name}", value[name], "must be greater than or equal to 0")
    grace = value.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if kind == "readinessProbe":
        if grace is not None:
            message = "must not be set for readinessProbes"
            yield invalid(f"{path}.terminationGracePeriodSeconds", grace, message)
    elif value.get("successThreshold", 0) != 1:
        yield invalid(f"{path}.successThreshold", value.get("successThreshold", 0), "must be 1")


def _handler(value: Json, path: str) -> Iterator[str]:
    seen = False
    for name in ("exec", "httpGet", "tcpSocket", "grpc", "sleep"):
        action = value.get(name)
        if action is None:
            continue
        at = f"{path}.{name}"
        if seen:
            yield forbidden(at, "may not specify more than 1 handler type")
        elif name == "exec":
            if not action.get("command"):
                yield required(f"{at}.command")
        elif name == "httpGet":
            yield from _http(action, at)
        elif name == "sleep":
            yield from _sleep(action, at)
        else:
            yield from _port(action.get("port", 0), f"{at}.port")
        seen = True
    if not seen:
        yield required(path, "must specify a handler type")


def _http(action: Json, path: str) -> Iterator[str]:
    if not action.get("path"):
        yield required(f"{path}.path")
    yield from _port(action.get("port", 0), f"{path}.port")
    scheme = action.get("scheme", "")
    if scheme not in ("HTTP", "HTTPS"):
        yield not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS"))
    for header in action.get("httpHeaders", ()):
        name = header.get("name", "")
        yield from each(f"{path}.httpHeaders", name, names.header_name(name))


def _port(value: Any, path: str) -> Iterator[str]:
    complaints = names.port_number(value) if type(value) is int else names.port_name(value)
    yield from each(path, value, complaints)


def _sleep(action: Json, path: str) -> Iterator[str]:
    seconds = action.get("seconds", 0)
    if not 0 < seconds <= _GRACE_PERIOD:
        message = (
            "must be greater than 0 and less than terminationGracePeriodSeconds "
            f"({_GRACE_PERIOD}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for "
            "zero sleep."
        )
        yield invalid(path, seconds, message)
