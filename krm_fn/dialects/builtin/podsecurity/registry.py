"""Which checks a level has in which version, and which of them a server knows.

Source: k8s.io/pod-security-admission policy/registry.go, and the tables of policy/check_*.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from krm_fn.dialects.builtin.podsecurity import checks
from krm_fn.dialects.builtin.podsecurity.checks import CheckPod, unless_own_users, unless_windows
from krm_fn.dialects.builtin.podsecurity.policy import LATEST, Level, LevelVersion
from krm_fn.dialects.builtin.podsecurity.words import Violation
from krm_fn.values import Json


class Check(NamedTuple):
    """A check by its ID, with what it does since which minor version.

    In level restricted `overrides` does not count where this check does.
    """

    id: str
    level: Level
    versions: tuple[tuple[int, CheckPod], ...]
    overrides: str = ""


_SELINUX: Final = ("container_t", "container_init_t", "container_kvm_t")
_SYSCTLS_1_0: Final = (
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
)
_SYSCTLS_1_27: Final = (*_SYSCTLS_1_0, "net.ipv4.ip_local_reserved_ports")
_SYSCTLS_1_29: Final = (
    *_SYSCTLS_1_27,
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
)
_SYSCTLS_1_32: Final = (*_SYSCTLS_1_29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
_SYSCTLS_1_37: Final = (
    *_SYSCTLS_1_32,
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_notsent_lowat",
)

_BASELINE: Final = (
    Check("appArmorProfile", Level.BASELINE, ((0, checks.app_armor_profile),)),
    Check("capabilities_baseline", Level.BASELINE, ((0, checks.capabilities_baseline),)),
    Check("hostNamespaces", Level.BASELINE, ((0, checks.host_namespaces),)),
    Check("hostPathVolumes", Level.BASELINE, ((0, checks.host_path_volumes),)),
    Check("hostPorts", Level.BASELINE, ((0, checks.host_ports),)),
    Check("hostProbesAndHostLifecycle", Level.BASELINE, ((34, checks.host_probes_and_lifecycle),)),
    Check("privileged", Level.BASELINE, ((0, checks.privileged),)),
    Check(
        "procMount",
        Level.BASELINE,
        ((0, checks.proc_mount), (35, unless_own_users(checks.proc_mount))),
    ),
    Check(
        "seLinuxOptions",
        Level.BASELINE,
        (
            (0, checks.selinux_options(*_SELINUX)),
            (31, checks.selinux_options(*_SELINUX, "container_engine_t")),
        ),
    ),
    Check(
        "seccompProfile_baseline",
        Level.BASELINE,
        ((0, checks.seccomp_annotations), (19, checks.seccomp_baseline)),
    ),
    Check(
        "sysctls",
        Level.BASELINE,
        (
            (0, checks.sysctls(*_SYSCTLS_1_0)),
            (27, checks.sysctls(*_SYSCTLS_1_27)),
            (29, checks.sysctls(*_SYSCTLS_1_29)),
            (32, checks.sysctls(*_SYSCTLS_1_32)),
            (37, checks.sysctls(*_SYSCTLS_1_37)),
        ),
    ),
    Check("windowsHostProcess", Level.BASELINE, ((0, checks.windows_host_process),)),
)
"""The checks of level baseline by ID, in the order in which they are told."""


def _restricted(volumes: CheckPod) -> tuple[Check, ...]:
    """The checks of level restricted by ID, with the one that a server has for volumes."""
    escalation = checks.allow_privilege_escalation
    capabilities = checks.capabilities_restricted
    non_root, user = checks.run_as_non_root, checks.run_as_user
    seccomp = checks.seccomp_restricted
    return (
        Check(
            "allowPrivilegeEscalation",
            Level.RESTRICTED,
            ((8, escalation), (25, unless_windows(escalation))),
        ),
        Check(
            "capabilities_restricted",
            Level.RESTRICTED,
            ((22, capabilities), (25, unless_windows(capabilities))),
            "capabilities_baseline",
        ),
        Check("procMount_restricted", Level.RESTRICTED, ((35, checks.proc_mount),), "procMount"),
        Check("restrictedVolumes", Level.RESTRICTED, ((0, volumes),), "hostPathVolumes"),
        Check("runAsNonRoot", Level.RESTRICTED, ((0, non_root), (35, unless_own_users(non_root)))),
        Check("runAsUser", Level.RESTRICTED, ((23, user), (35, unless_own_users(user)))),
        Check(
            "seccompProfile_restricted",
            Level.RESTRICTED,
            ((19, seccomp), (25, unless_windows(seccomp))),
            "seccompProfile_baseline",
        ),
    )


_IMAGE_VOLUMES: Final = 33
"""The server's minor version since which level restricted allows volumes of type image."""


def violations(
    policy: LevelVersion, metadata: Json, spec: Json, server: int
) -> Sequence[Violation]:
    """What a Pod violates of a level, as a server of a minor version finds it."""
    if policy.level is Level.PRIVILEGED:
        return ()
    newest = _newest(server)
    minor = newest if policy.minor == LATEST else min(policy.minor, newest)
    found = (check(metadata, spec) for check in _checks(policy.level, minor, server))
    return tuple(one for one in found if one is not None)


def _known(server: int) -> tuple[Check, ...]:
    """The checks of a server with those of their versions that it knows."""
    volumes = checks.restricted_volumes(*(("image",) if server >= _IMAGE_VOLUMES else ()))
    known = []
    for check in (*_BASELINE, *_restricted(volumes)):
        versions = tuple(version for version in check.versions if version[0] <= server)
        if versions:
            known.append(check._replace(versions=versions))
    return tuple(known)


@cache
def _newest(server: int) -> int:
    """The newest version that a server has a check for; later ones act like it."""
    return max(version[0] for check in _known(server) for version in check.versions)


@cache
def _checks(level: Level, minor: int, server: int) -> tuple[CheckPod, ...]:
    """The checks of a level in a version, in their order."""
    active: dict[str, CheckPod] = {}
    overridden: set[str] = set()
    for check in _known(server):
        if check.level > level:
            continue
        matching = [pod for since, pod in check.versions if since <= minor]
        if matching:
            active[check.id] = matching[-1]
            overridden.add(check.overrides)
    return tuple(check for id_, check in active.items() if id_ not in overridden)
